/*
 * wire_writer - a body or header under construction.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_WIRE_WRITER_H
#define PROTO_WIRE_WIRE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a buffer of the caller with a fixed size.  `full` is sticky; when it is
 * set, the record that did not fit has been removed completely. */
struct wire_writer {
	unsigned char *at;
	size_t bytes;     /* written */
	size_t room;      /* of the buffer */
	uint32_t records; /* context records do not count */
	bool full;
};
void wire_writer_init(struct wire_writer *w, void *buffer, size_t room);

#endif
