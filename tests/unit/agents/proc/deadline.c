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
	return (struct question){ .question = { answer, false }, .go = go };
}

static void
a_question_is_answered(void **state)
{
	struct question q = make(true);
	struct deadline *deadline;

	(void)state;
	deadline_open(&deadline);
	for (int i = 1; i <= 100; i++) {
		/* On a busy machine the answer may come later. */
		if (!deadline_ask(deadline, &q.question))
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

	(void)state;
	deadline_open(&deadline);
	assert_false(deadline_ask(deadline, &slow.question));
	assert_true(deadline_is_asked(deadline, &slow.question));
	if (!deadline_ask(deadline, &quick.question))
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
there_is_a_bound_to_threads_that_wait(void **state)
{
	/* Static: they live as long as the threads. */
	static struct question slow[DEADLINE_THREADS_MAX];
	struct question quick = make(true);
	struct deadline *deadline;

	(void)state;
	deadline_open(&deadline);
	for (int i = 0; i < DEADLINE_THREADS_MAX; i++) {
		slow[i].question.ask = answer;
		assert_false(deadline_ask(deadline, &slow[i].question));
	}
	assert_false(deadline_ask(deadline, &quick.question));
	assert_false(deadline_is_asked(deadline, &quick.question));
	assert_int_equal(quick.answers, 0);
	/* Nor does the end wait for them. */
	deadline_close(&deadline);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered),
		cmocka_unit_test(one_without_an_answer_keeps_no_other_waiting),
		cmocka_unit_test(there_is_a_bound_to_threads_that_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
