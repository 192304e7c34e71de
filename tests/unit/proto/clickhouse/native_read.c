/*
 * native_read - answers in ClickHouse's format Native: bytes worked out by
 * hand, cut anywhere, and wrong in every place; then blocks of any content
 * there and back.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/native_read.h"

#include "tests/unit/check.h"

#define COUNT(array)  ((unsigned)(sizeof(array) / sizeof((array)[0])))
#define TEXT(literal) ((struct text){ literal, sizeof(literal) - 1 })

static const struct native_column everything[] = { { "a", NATIVE_UINT8 },
	{ "b", NATIVE_UINT16 }, { "c", NATIVE_UINT32 }, { "d", NATIVE_UINT64 },
	{ "e", NATIVE_INT32 }, { "f", NATIVE_INT64 }, { "g", NATIVE_FLOAT64 },
	{ "h", NATIVE_STRING }, { "i", NATIVE_UINT8_ARRAY },
	{ "j", NATIVE_UINT64_ARRAY }, { "k", NATIVE_FLOAT64_ARRAY },
	{ "l", NATIVE_STRING_ARRAY } };

/* Two rows; of the arrays one is empty. */
#define E "\0\0\0\0\0\0\0"
static const char two_rows[] =
    "\x0c\x02"
    "\1a\5UInt8\x07\xff"
    "\1b\6UInt16\x34\x12\xff\xff"
    "\1c\6UInt32\x01\0\0\0\xff\xff\xff\xff"
    "\1d\6UInt64\x01" E "\xff\xff\xff\xff\xff\xff\xff\xff"
    "\1e\5Int32\xfe\xff\xff\xff\0\0\0\x80"
    "\1f\5Int64\xfe\xff\xff\xff\xff\xff\xff\xff" E "\x80"
    "\1g\7Float64" E "\x80\x23\x01\0\0\0\0\xf8\x7f"
    "\1h\6String\3a\0b\0"
    "\1i\x0c"
    "Array(UInt8)\2" E "\2" E "\x05\x06"
    "\1j\x0d"
    "Array(UInt64)\0" E "\1" E "\x09" E "\1k\x0e"
    "Array(Float64)\1" E "\1" E "\0\0\0\0\0\0\xf8\x3f"
    "\1l\x0d"
    "Array(String)\2" E "\3" E "\1x\0\2yz";

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void
assert_text(const struct native_reader *r, unsigned column, uint32_t i,
    struct text expected)
{
	assert_true(text_equal(native_read_text(r, column, i), expected));
}

static void
assert_array(const struct native_reader *r, unsigned column, uint32_t row,
    uint32_t expected_first, uint32_t expected)
{
	uint32_t first = 99;

	assert_int_equal(native_read_array(r, column, row, &first), expected);
	assert_int_equal(first, expected_first);
}

