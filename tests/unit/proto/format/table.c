/*
 * table - columns of a terminal, and cells of CSV.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/table.h"

#include <math.h>

#include "proto/format/csv.h"
#include "tests/unit/check.h"

static char text[4096];

static FILE *
begin(void)
{
	FILE *file;

	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text), "w");
	assert_non_null(file);
	return file;
}

static const struct table_column columns[] = {
	{ "NAME", 8, false },
	{ "N", 6, true },
	{ "LAST", 6, true },
	{ .title = NULL },
};

static void
numbers_are_right_aligned_and_text_loses_its_middle(void **state)
{
	FILE *file = begin();
	struct table table;

	(void)state;
	table_begin(&table, file, columns);
	table_string(&table, "a\xC3\xA4\xC3\xB6");
	table_number(&table, 1.5);
	table_none(&table);
	table_string(&table, "abcdefghijkl");
	table_count(&table, 123456);
	table_count(&table, 12345678);
	fclose(file);
	assert_string_equal(text, "NAME          N   LAST\n"
				  "a\xC3\xA4\xC3\xB6        1.50      -\n"
				  "abc..jkl 123456 12345k\n");
}

static void
a_count_never_loses_its_middle(void **state)
{
	static const struct {
		uint64_t value;
		const char *wanted;
	} cases[] = {
		{ 0, "   0" },
		{ 9999, "9999" },
		{ 10000, " 10k" },
		{ 999999, "999k" },
		{ 1234567, "  1M" },
		{ UINT64_MAX, " 18E" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct table_column one[] = { { "T", 4, true },
			{ .title = NULL } };
		FILE *file = begin();
		struct table table;

		table_begin(&table, file, one);
		table_count(&table, cases[i].value);
		fclose(file);
		text[9] = '\0';
		assert_string_equal(text + 5, cases[i].wanted);
	}
}

static void
a_number_keeps_as_many_decimals_as_fit(void **state)
{
	static const struct {
		double value;
		const char *wanted;
	} cases[] = {
		{ 0, "  0.00" },
		{ 999.994, "999.99" },
		{ 999.996, "1000.0" },
		{ 99999.4, " 99999" },
		{ 0.01234, "0.0123" },
		{ -12.345, "-12.35" },
		{ 1e9, " 1e+09" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct table_column one[] = { { "T", 6, true },
			{ .title = NULL } };
		FILE *file = begin();
		struct table table;

		table_begin(&table, file, one);
		table_number(&table, cases[i].value);
		fclose(file);
		assert_memory_equal(text, "     T\n", 7);
		text[13] = '\0';
		assert_string_equal(text + 7, cases[i].wanted);
	}
}

static void
control_characters_do_not_reach_the_terminal(void **state)
{
	FILE *file = begin();

	(void)state;
	table_put_elided(file, text_of("a\x1B[31mb\n"), 20);
	fclose(file);
	assert_string_equal(text, "a?[31mb?");
}

static void
names_show_what_differs(void **state)
{
	struct table_names names = { .count = 0 };
	struct text a = text_of("tvm-139278_1-2017t"),
		    b = text_of("tvm-139278_12-2017t");

	(void)state;
	table_names_add(&names, a);
	table_names_add(&names, b);
	table_names_fit(&names, 10);
	assert_true(text_equal(table_names_rest(&names, a), text_of("1")));
	assert_true(text_equal(table_names_rest(&names, b), text_of("12")));
	/* Nothing is cut when all fit. */
	table_names_fit(&names, 19);
	assert_true(text_equal(table_names_rest(&names, a), a));
}

static void
a_name_that_was_not_added_is_shown_whole(void **state)
{
	static const char *const others[] = { "", "x", "tvm-139278_-2017t",
		"tvm-139278_1-2018t", "tvx-139278_1-2017t", "-2017t" };
	struct table_names names = { .count = 0 };

	(void)state;
	table_names_add(&names, text_of("tvm-139278_1-2017t"));
	table_names_add(&names, text_of("tvm-139278_12-2017t"));
	table_names_fit(&names, 10);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(
		    text_equal(table_names_rest(&names, text_of(others[i])),
			text_of(others[i])));
}

/* Any names: what is shown tells them apart. */
static void
different_names_stay_different(void **state)
{
	uint64_t random = check_seed();

	(void)state;
	for (int round = 0; round < 5000; round++) {
		char raw[4][12];
		struct table_names names = { .count = 0 };

		for (int i = 0; i < 4; i++) {
			size_t n = 1 + check_random(&random) % 10;

			for (size_t j = 0; j < n; j++)
				raw[i][j] = "a_-1"[check_random(&random) % 4];
			raw[i][n] = '\0';
			table_names_add(&names, text_of(raw[i]));
		}
		table_names_fit(&names, 0);
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < i; j++)
				if (strcmp(raw[i], raw[j]) != 0)
					assert_false(
					    text_equal(table_names_rest(&names,
							   text_of(raw[i])),
						table_names_rest(
						    &names, text_of(raw[j]))));
	}
}

static void
csv_is_quoted_and_no_formula(void **state)
{
	FILE *file = begin();
	struct csv csv = { .file = file };

	(void)state;
	csv_string(&csv, "plain");
	csv_string(&csv, "a,b");
	csv_string(&csv, "say \"x\"");
	csv_string(&csv, "two\r\nlines");
	csv_end_row(&csv);
	csv_string(&csv, "=1+1");
	csv_string(&csv, "-cmd,x");
	csv_string(&csv, "\tx");
	csv_int(&csv, -5);
	csv_float(&csv, -1.5);
	csv_float(&csv, (double)NAN);
	csv_none(&csv);
	csv_uint(&csv, UINT64_MAX);
	csv_end_row(&csv);
	fclose(file);
	assert_string_equal(text,
	    "plain,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\"\r\n"
	    "'=1+1,\"'-cmd,x\",'\tx,-5,-1.5,,,18446744073709551615\r\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    numbers_are_right_aligned_and_text_loses_its_middle),
		cmocka_unit_test(a_count_never_loses_its_middle),
		cmocka_unit_test(a_number_keeps_as_many_decimals_as_fit),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
		cmocka_unit_test(names_show_what_differs),
		cmocka_unit_test(a_name_that_was_not_added_is_shown_whole),
		cmocka_unit_test(different_names_stay_different),
		cmocka_unit_test(csv_is_quoted_and_no_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
