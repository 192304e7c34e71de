/*
 * Sums that are sent as differences.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/deltas.h"

#include "tests/unit/check.h"

static int64_t
add(struct otlp_deltas *deltas, const char *series, bool first, int64_t more)
{
	struct value value = { .type = VALUE_INT, .is.i = more };

	assert_true(otlp_deltas_add(deltas, text_of(series), first, &value));
	assert_int_equal(value.type, VALUE_INT);
	return value.is.i;
}

static void
differences_are_added_up_for_each_series(void **state)
{
	struct otlp_deltas *deltas;

	otlp_deltas_new(&deltas);
	assert_int_equal(add(deltas, "a", true, 5), 5);
	assert_int_equal(add(deltas, "b", true, 1), 1);
	assert_int_equal(add(deltas, "a", true, -2), 3);
	otlp_deltas_free(&deltas);
}

static void
a_request_that_comes_again_adds_nothing(void **state)
{
	const unsigned char one[RECORD_ID_BYTES] = { 1 };
	const unsigned char two[RECORD_ID_BYTES] = { 2 };
	struct otlp_deltas *deltas;

	otlp_deltas_new(&deltas);
	assert_true(otlp_deltas_begin(deltas, one));
	assert_int_equal(add(deltas, "a", true, 5), 5);
	assert_false(otlp_deltas_begin(deltas, one));
	assert_int_equal(add(deltas, "a", false, 5), 5);
	assert_true(otlp_deltas_begin(deltas, two));
	assert_int_equal(add(deltas, "a", true, 7), 12);
	otlp_deltas_free(&deltas);
}

static void
one_series_too_many_is_refused_and_the_others_go_on(void **state)
{
	struct value value = { .type = VALUE_INT, .is.i = 1 };
	struct otlp_deltas *deltas;
	char name[16];

	otlp_deltas_new(&deltas);
	for (int i = 0; i < OTLP_DELTAS_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(add(deltas, name, true, i), i);
	}
	assert_false(otlp_deltas_add(deltas, text_of("more"), true, &value));
	assert_int_equal(add(deltas, "s7", true, 1), 8);
	otlp_deltas_free(&deltas);
}

static void
a_sum_beyond_64_bits_becomes_a_float(void **state)
{
	struct value value = { .type = VALUE_INT, .is.i = INT64_MAX };
	struct otlp_deltas *deltas;

	otlp_deltas_new(&deltas);
	assert_int_equal(add(deltas, "a", true, INT64_MAX), INT64_MAX);
	assert_true(otlp_deltas_add(deltas, text_of("a"), true, &value));
	assert_int_equal(value.type, VALUE_FLOAT);
	assert_true(value.is.f == 0x1p64);
	otlp_deltas_free(&deltas);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_added_up_for_each_series),
		cmocka_unit_test(a_request_that_comes_again_adds_nothing),
		cmocka_unit_test(
		    one_series_too_many_is_refused_and_the_others_go_on),
		cmocka_unit_test(a_sum_beyond_64_bits_becomes_a_float),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
