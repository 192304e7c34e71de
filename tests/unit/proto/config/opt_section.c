/*
 * opt_section - the text of a section, taken apart and made.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_section.h"

#include <stdlib.h>

#include "tests/unit/check.h"

static const struct opt option = {
	.name = "script", .type = OPT_LIST, .choices = "period|user|command"
};

/* What is read, with a bar behind each value; or the sentence. */
static void
assert_parts(const char *word, const char *want)
{
	struct opt_section section;
	struct err err = { 0 };
	char got[256];
	int n;

	if (opt_section_parse(&section, &option, word, &err) != 0) {
		assert_string_equal(err.text, want);
		return;
	}
	n = snprintf(got, sizeof(got), "%.*s|", (int)section.name.bytes,
	    section.name.at);
	for (int i = 0; i < 3; i++)
		n += snprintf(got + n, sizeof(got) - (size_t)n, "%.*s|",
		    (int)section.value[i].bytes,
		    section.value[i].at != NULL ? section.value[i].at : "-");
	assert_string_equal(got, want);
}

static void
the_last_key_takes_the_rest(void **state)
{
	assert_parts("q command=/opt/q -v user=x", "q|||/opt/q -v user=x|");
	assert_parts("q  user=u\tperiod=10s  command= /a ", "q|10s|u|/a|");
	assert_parts("q", "q||||");
	assert_parts("q user=", "q||||");
	assert_parts("", "begins with a name: NAME period=...");
	assert_parts("period=1s", "begins with a name: NAME period=...");
	assert_parts("q period",
	    "q: 'period' is not KEY=VALUE, with one of the "
	    "keys period|user|command");
	assert_parts("q perio=1", "q: 'perio=1' is not KEY=VALUE, with one of "
				  "the keys period|user|command");
	assert_parts("q user=a user=b", "q: user is given twice");
}

static void
a_word_is_what_was_read(void **state)
{
	static const char *const words[] = { "q", "q user=u",
		"q period=10s user=u command=/opt/q -v" };
	struct opt_section section;
	struct err err;
	char *word;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_int_equal(
		    opt_section_parse(&section, &option, words[i], &err), 0);
		word = opt_section_word(&section, &option);
		assert_string_equal(word, words[i]);
		free(word);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_key_takes_the_rest),
		cmocka_unit_test(a_word_is_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