static void
assert_two_rows(const struct native_reader *r)
{
	assert_int_equal(native_read_rows(r), 2);
	assert_int_equal(native_read_uint(r, 0, 0), 7);
	assert_int_equal(native_read_uint(r, 0, 1), 255);
	assert_int_equal(native_read_uint(r, 1, 0), 0x1234);
	assert_int_equal(native_read_uint(r, 1, 1), UINT16_MAX);
	assert_int_equal(native_read_uint(r, 2, 0), 1);
	assert_int_equal(native_read_uint(r, 2, 1), UINT32_MAX);
	assert_int_equal(native_read_uint(r, 3, 0), 1);
	assert_true(native_read_uint(r, 3, 1) == UINT64_MAX);
	assert_int_equal(native_read_int(r, 4, 0), -2);
	assert_int_equal(native_read_int(r, 4, 1), INT32_MIN);
	assert_int_equal(native_read_int(r, 5, 0), -2);
	assert_true(native_read_int(r, 5, 1) == INT64_MIN);
	assert_true(bits_of(native_read_float(r, 6, 0)) == bits_of(-0.0));
	assert_true(bits_of(native_read_float(r, 6, 1)) ==
		    UINT64_C(0x7ff8000000000123));
	assert_text(r, 7, 0, TEXT("a\0b"));
	assert_text(r, 7, 1, TEXT(""));
	assert_array(r, 8, 0, 0, 2);
	assert_array(r, 8, 1, 2, 0);
	assert_int_equal(native_read_uint(r, 8, 0), 5);
	assert_int_equal(native_read_uint(r, 8, 1), 6);
	assert_array(r, 9, 0, 0, 0);
	assert_array(r, 9, 1, 0, 1);
	assert_int_equal(native_read_uint(r, 9, 0), 9);
	assert_array(r, 10, 0, 0, 1);
	assert_true(native_read_float(r, 10, 0) == 1.5);
	assert_array(r, 11, 0, 0, 2);
	assert_array(r, 11, 1, 2, 1);
	assert_text(r, 11, 0, TEXT("x"));
	assert_text(r, 11, 1, TEXT(""));
	assert_text(r, 11, 2, TEXT("yz"));
}

static void
every_type_is_read(void **state)
{
	struct native_reader *r =
	    native_read_open(everything, COUNT(everything));
	struct text piece = TEXT(two_rows);
	struct err err = { 0 };

	assert_int_equal(native_read_next(r, &piece, &err), 1);
	assert_two_rows(r);
	assert_int_equal(native_read_next(r, &piece, &err), 0);
	assert_int_equal(native_read_rows(r), 0);
	assert_int_equal(native_read_end(r, &err), 0);
	native_read_close(&r);
	assert_null(r);
}

static void
pieces_of_a_byte_give_the_same(void **state)
{
	struct native_reader *r =
	    native_read_open(everything, COUNT(everything));
	struct err err = { 0 };
	unsigned blocks = 0;

	for (int again = 0; again < 3; again++)
		for (size_t i = 0; i < sizeof(two_rows) - 1; i++) {
			struct text piece = { two_rows + i, 1 };

			while (native_read_next(r, &piece, &err) == 1) {
				assert_two_rows(r);
				assert_int_equal(i, sizeof(two_rows) - 2);
				blocks++;
			}
			assert_string_equal(err.text, "");
		}
	assert_int_equal(native_read_end(r, &err), 0);
	assert_int_equal(blocks, 3);
	native_read_close(&r);
}

static void
an_answer_cut_anywhere_is_not_whole(void **state)
{
	for (uint32_t cut = 1; cut < sizeof(two_rows) - 1; cut++) {
		struct native_reader *r =
		    native_read_open(everything, COUNT(everything));
		struct text piece = { two_rows, cut };
		struct err err = { 0 };

		assert_int_equal(native_read_next(r, &piece, &err), 0);
		assert_int_equal(piece.bytes, 0);
		assert_int_equal(native_read_end(r, &err), -1);
		assert_string_equal(
		    err.text, "the answer ends in the middle of a block");
		assert_int_equal(native_read_end(r, &err), -1);
		native_read_close(&r);
	}
}

static void
no_rows_are_no_bytes_or_blocks_without_rows(void **state)
{
	static const struct native_column columns[] = { { "n", NATIVE_UINT8 },
		{ "t", NATIVE_STRING_ARRAY } };
	struct native_reader *r = native_read_open(columns, 2);
	struct err err = { 0 };
	struct text nothing = TEXT(""), empty = TEXT("\0\0"),
		    named = TEXT("\2\0\1n\5UInt8\1t\x0d"
				 "Array(String)"
				 "\0\0"
				 "\2\1\1n\5UInt8\7\1t\x0d"
				 "Array(String)\0" E);

	assert_int_equal(native_read_next(r, &nothing, &err), 0);
	assert_int_equal(native_read_end(r, &err), 0);
	assert_int_equal(native_read_next(r, &empty, &err), 0);
	assert_int_equal(native_read_end(r, &err), 0);
	/* Blocks without rows, and then one with a row. */
	assert_int_equal(native_read_next(r, &named, &err), 1);
	assert_int_equal(native_read_uint(r, 0, 0), 7);
	assert_array(r, 1, 0, 0, 0);
	assert_int_equal(native_read_next(r, &named, &err), 0);
	assert_int_equal(native_read_end(r, &err), 0);
	native_read_close(&r);
}

