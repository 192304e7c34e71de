/*
 * marks - tests of aggregator/marks/marks.h: what the archive lacks.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/clear_marks.h"

#include "aggregator/admin/partitions.h"
#include "aggregator/tables/stream_row.h"
#include "proto/base/varint.h"

/* What proto/store.md says: of which tables rows are marked.  w: by the whole
 * key, s: by slice, p: rows whose key begins with "partition", -: not, c: by
 * slice, and only when the store gets its archive. */
static const struct {
	const char *table;
	char how;
} rules[] = {
	{ "names", 'w' },
	{ "row_blocks", 's' },
	{ "entities", 'w' },
	{ "phases", 'w' },
	{ "stats", 'w' },
	{ "meta", 'p' },
	{ "sort", '-' },
	{ "chunks", 'c' },
	{ "rollup_1min", 'w' },
	{ "rollup_1h", 'w' },
	{ "runs", 'w' },
	{ "run_times", 'w' },
	{ "groups", 'w' },
	{ "once", 'w' },
	{ "entity_blocks", 'w' },
	{ "run_blocks", 'w' },
	{ "name_blocks", 'w' },
	{ "time_blocks", 'w' },
	{ "streams", 'w' },
	{ "marks", '-' },
};

static struct db_txn *
begin(bool write)
{
	struct err err = { 0 };
	struct db_txn *txn;

	rig_good(db_begin(writer_db(rig.writer), write, &txn, &err), &err);
	return txn;
}

static void
commit(struct db_txn *txn)
{
	struct err err = { 0 };

	rig_good(db_commit(&txn, &err) == DB_OK ? 0 : -1, &err);
}

static void
open_again(bool archive)
{
	writer_close(&rig.writer);
	rig.options.archive = archive;
	rig_open_indexer(&rig);
}

static uint64_t
count_marks(int table)
{
	struct db_txn *txn = begin(false);
	struct marks *marks = marks_open(txn);
	struct mark mark;
	uint64_t found = 0;

	while (marks_next(marks, &mark))
		found += table < 0 || mark.table == (unsigned)table;
	marks_close(&marks);
	db_abort(&txn);
	return found;
}

static uint64_t
count_rows(unsigned table)
{
	struct db_status status;
	struct err err = { 0 };

	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	return status.rows[table];
}

static void
last_of(uint64_t *change, uint32_t *row)
{
	struct db_txn *txn = begin(false);

	*change = marks_last_change(txn);
	*row = marks_last_row(txn);
	db_abort(&txn);
}

static void
clear_all(uint64_t change, uint32_t row, uint32_t rows)
{
	clear_marks(
	    (struct marks_clear){
		.change = change, .settled = change, .row = row },
	    rows);
}

static void
send_pool(uint64_t *random, unsigned nodes)
{
	make_pool(random, nodes, 20);
	take_in(random, true);
}

/* How many marks a look through all rows asks for; fails if one of them is
 * missing. */
static uint64_t
look_through(struct db_txn *txn, unsigned table, char how)
{
	struct db_cursor *cursor = db_cursor_open(txn, table);
	unsigned char name[1 + DB_KEY_BYTES_MAX], before[14] = { UINT8_MAX };
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	uint64_t wanted = 0;

	for (; more && how != '-'; more = db_next(cursor, &key, &value)) {
		uint32_t bytes = how == 's' || how == 'c' ? 13 : key.bytes;
		struct text mark;

		if (how == 'p' &&
		    (key.bytes < 9 || memcmp(key.at, "partition", 9) != 0))
			continue;
		name[0] = (unsigned char)table;
		memcpy(name + 1, key.at, bytes);
		if (!db_get(txn, TABLES_MARKS,
			(struct text){ (const char *)name, 1 + bytes }, &mark))
			fail_msg(
			    "%s: a row without a mark", rules[table].table);
		if (how == 's')
			assert_true(varint_get_u32_be(mark.at + 8) <=
				    varint_get_u32_be(key.at + 29));
		wanted += bytes != 13 || memcmp(before, name, 14) != 0;
		memcpy(before, name, 14);
	}
	db_cursor_close(&cursor);
	return wanted;
}

