/*
 * nearest - which words a user may have meant; distances counted by hand.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/nearest.h"

#include "tests/unit/check.h"

static const char *
ask(const char *typed, const char *const *words)
{
	static char to[256];
	struct nearest nearest;

	nearest_begin(&nearest, typed);
	for (; *words != NULL; words++)
		nearest_offer(&nearest, *words);
	return nearest_question(&nearest, "--", to, sizeof(to));
}

static void
the_nearest_come_first(void **state)
{
	static const char *const words[] = { "status", "stats", "trace",
		"stats", NULL };

	/* One swap makes it stats; status needs three changes. */
	assert_string_equal(ask("stast", words), "; did you mean --stats?");
	/* One letter less, and one changed. */
	assert_string_equal(
	    ask("statu", words), "; did you mean --status or --stats?");
	assert_string_equal(ask("TRACE", words), "; did you mean --trace?");
	assert_string_equal(ask("nonsense", words), "");
	assert_string_equal(ask("", words), "");
}

static void
a_beginning_is_near(void **state)
{
	static const char *const words[] = { "n1-very-long-name", "n1-other",
		"n2", "n1-a", NULL };

	assert_string_equal(ask("n1-", words),
	    "; did you mean --n1-a, --n2 or --n1-very-long-name?");
}

static void
a_name_without_its_source_is_near(void **state)
{
	static const char *const words[] = { "cascade:pull",
		"cascade:pull-start", "job:run", NULL };

	assert_string_equal(
	    ask("pull", words), "; did you mean --cascade:pull?");
	assert_string_equal(ask("rum", words), "; did you mean --job:run?");
	assert_string_equal(ask("farm:pull", words), "");
}

static void
long_words_are_not_compared(void **state)
{
	char longer[300];
	const char *const words[] = { longer, NULL };

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_string_equal(ask("aaaa", words), "");
	assert_string_equal(ask(longer, words), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_come_first),
		cmocka_unit_test(a_beginning_is_near),
		cmocka_unit_test(a_name_without_its_source_is_near),
		cmocka_unit_test(long_words_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
