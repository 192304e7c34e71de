/*
 * labels - long names are shortened, and no two of a picture become equal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/axis.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"

enum { MANY = 10000 };

static void
a_short_name_is_whole(void **state)
{
	const struct text names[] = { text_of("n1"), text_of("n2"),
		text_of("0123456789") };
	struct labels labels;

	labels_make(&labels, names, 3, 10);
	assert_string_equal(labels.at[0], "n1");
	assert_string_equal(labels.at[2], "0123456789");
	labels_clear(&labels);
}

/* 20 characters into 10: 4 and 4 remain of the middle's cut.  These differ
 * there, so what they have in common goes. */
static void
names_that_differ_in_the_middle_keep_it(void **state)
{
	const struct text names[] = { text_of("abcdefghi1klmnopqrst"),
		text_of("abcdefghi2klmnopqrst"), text_of("other") };
	struct labels labels;

	labels_make(&labels, names, 3, 10);
	assert_string_not_equal(labels.at[0], labels.at[1]);
	assert_non_null(strchr(labels.at[0], '1'));
	assert_non_null(strchr(labels.at[1], '2'));
	assert_true(strlen(labels.at[0]) <= 10);
	assert_string_equal(labels.at[2], "other");
	labels_clear(&labels);
}

static void
a_character_is_never_cut(void **state)
{
	const struct text names[] = { text_of("aaaaaaaaaaäccccccccccc"),
		text_of("aaaaaaaaaaöccccccccccc") };
	struct labels labels;

	labels_make(&labels, names, 2, 8);
	for (int i = 0; i < 2; i++)
		assert_true(text_is_utf8(text_of(labels.at[i])));
	assert_string_not_equal(labels.at[0], labels.at[1]);
	labels_clear(&labels);
}

static int
by_text(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* As cloud pools name their nodes. */
static void
ten_thousand_long_names_are_distinct(void **state)
{
	static char name[MANY][64];
	static struct text names[MANY];
	struct labels labels;

	for (int i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof(name[i]),
		    "tvm-1392786944_%d-20171014t165320z-autoscaled-p", i);
		names[i] = text_of(name[i]);
	}
	for (unsigned width = 24; width <= 36; width += 4) {
		labels_make(&labels, names, MANY, width);
		qsort(labels.at, MANY, sizeof(*labels.at), by_text);
		for (int i = 0; i < MANY; i++) {
			assert_true(strlen(labels.at[i]) <= width);
			assert_true(i == 0 || strcmp(labels.at[i - 1],
						  labels.at[i]) != 0);
		}
		labels_clear(&labels);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_name_is_whole),
		cmocka_unit_test(names_that_differ_in_the_middle_keep_it),
		cmocka_unit_test(a_character_is_never_cut),
		cmocka_unit_test(ten_thousand_long_names_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
