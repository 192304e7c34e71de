/*
 * wire_writer - a body or header under construction.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_WIRE_WRITER_H
#define PROTO_WIRE_WIRE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes into a buffer of the caller.  `full` is sticky; a record that did not
 * fit has left nothing in the buffer. */
struct wire_writer {
	unsigned char *at;
	size_t bytes;     /* written */
	size_t room;      /* of the buffer */
	uint32_t records; /* context records do not count */
	bool full;
};
void wire_writer_init(struct wire_writer *w, void *buffer, size_t room);

#endif
