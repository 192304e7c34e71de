/*
 * thread - the end of a thread reaches whoever started it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/thread.h"

#include <signal.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <time.h>

#include "proto/os/heartbeat.h"
#include "tests/unit/check.h"

/* What a thread does, and what was heard of its end. */
struct job {
	sem_t go; /* posted by stop, or by the test */
	int rc;
	const char *why;
	bool has_signal, had_heartbeat;
	struct thread thread;
	atomic_int ends;
	sem_t heard;
	char printed[ERR_BYTES];
	pthread_t self, told_by;
};

static int
work(void *arg, struct err *err)
{
	struct job *job = arg;
	sigset_t blocked;

	job->self = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	job->has_signal = !sigismember(&blocked, SIGTERM) ||
			  !sigismember(&blocked, SIGHUP) ||
			  sigismember(&blocked, SIGSEGV);
	heartbeat_beat();
	job->had_heartbeat = heartbeat_stuck(INT64_MAX, 0) != NULL;
	heartbeat_rest();
	while (sem_wait(&job->go) != 0)
		;
	return job->rc == 0 ? 0 : err_set(err, "%s", job->why);
}

static void
ask_to_stop(void *arg)
{
	struct job *job = arg;

	sem_post(&job->go);
}

static void
hear(void *arg, const struct err *failure)
{
	struct job *job = arg;

	snprintf(job->printed, sizeof(job->printed), "%s", failure->text);
	job->told_by = pthread_self();
	atomic_fetch_add(&job->ends, 1);
	sem_post(&job->heard);
}

static void
start(struct job *job, bool serves)
{
	const struct thread_options options = { .name = "the tester",
		.run = work,
		.stop = serves ? ask_to_stop : NULL,
		.arg = job,
		.has_heartbeat = true };
	const struct thread_watcher watcher = { hear, job };
	struct err err = { 0 };

	sem_init(&job->go, 0, 0);
	sem_init(&job->heard, 0, 0);
	if (thread_start(&job->thread, &options, &watcher, &err) != 0)
		fail_msg("%s", err.text);
}

static void
one_that_fails_says_which_and_why(void **state)
{
	struct job job = { .rc = -1, .why = "the address is taken" };
	struct err err = { 0 };

	start(&job, true);
	assert_true(thread_is_running(&job.thread));
	assert_false(thread_failure(&job.thread, &err));
	sem_post(&job.go);
	sem_wait(&job.heard);
	assert_string_equal(job.printed, "the tester: the address is taken");
	assert_false(thread_is_running(&job.thread));
	assert_true(thread_failure(&job.thread, &err));
	assert_string_equal(err.text, job.printed);
	thread_stop(&job.thread);
	assert_true(pthread_equal(job.told_by, job.self));
	assert_false(pthread_equal(job.self, pthread_self()));
	assert_int_equal(job.ends, 1);
}

static void
one_that_was_asked_to_stop_reports_nothing(void **state)
{
	struct job job = { .rc = 0 };

	start(&job, true);
	thread_stop(&job.thread);
	thread_stop(&job.thread);
	assert_int_equal(job.ends, 0);
	assert_false(thread_failure(&job.thread, NULL));
	assert_false(thread_is_running(&job.thread));
}

static void
one_that_fails_while_it_stops_reports_it(void **state)
{
	struct job job = { .rc = -1, .why = "the disk is full" };

	start(&job, true);
	thread_stop(&job.thread);
	assert_int_equal(job.ends, 1);
	assert_string_equal(job.printed, "the tester: the disk is full");
}

static void
one_that_serves_must_not_end_by_itself(void **state)
{
	struct job job = { .rc = 0 };

	start(&job, true);
	sem_post(&job.go);
	sem_wait(&job.heard);
	assert_string_equal(job.printed, "the tester: ended unexpectedly");
	thread_stop(&job.thread);
}

static void
one_whose_work_is_done_has_not_failed(void **state)
{
	struct job job = { .rc = 0 };

	start(&job, false);
	sem_post(&job.go);
	thread_stop(&job.thread);
	assert_int_equal(job.ends, 0);
	assert_false(thread_failure(&job.thread, NULL));
}

static void
signals_are_not_for_it_and_faults_are(void **state)
{
	struct job job = { .rc = 0 };

	start(&job, true);
	thread_stop(&job.thread);
	assert_false(job.has_signal);
	assert_true(job.had_heartbeat);
	assert_null(heartbeat_stuck(INT64_MAX, 0));
}

static int
read_nice(void *arg, struct err *err)
{
	*(int *)arg = getpriority(PRIO_PROCESS, 0);
	return 0;
}

static int
read_nice_of_another(void *arg, struct err *err)
{
	const struct thread_options options = {
		.name = "the second tester", .run = read_nice, .arg = arg
	};
	struct thread thread;

	if (thread_start(&thread, &options, NULL, err) != 0)
		return -1;
	thread_stop(&thread);
	return 0;
}

/* 19 is the lowest priority that there is. */
static void
one_in_the_background_and_those_that_it_starts_yield(void **state)
{
	struct thread_options options = {
		.name = "the tester", .run = read_nice, .is_background = true
	};
	int own = getpriority(PRIO_PROCESS, 0), nice, nice_of_another;
	struct thread thread;

	options.arg = &nice;
	assert_int_equal(thread_start(&thread, &options, NULL, NULL), 0);
	thread_stop(&thread);
	options.arg = &nice_of_another;
	options.run = read_nice_of_another;
	assert_int_equal(thread_start(&thread, &options, NULL, NULL), 0);
	thread_stop(&thread);
	assert_int_equal(nice, own + 10 < 19 ? own + 10 : 19);
	assert_int_equal(nice_of_another, nice);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_fails_says_which_and_why),
		cmocka_unit_test(one_that_was_asked_to_stop_reports_nothing),
		cmocka_unit_test(one_that_fails_while_it_stops_reports_it),
		cmocka_unit_test(one_that_serves_must_not_end_by_itself),
		cmocka_unit_test(one_whose_work_is_done_has_not_failed),
		cmocka_unit_test(signals_are_not_for_it_and_faults_are),
		cmocka_unit_test(
		    one_in_the_background_and_those_that_it_starts_yield),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
