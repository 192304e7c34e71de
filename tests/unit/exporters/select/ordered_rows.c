/*
 * ordered_rows - the first K of many, in order, and a bound on their bytes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/select/ordered_rows.h"

#include <math.h>

#include "tests/unit/check.h"

enum { ROWS = 20000 };

static void
add_number(struct ordered_rows *rows, double number, uint32_t row)
{
	struct err err = { 0 };
	FILE *file = ordered_rows_begin(rows);

	fwrite(&row, 1, sizeof(row), file);
	assert_int_equal(ordered_rows_end(rows,
			     (struct order_key){ .number = number }, &err),
	    0);
}

static uint32_t
row_at(const struct ordered_rows *rows, uint32_t at)
{
	uint32_t row;

	assert_int_equal(rows->rows[at].bytes, sizeof(row));
	memcpy(&row, rows->rows[at].at, sizeof(row));
	return row;
}

static void
the_first_are_the_greatest_whenever_they_came(void **state)
{
	const struct order order = { .column = 0, .top = 3 };
	struct ordered_rows rows;

	(void)state;
	ordered_rows_init(&rows, &order);
	/* 0 to 9999 twice: of each number the first that came is before. */
	for (uint32_t i = 0; i < ROWS; i++)
		add_number(&rows, i == 5 ? NAN : (double)(i % (ROWS / 2)), i);
	assert_true(rows.count < 2000);
	ordered_rows_sort(&rows);
	assert_int_equal(rows.count, 3);
	assert_int_equal(row_at(&rows, 0), ROWS / 2 - 1);
	assert_int_equal(row_at(&rows, 1), ROWS - 1);
	assert_int_equal(row_at(&rows, 2), ROWS / 2 - 2);
	ordered_rows_clear(&rows);
	assert_int_equal(rows.bytes, 0);
}

static void
without_a_column_the_first_are_those_that_came_first(void **state)
{
	const struct order order = { .column = -1, .top = 2 };
	struct ordered_rows rows;

	(void)state;
	ordered_rows_init(&rows, &order);
	for (uint32_t i = 0; i < ROWS; i++)
		add_number(&rows, (double)i, i);
	ordered_rows_sort(&rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(row_at(&rows, 0), 0);
	assert_int_equal(row_at(&rows, 1), 1);
	ordered_rows_clear(&rows);
}

static void
texts_are_kept_with_their_rows(void **state)
{
	const struct order order = { .column = 0 };
	struct ordered_rows rows;
	struct err err = { 0 };
	char *text = NULL;
	size_t bytes;
	FILE *file;

	(void)state;
	ordered_rows_init(&rows, &order);
	for (int i = 12; i > 8; i--) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(ordered_rows_add(&rows,
				     (struct order_key){ .is_text = true,
					 .text = text_of(name) },
				     text_of(name), &err),
		    0);
	}
	file = open_memstream(&text, &bytes);
	ordered_rows_print(&rows, file);
	fclose(file);
	assert_string_equal(text, "n9n10n11n12");
	free(text);
	ordered_rows_clear(&rows);
}

static void
too_many_bytes_are_refused(void **state)
{
	static char page[1 << 20];
	const struct order order = { .column = 0 };
	struct ordered_rows rows;
	struct err err = { 0 };
	int added = 0;

	(void)state;
	ordered_rows_init(&rows, &order);
	while (added < 1000 &&
	       ordered_rows_add(&rows, (struct order_key){ .number = 0 },
		   (struct text){ page, sizeof(page) }, &err) == 0)
		added++;
	assert_int_equal(added, 255); /* and their headers: 256 do not fit */
	assert_non_null(strstr(err.text, "more than 256 MiB"));
	ordered_rows_clear(&rows);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_the_greatest_whenever_they_came),
		cmocka_unit_test(
		    without_a_column_the_first_are_those_that_came_first),
		cmocka_unit_test(texts_are_kept_with_their_rows),
		cmocka_unit_test(too_many_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
