/*
 * mp_put - write MessagePack in place, with msgpack-c's own encoder.
 *
 * msgpack-c provides it as a template for callers with their own way to
 * append. Here, appending copies and advances a pointer: mp_put_int64(&at,
 * value) writes the shortest form to `at` and moves `at` to its end.  The
 * functions do not check the room: each needs MP_HEAD_BYTES_MAX, except
 * mp_put_str_body and mp_put_bin_body.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_MSGPACK_MP_PUT_H
#define PROTO_MSGPACK_MP_PUT_H

#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>
#include <stdbool.h>
#include <string.h>

enum { MP_HEAD_BYTES_MAX = 9 };

/* The template builds a head from its tag and the number after it.  Copying
 * these two separately writes them straight to their destination; the whole
 * head would be read back across two stores, and the processor would wait for
 * them. */
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
