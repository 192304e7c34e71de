/*
 * own_phase - tests of aggregator/phases/own_phase.h.  Expected names are those
 * that poolscope-model(5), "PHASES WITHOUT A MODEL", gives.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <string.h>

#include "aggregator/phases/own_phase.h"

static void
the_name_of_an_event_says_of_which_phase_it_is(void **state)
{
	static const struct {
		const char *source, *name, *id; /* NULL: none */
		bool is_end;
	} cases[] = {
		{ "build", "start", "none:build", false },
		{ "build", "begin", "none:build", false },
		{ "build", "end", "none:build", true },
		{ "ci", "test-start", "none:ci:test", false },
		{ "ci", "test-begin", "none:ci:test", false },
		{ "ci", "test-end", "none:ci:test", true },
		{ "ci", "a:start", "none:ci:a", false },
		{ "ci", "a-b-end", "none:ci:a-b", true },
		{ "ci", "start-end", "none:ci:start", true },
		{ "ci", "restart", NULL, false },
		{ "ci", "weekend", NULL, false },
		{ "ci", "started", NULL, false },
		{ "ci", "end-of-it", NULL, false },
		{ "ci", "-start", NULL, false },
		{ "ci", ":end", NULL, false },
		{ "ci", "", NULL, false },
		{ "", "start", NULL, false },
		{ "ci-start", "x", NULL, false },
	};
	struct own_phase_event event;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool is = own_phase_of(
		    &event, text_of(cases[i].source), text_of(cases[i].name));

		assert_int_equal(is, cases[i].id != NULL);
		if (!is)
			continue;
		assert_true(text_equal(event.id, text_of(cases[i].id)));
		assert_int_equal(event.is_end, cases[i].is_end);
		assert_true(own_phase_is(event.id));
	}
}

static void
a_phase_knows_its_events_again(void **state)
{
	static const char *const names[] = { "start", "begin", "end" };
	char room[2 * NAME_BYTES_MAX];
	struct own_phase_event event;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct text text;

		assert_true(
		    own_phase_of(&event, text_of("build"), text_of(names[i])));
		text = own_phase_event_text(
		    event.id, event.mark, event.is_end, room);
		assert_int_equal(text.bytes, 6 + strlen(names[i]));
		assert_memory_equal(text.at, "build:", 6);
		assert_memory_equal(text.at + 6, names[i], strlen(names[i]));
		/* Nothing was heard of the other one. */
		assert_int_equal(own_phase_event_text(
				     event.id, event.mark, !event.is_end, room)
				     .bytes,
		    0);
	}
}

static void
a_name_that_is_too_long_is_that_of_no_phase(void **state)
{
	char source[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	struct own_phase_event event;

	(void)state;
	memset(source, 's', sizeof(source));
	memset(name, 'n', sizeof(name));
	memcpy(name + NAME_BYTES_MAX - 4, "-end", 4);
	assert_true(
	    own_phase_of(&event, (struct text){ source, NAME_BYTES_MAX },
		(struct text){ name, NAME_BYTES_MAX }));
	assert_true(event.id.bytes > NAME_BYTES_MAX);
	/* "none:" and 250 bytes are the longest. */
	assert_true(
	    own_phase_of(&event, (struct text){ source, 250 }, text_of("end")));
	assert_int_equal(event.id.bytes, NAME_BYTES_MAX);
	assert_true(
	    own_phase_of(&event, (struct text){ source, 251 }, text_of("end")));
	assert_true(event.id.bytes > NAME_BYTES_MAX);
}

static void
the_key_is_the_first_that_both_have(void **state)
{
	struct own_phase_values start = { .at = { { NULL, 0 } } }, end = start;

	(void)state;
	assert_int_equal(own_phase_key(0), OWN_PHASE_KEYS);
	start.at[0] = start.at[2] = text_of("a");
	end.at[2] = end.at[3] = text_of("b");
	assert_int_equal(
	    own_phase_key(own_phase_carried(&start, false)), OWN_PHASE_KEYS);
	assert_int_equal(own_phase_key(own_phase_carried(&start, false) |
				       own_phase_carried(&end, true)),
	    2);
	end.at[0] = text_of("c");
	assert_int_equal(own_phase_key(own_phase_carried(&start, false) |
				       own_phase_carried(&end, true)),
	    0);
	assert_int_equal(
	    own_phase_carried(&start, false) & ~OWN_PHASE_MARKS, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_name_of_an_event_says_of_which_phase_it_is),
		cmocka_unit_test(a_phase_knows_its_events_again),
		cmocka_unit_test(a_name_that_is_too_long_is_that_of_no_phase),
		cmocka_unit_test(the_key_is_the_first_that_both_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
