/*
 * questions - tests of aggregator/query/questions.h: whose turn it is.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/query/questions.h"

static struct questions questions;
static uint64_t indexed;

/* A reader's connection has one letter; `text` is the frame. */
static enum questions_added
add(char reader, const char *text, uint64_t number)
{
	struct question question = { .route = { .bytes = 2,
					 .at = { 1, (unsigned char)reader } },
		.frame = text_of(text),
		.number = number };

	return questions_add(&questions, &question);
}

static bool
is_ready(void *arg, struct question *question)
{
	return question->number <= indexed;
}

static struct question *
take(void)
{
	return questions_take(&questions, is_ready, NULL);
}

/* Take a question, which must be this one, and answer it. */
static void
answer(const char *text)
{
	struct question *question = take();

	assert_non_null(question);
	assert_true(text_equal(question->frame, text_of(text)));
	questions_remove(&questions, question);
}

static int
tear_down(void **state)
{
	questions_clear(&questions);
	questions.turn = indexed = 0;
	return 0;
}

static void
readers_take_turns(void **state)
{
	add('a', "a1", 0);
	add('a', "a2", 0);
	add('a', "a3", 0);
	add('b', "b1", 0);
	answer("a1");
	answer("b1");
	add('c', "c1", 0);
	answer("a2");
	add('b', "b2", 0);
	answer("c1");
	answer("a3");
	answer("b2");
	assert_null(take());
}

/* Neither one that asks when it has its answer, nor one that asks ahead. */
static void
no_reader_is_left_behind(void **state)
{
	add('a', "a1", 0);
	add('a', "a2", 0);
	add('a', "a3", 0);
	answer("a1");
	add('b', "b1", 0);
	answer("a2");
	answer("b1");
	add('b', "b2", 0);
	answer("a3");
	answer("b2");
	assert_null(take());
}

static void
one_question_of_a_reader_is_answered_at_a_time(void **state)
{
	struct question *first;

	add('a', "a1", 0);
	add('a', "a2", 0);
	first = take();
	assert_null(take());
	add('b', "b1", 0);
	answer("b1");
	questions_remove(&questions, first);
	answer("a2");
}

static void
a_question_that_waits_for_the_index_holds_its_reader_only(void **state)
{
	add('a', "a1", 7);
	add('a', "a2", 0);
	add('b', "b1", 0);
	answer("b1");
	assert_null(take());
	indexed = 7;
	answer("a1");
	answer("a2");
}

static void
a_repetition_has_one_answer(void **state)
{
	assert_int_equal(add('a', "a1", 0), QUESTIONS_ADDED);
	assert_int_equal(add('a', "a1", 0), QUESTIONS_REPEATED);
	assert_int_equal(add('b', "a1", 0), QUESTIONS_ADDED);
	take();
	take();
	assert_int_equal(add('a', "a1", 0), QUESTIONS_REPEATED);
	assert_int_equal(questions.count, 2);
}

static void
number_and_bytes_are_bounded(void **state)
{
	static char large[QUESTIONS_BYTES / 2 + 1];
	char text[16];
	int i;

	for (i = 0; i < QUESTIONS_OF_READER; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(add('a', text, 0), QUESTIONS_ADDED);
	}
	assert_int_equal(add('a', "more", 0), QUESTIONS_FULL);
	for (; i < QUESTIONS_MAX; i++)
		assert_int_equal(
		    add((char)('b' + i / QUESTIONS_OF_READER),
			(snprintf(text, sizeof(text), "%d", i), text), 0),
		    QUESTIONS_ADDED);
	assert_int_equal(add('z', "more", 0), QUESTIONS_FULL);
	questions_clear(&questions);
	assert_int_equal(questions.bytes, 0);
	memset(large, 'x', sizeof(large) - 1);
	assert_int_equal(add('a', large, 0), QUESTIONS_ADDED);
	assert_int_equal(add('b', large, 0), QUESTIONS_ADDED);
	assert_int_equal(add('c', "more", 0), QUESTIONS_FULL);
}

/* Frames behind the first one are the reader's own words. */
static void
a_reader_cannot_pretend_to_be_several(void **state)
{
	struct question question = { .route = { .bytes = 4,
					 .at = { 1, 'a', 1, '0' } },
		.frame = text_of("same") };

	for (int i = 0; i < QUESTIONS_OF_READER; i++, question.route.at[3]++)
		assert_int_equal(
		    questions_add(&questions, &question), QUESTIONS_ADDED);
	assert_int_equal(questions_add(&questions, &question), QUESTIONS_FULL);
	assert_non_null(take());
	assert_null(take());
}

static void
a_reader_that_is_gone_is_forgotten(void **state)
{
	struct question *taken;

	add('a', "a1", 0);
	add('b', "b1", 0);
	add('a', "a2", 0);
	add('a', "a3", 0);
	taken = take();
	assert_int_equal(questions_forget(&questions, &taken->route), 2);
	questions_remove(&questions, taken);
	answer("b1");
	assert_int_equal(questions.count, 0);
	assert_int_equal(questions.bytes, 0);
}

#define CASE(test) cmocka_unit_test_teardown(test, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(readers_take_turns),
		CASE(no_reader_is_left_behind),
		CASE(one_question_of_a_reader_is_answered_at_a_time),
		CASE(a_question_that_waits_for_the_index_holds_its_reader_only),
		CASE(a_repetition_has_one_answer),
		CASE(number_and_bytes_are_bounded),
		CASE(a_reader_cannot_pretend_to_be_several),
		CASE(a_reader_that_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
