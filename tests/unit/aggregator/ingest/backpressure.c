/*
 * backpressure - tests of aggregator/ingest/backpressure.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/ingest/backpressure.h"
#include "proto/os/clock.h"

static char folder[SCRATCH_BYTES];
static struct journal *journal;

static uint64_t
nothing_indexed(void *arg)
{
	return 0;
}

static int
set_up(void **state)
{
	const struct journal_options options = { .map_bytes = 4 << 20 };
	struct err err = { 0 };

	scratch_make(folder);
	if (journal_open(&journal, folder, &options, &err) != 0)
		fail_msg("%s", err.text);
	return 0;
}

static int
tear_down(void **state)
{
	journal_close(&journal);
	scratch_remove(folder);
	return 0;
}

static struct backpressure
full_room(void)
{
	const struct err why = { .text = "MDB_MAP_FULL" };
	struct backpressure backpressure = { .journal = journal,
		.follower = { .position = nothing_indexed },
		.journal_bytes = 1 << 20 };

	backpressure_set_full(&backpressure, clock_monotonic_ns(), &why);
	assert_true(backpressure.full);
	return backpressure;
}

static void
a_journal_stays_full_while_a_sender_may_retry(void **state)
{
	struct backpressure backpressure = full_room();
	struct err err = { 0 };

	assert_int_equal(
	    backpressure_purge_alone(&backpressure, 16, &err), DB_OK);
	assert_true(backpressure.full);
	assert_int_equal(
	    backpressure_check(&backpressure, clock_monotonic_ns()),
	    RECEIVER_FULL);
}

static void
a_room_that_nobody_tries_finds_out_by_itself_that_it_is_one(void **state)
{
	struct backpressure backpressure = full_room();
	struct err err = { 0 };

	backpressure.retry_ns -= 12 * NS_PER_SECOND; /* as if so much later */
	assert_int_equal(
	    backpressure_purge_alone(&backpressure, 16, &err), DB_OK);
	assert_false(backpressure.full);
	assert_int_equal(
	    backpressure_check(&backpressure, clock_monotonic_ns()),
	    RECEIVER_ROOM);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_journal_stays_full_while_a_sender_may_retry),
		CASE(
		    a_room_that_nobody_tries_finds_out_by_itself_that_it_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