static uint64_t
look_through_all(bool with_chunks)
{
	struct db_txn *txn = begin(false);
	uint64_t wanted = 0;

	for (unsigned i = 0; i < TABLES_COUNT; i++) {
		assert_string_equal(tables_names[i], rules[i].table);
		if (rules[i].how != 'c' || with_chunks)
			wanted += look_through(txn, i, rules[i].how);
	}
	db_abort(&txn);
	return wanted;
}

/* A store that gets an archive sends all of each slice, wherever the last
 * commit of the archive is: it has the mark of a repair, too.  Returns their
 * number.
 */
static uint64_t
slices_sent_whole(void)
{
	struct db_txn *txn = begin(false);
	struct marks *marks = marks_open(txn);
	unsigned char name[14] = { TABLES_CHUNKS };
	uint64_t slices = 0;
	struct mark mark;
	struct text value;

	while (marks_next(marks, &mark)) {
		if (mark.table != TABLES_ROW_BLOCKS)
			continue;
		memcpy(name + 1, mark.key.at, 13);
		assert_true(db_get(txn, TABLES_MARKS,
		    (struct text){ (const char *)name, 14 }, &value));
		slices++;
	}
	marks_close(&marks);
	db_abort(&txn);
	return slices;
}

static void
put_journal_stream(const struct session_id *session, uint64_t last)
{
	const struct journal_stream stream = {
		.last_seq = last, .owner = RIG_OWNER, .node = text_of("head")
	};
	struct err err = { 0 };

	rig_good(journal_begin(rig.journal, &err), &err);
	journal_stream_put(
	    rig.journal, session, text_of(RIG_PARTITION), &stream);
	assert_int_equal(journal_commit(rig.journal, &err), DB_OK);
}

/* Mark all that is in the tables, and index nothing. */
static void
while_marking(void)
{
	struct err err = { 0 };
	bool more = true;

	while (more)
		rig_good(marks_all_step(
			     writer_db(rig.writer), 9, &more, &err) == DB_OK
			     ? 0
			     : -1,
		    &err);
}

/* ---- cases ---- */

static void
a_store_without_an_archive_has_no_marks(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };

	send_pool(&random, 5);
	rig_good(writer_compact(rig.writer, &err), &err);
	assert_int_equal(count_rows(TABLES_MARKS), 0);
	assert_int_equal(count_rows(TABLES_STREAMS), 0);
	assert_int_equal(count_rows(TABLES_ROW_BLOCKS), 0);
}

static void
each_row_of_a_store_with_an_archive_has_a_mark(void **state)
{
	uint64_t random = check_seed();

	open_again(true);
	send_pool(&random, 5);
	assert_true(look_through_all(false) > 100);
	assert_true(writer_marks_are_complete(rig.writer));
	/* It stays so, whoever opens it. */
	open_again(false);
	send_pool(&random, 3);
	look_through_all(false);
}

static void
a_store_that_gets_an_archive_is_marked_as_a_whole(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	bool more = true;

	send_pool(&random, 5);
	rig_good(writer_compact(rig.writer, &err), &err);
	send_pool(&random, 4);
	assert_true(count_rows(TABLES_CHUNKS) > 0);
	assert_true(count_rows(TABLES_ROW_BLOCKS) > 0);
	open_again(true);
	assert_false(writer_marks_are_complete(rig.writer));
	/* In pieces, by processes that end. */
	for (int i = 0; more; i++) {
		rig_good(
		    marks_all_step(writer_db(rig.writer),
			1 + check_random(&random) % 20, &more, &err) == DB_OK
			? 0
			: -1,
		    &err);
		if (i % 16 == 7)
			open_again(i % 32 == 7);
	}
	open_again(false);
	assert_true(writer_marks_are_complete(rig.writer));
	assert_int_equal(
	    count_marks(-1), look_through_all(true) + slices_sent_whole());
	rig_verify(&rig);
}

static void
records_that_come_while_it_is_marked_are_marked(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	bool more;

	send_pool(&random, 4);
	open_again(true);
	rig_good(marks_all_step(writer_db(rig.writer), 50, &more, &err) == DB_OK
		     ? 0
		     : -1,
	    &err);
	assert_true(more);
	/* This marks the rest, too. */
	send_pool(&random, 4);
	assert_true(writer_marks_are_complete(rig.writer));
	look_through_all(true);
}

