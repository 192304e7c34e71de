/*
 * rle - bytes worked out by hand from Encodings.md, and read back by a decoder
 * that follows its grammar.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/rle.h"

#include "tests/unit/check.h"
#include "tests/unit/proto/answer/bytes.h"

#define PUT(width, ...)                                                        \
	rle_put(&made, (const uint32_t[]){ __VA_ARGS__ },                      \
	    sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),      \
	    width)

enum { MANY = 400 };

static void
a_width_is_that_of_the_greatest(void **state)
{
	assert_int_equal(rle_width(0), 0);
	assert_int_equal(rle_width(1), 1);
	assert_int_equal(rle_width(2), 2);
	assert_int_equal(rle_width(255), 8);
	assert_int_equal(rle_width(256), 9);
	assert_int_equal(rle_width(UINT32_MAX), 32);
}

/* The example of Encodings.md: 0 to 7 of 3 bits are 0x88C6FA. */
static void
different_numbers_are_packed_from_the_low_bit(void **state)
{
	struct buffer made = { 0 };

	PUT(3, 0, 1, 2, 3, 4, 5, 6, 7);
	IS(0x03, 0x88, 0xC6, 0xFA);
	PUT(20, 0xABCDE, 0x12345, 0xABCDE, 0x12345, 0xABCDE, 0x12345, 0xABCDE,
	    0x12345);
	IS(0x03, 0xDE, 0xBC, 0x5A, 0x34, 0x12, 0xDE, 0xBC, 0x5A, 0x34, 0x12,
	    0xDE, 0xBC, 0x5A, 0x34, 0x12, 0xDE, 0xBC, 0x5A, 0x34, 0x12);
	PUT(1, 1);
	IS(0x03, 0x01);
	PUT(3, 5, 6, 5, 6, 5, 6, 5, 6, 7); /* two eights */
	IS(0x05, 0x75, 0x5D, 0xD7, 0x07, 0x00, 0x00);
}

static void
equal_numbers_are_a_run(void **state)
{
	struct buffer made = { 0 };
	uint32_t numbers[100];

	for (int i = 0; i < 100; i++)
		numbers[i] = 4;
	rle_put(&made, numbers, 100, 3);
	IS(0xC8, 0x01, 0x04);
	rle_put(&made, numbers, 8, 3);
	IS(0x10, 0x04);
	rle_put(&made, numbers, 7, 3); /* 001 001 001 .. from the right */
	IS(0x03, 0x24, 0x49, 0x12);
	for (int i = 0; i < 100; i++)
		numbers[i] = 0x102;
	rle_put(&made, numbers, 9, 9);
	IS(0x12, 0x02, 0x01);
	memset(numbers, 0, sizeof(numbers));
	rle_put(&made, numbers, 100, 0);
	IS(0xC8, 0x01);
	rle_put(&made, numbers, 0, 4);
	assert_int_equal(made.bytes, 0);
	buffer_clear(&made);
}

/* Packed numbers come in eights, so a run gives the last ones of them. */
static void
a_run_fills_the_eight_before_it(void **state)
{
	struct buffer made = { 0 };
	uint32_t numbers[26] = { 1, 0, 0 };

	for (int i = 3; i < 23; i++)
		numbers[i] = 1;
	rle_put(&made, numbers, 23, 1);
	IS(0x03, 0xF9, 0x1E, 0x01);
	rle_put(&made, numbers, 15, 1); /* seven would be left */
	IS(0x05, 0xF9, 0x7F);
	rle_put(&made, numbers, 16, 1); /* eight are */
	IS(0x03, 0xF9, 0x10, 0x01);
	rle_put(&made, numbers, 26, 1); /* and what follows the run */
	IS(0x03, 0xF9, 0x1E, 0x01, 0x03, 0x00);
}

static void
levels_are_bits(void **state)
{
	static const unsigned char bits[] = { 0xFF, 0x02 };
	struct buffer made = { 0 };

	rle_put_same(&made, true, 5);
	IS(0x0A, 0x01);
	rle_put_same(&made, false, 64);
	IS(0x80, 0x01, 0x00);
	rle_put_bits(&made, bits, 10);
	IS(0x05, 0xFF, 0x02);
	rle_put_bits(&made, bits, 8);
	IS(0x03, 0xFF);
}

static uint64_t
get_varint(const unsigned char **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**at & 0x7F) << shift, shift += 7;
	while (*(*at)++ & 0x80);
	return value;
}

/* Bit by bit. */
static void
judge(const struct buffer *made, const uint32_t *numbers, uint32_t count,
    unsigned width)
{
	const unsigned char *at = made->at, *end = at + made->bytes;
	uint32_t row = 0;

	while (at < end) {
		uint64_t header = get_varint(&at), i = 0;
		uint64_t length = header & 1 ? header / 2 * 8 : header / 2;

		assert_true(row < count);
		for (; i < length; i++) {
			uint64_t from = header & 1 ? i * width : 0;
			uint32_t got = 0;

			for (unsigned b = 0; b < width; b++)
				got |= (uint32_t)(at[(from + b) / 8] >>
						      (from + b) % 8 &
						  1)
				       << b;
			assert_int_equal(got, row < count ? numbers[row] : 0);
			row++;
		}
		assert_true(row < count + 8);
		at += header & 1 ? header / 2 * width : (width + 7) / 8;
	}
	assert_true(row >= count);
	assert_ptr_equal(at, end);
}

static void
runs_of_all_lengths_are_read_back(void **state)
{
	uint64_t seed = check_seed();
	uint32_t numbers[MANY];

	for (int round = 0; round < 2000; round++) {
		unsigned width = 1 + (unsigned)check_random(&seed) % 32;
		uint32_t count = 1 + (uint32_t)check_random(&seed) % MANY;
		struct buffer made = { 0 };

		for (uint32_t i = 0; i < count;) {
			uint32_t number =
			    (uint32_t)(check_random(&seed) >> (64 - width));
			uint32_t run = check_random(&seed) % 4 == 0
					   ? (uint32_t)check_random(&seed) % 40
					   : 1;

			for (; run > 0 && i < count; run--)
				numbers[i++] = number;
		}
		rle_put(&made, numbers, count, width);
		judge(&made, numbers, count, width);
		buffer_clear(&made);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_width_is_that_of_the_greatest),
		cmocka_unit_test(different_numbers_are_packed_from_the_low_bit),
		cmocka_unit_test(equal_numbers_are_a_run),
		cmocka_unit_test(a_run_fills_the_eight_before_it),
		cmocka_unit_test(levels_are_bits),
		cmocka_unit_test(runs_of_all_lengths_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
