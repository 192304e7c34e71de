/*
 * native - any bytes as answers in ClickHouse's format Native: refused with a
 * sentence, or read, the same in one piece and in many; and what was read can
 * be written and is then the same bytes.
 *
 * The first byte chooses the columns that are expected, the second the size of
 * the pieces.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/clickhouse/native_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct native_column columns[] = { { "a", NATIVE_UINT8 },
	{ "b", NATIVE_UINT16 }, { "c", NATIVE_UINT32 }, { "d", NATIVE_UINT64 },
	{ "e", NATIVE_INT32 }, { "f", NATIVE_INT64 }, { "g", NATIVE_FLOAT64 },
	{ "h", NATIVE_STRING }, { "i", NATIVE_UINT8_ARRAY },
	{ "j", NATIVE_UINT64_ARRAY }, { "k", NATIVE_FLOAT64_ARRAY },
	{ "l", NATIVE_STRING_ARRAY } };

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct expected {
	const struct native_column *columns;
	unsigned count;
};

static void
copy_value(struct native_block *to, const struct native_reader *r,
    unsigned column, enum native_type type, uint32_t i)
{
	switch (type) {
	case NATIVE_UINT8:
	case NATIVE_UINT16:
	case NATIVE_UINT32:
	case NATIVE_UINT64:
	case NATIVE_UINT8_ARRAY:
	case NATIVE_UINT64_ARRAY:
		native_put_uint(to, column, native_read_uint(r, column, i));
		break;
	case NATIVE_INT32:
	case NATIVE_INT64:
		native_put_int(to, column, native_read_int(r, column, i));
		break;
	case NATIVE_FLOAT64:
	case NATIVE_FLOAT64_ARRAY:
		native_put_float(to, column, native_read_float(r, column, i));
		break;
	case NATIVE_STRING:
	case NATIVE_STRING_ARRAY:
		native_put_text(to, column, native_read_text(r, column, i));
		break;
	}
}

/* Write the rows that were read. */
static void
copy_block(const struct expected *expected, const struct native_reader *r,
    struct buffer *to)
{
	struct native_block *block =
	    native_block_open(expected->columns, expected->count);

	for (uint32_t row = 0; row < native_read_rows(r); row++)
		for (unsigned i = 0; i < expected->count; i++) {
			enum native_type type = expected->columns[i].type;
			uint32_t first, elements;

			if (type < NATIVE_UINT8_ARRAY) {
				copy_value(block, r, i, type, row);
				continue;
			}
			elements = native_read_array(r, i, row, &first);
			for (uint32_t k = 0; k < elements; k++)
				copy_value(block, r, i, type, first + k);
			native_end_array(block, i);
		}
	native_encode(block, to);
	native_block_close(&block);
}

/* Read an answer in pieces of `bytes`, and write what it has.  True: it was
 * whole. */
static bool
read_answer(const struct expected *expected, struct text answer, uint32_t bytes,
    struct buffer *to)
{
	struct native_reader *r =
	    native_read_open(expected->columns, expected->count);
	struct err err = { 0 };
	int got = 0;

	while (got == 0 && answer.bytes > 0) {
		struct text piece = { answer.at,
			answer.bytes < bytes ? answer.bytes : bytes };

		answer.at += piece.bytes;
		answer.bytes -= piece.bytes;
		while ((got = native_read_next(r, &piece, &err)) == 1)
			copy_block(expected, r, to);
	}
	if (got == 0)
		got = native_read_end(r, &err);
	assert(got == 0 || err.text[0] != '\0');
	native_read_close(&r);
	return got == 0;
}

/* What was written is read again, and again the same. */
static void
read_again(const struct expected *expected, const struct buffer *written)
{
	struct buffer again = { 0 };

	if (!read_answer(expected, buffer_text(written), UINT32_MAX, &again) ||
	    again.bytes != written->bytes ||
	    (again.bytes > 0 &&
		memcmp(again.at, written->at, again.bytes) != 0))
		abort();
	buffer_clear(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expected expected = { columns, COLUMNS };
	struct buffer whole = { 0 }, pieces = { 0 };
	struct text answer;
	bool read;

	if (size < 2)
		return 0;
	if (data[0] < COLUMNS)
		expected = (struct expected){ &columns[data[0]], 1 };
	answer = (struct text){ (const char *)data + 2, (uint32_t)size - 2 };
	read = read_answer(&expected, answer, UINT32_MAX, &whole);
	if (read_answer(&expected, answer, 1 + data[1], &pieces) != read ||
	    whole.bytes != pieces.bytes ||
	    (whole.bytes > 0 && memcmp(whole.at, pieces.at, whole.bytes) != 0))
		abort();
	read_again(&expected, &whole);
	buffer_clear(&whole);
	buffer_clear(&pieces);
	return 0;
}