static void
marks_of_a_snapshot_are_removed_and_newer_ones_stay(void **state)
{
	uint64_t random = check_seed(), change, later, left = 0;
	struct db_txn *txn;
	struct marks *marks;
	struct mark mark;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	last_of(&change, &row);
	send_pool(&random, 5);
	clear_all(change, row, 1 + check_random(&random) % 9);
	txn = begin(false);
	marks = marks_open(txn);
	while (marks_next(marks, &mark)) {
		assert_true(mark.change > change);
		if (mark.table == TABLES_ROW_BLOCKS)
			assert_true(mark.first_row == row + 1);
		left++;
	}
	marks_close(&marks);
	db_abort(&txn);
	assert_true(left > 20);
	rig_verify(&rig);
	last_of(&later, &row);
	assert_true(later > change);
	clear_all(later, row, 1000);
	assert_int_equal(count_marks(-1), 0);
}

/* Who stops in the middle leaves marks of rows that the archive has, and none
 * is gone of those that it lacks. */
static void
a_removal_that_stops_in_the_middle_loses_no_mark(void **state)
{
	uint64_t random = check_seed(), change, before;
	struct err err = { 0 };
	uint32_t row;
	bool more;

	open_again(true);
	send_pool(&random, 5);
	last_of(&change, &row);
	before = count_marks(-1);
	rig_good(marks_clear_step(writer_db(rig.writer),
		     &(struct marks_clear){
			 .change = change, .settled = change, .row = row },
		     30, &more, &err) == DB_OK
		     ? 0
		     : -1,
	    &err);
	assert_true(more);
	assert_int_equal(count_marks(-1), before - 30);
	open_again(false);
	send_pool(&random, 5);
	clear_all(change, row, 7);
	/* All that changed since is there. */
	{
		struct db_txn *txn = begin(false);
		struct db_cursor *cursor =
		    db_cursor_open(txn, TABLES_ROW_BLOCKS);
		struct text key, value, all = { NULL, 0 };
		unsigned char name[14] = { TABLES_ROW_BLOCKS };
		bool found = db_seek(cursor, all, &key, &value);

		for (; found; found = db_next(cursor, &key, &value)) {
			if (varint_get_u32_be(key.at + 29) <= row)
				continue;
			memcpy(name + 1, key.at, 13);
			assert_true(db_get(txn, TABLES_MARKS,
			    (struct text){ (const char *)name, 14 }, &value));
			assert_int_equal(
			    varint_get_u32_be(value.at + 8), row + 1);
		}
		db_cursor_close(&cursor);
		db_abort(&txn);
	}
}

static void
an_hour_is_compacted_when_the_archive_has_it(void **state)
{
	uint64_t random = check_seed(), change;
	struct err err = { 0 };
	char *all;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	all = read_events();
	rig_good(writer_compact(rig.writer, &err), &err);
	assert_int_equal(count_rows(TABLES_CHUNKS), 0);
	last_of(&change, &row);
	clear_all(change, row, 1000);
	rig_good(writer_compact(rig.writer, &err), &err);
	assert_int_equal(count_rows(TABLES_ROW_BLOCKS), 0);
	assert_true(count_rows(TABLES_CHUNKS) > 0);
	assert_int_equal(count_marks(TABLES_ROW_BLOCKS), 0);
	assert_int_equal(count_marks(TABLES_CHUNKS), 0);
	assert_same(all, read_events());
}

static void
old_hours_are_deleted_when_the_archive_has_them(void **state)
{
	uint64_t random = check_seed(), change;
	struct writer_status status;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	rig.options.retain_ns = 24 * KEY_HOUR_NS; /* they are of 2017 */
	open_again(false);
	rig_indexer(&rig);
	writer_status(rig.writer, &status);
	assert_true(status.retention_held > 0);
	assert_true(count_rows(TABLES_ROW_BLOCKS) > 0);
	last_of(&change, &row);
	clear_all(change, row, 1000);
	open_again(false); /* it is not checked all the time */
	rig_indexer(&rig);
	writer_status(rig.writer, &status);
	assert_int_equal(status.retention_held, 0);
	assert_int_equal(count_rows(TABLES_ROW_BLOCKS), 0);
	rig_verify(&rig);
}

