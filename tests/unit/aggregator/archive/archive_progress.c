/*
 * archive_progress - tests of aggregator/archive/archive_progress.h: how old
 * the oldest record is that the archive lacks, what waits, and which replica
 * has what.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <time.h>

#include "aggregator/archive/archive_progress.h"
#include "aggregator/marks/marks.h"

static struct rig rig;
static struct archive_progress progress;

static int
set_up(void **state)
{
	rig_open(&rig, NULL);
	writer_close(&rig.writer);
	rig.options.archive = true;
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	archive_progress_init(&progress, rig.writer);
	return 0;
}

static int
tear_down(void **state)
{
	archive_progress_clear(&progress);
	rig_close(&rig);
	return 0;
}

static void
one_record(void)
{
	rig_event(&rig, "n1", RIG_T0, "test", "hello", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
}

static struct archive_progress_status
look(void)
{
	struct archive_progress_status status;

	archive_progress_status(&progress, &status);
	return status;
}

static struct pass_place
newest(void)
{
	struct pass_place place = { .entry = 7 };
	struct db_txn *txn;
	struct err err = { 0 };

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	place.change = marks_last_change(txn);
	db_abort(&txn);
	return place;
}

/* As the archiver does, without a cluster. */
static void
commit_all(void)
{
	struct pass_place place = newest();

	archive_progress_commit(&progress, &place, clock_wall_ns());
}

static void
sleep_ms(int ms)
{
	const struct timespec step = { 0, ms * 1000000L };

	nanosleep(&step, NULL);
}

static void
an_empty_store_lacks_nothing(void **state)
{
	commit_all();
	assert_int_equal(look().lag_ns, 0);
}

/* No pass comes in between: the store is asked. */
static void
a_record_is_missing_from_its_transaction_on(void **state)
{
	int64_t first;

	commit_all();
	assert_int_equal(look().lag_ns, 0);
	one_record();
	first = look().lag_ns;
	assert_true(first > 0);
	sleep_ms(30);
	assert_true(look().lag_ns >= first + 30 * 1000000);
	commit_all();
	assert_int_equal(look().lag_ns, 0);
	assert_int_equal(look().entry, 7);
	assert_int_equal(look().change, newest().change);
}

/* It is looked every 50 ms: the rest before the record is not its age. */
static void
the_age_begins_when_nothing_was_missing_last(void **state)
{
	struct err err = { 0 };
	int64_t before_ns;

	commit_all();
	sleep_ms(200);
	before_ns = clock_wall_ns();
	rig_good(archive_progress_look(&progress, &err), &err);
	one_record();
	assert_true(look().lag_ns > 0);
	assert_true(look().lag_ns <= clock_wall_ns() - before_ns);
}

/* A snapshot that was taken before a record came does not have it. */
static void
a_record_after_the_snapshot_is_as_old_as_the_snapshot(void **state)
{
	struct pass_place place;
	int64_t sent_ns;

	one_record();
	place = newest();
	sent_ns = clock_wall_ns();
	sleep_ms(20);
	one_record();
	archive_progress_commit(&progress, &place, sent_ns);
	assert_true(look().lag_ns >= 20 * 1000000);
	assert_true(look().lag_ns <= clock_wall_ns() - sent_ns);
}

static void
what_is_sent_waits_until_it_is_committed(void **state)
{
	struct block_sender sender = { .bytes = 500, .resends = 2 };
	struct pass pass = {
		.typed = { .sender = &sender }, .records = 30, .rows = 4
	};
	struct archive_progress_status status;

	archive_progress_send(&progress, &pass, 1);
	commit_all();
	archive_progress_send(&progress, &pass, 1);
	archive_progress_send(&progress, &pass, 2);
	archive_progress_wait(&progress, 2, 1);
	status = look();
	assert_int_equal(status.records, 90);
	assert_int_equal(status.rows, 12);
	assert_int_equal(status.pending, 2);
	assert_int_equal(status.records_pending, 60);
	assert_int_equal(status.bytes, 500);
	assert_int_equal(status.resends, 2);
	assert_true(status.is_one_copy);
	commit_all();
	status = look();
	assert_int_equal(status.pending, 0);
	assert_int_equal(status.records_pending, 0);
	assert_false(status.is_one_copy);
}

