/*
 * why_sentences - commands, addresses, and lines of a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/why/sentences.h"

#include <stdlib.h>
#include <string.h>

#include "proto/answer/cell.h"
#include "proto/base/memory.h"
#include "tests/unit/check.h"

static struct why_sentences all;

static void
begin(const char *partition)
{
	all = (struct why_sentences){
		.partition = text_of(partition), .options = "", .time = ""
	};
}

static void
say(const char *text, const char *question, const char *more)
{
	fputs(text, why_begin(&all));
	why_end(&all, WHY_SLOW,
	    &(struct why_proof){ .question = question,
		.more = more,
		.time_ns = ANSWER_NO_NS,
		.usual_ns = ANSWER_NO_NS });
}

/* A new text; the caller frees it. */
static char *
printed(void)
{
	char *text;
	size_t bytes;
	FILE *file = memory_stream(&text, &bytes);

	why_print(file, &all);
	memory_stream_end(&file);
	return text;
}

static void
prints(const char *wanted)
{
	char *text = printed();

	assert_string_equal(text, wanted);
	free(text);
}

static uint32_t
lines_of(const char *text)
{
	uint32_t lines = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	return lines;
}

static void
a_proof_is_a_command_and_an_address(void **state)
{
	begin("acct$it's");
	all.options = " --start 2026-11-28T07:15:50Z";
	all.time = "?start=2026-11-28T07%3A15%3A50Z";
	fputs("Slow.", why_begin(&all));
	why_end(&all, WHY_SLOW,
	    &(struct why_proof){ .question = "stats slow",
		.more = " -n 'a b'",
		.view = "node",
		.item = text_of("a b/c"),
		.time_ns = 1,
		.usual_ns = 2 });
	assert_string_equal(all.at[0].command,
	    "poolscope stats slow -p 'acct$it'\\''s' --start "
	    "2026-11-28T07:15:50Z -n 'a b'");
	assert_string_equal(all.at[0].address,
	    "#/pool/acct%24it%27s/node/a%20b%2Fc?start=2026-11-28T07%3A15%3A"
	    "50Z");
	assert_string_equal(all.at[0].node, "a b/c");
	fputs("A run.", why_begin(&all));
	why_end(&all, WHY_RUNS,
	    &(struct why_proof){ .view = "runs", .item = text_of("7") });
	assert_null(all.at[1].node);
	assert_null(all.at[1].command);
	assert_string_equal(all.at[1].address,
	    "#/pool/acct%24it%27s/runs/7?start=2026-11-28T07%3A15%3A50Z");
	fputs("The pool.", why_begin(&all));
	why_end(&all, WHY_RECORDS, &(struct why_proof){ .view = "" });
	assert_string_equal(all.at[2].address,
	    "#/pool/acct%24it%27s?start=2026-11-28T07%3A15%3A50Z");
	(void)why_begin(&all);
	why_end(&all, WHY_RUNS, &(struct why_proof){ .view = "" });
	assert_int_equal(all.count, 3);
	why_clear(&all);
}

