/*
 * bytes - what an encoder has written, byte by byte.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_PROTO_ANSWER_BYTES_H
#define TESTS_UNIT_PROTO_ANSWER_BYTES_H

#include "proto/base/buffer.h"
#include "tests/unit/check.h"

static inline void
bytes_are(struct buffer *made, const unsigned char *wanted, size_t bytes)
{
	assert_int_equal(made->bytes, bytes);
	assert_memory_equal(made->at, wanted, bytes);
	buffer_clear(made);
}

/* `made` has these bytes, and is empty afterwards. */
#define IS(...)                                                                \
	bytes_are(&made, (const unsigned char[]){ __VA_ARGS__ },               \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }))

#endif
