/*
 * number_decimal - the fast way writes what the slow one writes.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/number.h"

#include "tests/unit/check.h"

static void
assert_same(double value)
{
	char fast[NUMBER_BYTES], slow[NUMBER_BYTES];

	assert_int_equal(number_decimal(fast, value), number_repr(slow, value));
	assert_string_equal(fast, slow);
}

static void
edges_are_written_the_same(void **state)
{
	static const double edges[] = { 0, 1, 30, 0.1, 1e-4, 9.9999e-5,
		0.00010000000000000002, 1e9, 999999999.999999, 1e9 - 1e-7,
		0.000001, 0.1 + 0.2, 1508000063.695798, 1e15, 1e16, 123456,
		100.000001, 0.5, 5e-324, 1.7976931348623157e308, 45.985596,
		45.9855960000001, 0.9999995, 0.99999949999 };

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		assert_same(edges[i]);
		assert_same(-edges[i]);
	}
	assert_same(1 / 0.0);
	assert_same(-1 / 0.0);
}

static void
random_numbers_are_written_the_same(void **state)
{
	uint64_t random = check_seed();

	(void)state;
	for (unsigned i = check_share(300000, 10000); i > 0; i--) {
		uint64_t bits = check_random(&random);
		double value = (double)(bits % 1000000000) / 1e6;

		if (i % 4 == 1)
			value = (double)(bits >> 10) / 1e6;
		if (i % 4 == 2)
			value += 1e-9 * (double)(bits >> 60);
		if (i % 4 == 3)
			memcpy(&value, &bits, sizeof(value));
		if (value == value)
			assert_same(value);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_written_the_same),
		cmocka_unit_test(random_numbers_are_written_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
