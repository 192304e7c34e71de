/*
 * mp_put - MessagePack written in place, by msgpack-c's own encoder.
 *
 * msgpack-c has it as a template, for callers who append in their own way.
 * Here that is a copy, and a step of the place: mp_put_int64(&at, value) writes
 * the shortest form to `at` and moves it behind that.  It trusts the room:
 * MP_HEAD_BYTES_MAX before any of them but mp_put_str_body and mp_put_bin_body.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_MSGPACK_MP_PUT_H
#define PROTO_MSGPACK_MP_PUT_H

#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>
#include <stdbool.h>
#include <string.h>

enum { MP_HEAD_BYTES_MAX = 9 };

/* The template makes a head of its tag and the number behind it.  Taken as
 * these two it never is in memory but at its place; as a whole it would be read
 * back across two stores, for which processors wait. */
static inline void
mp_put_append(unsigned char **to, const void *from, size_t bytes)
{
	const unsigned char *at = from;
	unsigned char *p = *to;

	*to = p + bytes;
	if (bytes == 0)
		return;
	*p = *at;
	memcpy(p + 1, at + 1, bytes - 1);
}

#define msgpack_pack_inline_func(name) static inline void mp_put##name
#define msgpack_pack_inline_func_fixint(name)                                  \
	static inline void mp_put_fix##name
#define msgpack_pack_user          unsigned char **
#define msgpack_pack_append_buffer mp_put_append

#include <msgpack/pack_template.h>

static inline void
mp_put_bool(unsigned char **to, bool value)
{
	if (value)
		mp_put_true(to);
	else
		mp_put_false(to);
}

#endif
