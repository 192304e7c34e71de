/*
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/quantity.h"

#include "tests/unit/check.h"

static void
bytes_are_in_powers_of_1000(void **state)
{
	char text[QUANTITY_TEXT_BYTES];

	(void)state;
	assert_string_equal(quantity_bytes(text, 0), "0 B");
	assert_string_equal(quantity_bytes(text, 999), "999 B");
	assert_string_equal(quantity_bytes(text, 1000), "1.0 kB");
	assert_string_equal(quantity_bytes(text, 4294967296), "4.3 GB");
	assert_string_equal(quantity_bytes(text, 2e18), "2000.0 PB");
}

static void
times_are_in_the_greatest_unit_that_they_fill(void **state)
{
	char text[QUANTITY_TEXT_BYTES];

	(void)state;
	assert_string_equal(quantity_time(text, 0), "0.0 s");
	assert_string_equal(quantity_time(text, 1), "1.0 ns");
	assert_string_equal(quantity_time(text, -29600), "-29.6 us");
	assert_string_equal(quantity_time(text, 59.9e9), "59.9 s");
	assert_string_equal(quantity_time(text, 60e9), "1.0 min");
	assert_string_equal(quantity_time(text, 36 * 3600e9), "1.5 d");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_in_powers_of_1000),
		cmocka_unit_test(times_are_in_the_greatest_unit_that_they_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
