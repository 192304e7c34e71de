/*
 * table - names as they are shown in a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/table.h"

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

static void
text_loses_its_middle(void **state)
{
	FILE *file = begin();

	table_put_elided(file, text_of("abcdefghijkl"), 8);
	fclose(file);
	assert_string_equal(text, "abc..jkl");
	file = begin();
	table_put_elided(file, text_of("a\xC3\xA4\xC3\xB6"), 3);
	fclose(file);
	assert_string_equal(text, "a\xC3\xA4\xC3\xB6");
}

static void
control_characters_do_not_reach_the_terminal(void **state)
{
	FILE *file = begin();

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_loses_its_middle),
		cmocka_unit_test(control_characters_do_not_reach_the_terminal),
		cmocka_unit_test(names_show_what_differs),
		cmocka_unit_test(a_name_that_was_not_added_is_shown_whole),
		cmocka_unit_test(different_names_stay_different),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