/* An answer of a column of one type, and why it is refused. */
static const struct {
	enum native_type type;
	struct text answer;
	const char *sentence;
} wrong[] = {
	{ NATIVE_UINT8, TEXT("\2\1"),
	    "a block of the answer has 2 columns, not 1" },
	/* 1,048,450 is 63 * 16384 + 127 * 128 + 2 */
	{ NATIVE_UINT8, TEXT("\1\x82\xff\x3f"),
	    "a block of the answer has 1048450 rows, more than 1048449" },
	{ NATIVE_UINT8, TEXT("\0\1"),
	    "a block of the answer has rows without columns" },
	{ NATIVE_UINT8, TEXT("\1\1\1m\5UInt8\7"),
	    "column 1 of the answer is m, not n" },
	{ NATIVE_UINT8, TEXT("\1\1\3n\0m\5UInt8\7"),
	    "column 1 of the answer is n\\x00m, not n" },
	{ NATIVE_UINT8, TEXT("\1\1\1n\4Int8\7"),
	    "column n of the answer is of type Int8, not UInt8" },
	{ NATIVE_STRING,
	    TEXT("\1\1\1n\x16"
		 "LowCardinality(String)\1" E),
	    "column n of the answer is of type LowCardinality(String), not "
	    "String" },
	{ NATIVE_STRING, TEXT("\1\0\1n\x10Nullable(String)"),
	    "column n of the answer is of type Nullable(String), not String" },
	/* 4097 is 32 * 128 + 1 */
	{ NATIVE_UINT8, TEXT("\1\1\x81\x20"),
	    "the answer has a text of 4097 bytes, more than 4096" },
	/* 64 MiB and one byte */
	{ NATIVE_STRING, TEXT("\1\1\1n\6String\x81\x80\x80\x20"),
	    "the answer has a text of 67108865 bytes, more than 67108864" },
	{ NATIVE_UINT8, TEXT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
	    "the answer has a number above 2^64 - 1" },
	{ NATIVE_UINT8, TEXT("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"),
	    "the answer has a number above 2^64 - 1" },
	{ NATIVE_UINT8_ARRAY,
	    TEXT("\1\2\1n\x0c"
		 "Array(UInt8)\2" E "\1" E),
	    "column n of the answer has an array that ends before it begins" },
	/* 256 MiB and one element; then the same in bytes, 32 Mi elements. */
	{ NATIVE_UINT8_ARRAY,
	    TEXT("\1\1\1n\x0c"
		 "Array(UInt8)\1\0\0\x10\0\0\0\0"),
	    "a block of the answer has more than 268435456 bytes" },
	{ NATIVE_UINT64_ARRAY,
	    TEXT("\1\1\1n\x0d"
		 "Array(UInt64)\0\0\0\2\0\0\0\0"),
	    "a block of the answer has more than 268435456 bytes" },
	{ NATIVE_UINT64_ARRAY,
	    TEXT("\1\1\1n\x0d"
		 "Array(UInt64)\xff\xff\xff\xff\xff\xff\xff\xff"),
	    "a block of the answer has more than 268435456 bytes" },
	/* 2^61 + 1 elements have 8 bytes modulo 2^64. */
	{ NATIVE_UINT64_ARRAY,
	    TEXT("\1\1\1n\x0d"
		 "Array(UInt64)\1\0\0\0\0\0\0\x20"),
	    "a block of the answer has more than 268435456 bytes" },
	/* 64 Mi elements and one */
	{ NATIVE_STRING_ARRAY,
	    TEXT("\1\1\1n\x0d"
		 "Array(String)\1\0\0\4\0\0\0\0"),
	    "a block of the answer has more than 67108864 texts" },
};

