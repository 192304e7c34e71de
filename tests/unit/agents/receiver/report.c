/*
 * report - what a source has taken, and what it could not take.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/report.h"

#include <pthread.h>

#include "proto/os/log.h"
#include "tests/unit/check.h"

static uint64_t
count_of(struct receiver_report *report, const char *reason)
{
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	uint32_t reasons = report_read_bad(report, bad);

	for (uint32_t i = 0; i < reasons; i++)
		if (strcmp(bad[i].reason, reason) == 0)
			return bad[i].count;
	return 0;
}

static void
each_reason_is_counted(void **state)
{
	struct receiver_report report;

	receiver_report_init(&report, "test");
	report_bad(&report, "value", text_of("a:x|c"), NULL, 1);
	report_bad(&report, "name", text_of(":1|c"), "no name", 2);
	report_bad(&report, "value", text_of("a:y|c"), NULL, 40);
	assert_int_equal(count_of(&report, "value"), 41);
	assert_int_equal(count_of(&report, "name"), 2);
	assert_int_equal(count_of(&report, "other"), 0);
}

/* Nobody makes 33 reasons, but a sum must not be lost. */
static void
reasons_beyond_the_last_place_share_it(void **state)
{
	static char word[RECEIVER_REASONS_MAX + 8][16];
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	struct receiver_report report;
	uint64_t sum = 0;

	receiver_report_init(&report, "test");
	for (int i = 0; i < RECEIVER_REASONS_MAX + 8; i++) {
		snprintf(word[i], sizeof(word[i]), "r%d", i);
		report_bad(&report, word[i], text_of("x"), NULL, 1);
	}
	assert_int_equal(report_read_bad(&report, bad), RECEIVER_REASONS_MAX);
	for (int i = 0; i < RECEIVER_REASONS_MAX; i++)
		sum += bad[i].count;
	assert_int_equal(sum, RECEIVER_REASONS_MAX + 8);
}

static void
the_name_that_was_refused_most_is_known(void **state)
{
	struct receiver_refused most;
	struct receiver_report report;
	char name[24];

	receiver_report_init(&report, "test");
	assert_false(report_take_refused(&report, &most));
	/* One that returns among a thousand that do not. */
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "once.%d", i);
		report_refused(&report, text_of(name), 1);
		report_refused(&report, text_of("often"), 1);
	}
	assert_true(report_take_refused(&report, &most));
	assert_string_equal(most.name, "often");
	assert_int_equal(most.count, 1000);
	assert_int_equal(atomic_load(&report.refused), 2000);
	assert_false(report_take_refused(&report, &most));
}

static void
a_name_that_is_too_long_is_cut(void **state)
{
	char name[NAME_BYTES_MAX + 100];
	struct receiver_refused most;
	struct receiver_report report;

	memset(name, 'n', sizeof(name));
	receiver_report_init(&report, "test");
	report_refused(&report, (struct text){ name, sizeof(name) }, 3);
	assert_true(report_take_refused(&report, &most));
	assert_int_equal(strlen(most.name), NAME_BYTES_MAX);
	assert_int_equal(most.count, 3);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *
use(void *arg)
{
	struct receiver_report *report = arg;

	for (int i = 0; i < ROUNDS; i++) {
		report_taken(report, 2);
		report_lost(report, 1);
		report_bad(report, "value", text_of("x"), NULL, 1);
		report_refused(report, text_of("name"), 1);
	}
	return NULL;
}

static void
threads_count_together(void **state)
{
	struct receiver_refused most;
	struct receiver_report report;
	pthread_t thread[THREADS];

	receiver_report_init(&report, "test");
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
		    pthread_create(&thread[i], NULL, use, &report), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(atomic_load(&report.taken), 2 * THREADS * ROUNDS);
	assert_int_equal(atomic_load(&report.lost), THREADS * ROUNDS);
	assert_int_equal(count_of(&report, "value"), THREADS * ROUNDS);
	assert_true(report_take_refused(&report, &most));
	assert_int_equal(most.count, THREADS * ROUNDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_is_counted),
		cmocka_unit_test(reasons_beyond_the_last_place_share_it),
		cmocka_unit_test(the_name_that_was_refused_most_is_known),
		cmocka_unit_test(a_name_that_is_too_long_is_cut),
		cmocka_unit_test(threads_count_together),
	};

	log_init("report", LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
