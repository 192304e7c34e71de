/*
 * parquet - the bytes of small files, worked out by hand from parquet.thrift.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/parquet.h"

#include <zstd.h>

#include "tests/unit/check.h"

enum { ROOM = 4096 };

/* A file of one group of one column, and how far it is read. */
struct made {
	char *file;
	size_t bytes, at;
	unsigned char page[ROOM];
	size_t page_bytes;
};

static void
make(struct made *made, struct frame_column *column)
{
	FILE *file = open_memstream(&made->file, &made->bytes);
	struct parquet *parquet = parquet_new(file);

	parquet_put_group(parquet, column, 1, column->rows);
	parquet_put_end(parquet, column, 1, text_of("{}"));
	parquet_free(&parquet);
	assert_int_equal(fclose(file), 0);
	frame_clear(column);
	made->at = 0;
}

static void
next_is(struct made *made, const void *wanted, size_t bytes)
{
	assert_true(made->bytes - made->at >= bytes);
	assert_memory_equal(made->file + made->at, wanted, bytes);
	made->at += bytes;
}

#define BYTES(...)                                                             \
	(const unsigned char[]){ __VA_ARGS__ },                                \
	    sizeof((const unsigned char[]){ __VA_ARGS__ })
#define NEXT(made, ...)    next_is(made, BYTES(__VA_ARGS__))
#define PAGE_IS(made, ...) page_is(made, BYTES(__VA_ARGS__))

static uint64_t
next_varint(struct made *made)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)made->file[made->at++];
		value |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* The header up to the sizes, of which the second is zstd's business. */
static size_t
next_sizes(struct made *made, unsigned char type, size_t bytes)
{
	NEXT(made, 0x15, type, 0x15);
	assert_int_equal(next_varint(made), 2 * bytes);
	NEXT(made, 0x15);
	return next_varint(made) / 2;
}

static void
next_page(struct made *made, size_t packed)
{
	size_t got =
	    ZSTD_decompress(made->page, ROOM, made->file + made->at, packed);

	assert_false(ZSTD_isError(got));
	made->page_bytes = got;
	made->at += packed;
}

static void
page_is(const struct made *made, const unsigned char *wanted, size_t bytes)
{
	assert_int_equal(made->page_bytes, bytes);
	assert_memory_equal(made->page, wanted, bytes);
}

