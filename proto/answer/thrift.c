/*
 * thrift - write structs in Thrift's compact protocol.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/thrift.h"

#include <assert.h>

#include "proto/base/varint.h"

/* Types of fields; those of thrift.h are some of them. */
enum { TRUE = 1, FALSE, I8, I64 = 6, LIST = 9 };

static void
put_byte(struct thrift *t, unsigned byte)
{
	*buffer_need(t->to, 1) = (unsigned char)byte;
	t->to->bytes++;
}

static void
put_field(struct thrift *t, unsigned field, unsigned type)
{
	unsigned *last = &t->last[t->depth - 1], more = field - *last;

	assert(field > *last);
	if (more <= 15) {
		put_byte(t, more << 4 | type);
	} else {
		put_byte(t, type);
		varint_put(t->to, varint_zigzag(field));
	}
	*last = field;
}

void
thrift_begin(struct thrift *t)
{
	assert(t->depth < THRIFT_DEPTH_MAX);
	t->last[t->depth++] = 0;
}

void
thrift_begin_field(struct thrift *t, unsigned field)
{
	put_field(t, field, THRIFT_STRUCT);
	thrift_begin(t);
}

void
thrift_end(struct thrift *t)
{
	put_byte(t, 0);
	t->depth--;
}

void
thrift_bool(struct thrift *t, unsigned field, bool value)
{
	put_field(t, field, value ? TRUE : FALSE);
}

void
thrift_i8(struct thrift *t, unsigned field, int8_t value)
{
	put_field(t, field, I8);
	put_byte(t, (unsigned char)value);
}

void
thrift_i32(struct thrift *t, unsigned field, int32_t value)
{
	put_field(t, field, THRIFT_I32);
	thrift_put_i32(t, value);
}

void
thrift_i64(struct thrift *t, unsigned field, int64_t value)
{
	put_field(t, field, I64);
	varint_put(t->to, varint_zigzag(value));
}

void
thrift_text(struct thrift *t, unsigned field, struct text text)
{
	put_field(t, field, THRIFT_BINARY);
	thrift_put_text(t, text);
}

void
thrift_list(
    struct thrift *t, unsigned field, enum thrift_type type, uint32_t count)
{
	put_field(t, field, LIST);
	if (count < 15) {
		put_byte(t, count << 4 | type);
	} else {
		put_byte(t, 0xF0 | type);
		varint_put(t->to, count);
	}
}

void
thrift_put_i32(struct thrift *t, int32_t value)
{
	varint_put(t->to, varint_zigzag(value));
}

void
thrift_put_text(struct thrift *t, struct text text)
{
	varint_put_text(t->to, text);
}
