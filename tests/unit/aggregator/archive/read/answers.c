/*
 * answers - tests of aggregator/archive/read/answers.h: what is kept, who
 * asks, who waits, and what goes.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/archive/read/answers.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

#define LONG_NS (600 * NS_PER_SECOND)

static struct answers *answers;

static struct answers_status
look(void)
{
	struct answers_status status;

	answers_look(answers, &status);
	return status;
}

static enum answers_result
take(uint64_t version, unsigned place, const char *question,
    struct answer **answer, struct err *err)
{
	return answers_take(
	    answers, version, place, text_of(question), LONG_NS, answer, err);
}

/* Ask, and answer. */
static void
put(uint64_t version, unsigned place, const char *question, const char *text)
{
	struct answer *answer;
	struct err err;

	assert_int_equal(
	    take(version, place, question, &answer, &err), ANSWERS_ASK);
	answers_put(answers, answer, text_of(text));
	answers_release(answers, &answer);
}

static void
is_kept(
    uint64_t version, unsigned place, const char *question, const char *text)
{
	struct answer *answer;
	struct err err;

	assert_int_equal(
	    take(version, place, question, &answer, &err), ANSWERS_KEPT);
	assert_true(text_equal(answer_text(answer), text_of(text)));
	answers_release(answers, &answer);
}

/* Nobody has the answer: it was not asked for, or has gone. */
static bool
is_asked(uint64_t version, unsigned place, const char *question)
{
	struct answer *answer;
	struct err err = { .text = "" };

	if (take(version, place, question, &answer, &err) == ANSWERS_ASK) {
		answers_fail(answers, &answer, &err);
		return true;
	}
	answers_release(answers, &answer);
	return false;
}

static void
an_answer_is_of_a_version_a_place_and_a_question(void **state)
{
	answers = answers_new(1 << 20);
	put(1, 0, "a", "one");
	is_kept(1, 0, "a", "one");
	assert_true(is_asked(2, 0, "a"));
	assert_true(is_asked(1, 1, "a"));
	assert_true(is_asked(1, 0, "ab"));
	put(2, 0, "a", "two");
	put(1, 1, "a", "");
	is_kept(1, 0, "a", "one");
	is_kept(2, 0, "a", "two");
	is_kept(1, 1, "a", "");
	/* 3 puts, 3 that failed; 4 were kept. */
	assert_int_equal(look().asked, 6);
	assert_int_equal(look().kept, 4);
	answers_free(&answers);
	assert_null(answers);
}

static void
without_room_the_one_goes_that_was_not_taken_for_long(void **state)
{
	struct answer *held;
	struct err err;
	char text[1000], question[2] = "a";

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	answers = answers_new(8000);
	put(1, 0, "first", "held");
	assert_int_equal(take(1, 0, "first", &held, &err), ANSWERS_KEPT);
	put(1, 0, "a", text);
	put(1, 0, "b", text);
	for (question[0] = 'c'; question[0] <= 'z'; question[0]++) {
		put(1, 0, question, text);
		is_kept(1, 0, "a", text);
		assert_true(look().bytes <= 8000);
	}
	assert_true(is_asked(1, 0, "b"));
	/* What is held stays. */
	assert_true(text_equal(answer_text(held), text_of("held")));
	is_kept(1, 0, "first", "held");
	answers_release(answers, &held);
	answers_free(&answers);
}

static void
one_that_has_no_room_is_there_for_who_asked(void **state)
{
	struct answer *answer;
	struct err err;

	answers = answers_new(1);
	assert_int_equal(take(1, 0, "a", &answer, &err), ANSWERS_ASK);
	answers_put(answers, answer, text_of("one"));
	assert_true(text_equal(answer_text(answer), text_of("one")));
	answers_release(answers, &answer);
	assert_int_equal(look().bytes, 0);
	assert_true(is_asked(1, 0, "a"));
	answers_free(&answers);
}

/* ---- several threads ---- */

struct waiter {
	pthread_t thread;
	int64_t wait_ns;
	enum answers_result result;
	struct err err;
	char text[16];
};

static void *
wait_for_it(void *arg)
{
	struct waiter *waiter = arg;
	struct answer *answer;

	waiter->result = answers_take(answers, 1, 0, text_of("a"),
	    waiter->wait_ns, &answer, &waiter->err);
	if (waiter->result != ANSWERS_KEPT)
		return NULL;
	snprintf(waiter->text, sizeof(waiter->text), "%.*s",
	    (int)answer_text(answer).bytes, answer_text(answer).at);
	answers_release(answers, &answer);
	return NULL;
}

