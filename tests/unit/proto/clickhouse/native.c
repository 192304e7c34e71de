/*
 * native - blocks of ClickHouse's format Native; every byte worked out by hand
 * from the format's description, nothing taken from what the writer wrote.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/native.h"

#include "tests/unit/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct buffer bytes;

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))

/* The block is these bytes, and was announced to have as many. */
static void
assert_block(struct native_block *block, const char *expected, size_t count)
{
	bytes.bytes = 0;
	assert_int_equal(native_bytes(block), count);
	native_encode(block, &bytes);
	assert_int_equal(bytes.bytes, count);
	assert_memory_equal(bytes.at, expected, count);
}

#define ASSERT_BLOCK(block, literal)                                           \
	assert_block(block, literal, sizeof(literal) - 1)

static void
a_block_has_its_columns_one_after_the_other(void **state)
{
	const struct native_column columns[] = { { "n", NATIVE_UINT8 },
		{ "text", NATIVE_STRING } };
	struct native_block *block = native_block_open(columns, 2);

	native_put_uint(block, 0, 7);
	native_put_text(block, 1, text_of("hi"));
	native_put_uint(block, 0, 255);
	native_put_text(block, 1, (struct text){ NULL, 0 });
	ASSERT_BLOCK(block, "\x02\x02"
			    "\x01n\x05UInt8\x07\xff"
			    "\x04text\x06String\x02hi\0");
	native_block_close(&block);
	assert_null(block);
}

static void
numbers_are_little_endian(void **state)
{
	const struct native_column columns[] = { { "a", NATIVE_UINT16 },
		{ "b", NATIVE_UINT32 }, { "c", NATIVE_UINT64 },
		{ "d", NATIVE_INT32 }, { "e", NATIVE_INT64 } };
	struct native_block *block = native_block_open(columns, COUNT(columns));

	native_put_uint(block, 0, 0x1234);
	native_put_uint(block, 1, 0xfedcba98);
	native_put_uint(block, 2, UINT64_C(0x8877665544332211));
	native_put_int(block, 3, -2);
	native_put_int(block, 4, INT64_MIN);
	ASSERT_BLOCK(block, "\x05\x01"
			    "\x01"
			    "a\x06UInt16\x34\x12"
			    "\x01"
			    "b\x06UInt32\x98\xba\xdc\xfe"
			    "\x01"
			    "c\x06UInt64\x11\x22\x33\x44\x55\x66\x77\x88"
			    "\x01"
			    "d\x05Int32\xfe\xff\xff\xff"
			    "\x01"
			    "e\x05Int64\0\0\0\0\0\0\0\x80");
	native_block_close(&block);
}

static double
double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void
floats_keep_every_bit(void **state)
{
	const struct native_column columns[] = { { "f", NATIVE_FLOAT64 } };
	struct native_block *block = native_block_open(columns, 1);

	native_put_float(block, 0, 1.5);
	native_put_float(block, 0, -0.0);
	/* A quiet NaN and a signaling one, with payloads. */
	native_put_float(block, 0, double_of(UINT64_C(0x7ff8000000000123)));
	native_put_float(block, 0, double_of(UINT64_C(0xfff0000000000001)));
	ASSERT_BLOCK(block, "\x01\x04\x01"
			    "f\x07"
			    "Float64"
			    "\0\0\0\0\0\0\xf8\x3f"
			    "\0\0\0\0\0\0\0\x80"
			    "\x23\x01\0\0\0\0\xf8\x7f"
			    "\x01\0\0\0\0\0\xf0\xff");
	native_block_close(&block);
}

static void
an_array_column_has_where_arrays_end_and_then_all_elements(void **state)
{
	const struct native_column columns[] = { { "n", NATIVE_UINT64_ARRAY },
		{ "s", NATIVE_STRING_ARRAY }, { "u", NATIVE_UINT8_ARRAY },
		{ "f", NATIVE_FLOAT64_ARRAY } };
	struct native_block *block = native_block_open(columns, COUNT(columns));

	/* [1, 258], [], [3] */
	native_put_uint(block, 0, 1);
	native_put_uint(block, 0, 258);
	native_end_array(block, 0);
	native_end_array(block, 0);
	native_put_uint(block, 0, 3);
	native_end_array(block, 0);
	/* [], [x, ''], [yz] */
	native_end_array(block, 1);
	native_put_text(block, 1, text_of("x"));
	native_put_text(block, 1, text_of(""));
	native_end_array(block, 1);
	native_put_text(block, 1, text_of("yz"));
	native_end_array(block, 1);
	/* [9], [], [] and [], [], [-2] */
	native_put_uint(block, 2, 9);
	for (int row = 0; row < 3; row++)
		native_end_array(block, 2);
	native_end_array(block, 3);
	native_end_array(block, 3);
	native_put_float(block, 3, -2);
	native_end_array(block, 3);
	ASSERT_BLOCK(block, "\x04\x03"
			    "\x01n\x0d"
			    "Array(UInt64)"
			    "\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
			    "\1\0\0\0\0\0\0\0\2\1\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
			    "\x01s\x0d"
			    "Array(String)"
			    "\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0"
			    "\1x\0\2yz"
			    "\x01u\x0c"
			    "Array(UInt8)"
			    "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
			    "\x09"
			    "\x01"
			    "f\x0e"
			    "Array(Float64)"
			    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
			    "\0\0\0\0\0\0\0\xc0");
	native_block_close(&block);
}

