/*
 * thrift - write structs in Thrift's compact protocol.
 *
 * The protocol is that of Thrift's "thrift-compact-protocol.md"; fields are
 * written in the order of their numbers, which begin with 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_THRIFT_H
#define PROTO_ANSWER_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"

/* Of the elements of a list. */
enum thrift_type { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 };

enum { THRIFT_DEPTH_MAX = 8 };

/* Zero it but for `to`. */
struct thrift {
	struct buffer *to;
	unsigned depth;                  /* of structs that are open */
	unsigned last[THRIFT_DEPTH_MAX]; /* field of each */
};

/* The outermost struct, or an element of a list; a field. */
void thrift_begin(struct thrift *t);
void thrift_begin_field(struct thrift *t, unsigned field);
void thrift_end(struct thrift *t);

void thrift_bool(struct thrift *t, unsigned field, bool value);
void thrift_i8(struct thrift *t, unsigned field, int8_t value);
void thrift_i32(struct thrift *t, unsigned field, int32_t value);
void thrift_i64(struct thrift *t, unsigned field, int64_t value);
void thrift_text(struct thrift *t, unsigned field, struct text text);

/* Its elements follow. */
void thrift_list(
    struct thrift *t, unsigned field, enum thrift_type type, uint32_t count);
void thrift_put_i32(struct thrift *t, int32_t value);
void thrift_put_text(struct thrift *t, struct text text);

#endif