static void
who_asks_the_same_meanwhile_waits_for_the_answer(void **state)
{
	struct waiter waiter[4] = { { .wait_ns = LONG_NS } };
	struct answer *answer;
	struct err err;

	answers = answers_new(1 << 20);
	assert_int_equal(take(1, 0, "a", &answer, &err), ANSWERS_ASK);
	for (unsigned i = 0; i < 4; i++) {
		waiter[i].wait_ns = LONG_NS;
		assert_int_equal(pthread_create(&waiter[i].thread, NULL,
				     wait_for_it, &waiter[i]),
		    0);
	}
	answers_put(answers, answer, text_of("one"));
	answers_release(answers, &answer);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(waiter[i].thread, NULL);
		assert_int_equal(waiter[i].result, ANSWERS_KEPT);
		assert_string_equal(waiter[i].text, "one");
	}
	assert_int_equal(look().asked, 1);
	assert_int_equal(look().kept, 4);
	answers_free(&answers);
}

static void
waiting_has_an_end_and_a_failure_is_that_of_all(void **state)
{
	struct waiter waiter = { .wait_ns = 1 };
	struct answer *answer;
	struct err err;

	answers = answers_new(1 << 20);
	assert_int_equal(take(1, 0, "a", &answer, &err), ANSWERS_ASK);
	wait_for_it(&waiter);
	assert_int_equal(waiter.result, ANSWERS_FAILED);
	assert_string_equal(
	    waiter.err.text, "the same question is not answered for 0 s");
	err_set(&err, "no server");
	answers_fail(answers, &answer, &err);
	assert_null(answer);
	/* It is not kept: who comes now asks again. */
	put(1, 0, "a", "one");
	is_kept(1, 0, "a", "one");
	answers_free(&answers);
}

/* What the archive answers to a question of the random test. */
static void
truth(char to[static 64], uint64_t version, unsigned place, unsigned question)
{
	snprintf(to, 64, "%d %u %u %0*d", (int)version, place, question,
	    (int)(question % 40), 0);
}

static atomic_uint asked, failed;

static void *
ask_at_random(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t version = (uint64_t)prng_between(&seed, 1, 4);
		unsigned place = (unsigned)prng_between(&seed, 0, 2),
			 number = (unsigned)prng_between(&seed, 0, 30);
		char question[16], text[64];
		struct answer *answer;
		struct err err = { .text = "" };
		enum answers_result result;

		snprintf(question, sizeof(question), "question %u", number);
		truth(text, version, place, number);
		result = take(version, place, question, &answer, &err);
		if (result == ANSWERS_FAILED) {
			assert_string_equal(err.text, text);
			continue;
		}
		if (result == ANSWERS_ASK) {
			atomic_fetch_add(&asked, 1);
			if (prng_between(&seed, 0, 9) == 0) {
				err_set(&err, "%s", text);
				answers_fail(answers, &answer, &err);
				atomic_fetch_add(&failed, 1);
				continue;
			}
			answers_put(answers, answer, text_of(text));
		}
		assert_true(text_equal(answer_text(answer), text_of(text)));
		answers_release(answers, &answer);
	}
	return NULL;
}

static void
random_questions_of_threads_get_the_answers_to_them(void **state)
{
	uint64_t seed = getenv("SEED") != NULL
			    ? strtoull(getenv("SEED"), NULL, 10)
			    : (uint64_t)time(NULL);
	pthread_t thread[4];

	printf("seed %llu\n", (unsigned long long)seed);
	answers = answers_new(50000);
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, ask_at_random,
		    (void *)(uintptr_t)(seed + i));
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_true(look().bytes <= 50000);
	assert_int_equal(look().asked, atomic_load(&asked));
	assert_true(failed > 0 && look().kept > 0);
	answers_free(&answers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_answer_is_of_a_version_a_place_and_a_question),
		cmocka_unit_test(
		    without_room_the_one_goes_that_was_not_taken_for_long),
		cmocka_unit_test(one_that_has_no_room_is_there_for_who_asked),
		cmocka_unit_test(
		    who_asks_the_same_meanwhile_waits_for_the_answer),
		cmocka_unit_test(
		    waiting_has_an_end_and_a_failure_is_that_of_all),
		cmocka_unit_test(
		    random_questions_of_threads_get_the_answers_to_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