/* 1, unknown, -2: levels are bits, and only what is known has a value. */
static void
unknown_numbers_have_no_value(void **state)
{
	struct frame_column column;
	struct made made;
	size_t packed;

	frame_init(&column, "x", NULL, FRAME_TIME);
	frame_add_number(&column, 1);
	frame_add_unknown(&column);
	frame_add_number(&column, (uint64_t)-2);
	make(&made, &column);
	next_is(&made, "PAR1", 4);
	packed = next_sizes(&made, 0x00, 22);
	/* DataPageHeader: 3 values, PLAIN, levels RLE and RLE. */
	NEXT(&made, 0x2C, 0x15, 0x06, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00,
	    0x00);
	next_page(&made, packed);
	PAGE_IS(&made, 2, 0, 0, 0, 0x03, 0x05, 1, 0, 0, 0, 0, 0, 0, 0, 0xFE,
	    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF);
	/* FileMetaData: version 2, the root with a child, x: INT64, OPTIONAL,
	 * LogicalType.TIMESTAMP of UTC and NANOS. */
	NEXT(&made, 0x15, 0x04, 0x19, 0x2C);
	NEXT(&made, 0x48, 0x06, 's', 'c', 'h', 'e', 'm', 'a', 0x15, 0x02, 0x00);
	NEXT(&made, 0x15, 0x04, 0x25, 0x02, 0x18, 0x01, 'x');
	NEXT(&made, 0x6C, 0x8C, 0x11, 0x1C, 0x3C, 0x00, 0x00, 0x00, 0x00, 0x00);
	/* 3 rows in a group with a chunk: file_offset 0; INT64, PLAIN and RLE,
	 * x, ZSTD, 3 values. */
	NEXT(&made, 0x16, 0x06, 0x19, 0x1C, 0x19, 0x1C, 0x26, 0x00, 0x1C);
	NEXT(&made, 0x15, 0x04, 0x19, 0x25, 0x00, 0x06, 0x19, 0x18, 0x01, 'x',
	    0x15, 0x0C, 0x16, 0x06);
	/* Sizes with the header of 17 bytes, where the page is. */
	NEXT(&made, 0x16, 2 * (17 + 22), 0x16);
	assert_int_equal(next_varint(&made), 2 * (17 + packed));
	NEXT(&made, 0x26, 8);
	/* Statistics: one is unknown; 1 is the greatest, -2 the least. */
	NEXT(&made, 0x3C, 0x36, 0x02, 0x28, 8, 1, 0, 0, 0, 0, 0, 0, 0);
	NEXT(&made, 0x18, 8, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
	    0x00, 0x00, 0x00);
	/* The group: its bytes, 3 rows, where it is, its bytes packed. */
	NEXT(&made, 0x16, 2 * (17 + 22), 0x16, 0x06, 0x26, 8, 0x16);
	assert_int_equal(next_varint(&made), 2 * (17 + packed));
	NEXT(&made, 0x00, 0x19, 0x2C, 0x18, 9);
	next_is(&made,
	    "poolscope\x18\x02{}\0\x18\x0C"
	    "ARROW:schema\x18",
	    29);
	made.at += next_varint(&made);
	NEXT(&made, 0x00, 0x18);
	made.at += next_varint(&made);
	/* ColumnOrder.TYPE_ORDER; the end, how long it is, and the mark. */
	NEXT(&made, 0x19, 0x1C, 0x1C, 0x00, 0x00, 0x00);
	NEXT(&made, (unsigned char)(made.at - 4 - 17 - packed),
	    (unsigned char)((made.at - 4 - 17 - packed) >> 8), 0, 0);
	next_is(&made, "PAR1", 4);
	assert_int_equal(made.at, made.bytes);
	free(made.file);
}

/* a, b, unknown, a, a, b: of five values two are different. */
static void
texts_that_repeat_have_a_dictionary(void **state)
{
	static const char *const texts[] = { "a", "bc", NULL, "a", "a", "bc" };

	for (int i = 0; i < 2; i++) {
		struct frame_column column;
		struct made made;
		size_t packed;

		frame_init(&column, "x", NULL, i ? FRAME_TEXT : FRAME_NAMES);
		for (int k = 0; k < 6; k++)
			if (texts[k] != NULL)
				frame_add_text(&column, text_of(texts[k]));
			else
				frame_add_unknown(&column);
		make(&made, &column);
		next_is(&made, "PAR1", 4);
		packed = next_sizes(&made, 0x04, 11);
		/* DictionaryPageHeader: 2 values, PLAIN. */
		NEXT(&made, 0x4C, 0x15, 0x04, 0x15, 0x00, 0x00, 0x00);
		next_page(&made, packed);
		PAGE_IS(&made, 1, 0, 0, 0, 'a', 2, 0, 0, 0, 'b', 'c');
		packed = next_sizes(&made, 0x00, 9);
		/* 6 values, RLE_DICTIONARY. */
		NEXT(&made, 0x2C, 0x15, 0x0C, 0x15, 0x10, 0x15, 0x06, 0x15,
		    0x06, 0x00, 0x00);
		next_page(&made, packed);
		/* Levels 111011, of one bit 0 1 0 0 1, from the right. */
		PAGE_IS(&made, 2, 0, 0, 0, 0x03, 0x3B, 1, 0x03, 0x12);
		free(made.file);
	}
}

