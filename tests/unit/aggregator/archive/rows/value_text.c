/*
 * value_text - tests of aggregator/archive/rows/value_text.h: values as SQL
 * sees them.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/archive/rows/value_text.h"

static double
float_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* By hand, but for the digits of floats, which are Python's repr(). */
static const struct {
	struct value value;
	uint64_t bits; /* of a float */
	char letter;
	const char *text;
} cases[] = {
	{ { VALUE_NIL, { 0 } }, 0, 'n', "" },
	{ { VALUE_BOOL, { .boolean = true } }, 0, 'b', "true" },
	{ { VALUE_BOOL, { .boolean = false } }, 0, 'b', "false" },
	{ { VALUE_INT, { .i = 0 } }, 0, 'i', "0" },
	{ { VALUE_INT, { .i = -1 } }, 0, 'i', "-1" },
	{ { VALUE_INT, { .i = INT64_MAX } }, 0, 'i', "9223372036854775807" },
	{ { VALUE_INT, { .i = INT64_MIN } }, 0, 'i', "-9223372036854775808" },
	{ { VALUE_UINT, { .u = UINT64_C(1) << 63 } }, 0, 'u',
	    "9223372036854775808" },
	{ { VALUE_UINT, { .u = UINT64_MAX } }, 0, 'u', "18446744073709551615" },
	{ { VALUE_FLOAT, { 0 } }, 0x0, 'f', "0.0" },
	{ { VALUE_FLOAT, { 0 } }, 0x8000000000000000, 'f', "-0.0" },
	{ { VALUE_FLOAT, { 0 } }, 0x3ff0000000000000, 'f', "1.0" },
	{ { VALUE_FLOAT, { 0 } }, 0x3fb999999999999a, 'f', "0.1" },
	{ { VALUE_FLOAT, { 0 } }, 0x0000000000000001, 'f', "5e-324" },
	{ { VALUE_FLOAT, { 0 } }, 0x7fefffffffffffff, 'f',
	    "1.7976931348623157e+308" },
	{ { VALUE_FLOAT, { 0 } }, 0x4340000000000000, 'f',
	    "9007199254740992.0" },
	{ { VALUE_FLOAT, { 0 } }, 0x7ff0000000000000, 'f', "inf" },
	{ { VALUE_FLOAT, { 0 } }, 0xfff0000000000000, 'f', "-inf" },
	{ { VALUE_FLOAT, { 0 } }, 0x7ff8000000000000, 'f', "nan" },
	{ { VALUE_FLOAT, { 0 } }, 0xfff8000000000000, 'f',
	    "nan:fff8000000000000" },
	{ { VALUE_FLOAT, { 0 } }, 0x7ff8000000000001, 'f',
	    "nan:7ff8000000000001" },
	{ { VALUE_FLOAT, { 0 } }, 0x7ff4000000000000, 'f',
	    "nan:7ff4000000000000" },
	{ { VALUE_TEXT, { .text = { "nan", 3 } } }, 0, 't', "nan" },
	{ { VALUE_TEXT, { .text = { NULL, 0 } } }, 0, 't', "" },
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static void
a_value_is_a_letter_and_a_text_and_comes_back(void **state)
{
	char room[NUMBER_BYTES];

	for (int i = 0; i < CASES; i++) {
		struct value value = cases[i].value,
			     again = { VALUE_NIL, { 0 } };
		struct text text;

		if (value.type == VALUE_FLOAT)
			value.is.f = float_of(cases[i].bits);
		text = value_text(room, &value);
		assert_int_equal(text.bytes, strlen(cases[i].text));
		if (text.bytes > 0)
			assert_memory_equal(text.at, cases[i].text, text.bytes);
		assert_int_equal(value_text_letter(&value), cases[i].letter);
		assert_true(value_text_parse(
		    cases[i].letter, text_of(cases[i].text), &again));
		assert_int_equal(again.type, value.type);
		if (value.type == VALUE_TEXT)
			assert_true(text_equal(again.is.text, value.is.text));
		else if (value.type == VALUE_BOOL)
			assert_int_equal(again.is.boolean, value.is.boolean);
		else if (value.type != VALUE_NIL)
			assert_true(again.is.u == value.is.u);
	}
}

static void
another_text_than_ours_is_refused(void **state)
{
	static const char *const texts[] = { "nx", "b", "b1", "bTRUE", "i",
		"i-", "i-0", "i+1", "i01", "i1.0", "i 1",
		"i9223372036854775808", "i-9223372036854775809", "u1", "u-1",
		"u9223372036854775807", "u18446744073709551616", "f", "f1",
		"f1e0", "f1e999", "f0x1p0", "f-nan", "fInf", "f1.0 ",
		"fnan:7ff8000000000000", "fnan:7ff0000000000000",
		"fnan:3ff0000000000000", "fnan:7FF8000000000001",
		"fnan:7ff800000000000", "fnan:7ff80000000000001", "x", "l1" };
	struct value value;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (value_text_parse(
			texts[i][0], text_of(texts[i] + 1), &value))
			fail_msg("'%s' was taken", texts[i]);
}

static void
a_double_of_any_bits_comes_back(void **state)
{
	uint64_t seed = check_seed();
	char room[NUMBER_BYTES];

	for (unsigned i = 0; i < check_share(200000, 1000); i++) {
		struct value value = { VALUE_FLOAT,
			{ .f = float_of(check_random(&seed)) } };
		struct value again;

		assert_true(
		    value_text_parse('f', value_text(room, &value), &again));
		assert_true(again.is.u == value.is.u);
	}
}

static void
doubles_hold_integers_up_to_2_to_the_53rd_and_some_others(void **state)
{
	int64_t limit = INT64_C(1) << 53;

	assert_true(value_text_is_exact(0));
	assert_true(value_text_is_exact(limit));
	assert_true(value_text_is_exact(-limit));
	assert_false(value_text_is_exact(limit + 1));
	assert_false(value_text_is_exact(-limit - 1));
	assert_true(value_text_is_exact(limit + 2));
	assert_false(value_text_is_exact(INT64_MAX));
	assert_true(value_text_is_exact(INT64_MIN));
	assert_false(value_text_is_exact(INT64_MIN + 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_a_letter_and_a_text_and_comes_back),
		cmocka_unit_test(another_text_than_ours_is_refused),
		cmocka_unit_test(a_double_of_any_bits_comes_back),
		cmocka_unit_test(
		    doubles_hold_integers_up_to_2_to_the_53rd_and_some_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