/* By a size that phases alone exceed, and by age. */
static void
phases_and_runs_stay_while_records_are_deleted(void **state)
{
	uint64_t random = check_seed(), change, phases, runs, groups;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	last_of(&change, &row);
	clear_all(change, row, 1000);
	phases = count_rows(TABLES_PHASES);
	runs = count_rows(TABLES_RUNS) + count_rows(TABLES_ENTITIES);
	groups = count_rows(TABLES_GROUPS) + count_rows(TABLES_STATS);
	assert_true(phases > 0 && groups > 0);
	for (unsigned i = 0; i < 2; i++) {
		rig.options.retain_ns = i == 1 ? 24 * KEY_HOUR_NS : 0;
		rig.options.retain_bytes = i == 0;
		open_again(false);
		rig_indexer(&rig);
		assert_int_equal(count_rows(TABLES_ROW_BLOCKS), 0);
		assert_int_equal(count_rows(TABLES_PHASES), phases);
		assert_int_equal(
		    count_rows(TABLES_RUNS) + count_rows(TABLES_ENTITIES),
		    runs);
		assert_int_equal(
		    count_rows(TABLES_GROUPS) + count_rows(TABLES_STATS),
		    groups);
	}
	rig_verify(&rig);
}

/* The writer's thread does what was asked. */
static void
run_until_no_mark_is_left(void)
{
	struct err err = { 0 };

	rig_good(writer_start(rig.writer, NULL, &err), &err);
	while (count_marks(-1) > 0)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	writer_stop(rig.writer);
}

static void
the_thread_of_the_writer_removes_marks_on_request(void **state)
{
	uint64_t random = check_seed(), change;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	last_of(&change, &row);
	assert_true(count_marks(-1) > 0);
	writer_clear_marks(
	    rig.writer, &(struct marks_clear){
			    .change = change, .settled = change, .row = row });
	run_until_no_mark_is_left();
}

static uint64_t
count_marks_of_slices(void)
{
	return count_marks(TABLES_ROW_BLOCKS) + count_marks(TABLES_CHUNKS);
}

static void
marks_of_rows_that_change_stay_until_they_are_settled(void **state)
{
	uint64_t random = check_seed(), change, settled, slices, others, left;
	struct marks_clear clear = { .change = 0 };
	struct err err = { 0 };
	bool more = true;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	last_of(&settled, &row);
	send_pool(&random, 5);
	last_of(&change, &row);
	slices = count_marks_of_slices();
	assert_true(slices > 0);
	others = count_marks(-1) - slices;
	clear.change = change;
	clear.row = row;
	for (unsigned steps = 0; more; steps++) {
		/* The first one is another mark; then only those of slices. */
		assert_true(steps <= slices);
		rig_good(marks_clear_step(writer_db(rig.writer), &clear, 1,
			     &more, &err) == DB_OK
			     ? 0
			     : -1,
		    &err);
	}
	assert_int_equal(count_marks_of_slices(), 0);
	assert_int_equal(count_marks(-1), others);
	clear = (struct marks_clear){
		.change = change, .settled = settled, .row = row
	};
	for (more = true; more;)
		rig_good(marks_clear_step(writer_db(rig.writer), &clear, 100,
			     &more, &err) == DB_OK
			     ? 0
			     : -1,
		    &err);
	left = count_marks(-1);
	assert_true(left > 0 && left < others);
	clear_all(change, row, 100);
	assert_int_equal(count_marks(-1), 0);
}

static void
a_later_request_keeps_what_is_settled(void **state)
{
	uint64_t random = check_seed(), change;
	uint32_t row;

	open_again(true);
	send_pool(&random, 5);
	last_of(&change, &row);
	writer_clear_marks(
	    rig.writer, &(struct marks_clear){
			    .change = change, .settled = change, .row = row });
	writer_clear_marks(
	    rig.writer, &(struct marks_clear){ .change = change, .row = row });
	run_until_no_mark_is_left();
}