/* As soon as the wrong byte is there, and for ever. */
static void
a_wrong_answer_is_refused_with_a_sentence(void **state)
{
	for (unsigned i = 0; i < COUNT(wrong); i++) {
		const struct native_column column = { "n", wrong[i].type };
		struct native_reader *r = native_read_open(&column, 1);
		struct text piece = wrong[i].answer, more = TEXT("\0\0");
		struct err err = { 0 };

		assert_int_equal(native_read_next(r, &piece, &err), -1);
		assert_string_equal(err.text, wrong[i].sentence);
		assert_int_equal(native_read_next(r, &more, &err), -1);
		assert_int_equal(native_read_end(r, &err), -1);
		assert_int_equal(native_read_rows(r), 0);
		native_read_close(&r);
	}
}

/* ---- any content, there and back ---- */

enum { ROUNDS = 200, PIECES_MAX = 200 };

/* Values in the order of rows and columns, from a seed: once put into a block,
 * once compared with what was read. */
struct content {
	uint64_t seed;
	struct native_block *block; /* NULL: compare */
	const struct native_reader *reader;
	char text[600];
};

static void
visit_value(
    struct content *c, unsigned column, enum native_type type, uint32_t i)
{
	uint64_t value = (uint64_t)check_int64(&c->seed);
	struct text text = { c->text, 0 };
	double number;

	switch (type) {
	case NATIVE_UINT8:
	case NATIVE_UINT8_ARRAY: value &= UINT8_MAX; break;
	case NATIVE_UINT16: value &= UINT16_MAX; break;
	case NATIVE_UINT32: value &= UINT32_MAX; break;
	case NATIVE_INT32:
		value = (uint64_t)(int64_t)(int32_t)value;
		/* fall through */
	case NATIVE_INT64:
		if (c->block)
			native_put_int(c->block, column, (int64_t)value);
		else
			assert_true(native_read_int(c->reader, column, i) ==
				    (int64_t)value);
		return;
	case NATIVE_FLOAT64:
	case NATIVE_FLOAT64_ARRAY:
		memcpy(&number, &value, sizeof(number));
		if (c->block)
			native_put_float(c->block, column, number);
		else
			assert_true(bits_of(native_read_float(
					c->reader, column, i)) == value);
		return;
	case NATIVE_STRING:
	case NATIVE_STRING_ARRAY:
		text.bytes = (uint32_t)(value % 20 ? value % 20
						   : value % sizeof(c->text));
		for (uint32_t k = 0; k < text.bytes; k++)
			c->text[k] = (char)check_random(&c->seed);
		if (c->block)
			native_put_text(c->block, column, text);
		else
			assert_text(c->reader, column, i, text);
		return;
	case NATIVE_UINT64:
	case NATIVE_UINT64_ARRAY: break;
	}
	if (c->block)
		native_put_uint(c->block, column, value);
	else
		assert_true(native_read_uint(c->reader, column, i) == value);
}

static void
visit_rows(struct content *c, const struct native_column *columns,
    unsigned count, uint32_t rows)
{
	for (uint32_t row = 0; row < rows; row++)
		for (unsigned i = 0; i < count; i++) {
			uint32_t elements, first = 0;

			if (columns[i].type < NATIVE_UINT8_ARRAY) {
				visit_value(c, i, columns[i].type, row);
				continue;
			}
			elements = (uint32_t)(check_random(&c->seed) % 5);
			if (c->reader)
				assert_int_equal(native_read_array(
						     c->reader, i, row, &first),
				    elements);
			for (uint32_t k = 0; k < elements; k++)
				visit_value(c, i, columns[i].type, first + k);
			if (c->block)
				native_end_array(c->block, i);
		}
}

