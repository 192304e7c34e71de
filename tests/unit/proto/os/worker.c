/*
 * worker - work begun is done once, by the time it is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/worker.h"

#include <pthread.h>
#include <time.h>

#include "tests/unit/check.h"

struct sum {
	uint64_t number, sum, rounds;
	pthread_t self;
	long nap_ns;
};

static void
add(void *arg)
{
	struct sum *sum = arg;

	nanosleep(&(struct timespec){ 0, sum->nap_ns }, NULL);
	sum->sum += sum->number;
	sum->rounds++;
	sum->self = pthread_self();
}

static void
each_begin_is_one_piece_of_work(void **state)
{
	struct sum sum = { 0 };
	struct worker *worker = worker_new(add, &sum);
	uint64_t want = 0;

	for (uint64_t i = 1; i <= 5000; i++) {
		sum.number = i;
		worker_begin(worker);
		worker_await(worker);
		want += i;
		assert_int_equal(sum.sum, want);
		assert_int_equal(sum.rounds, i);
	}
	assert_false(pthread_equal(sum.self, pthread_self()));
	worker_free(&worker);
	assert_null(worker);
}

static void
a_second_begin_waits_for_the_first(void **state)
{
	struct sum sum = { .number = 1, .nap_ns = 2000000 };
	struct worker *worker = worker_new(add, &sum);

	for (int i = 0; i < 20; i++)
		worker_begin(worker);
	worker_await(worker);
	assert_int_equal(sum.rounds, 20);
	worker_free(&worker);
}

static void
the_end_waits_for_what_was_begun(void **state)
{
	struct sum sum = { .number = 1, .nap_ns = 20000000 };
	struct worker *worker = worker_new(add, &sum);

	worker_begin(worker);
	worker_free(&worker);
	assert_int_equal(sum.rounds, 1);
}

static void
waiting_for_nothing_ends_at_once(void **state)
{
	struct sum sum = { 0 };
	struct worker *worker = worker_new(add, &sum), *none = NULL;

	worker_await(worker);
	worker_free(&worker);
	worker_free(&none);
	assert_int_equal(sum.rounds, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_begin_is_one_piece_of_work),
		cmocka_unit_test(a_second_begin_waits_for_the_first),
		cmocka_unit_test(the_end_waits_for_what_was_begun),
		cmocka_unit_test(waiting_for_nothing_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