/* Of the second group only c is a text. */
static void
a_dictionary_is_of_its_chunk(void **state)
{
	struct made made = { .at = 4 };
	FILE *file = open_memstream(&made.file, &made.bytes);
	struct parquet *parquet = parquet_new(file);
	struct frame_column column;
	size_t packed;

	frame_init(&column, "x", NULL, FRAME_TEXT);
	for (int group = 0; group < 2; group++) {
		frame_forget_rows(&column);
		for (int i = 0; i < 8; i++)
			frame_add_text(&column, text_of(group   ? "c"
							: i % 2 ? "b"
								: "a"));
		parquet_put_group(parquet, &column, 1, 8);
	}
	parquet_free(&parquet);
	frame_clear(&column);
	assert_int_equal(fclose(file), 0);
	for (int group = 0; group < 2; group++) {
		packed = next_sizes(&made, 0x04, group ? 5 : 10);
		made.at += 7;
		next_page(&made, packed);
		assert_int_equal(made.page[4], group ? 'c' : 'a');
		/* The levels, a width, and eights of bits or a run. */
		packed = next_sizes(&made, 0x00, 9 - (unsigned)group);
		made.at += 11 + packed;
	}
	assert_int_equal(made.at, made.bytes);
	free(made.file);
}

static void
texts_that_differ_have_none(void **state)
{
	struct frame_column column;
	struct made made;
	size_t packed;

	frame_init(&column, "x", NULL, FRAME_NAMES);
	frame_add_text(&column, text_of("a"));
	frame_add_text(&column, text_of("\xFF"));
	frame_add_text(&column, text_of(""));
	make(&made, &column);
	next_is(&made, "PAR1", 4);
	packed = next_sizes(&made, 0x00, 20);
	NEXT(&made, 0x2C, 0x15, 0x06, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x00,
	    0x00);
	next_page(&made, packed);
	/* All are known: a run of 3 ones. */
	PAGE_IS(&made, 2, 0, 0, 0, 0x06, 0x01, 1, 0, 0, 0, 'a', 1, 0, 0, 0, '?',
	    0, 0, 0, 0);
	free(made.file);
}

static void
flags_are_bits(void **state)
{
	struct frame_column column;
	struct made made;
	size_t packed;

	frame_init(&column, "x", NULL, FRAME_BOOL);
	for (int i = 0; i < 11; i++)
		if (i == 1 || i == 2)
			frame_add_unknown(&column);
		else
			frame_add_bool(&column, i % 3 == 0);
	make(&made, &column);
	next_is(&made, "PAR1", 4);
	packed = next_sizes(&made, 0x00, 9);
	made.at += 11;
	next_page(&made, packed);
	/* Known are 0 and 3 to 10, of which 0, 3, 6 and 9 are true. */
	PAGE_IS(&made, 3, 0, 0, 0, 0x05, 0xF9, 0x07, 0x93, 0x00);
	free(made.file);
}

/* Forgetting the rows keeps numbers; forgetting the names gives new ones. */
static void
a_frame_is_used_again(void **state)
{
	struct frame_column column;

	frame_init(&column, "x", NULL, FRAME_NAMES);
	for (int i = 0; i < 9; i++)
		frame_add_text(&column, text_of("abc" + i % 3));
	assert_int_equal(column.names.count, 3);
	assert_int_equal(column.known.bytes, 0);
	frame_forget_rows(&column);
	frame_add_text(&column, text_of("c"));
	assert_int_equal(*(uint32_t *)(void *)column.values.at, 2);
	frame_add_unknown(&column);
	assert_int_equal(column.unknown, 1);
	assert_int_equal(column.known.at[0], 1);
	frame_forget_rows(&column);
	frame_forget_names(&column);
	for (int i = 2; i >= 0; i--)
		frame_add_text(&column, text_of("abc" + i));
	assert_int_equal(column.names.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(((uint32_t *)(void *)column.values.at)[i], i);
	assert_true(frame_is_known(&column, 2));
	frame_clear(&column);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_numbers_have_no_value),
		cmocka_unit_test(texts_that_repeat_have_a_dictionary),
		cmocka_unit_test(a_dictionary_is_of_its_chunk),
		cmocka_unit_test(texts_that_differ_have_none),
		cmocka_unit_test(flags_are_bits),
		cmocka_unit_test(a_frame_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