static void
lengths_from_128_on_have_two_bytes(void **state)
{
	const struct native_column columns[] = { { "t", NATIVE_STRING } };
	struct native_block *block = native_block_open(columns, 1);
	char text[300], expected[2 + 1 + 2 + 7 + 2 + 300 + 299];

	memset(text, 'x', sizeof(text));
	native_put_text(block, 0, (struct text){ text, sizeof(text) });
	for (int row = 1; row < 300; row++)
		native_put_text(block, 0, text_of(""));
	/* 300 is 2 * 128 + 44, of rows and of bytes. */
	memset(expected, 0, sizeof(expected));
	memcpy(expected, "\x01\xac\x02\x01t\x06String\xac\x02", 14);
	memset(expected + 14, 'x', 300);
	assert_block(block, expected, sizeof(expected));
	native_block_close(&block);
}

static void
a_row_counts_when_every_column_has_its_value(void **state)
{
	const struct native_column columns[] = { { "n", NATIVE_UINT64 },
		{ "a", NATIVE_STRING_ARRAY } };
	struct native_block *block = native_block_open(columns, 2);

	assert_int_equal(native_rows(block), 0);
	native_put_uint(block, 0, 1);
	native_put_text(block, 1, text_of("x"));
	assert_int_equal(native_rows(block), 0);
	native_end_array(block, 1);
	assert_int_equal(native_rows(block), 1);
	native_end_array(block, 1);
	assert_int_equal(native_rows(block), 1);
	native_put_uint(block, 0, 2);
	assert_int_equal(native_rows(block), 2);
	native_block_close(&block);
}

static void
a_reset_block_is_as_new(void **state)
{
	const struct native_column columns[] = { { "n", NATIVE_UINT8 },
		{ "a", NATIVE_UINT8_ARRAY } };
	struct native_block *block = native_block_open(columns, 2);

	for (int row = 0; row < 200; row++) {
		native_put_uint(block, 0, (uint64_t)row);
		native_put_uint(block, 1, 1);
		native_end_array(block, 1);
	}
	native_reset(block);
	assert_int_equal(native_rows(block), 0);
	ASSERT_BLOCK(block, "\x02\0\1n\x05UInt8\x01"
			    "a\x0c"
			    "Array(UInt8)");
	native_put_uint(block, 0, 8);
	native_put_uint(block, 1, 5);
	native_end_array(block, 1);
	ASSERT_BLOCK(block, "\x02\1\1n\x05UInt8\x08\x01"
			    "a\x0c"
			    "Array(UInt8)"
			    "\1\0\0\0\0\0\0\0\5");
	native_block_close(&block);
}

static void
blocks_are_appended(void **state)
{
	const struct native_column columns[] = { { "n", NATIVE_UINT8 } };
	struct native_block *block = native_block_open(columns, 1);

	bytes.bytes = 0;
	buffer_put(&bytes, "before", 6);
	native_put_uint(block, 0, 3);
	native_encode(block, &bytes);
	native_encode(block, &bytes);
	assert_int_equal(bytes.bytes, 6 + 2 * 11);
	assert_memory_equal(
	    bytes.at, "before\1\1\1n\5UInt8\3\1\1\1n\5UInt8\3", bytes.bytes);
	native_block_close(&block);
}

/* ---- bugs of the caller ---- */

static void
put_a_text_as_number(struct native_block *block)
{
	native_put_uint(block, 1, 7);
}

static void
put_too_large_a_number(struct native_block *block)
{
	native_put_uint(block, 0, 256);
}

static void
put_beyond_the_columns(struct native_block *block)
{
	native_put_uint(block, 3, 7);
}

static void
end_what_is_no_array(struct native_block *block)
{
	native_end_array(block, 1);
}

static void
encode_half_a_row(struct native_block *block)
{
	native_put_uint(block, 0, 7);
	native_encode(block, &bytes);
}

static void
encode_an_open_array(struct native_block *block)
{
	native_put_uint(block, 2, 7);
	native_encode(block, &bytes);
}

static void
encode_too_many_rows(struct native_block *block)
{
	for (uint32_t row = 0; row <= NATIVE_ROWS_MAX; row++) {
		native_put_uint(block, 0, 7);
		native_put_text(block, 1, text_of(""));
		native_end_array(block, 2);
	}
	native_encode(block, &bytes);
}

static void
a_wrong_call_ends_the_process(void **state)
{
	static void (*const calls[])(struct native_block *) = {
		put_a_text_as_number,
		put_too_large_a_number,
		put_beyond_the_columns,
		end_what_is_no_array,
		encode_half_a_row,
		encode_an_open_array,
		encode_too_many_rows,
	};
	const struct native_column columns[] = { { "n", NATIVE_UINT8 },
		{ "t", NATIVE_STRING }, { "a", NATIVE_UINT8_ARRAY } };

	for (unsigned i = 0; i < COUNT(calls); i++) {
		struct native_block *block = native_block_open(columns, 3);
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			const struct rlimit none = { 0, 0 };

			signal(SIGABRT, SIG_DFL);
			setrlimit(RLIMIT_CORE, &none);
			close(STDERR_FILENO);
			calls[i](block);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		native_block_close(&block);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_has_its_columns_one_after_the_other),
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(floats_keep_every_bit),
		cmocka_unit_test(
		    an_array_column_has_where_arrays_end_and_then_all_elements),
		cmocka_unit_test(lengths_from_128_on_have_two_bytes),
		cmocka_unit_test(a_row_counts_when_every_column_has_its_value),
		cmocka_unit_test(a_reset_block_is_as_new),
		cmocka_unit_test(blocks_are_appended),
		cmocka_unit_test(a_wrong_call_ends_the_process),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buffer_clear(&bytes);
	return failed;
}