static void
words_are_quoted_for_the_shell(void **state)
{
	static const char *const words[][2] = { { "cn1", "cn1" },
		{ "a$b", "'a$b'" }, { "a b", "'a b'" },
		{ "it's", "'it'\\''s'" }, { "", "''" }, { "a;b", "'a;b'" },
		{ "a*", "'a*'" }, { "x:y=1", "x:y=1" }, { "~a", "'~a'" },
		{ "a`b", "'a`b'" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		char *text;
		size_t bytes;
		FILE *file = memory_stream(&text, &bytes);

		why_put_word(file, text_of(words[i][0]));
		memory_stream_end(&file);
		assert_string_equal(text, words[i][1]);
		free(text);
	}
}

/* The first line has 80 characters: "* " and 78. */
static void
lines_end_between_words(void **state)
{
	char text[200];

	begin("p");
	snprintf(text, sizeof(text), "%078d next", 7);
	say(text, NULL, NULL);
	why_print(stdout, &(struct why_sentences){ .count = 0 });
	snprintf(text, sizeof(text), "* %078d\n  next\n", 7);
	prints(text);
	why_clear(&all);
	/* With a letter more the word ends in the next line. */
	begin("p");
	snprintf(text, sizeof(text), "%079d next", 7);
	say(text, NULL, NULL);
	snprintf(text, sizeof(text), "* %078d\n  7 next\n", 0);
	prints(text);
	why_clear(&all);
}

/* 2 + 70 + 1 + 4 are 77; " 11.0 s" would be 84. */
static void
a_number_stays_with_its_unit(void **state)
{
	char text[200], wanted[200];

	begin("p");
	snprintf(text, sizeof(text), "%c%069d 11.0 s more", 'x', 7);
	say(text, NULL, NULL);
	snprintf(wanted, sizeof(wanted), "* x%069d 11.0 s\n  more\n", 7);
	prints(wanted);
	why_clear(&all);
	begin("p");
	snprintf(text, sizeof(text), "%c%072d 11.0 s more", 'x', 7);
	say(text, NULL, NULL);
	snprintf(wanted, sizeof(wanted), "* x%072d\n  11.0 s more\n", 7);
	prints(wanted);
	why_clear(&all);
}

/* 39 of two columns fill a line. */
static void
wide_characters_have_two_columns(void **state)
{
	char text[400] = "", wanted[400] = "* ";

	for (int i = 0; i < 40; i++) {
		strcat(text, "\u65e5");
		strcat(wanted, i == 39 ? "\n  \u65e5\n" : "\u65e5");
	}
	begin("p");
	say(text, NULL, NULL);
	prints(wanted);
	why_clear(&all);
}

static void
commands_go_on_as_a_shell_reads_them(void **state)
{
	begin("p");
	say("One.", "stats slow", " -n 'a   b'");
	say("Two.", "stats slow",
	    " --a 12345678901234567890 --b '1234 678901234567890' --c "
	    "12345678901234567890");
	prints("* One.\n"
	       "    poolscope stats slow -p p -n 'a   b'\n"
	       "* Two.\n"
	       "    poolscope stats slow -p p --a 12345678901234567890 --b \\\n"
	       "    '1234 678901234567890' --c 12345678901234567890\n");
	why_clear(&all);
}

/* Not a word longer than a line, nor what a terminal does not show; and the
 * same once. */
static void
only_what_can_be_copied_is_shown(void **state)
{
	char more[200];

	begin("p");
	snprintf(more, sizeof(more), " %074d", 7);
	say("One.", "stats slow", more);
	snprintf(more, sizeof(more), " %075d", 7);
	say("Two.", "stats slow", more);
	say("Three.", "stats slow", " a\u202eb");
	say("Four.", "nodes", NULL);
	say("Five.", "nodes", NULL);
	snprintf(more, sizeof(more),
	    "* One.\n    poolscope stats slow -p p \\\n    %074d\n* Two.\n* "
	    "Three.\n* Four.\n* Five.\n    poolscope nodes -p p\n",
	    7);
	prints(more);
	why_clear(&all);
}

/* 24 sentences without a command fill the screen; one more, and the last line
 * counts.  Commands come only where lines are left. */
static void
a_screen_has_24_lines(void **state)
{
	char *text, more[16];

	begin("p");
	for (int i = 0; i < 24; i++)
		say("Known.", NULL, NULL);
	text = printed();
	assert_int_equal(lines_of(text), 24);
	assert_null(strstr(text, "more"));
	free(text);
	say("Known.", NULL, NULL);
	text = printed();
	assert_int_equal(lines_of(text), 24);
	assert_non_null(
	    strstr(text, "\n2 more: poolscope why --format json has all\n"));
	free(text);
	why_clear(&all);
	begin("p");
	for (int i = 0; i < 20; i++) {
		snprintf(more, sizeof(more), " %d", i);
		say("Known.", "nodes", more);
	}
	text = printed();
	assert_int_equal(lines_of(text), 24);
	assert_non_null(strstr(text, "nodes -p p 3\n"));
	assert_null(strstr(text, "nodes -p p 4\n"));
	free(text);
	why_clear(&all);
}

/* A sentence of 30 lines does not keep those behind it away. */
static void
what_does_not_fit_is_left_out_whole(void **state)
{
	char text[3000];

	begin("p");
	say("One.", NULL, NULL);
	snprintf(text, sizeof(text), "%02400d", 7);
	say(text, NULL, NULL);
	say("Three.", NULL, NULL);
	prints("* One.\n* Three.\n"
	       "1 more: poolscope why --format json has all\n");
	why_clear(&all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proof_is_a_command_and_an_address),
		cmocka_unit_test(words_are_quoted_for_the_shell),
		cmocka_unit_test(lines_end_between_words),
		cmocka_unit_test(a_number_stays_with_its_unit),
		cmocka_unit_test(wide_characters_have_two_columns),
		cmocka_unit_test(commands_go_on_as_a_shell_reads_them),
		cmocka_unit_test(only_what_can_be_copied_is_shown),
		cmocka_unit_test(a_screen_has_24_lines),
		cmocka_unit_test(what_does_not_fit_is_left_out_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
