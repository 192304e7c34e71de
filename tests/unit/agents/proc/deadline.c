/*
 * deadline - questions that are answered, late, or never.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/deadline.h"

#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/check.h"

struct question {
	struct deadline_question question;
	atomic_bool go;
	int answers;
};

static void
answer(struct deadline_question *question)
{
	struct question *q = (struct question *)question;

	while (!atomic_load(&q->go))
		usleep(1000);
	q->answers++;
}

static struct question
make(bool go)
{
	return (struct question){ .question = { .ask = answer }, .go = go };
}

static bool
ask(struct deadline *deadline, struct question *q)
{
	struct deadline_question *question = &q->question;

	return deadline_ask(deadline, &question, 1);
}

static void
a_question_is_answered(void **state)
{
	struct question q = make(true);
	struct deadline *deadline;

	deadline_open(&deadline);
	for (int i = 1; i <= 100; i++) {
		/* On a busy machine the answer may come later. */
		if (!ask(deadline, &q))
			while (deadline_is_asked(deadline, &q.question))
				usleep(1000);
		assert_int_equal(q.answers, i);
	}
	deadline_close(&deadline);
	assert_null(deadline);
}

static void
one_without_an_answer_keeps_no_other_waiting(void **state)
{
	struct question slow = make(false), quick = make(true);
	struct deadline *deadline;

	deadline_open(&deadline);
	assert_false(ask(deadline, &slow));
	assert_true(deadline_is_asked(deadline, &slow.question));
	if (!ask(deadline, &quick))
		while (deadline_is_asked(deadline, &quick.question))
			usleep(1000);
	assert_int_equal(quick.answers, 1);
	assert_true(deadline_is_asked(deadline, &slow.question));
	atomic_store(&slow.go, true);
	while (deadline_is_asked(deadline, &slow.question))
		usleep(1000);
	assert_int_equal(slow.answers, 1);
	deadline_close(&deadline);
}

static void
one_of_many_without_an_answer_keeps_no_other_waiting(void **state)
{
	struct question q[] = { make(true), make(false), make(true), make(true),
		make(false), make(true) };
	struct deadline_question *all[6];
	struct deadline *deadline;

	deadline_open(&deadline);
	for (int i = 0; i < 6; i++)
		all[i] = &q[i].question;
	assert_false(deadline_ask(deadline, all, 6));
	for (int i = 0; i < 6; i++) {
		bool slow = i == 1 || i == 4;

		assert_int_equal(
		    deadline_is_asked(deadline, &q[i].question), slow);
		assert_int_equal(q[i].answers, !slow);
		atomic_store(&q[i].go, true);
	}
	for (int i = 0; i < 6; i++)
		while (deadline_is_asked(deadline, &q[i].question))
			usleep(1000);
	assert_int_equal(q[1].answers + q[4].answers, 2);
	if (!deadline_ask(deadline, all, 6))
		for (int i = 0; i < 6; i++)
			while (deadline_is_asked(deadline, &q[i].question))
				usleep(1000);
	deadline_close(&deadline);
}

static void
there_is_a_bound_to_threads_that_wait(void **state)
{
	/* Static: they live as long as the threads. */
	static struct question slow[DEADLINE_THREADS_MAX];
	struct question quick = make(true);
	struct deadline *deadline;

	deadline_open(&deadline);
	for (int i = 0; i < DEADLINE_THREADS_MAX; i++) {
		slow[i].question.ask = answer;
		assert_false(ask(deadline, &slow[i]));
	}
	assert_false(ask(deadline, &quick));
	assert_false(deadline_is_asked(deadline, &quick.question));
	assert_int_equal(quick.answers, 0);
	/* Nor does the end wait for them. */
	deadline_close(&deadline);
}

static void
threads_whose_questions_were_answered_are_asked_again(void **state)
{
	struct question slow[DEADLINE_THREADS_MAX];
	struct deadline *deadline;

	deadline_open(&deadline);
	/* The second time there is no thread to begin: all 16 have to serve. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < DEADLINE_THREADS_MAX; i++) {
			slow[i] = make(false);
			ask(deadline, &slow[i]);
			assert_true(
			    deadline_is_asked(deadline, &slow[i].question));
		}
		for (int i = 0; i < DEADLINE_THREADS_MAX; i++)
			atomic_store(&slow[i].go, true);
		for (int i = 0; i < DEADLINE_THREADS_MAX; i++) {
			while (deadline_is_asked(deadline, &slow[i].question))
				usleep(1000);
			assert_int_equal(slow[i].answers, 1);
		}
	}
	deadline_close(&deadline);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered),
		cmocka_unit_test(one_without_an_answer_keeps_no_other_waiting),
		cmocka_unit_test(
		    one_of_many_without_an_answer_keeps_no_other_waiting),
		cmocka_unit_test(there_is_a_bound_to_threads_that_wait),
		cmocka_unit_test(
		    threads_whose_questions_were_answered_are_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
