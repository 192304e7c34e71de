/*
 * repair - tests of aggregator/archive/upkeep/repair.h: hours that are sent
 * again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/repair.h"

#include "tests/unit/aggregator/clear_marks.h"

static const struct key_row_block first_hour = { .partition = 1,
	.kind = RECORD_EVENT,
	.hour = (int32_t)(RIG_T0 / KEY_HOUR_NS) };

static struct db_txn *
begin(void)
{
	struct err err = { 0 };
	struct db_txn *txn;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	return txn;
}

static void
open_with_archive(void)
{
	writer_close(&rig.writer);
	rig.options.archive = true;
	rig_open_indexer(&rig);
}

/* The archiver has sent everything. */
/* Slices of the first hour in a table, by a look at every row; fails if one has
 * no mark and should have. */
static unsigned
count_slices(struct db_txn *txn, unsigned table, bool marked)
{
	unsigned char front[KEY_ROW_BLOCK_BYTES], before[MARKS_SLICE_BYTES];
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct text key, value, all = { NULL, 0 };
	unsigned char mark[1 + MARKS_SLICE_BYTES] = { TABLES_CHUNKS };
	const struct text of_mark = { (const char *)mark, sizeof(mark) };
	unsigned found = 0;

	key_put_row_block(front, &first_hour);
	for (bool more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		if (memcmp(key.at, front, KEY_HOUR_BYTES) != 0)
			continue;
		if (found == 0 || memcmp(before, key.at, sizeof(before)) != 0)
			found++;
		memcpy(before, key.at, sizeof(before));
		memcpy(mark + 1, key.at, sizeof(before));
		assert_true(
		    !marked || db_get(txn, TABLES_MARKS, of_mark, &value));
	}
	db_cursor_close(&cursor);
	return found;
}

/* Marks of slices; fails if one is not of the first hour, and of chunks, or if
 * the counts of the partition are not marked with them, once. */
static unsigned
count_marks(struct db_txn *txn)
{
	unsigned char front[KEY_ROW_BLOCK_BYTES], key[DB_KEY_BYTES_MAX];
	struct text counts = tables_counts_key(key, first_hour.partition);
	struct marks *marks = marks_open(txn);
	struct mark mark;
	unsigned found = 0, counted = 0;

	key_put_row_block(front, &first_hour);
	while (marks_next(marks, &mark)) {
		if (mark.table == TABLES_META) {
			assert_true(text_equal(mark.key, counts));
			counted++;
			continue;
		}
		assert_int_equal(mark.table, TABLES_CHUNKS);
		assert_memory_equal(mark.key.at, front, KEY_HOUR_BYTES);
		found++;
	}
	marks_close(&marks);
	assert_int_equal(counted, found > 0);
	return found;
}

static uint64_t
count_row_blocks(void)
{
	struct db_status status;
	struct err err = { 0 };

	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	return status.rows[TABLES_ROW_BLOCKS];
}

/* Compacted rows and later ones, of two hours. */
static void
make_store(void)
{
	uint64_t random = check_seed();
	struct err err = { 0 };

	for (int i = 0; i < 2; i++) {
		make_pool(&random, 5, 60);
		take_in(&random, true);
		clear_marks_of_now(true);
		if (i == 0)
			rig_good(writer_compact(rig.writer, &err), &err);
	}
}

static void
mark_first_hour(void)
{
	struct repair repair = { .hours = 0 };
	struct err err = { 0 };

	repair_add(&repair, &first_hour);
	rig_good(repair_mark(&repair, writer_db(rig.writer), &err), &err);
	repair_clear(&repair);
}

static void
every_slice_of_an_hour_is_marked(void **state)
{
	unsigned row_blocks, chunks;
	struct db_txn *txn;

	open_with_archive();
	make_store();
	mark_first_hour();
	txn = begin();
	row_blocks = count_slices(txn, TABLES_ROW_BLOCKS, true);
	chunks = count_slices(txn, TABLES_CHUNKS, true);
	assert_true(row_blocks > 0 && chunks > 0);
	/* A slice that has both is marked once. */
	assert_in_range(count_marks(txn),
	    row_blocks > chunks ? row_blocks : chunks, row_blocks + chunks);
	db_abort(&txn);
	rig_verify(&rig);
}

static void
what_is_marked_stays_until_it_was_sent(void **state)
{
	struct key_row_block later = first_hour;
	struct err err = { 0 };
	struct db_txn *txn;

	open_with_archive();
	make_store();
	mark_first_hour();
	later.hour++;
	txn = begin();
	assert_true(marks_hold_records(txn, &first_hour));
	assert_false(marks_hold_records(txn, &later));
	db_abort(&txn);
	rig_good(writer_compact(rig.writer, &err), &err);
	txn = begin();
	assert_true(count_slices(txn, TABLES_ROW_BLOCKS, false) > 0);
	db_abort(&txn);
	clear_marks_of_now(true);
	txn = begin();
	assert_int_equal(count_marks(txn), 0);
	db_abort(&txn);
	rig_good(writer_compact(rig.writer, &err), &err);
	assert_int_equal(count_row_blocks(), 0);
}

static void
a_store_without_an_archive_is_not_marked(void **state)
{
	struct repair repair = { .hours = 0 };
	uint64_t random = check_seed();
	struct err err = { 0 };
	struct db_txn *txn;

	make_pool(&random, 5, 20);
	take_in(&random, true);
	repair_add(&repair, &first_hour);
	assert_int_equal(repair_mark(&repair, writer_db(rig.writer), &err), -1);
	assert_non_null(strstr(err.text, "the store has no archive"));
	repair_clear(&repair);
	txn = begin();
	assert_int_equal(count_marks(txn), 0);
	db_abort(&txn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_slice_of_an_hour_is_marked),
		CASE(what_is_marked_stays_until_it_was_sent),
		CASE(a_store_without_an_archive_is_not_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