static void
a_failure_has_a_beginning_and_an_end(void **state)
{
	const struct err one = { .text = "archive: one" },
			 two = { .text = "archive: two" };
	struct archive_progress_status status;
	int64_t since_ns, before_ns = clock_wall_ns();

	archive_progress_fail(&progress, true, false, &one);
	status = look();
	since_ns = status.failing_since_ns;
	assert_true(since_ns >= before_ns && since_ns <= clock_wall_ns());
	assert_string_equal(status.problem, "archive: one");
	sleep_ms(5);
	archive_progress_fail(&progress, false, true, &two);
	status = look();
	assert_int_equal(status.failing_since_ns, since_ns);
	assert_string_equal(status.problem, "archive: two");
	assert_true(status.is_refused && !status.is_connected);
	archive_progress_succeed(&progress);
	status = look();
	assert_int_equal(status.failing_since_ns, 0);
	assert_string_equal(status.problem, "");
	assert_true(!status.is_refused && status.is_connected);
}

static void
a_replica_keeps_what_it_has_when_it_is_found_elsewhere(void **state)
{
	struct clickhouse_cluster cluster = { .shards = 2,
		.shard = { { .replicas = 2,
			       .replica = { { .host = "a", .port = 1 },
				   { .host = "a", .port = 2 } } },
		    { .replicas = 1,
			.replica = { { .host = "c", .port = 1 } } } } };
	const struct pass_place place = { .change = 5 };
	struct archive_progress_status status;

	archive_progress_connect(&progress, &cluster, 3, &place);
	archive_progress_find(
	    &progress, 0, 1, &cluster.shard[0].replica[1], 40);
	archive_progress_find(
	    &progress, 1, 0, &cluster.shard[1].replica[0], 41);
	/* The other order, and one that is new. */
	cluster.shard[0].replica[0].port = 2;
	snprintf(cluster.shard[0].replica[1].host,
	    sizeof(cluster.shard[0].replica[1].host), "b");
	archive_progress_connect(&progress, &cluster, 3, &place);
	status = look();
	assert_int_equal(status.epoch, 3);
	assert_int_equal(status.shards, 2);
	assert_int_equal(status.change, 5);
	assert_int_equal(status.shard[0].replicas, 2);
	assert_string_equal(status.shard[0].replica[0].place, "a:2");
	assert_int_equal(status.shard[0].replica[0].change, 40);
	assert_string_equal(status.shard[0].replica[1].place, "b:2");
	assert_int_equal(status.shard[0].replica[1].change, 0);
	assert_string_equal(status.shard[1].replica[0].place, "c:1");
	assert_int_equal(status.shard[1].replica[0].change, 41);
	/* One that does not answer has no port, until it is found. */
	cluster.shard[0].replica[1].port = 0;
	archive_progress_connect(&progress, &cluster, 3, &place);
	status = look();
	assert_string_equal(status.shard[0].replica[1].place, "b:replica2");
	cluster.shard[0].replica[1].port = 7;
	archive_progress_find(
	    &progress, 0, 1, &cluster.shard[0].replica[1], 42);
	status = look();
	assert_string_equal(status.shard[0].replica[1].place, "b:7");
	assert_int_equal(status.shard[0].replica[1].change, 42);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_store_lacks_nothing),
		TEST(a_record_is_missing_from_its_transaction_on),
		TEST(the_age_begins_when_nothing_was_missing_last),
		TEST(a_record_after_the_snapshot_is_as_old_as_the_snapshot),
		TEST(what_is_sent_waits_until_it_is_committed),
		TEST(a_failure_has_a_beginning_and_an_end),
		TEST(a_replica_keeps_what_it_has_when_it_is_found_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