static void
streams_say_how_far_each_is_indexed(void **state)
{
	uint64_t random = check_seed();
	struct db_cursor *cursor;
	struct text key, value, all = { NULL, 0 };
	struct session_id session;
	struct stream_row row;
	struct db_txn *txn;
	uint32_t partition;
	unsigned found = 0;
	bool more;

	open_again(true);
	send_pool(&random, 5);
	txn = begin(false);
	cursor = db_cursor_open(txn, TABLES_STREAMS);
	for (more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		assert_true(stream_row_get_key(key, &partition, &session));
		assert_true(stream_row_decode(value, &row));
		assert_int_equal(partition, 1);
		assert_int_equal(row.last_seq, rig.seq[session.bytes[15]]);
		assert_true(text_equal(row.node, text_of("head")));
		assert_false(row.derived);
		assert_true(row.owner == RIG_OWNER);
		found++;
	}
	db_cursor_close(&cursor);
	db_abort(&txn);
	for (unsigned i = 0; i < 16; i++)
		found -= rig.seq[i] > 0;
	assert_int_equal(found, 0);
}

/* The journal has two batches of one stream when the store gets its archive,
 * and one of them is not indexed. */
static void
streams_of_before_are_those_of_the_journal(void **state)
{
	unsigned char name[20] = { 0, 0, 0, 1 };
	struct session_id session = rig_session(3);
	struct stream_row row;
	struct db_txn *txn;
	struct text value;

	rig_event(&rig, "n1", RIG_T0, "prep", "start", NULL);
	rig_send(&rig, 3);
	rig_indexer(&rig);
	rig_event(&rig, "n1", RIG_T0 + 1, "prep", "end", NULL);
	rig_send(&rig, 3);
	rig_flush(&rig);
	/* The receiver does this, and the rig has none. */
	put_journal_stream(&session, 2);
	open_again(true);
	while_marking();
	assert_false(writer_marks_are_complete(rig.writer));
	memcpy(name + 4, session.bytes, 16);
	txn = begin(false);
	assert_false(marks_are_complete(txn));
	assert_true(db_get(txn, TABLES_STREAMS,
	    (struct text){ (const char *)name, 20 }, &value));
	assert_true(stream_row_decode(value, &row));
	assert_int_equal(row.last_seq, 2);
	assert_true(row.owner == RIG_OWNER);
	db_abort(&txn);
	rig_indexer(&rig);
	assert_true(writer_marks_are_complete(rig.writer));
	rig_verify(&rig);
}

static void
a_dropped_partition_leaves_no_marks(void **state)
{
	uint64_t random = check_seed(), dropped;
	struct db_txn *txn;

	open_again(true);
	send_pool(&random, 5);
	txn = begin(true);
	dropped = marks_drop_partition(txn, 2, UINT64_MAX);
	assert_int_equal(dropped, 0);
	assert_int_equal(marks_drop_partition(txn, 1, 10), 10);
	marks_drop_partition(txn, 1, UINT64_MAX);
	commit(txn);
	/* What is left are the names of partitions. */
	assert_int_equal(count_marks(-1), count_marks(TABLES_NAMES));
	assert_true(count_marks(-1) <= 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_store_without_an_archive_has_no_marks),
		CASE(each_row_of_a_store_with_an_archive_has_a_mark),
		CASE(a_store_that_gets_an_archive_is_marked_as_a_whole),
		CASE(records_that_come_while_it_is_marked_are_marked),
		CASE(marks_of_a_snapshot_are_removed_and_newer_ones_stay),
		CASE(a_removal_that_stops_in_the_middle_loses_no_mark),
		CASE(an_hour_is_compacted_when_the_archive_has_it),
		CASE(old_hours_are_deleted_when_the_archive_has_them),
		CASE(phases_and_runs_stay_while_records_are_deleted),
		CASE(the_thread_of_the_writer_removes_marks_on_request),
		CASE(marks_of_rows_that_change_stay_until_they_are_settled),
		CASE(a_later_request_keeps_what_is_settled),
		CASE(streams_say_how_far_each_is_indexed),
		CASE(streams_of_before_are_those_of_the_journal),
		CASE(a_dropped_partition_leaves_no_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
