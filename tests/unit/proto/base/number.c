/*
 * number - numbers as text, judged by Python.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/number.h"

#include <math.h>

#include "tests/unit/check.h"

enum { DOUBLES = 60000 };

/* Random bit patterns, small decimals, and the edges. */
static double
pick(uint64_t *random, int i)
{
	static const double edges[] = { 0.0, -0.0, 1.0, 30.0, 1e-4, 9.999e-5,
		1e15, 1e16, 9999999999999998.0, 5e-324, 2.2250738585072014e-308,
		1.7976931348623157e308, 0.1, 1e22, 1e23, 123456789012345680.0,
		2.5e-320, 1e-06 };
	uint64_t bits = check_random(random);
	double value;

	if (i < (int)(sizeof(edges) / sizeof(*edges)))
		return edges[i];
	if (i % 3 == 0)
		return (double)(bits % 1000000000) / 1e6;
	if (i % 3 == 1)
		return (double)(bits >> 20) / 1e9;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void
floats_are_written_as_python_writes_them(void **state)
{
	uint64_t random = check_seed();
	char path[] = "/tmp/number.XXXXXX", command[512];
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (int i = 0; i < DOUBLES; i++) {
		double value = pick(&random, i);
		char text[NUMBER_BYTES];
		uint64_t bits;
		size_t length = number_repr(text, value);

		memcpy(&bits, &value, sizeof(bits));
		assert_int_equal(length, strlen(text));
		fprintf(file, "%016llx %s\n", (unsigned long long)bits, text);
	}
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command),
	    "python3 -c \"import struct, sys\n"
	    "for line in open('%s'):\n"
	    "    bits, text = line.split()\n"
	    "    want = repr(struct.unpack('>d', bytes.fromhex(bits))[0])\n"
	    "    if want != text: sys.exit(bits + ': ' + text + ' is not ' + "
	    "want)\"",
	    path);
	assert_int_equal(system(command), 0);
	remove(path);
}

/* As Python 3 prints them, copied by hand. */
static void
floats_are_laid_out_as_in_python(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0.0, "0.0" }, { -0.0, "-0.0" }, { 1, "1.0" },
		{ 30, "30.0" }, { 0.1, "0.1" }, { -2.5, "-2.5" },
		{ 0.1 + 0.2, "0.30000000000000004" }, { 1e-4, "0.0001" },
		{ 9.999e-5, "9.999e-05" }, { 1e-6, "1e-06" },
		{ 1.5e22, "1.5e+22" }, { 1e22, "1e+22" }, { 1e23, "1e+23" },
		{ 1e15, "1000000000000000.0" }, { 1e16, "1e+16" },
		{ 9999999999999998.0, "9999999999999998.0" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
		{ 5e-324, "5e-324" }, { 2.5e-320, "2.5e-320" },
		{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 5e-324 * 3, "1.5e-323" },
		{ 9007199254740993.0, "9007199254740992.0" },
		{ 1508000063.695798, "1508000063.695798" },
		{ 45.985596, "45.985596" },
		{ 45.9855960000001, "45.9855960000001" },
		{ 0.00010000000000000002, "0.00010000000000000002" },
		{ 999999999.999999, "999999999.999999" },
		{ (double)INFINITY, "inf" }, { -(double)INFINITY, "-inf" },
		{ (double)NAN, "nan" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[NUMBER_BYTES];

		assert_int_equal(
		    number_repr(text, cases[i].value), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

/* How many digits a text has, but for zeros in front and at the end. */
static int
significant_digits(const char *text)
{
	int digits = 0, zeros = 0;

	for (; *text != '\0' && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (digits == 0 && *text == '0'))
			continue;
		zeros = *text == '0' ? zeros + 1 : 0;
		digits++;
	}
	return digits - zeros;
}

static void
floats_read_back_and_no_shorter_text_does(void **state)
{
	uint64_t random = check_seed();

	for (unsigned i = check_share(400000, 20000); i > 0; i--) {
		char text[NUMBER_BYTES], shorter[NUMBER_BYTES];
		double value = pick(&random, (int)i), back;
		int digits;

		if (!isfinite(value) || value == 0)
			continue;
		number_repr(text, value);
		back = strtod(text, NULL);
		if (memcmp(&back, &value, sizeof(value)) != 0)
			fail_msg("%a is written %s", value, text);
		digits = significant_digits(text);
		if (digits == 1)
			continue;
		snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, value);
		if (strtod(shorter, NULL) == value)
			fail_msg("%s would do for %s", shorter, text);
	}
}

static void
sizes_have_binary_and_decimal_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "4096", 4096 }, { "64k", 65536 }, { "64KiB", 65536 },
		{ "64KB", 64000 }, { "1.5GB", 1500000000 }, { "1M", 1048576 },
		{ "256 MiB", 268435456 }, { "12B", 12 },
		{ "1TiB", 1099511627776 } };
	static const char *const bad[] = { "", "k", "-1", "1x", "1KiBx", "1e30",
		"0x10", "1 2", "nan", "B" };
	struct err err;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(
		    number_parse_bytes(text_of(good[i].text), &bytes, &err), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (number_parse_bytes(text_of(bad[i]), &bytes, &err) == 0)
			fail_msg("'%s' was taken", bad[i]);
}

static void
whole_numbers_are_checked_to_the_last_digit(void **state)
{
	uint64_t value;

	assert_int_equal(
	    number_parse_u64(text_of("18446744073709551615"), &value, NULL), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(
	    number_parse_u64(text_of("18446744073709551616"), &value, NULL),
	    -1);
	assert_int_equal(number_parse_u64(text_of("+1"), &value, NULL), -1);
	assert_int_equal(number_parse_u64(text_of(""), &value, NULL), -1);
}

static void
only_decimal_notation_is_a_number(void **state)
{
	double value;

	assert_int_equal(
	    number_parse_double(text_of("-1.25e2"), &value, NULL), 0);
	assert_true(value == -125);
	assert_int_equal(
	    number_parse_double(text_of("0x1p3"), &value, NULL), -1);
	assert_int_equal(number_parse_double(text_of("nan"), &value, NULL), -1);
	assert_int_equal(number_parse_double(text_of("1-"), &value, NULL), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floats_are_written_as_python_writes_them),
		cmocka_unit_test(floats_are_laid_out_as_in_python),
		cmocka_unit_test(floats_read_back_and_no_shorter_text_does),
		cmocka_unit_test(sizes_have_binary_and_decimal_units),
		cmocka_unit_test(whole_numbers_are_checked_to_the_last_digit),
		cmocka_unit_test(only_decimal_notation_is_a_number),
	};

	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
