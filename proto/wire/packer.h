/*
 * wire_packer - msgpack-c's packer into a wire_writer.
 *
 * Private to proto/wire*.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_PACKER_H
#define PROTO_WIRE_PACKER_H

#include <msgpack.h>
#include <string.h>

#include "proto/wire/wire.h"

/* msgpack_packer_write: all of it, or nothing and `full`. */
static inline int
wire_append(void *writer, const char *at, size_t bytes)
{
	struct wire_writer *w = writer;

	if (w->full || bytes > w->room - w->bytes) {
		w->full = true;
		return -1;
	}
	if (bytes > 0)
		memcpy(w->at + w->bytes, at, bytes);
	w->bytes += bytes;
	return 0;
}

static inline msgpack_packer
wire_packer(struct wire_writer *w)
{
	return (msgpack_packer){ .data = w, .callback = wire_append };
}

static inline void
wire_packer_text(msgpack_packer *pk, struct text text)
{
	msgpack_pack_str(pk, text.bytes);
	msgpack_pack_str_body(pk, text.at, text.bytes);
}

static inline void
wire_packer_bin(msgpack_packer *pk, const void *at, size_t bytes)
{
	msgpack_pack_bin(pk, bytes);
	msgpack_pack_bin_body(pk, at, bytes);
}

#endif