/* Read two blocks in pieces of any size; compare each with its content. */
static void
read_pieces(const struct native_column *columns, unsigned count,
    struct text answer, const struct content contents[2],
    const uint32_t rows[2], uint64_t *seed)
{
	struct native_reader *r = native_read_open(columns, count);
	struct err err = { 0 };
	unsigned block = 0;

	while (answer.bytes > 0) {
		struct text piece = answer;
		int got;

		if (check_random(seed) % 4 > 0)
			piece.bytes =
			    (uint32_t)(1 + check_random(seed) % answer.bytes %
					       PIECES_MAX);
		answer.at += piece.bytes;
		answer.bytes -= piece.bytes;
		while ((got = native_read_next(r, &piece, &err)) == 1) {
			struct content content = contents[block];

			assert_int_equal(native_read_rows(r), rows[block]);
			content.block = NULL;
			content.reader = r;
			visit_rows(&content, columns, count, rows[block]);
			block++;
		}
		assert_int_equal(got, 0);
	}
	assert_int_equal(native_read_end(r, &err), 0);
	assert_int_equal(block, 2);
	native_read_close(&r);
}

static void
any_content_comes_back(void **state)
{
	uint64_t seed = check_seed();
	unsigned rounds = check_share(ROUNDS, 20);
	struct buffer bytes = { 0 };

	for (unsigned round = 0; round < rounds; round++) {
		struct native_column columns[COUNT(everything)];
		unsigned count =
		    1 + (unsigned)(check_random(&seed) % COUNT(columns));
		struct native_block *block;
		struct content contents[2] = { 0 };
		uint32_t rows[2];

		for (unsigned i = 0; i < count; i++)
			columns[i] =
			    everything[check_random(&seed) % COUNT(everything)];
		block = native_block_open(columns, count);
		bytes.bytes = 0;
		for (int i = 0; i < 2; i++) {
			struct content content;

			rows[i] = 1 + (uint32_t)(check_random(&seed) % 200);
			contents[i].seed = check_random(&seed);
			content = contents[i];
			content.block = block;
			visit_rows(&content, columns, count, rows[i]);
			native_encode(block, &bytes);
			native_reset(block);
		}
		read_pieces(
		    columns, count, buffer_text(&bytes), contents, rows, &seed);
		native_block_close(&block);
	}
	buffer_clear(&bytes);
}

static void
a_block_of_the_most_rows_is_read(void **state)
{
	const struct native_column column = { "n", NATIVE_UINT32 };
	struct native_block *block = native_block_open(&column, 1);
	struct native_reader *r = native_read_open(&column, 1);
	struct buffer bytes = { 0 };
	struct err err = { 0 };
	struct text piece;

	for (uint32_t i = 0; i < NATIVE_ROWS_MAX; i++)
		native_put_uint(block, 0, i);
	native_encode(block, &bytes);
	piece = buffer_text(&bytes);
	assert_int_equal(native_read_next(r, &piece, &err), 1);
	assert_int_equal(native_read_rows(r), NATIVE_ROWS_MAX);
	for (uint32_t i = 0; i < NATIVE_ROWS_MAX; i++)
		assert_int_equal(native_read_uint(r, 0, i), i);
	native_read_close(&r);
	native_block_close(&block);
	buffer_clear(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_read),
		cmocka_unit_test(pieces_of_a_byte_give_the_same),
		cmocka_unit_test(an_answer_cut_anywhere_is_not_whole),
		cmocka_unit_test(no_rows_are_no_bytes_or_blocks_without_rows),
		cmocka_unit_test(a_wrong_answer_is_refused_with_a_sentence),
		cmocka_unit_test(any_content_comes_back),
		cmocka_unit_test(a_block_of_the_most_rows_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
