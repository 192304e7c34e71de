/*
 * top_cell - texts for a screen.  Widths by hand.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/cell.h"

#include <locale.h>
#include <math.h>

#include "tests/unit/check.h"

static const char *
put(const char *text, unsigned width, enum cell_side side, bool ascii)
{
	static char to[CELL_BYTES];

	cell_put(to, text_of(text), width, side, ascii);
	return to;
}

static void
a_cell_has_the_width_that_was_asked_for(void **state)
{
	assert_string_equal(put("node", 6, CELL_LEFT, false), "node  ");
	assert_string_equal(put("12", 6, CELL_RIGHT, false), "    12");
	assert_string_equal(put("", 3, CELL_LEFT, false), "   ");
	assert_string_equal(put("node", 0, CELL_LEFT, false), "");
	assert_string_equal(put("node", 4, CELL_CUT, false), "node");
}

static void
a_long_text_loses_its_middle_or_its_end(void **state)
{
	/* 8 columns: 3, two dots, 3. */
	assert_string_equal(
	    put("compute-node-17", 8, CELL_LEFT, false), "com..-17");
	assert_string_equal(
	    put("compute-node-17", 8, CELL_CUT, false), "compute-");
	assert_string_equal(put("abcdef", 4, CELL_LEFT, false), "abcd");
}

static void
a_wide_character_takes_two_columns(void **state)
{
	assert_int_equal(cell_width(text_of("節点"), false), 4);
	assert_string_equal(put("節点", 6, CELL_LEFT, false), "節点  ");
	/* Only one of them fits into three columns. */
	assert_string_equal(put("節点", 3, CELL_LEFT, false), "節 ");
	/* 7 columns: 2 in front (one character), dots, then 3, of which one
	 * stays free. */
	assert_string_equal(
	    put("節点節点節点", 7, CELL_LEFT, false), "節..点 ");
	assert_string_equal(put("節点", 4, CELL_LEFT, true), "??  ");
}

static void
what_is_not_printable_is_a_question_mark(void **state)
{
	assert_string_equal(
	    put("a\033[2Jb\n\177", 9, CELL_LEFT, false), "a?[2Jb?? ");
	/* C1, right-to-left override, zero width space, combining accent, an
	 * emoji. */
	assert_string_equal(
	    put("\302\233\342\200\256\342\200\213e\314\201\360\237\230\200", 6,
		CELL_LEFT, false),
	    "???e??");
	/* No UTF-8: each byte. */
	assert_string_equal(put("\377\376x", 4, CELL_LEFT, false), "??x ");
	assert_int_equal(cell_width(text_of("\302\233\377"), false), 2);
}

static void
numbers_take_six_characters(void **state)
{
	static const double seconds[] = { 0, 1e-9, 2.9e-5, 0.004, 0.4, 9.96, 12,
		99, 100, 3599, 7200, 90000, 8.64e6 };
	char to[CELL_NUMBER_BYTES];

	assert_string_equal(cell_time(to, 0), "0s");
	assert_string_equal(cell_time(to, NAN), "-");
	assert_string_equal(cell_time(to, -2.9e-5), "-29us");
	assert_string_equal(cell_time(to, 0.4), "400ms");
	assert_string_equal(cell_time(to, 5.25), "5.2s");
	assert_string_equal(cell_time(to, 12), "12s");
	assert_string_equal(cell_time(to, 184), "3min");
	assert_string_equal(cell_time(to, 7200), "2.0h");
	assert_string_equal(cell_time(to, 5 * 86400.0), "5.0d");
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		assert_true(strlen(cell_time(to, -seconds[i])) <= 6);
	assert_string_equal(cell_share(to, 0.613), "61%");
	assert_string_equal(cell_share(to, NAN), "-");
	assert_string_equal(cell_count(to, 9999), "9999");
	assert_string_equal(cell_count(to, 20100), "20k");
	assert_string_equal(cell_bytes(to, 12 * 1024.0), "12KiB");
	assert_string_equal(cell_number(to, 3), "3.00");
	assert_string_equal(cell_number(to, 31.25), "31.2");
	assert_string_equal(cell_number(to, 1234.5), "1234");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_has_the_width_that_was_asked_for),
		cmocka_unit_test(a_long_text_loses_its_middle_or_its_end),
		cmocka_unit_test(a_wide_character_takes_two_columns),
		cmocka_unit_test(what_is_not_printable_is_a_question_mark),
		cmocka_unit_test(numbers_take_six_characters),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
