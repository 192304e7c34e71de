/*
 * wire_packer - msgpack-c's encoder into a wire_writer.
 *
 * Private to proto/wire/.  Checks the room for each piece: writes it whole, or
 * not at all and sets `full`.  For small parts that occur once in a message;
 * records are sized first and written with proto/msgpack/mp_put.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_PACKER_H
#define PROTO_WIRE_PACKER_H

#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/wire/wire_writer.h"

static inline void
wire_packer_append(struct wire_writer *w, const void *at, size_t bytes)
{
	if (w->full || bytes > w->room - w->bytes) {
		w->full = true;
		return;
	}
	if (bytes > 0)
		memcpy(w->at + w->bytes, at, bytes);
	w->bytes += bytes;
}

#define msgpack_pack_inline_func(name) static inline void wire_packer##name
#define msgpack_pack_user              struct wire_writer *
#define msgpack_pack_append_buffer     wire_packer_append

#include <msgpack/pack_template.h>

static inline void
wire_packer_text(struct wire_writer *w, struct text text)
{
	wire_packer_str(w, text.bytes);
	wire_packer_str_body(w, text.at, text.bytes);
}

static inline void
wire_packer_bytes(struct wire_writer *w, const void *at, size_t bytes)
{
	wire_packer_bin(w, bytes);
	wire_packer_bin_body(w, at, bytes);
}

#endif
