/*
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/quantity.h"

#include <math.h>

#include "tests/unit/check.h"

static void
bytes_are_in_powers_of_1024(void **state)
{
	char text[QUANTITY_TEXT_BYTES];

	assert_string_equal(quantity_bytes(text, 0), "0 B");
	assert_string_equal(quantity_bytes(text, 999), "999 B");
	assert_string_equal(quantity_bytes(text, 1000), "1.0 KiB");
	assert_string_equal(quantity_bytes(text, 1536), "1.5 KiB");
	assert_string_equal(quantity_bytes(text, 1023 * 1024), "1.0 MiB");
	assert_string_equal(quantity_bytes(text, 4294967296), "4.0 GiB");
	assert_string_equal(quantity_bytes(text, 0x1p70), "1024.0 EiB");
}

static void
bytes_of_narrow_columns_have_three_digits_and_a_unit(void **state)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = { { 0, "0B" }, { 999, "999B" }, { 1000, "1.0KiB" },
		{ 9.94 * 1024, "9.9KiB" }, { 9.96 * 1024, "10KiB" },
		{ 999.4 * 1024, "999KiB" }, { 999.6 * 1024, "1.0MiB" },
		{ 999.96 * 1024, "1.0MiB" }, { 1.5 * 0x1p30, "1.5GiB" } };
	char text[QUANTITY_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(
		    quantity_bytes_short(text, cases[i].bytes), cases[i].text);
		assert_true(strlen(text) <= QUANTITY_SHORT_WIDTH);
	}
}

static void
sizes_of_a_column_have_the_unit_of_the_greatest(void **state)
{
	double scale;

	assert_string_equal(quantity_bytes_unit(999, &scale), "B");
	assert_true(scale == 1);
	assert_string_equal(quantity_bytes_unit(0x1p31, &scale), "GiB");
	assert_true(scale == 0x1p30);
	assert_string_equal(quantity_bytes_unit(INFINITY, &scale), "EiB");
}

static void
times_are_in_the_unit_of_their_size(void **state)
{
	char text[QUANTITY_TEXT_BYTES];

	assert_string_equal(quantity_time(text, 0), "0 s");
	assert_string_equal(quantity_time(text, 1), "1.00 ns");
	assert_string_equal(quantity_time(text, -29600), "-29.6 us");
	assert_string_equal(quantity_time(text, 999949), "999.9 us");
	assert_string_equal(quantity_time(text, 999951), "1.00 ms");
	assert_string_equal(quantity_time(text, 9.994e9), "9.99 s");
	assert_string_equal(quantity_time(text, 9.996e9), "10.0 s");
	assert_string_equal(quantity_time(text, 80.7e9), "80.7 s");
	assert_string_equal(quantity_time(text, 599.94e9), "599.9 s");
	assert_string_equal(quantity_time(text, 599.96e9), "10.0 min");
	assert_string_equal(quantity_time(text, -119.9 * 60e9), "-119.9 min");
	assert_string_equal(quantity_time(text, 119.96 * 60e9), "2.00 h");
	assert_string_equal(quantity_time(text, 36 * 3600e9), "36.0 h");
	assert_string_equal(quantity_time(text, 47.96 * 3600e9), "2.00 d");
}

/* 1508000063 is 2017-10-14T16:54:23Z (date -u -d @1508000063). */
static void
seconds_since_1970_are_a_day(void **state)
{
	char text[QUANTITY_TEXT_BYTES];

	assert_string_equal(
	    quantity_shown(text, QUANTITY_SECONDS, 1508000063.7), "2017-10-14");
	assert_string_equal(
	    quantity_shown(text, QUANTITY_SECONDS, 7e8), "8101.9 d");
	assert_string_equal(
	    quantity_shown(text, QUANTITY_SECONDS, 1e10), "115740.7 d");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_in_powers_of_1024),
		cmocka_unit_test(
		    bytes_of_narrow_columns_have_three_digits_and_a_unit),
		cmocka_unit_test(
		    sizes_of_a_column_have_the_unit_of_the_greatest),
		cmocka_unit_test(times_are_in_the_unit_of_their_size),
		cmocka_unit_test(seconds_since_1970_are_a_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
