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

/* Of a name, the marks of its events with these values, and of their endings.
 */
static uint32_t
marks_of(const char *name, struct own_phase_values values)
{
	struct own_phase_event event;

	assert_true(own_phase_of(&event, text_of("build"), text_of(name)));
	return event.mark | own_phase_carried(&values, event.is_end);
}

static void
the_key_is_the_first_that_both_have(void **state)
{
	/* The starts have id and img, the ends img and step. */
	struct own_phase_values values = { .at = { { NULL, 0 } } };
	uint32_t starts, ends;

	assert_int_equal(
	    own_phase_key(marks_of("start", values) | marks_of("end", values)),
	    OWN_PHASE_KEYS);
	values.at[2] = text_of("a");
	values.at[3] = text_of("b");
	ends = marks_of("end", values);
	values.at[3] = (struct text){ NULL, 0 };
	values.at[0] = text_of("c");
	starts = marks_of("begin", values);
	assert_int_equal(starts & ends, 0);
	assert_int_equal((starts | ends) & ~(uint32_t)OWN_PHASE_MARKS, 0);
	assert_int_equal(own_phase_key(starts | ends), 2);
	/* Nothing was heard of the others. */
	assert_int_equal(own_phase_key(starts), 0);
	assert_int_equal(own_phase_key(ends), 2);
	/* An event without any brings no key. */
	values.at[0] = values.at[2] = (struct text){ NULL, 0 };
	assert_int_equal(
	    own_phase_key(starts | marks_of("end", values)), OWN_PHASE_KEYS);
}

/* Both have these keys, one bit each. */
static uint32_t
marks_of_both(uint32_t keys)
{
	struct own_phase_values values = { .at = { { NULL, 0 } } };

	for (unsigned key = 0; key < OWN_PHASE_KEYS; key++)
		if ((keys & 1u << key) != 0)
			values.at[key] = text_of("a");
	return marks_of("start", values) | marks_of("end", values);
}

static void
a_value_that_both_had_decides_for_its_key(void **state)
{
	/* All but key; the last event had only id and img. */
	uint32_t marks = marks_of_both(1 | 4 | 8), last = marks_of_both(1 | 4);

	assert_int_equal(own_phase_key(marks), 0);
	assert_int_equal(own_phase_candidates(marks, marks, 0), 1 | 4 | 8);
	assert_int_equal(own_phase_candidates(marks, last, 0), 1 | 4);
	marks |= own_phase_shared(3);
	assert_int_equal(own_phase_key(marks), 3);
	assert_int_equal(own_phase_candidates(marks, marks, 0), 1 | 4);
	marks |= own_phase_shared(2);
	assert_int_equal(own_phase_key(marks), 2);
	assert_int_equal(own_phase_candidates(marks, marks, 0), 1);
	marks |= own_phase_shared(0);
	assert_int_equal(own_phase_key(marks), 0);
	assert_int_equal(own_phase_candidates(marks, marks, 0), 0);
	assert_int_equal(marks & ~(uint32_t)OWN_PHASE_MARKS, 0);
}

static void
an_only_key_and_many_events_leave_no_choice(void **state)
{
	uint32_t one = marks_of_both(4), two = marks_of_both(1 | 4);
	uint32_t paired = two | own_phase_shared(2);

	assert_int_equal(own_phase_candidates(one, one, 0), 0);
	assert_int_equal(own_phase_candidates(two, two, 65536), 1 | 4);
	assert_int_equal(own_phase_candidates(two, two, 65537), 0);
	assert_int_equal(own_phase_candidates(paired, two, 4096), 1);
	assert_int_equal(own_phase_candidates(paired, two, 4097), 0);
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
		cmocka_unit_test(a_value_that_both_had_decides_for_its_key),
		cmocka_unit_test(an_only_key_and_many_events_leave_no_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
