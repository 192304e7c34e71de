/*
 * partitions_drop - delete a partition that should not exist.
 *
 * Rows are deleted in bounded transactions.  The last one finds none that are
 * left and deletes the name: until then the name leads to the rows, also after
 * a crash.  Then the streams of imports into the partition lose their owner.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/partitions.h"

#include <string.h>
#include <time.h>

#include "aggregator/admin/admin_private.h"
#include "aggregator/journal/journal.h"
#include "aggregator/marks/marks.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/varint.h"
#include "proto/os/clock.h"

#define CHECK_NS (NS_PER_SECOND / 50)

enum {
	ROWS_AT_ONCE = 20000,
	STREAMS_AT_ONCE = 256,
	STREAM_KEY_BYTES = 16 + NAME_BYTES_MAX,
};

/* Keys of these begin with the number of the partition.  First what is derived
 * from the others. */
static const unsigned keyed[] = { TABLES_SORT, TABLES_PHASES, TABLES_STATS,
	TABLES_RUNS, TABLES_RUN_BLOCKS, TABLES_RUN_TIMES, TABLES_TIME_BLOCKS,
	TABLES_GROUPS, TABLES_ROW_BLOCKS, TABLES_CHUNKS, TABLES_ROLLUPS,
	TABLES_ROLLUPS_END, TABLES_ENTITIES, TABLES_ENTITY_BLOCKS, TABLES_ONCE,
	TABLES_STREAMS };

struct state {
	const struct partitions_drop *drop;
	struct journal *journal;
	struct db *tables;
	uint32_t number; /* of the partition; 0: it has no records */
	uint64_t last;   /* the last entry of the journal at the start */
};

/* ---- what there is ---- */

static bool
has_stream(struct db_txn *txn, struct text partition)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value), found = false;

	for (; more && !found; more = db_next(cursor, &key, &value))
		found = key.bytes > 16 &&
			text_equal((struct text){ key.at + 16, key.bytes - 16 },
			    partition);
	db_cursor_close(&cursor);
	return found;
}

/* Are batches of the partition in the journal? */
static int
read_journal(struct state *s, bool *received, struct err *err)
{
	struct db_cursor *cursor;
	struct db_txn *txn;
	struct text key;

	if (db_begin(journal_db(s->journal), false, &txn, err) != 0)
		return -1;
	cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	if (db_last_key(cursor, &key) && key.bytes == 8)
		s->last = varint_get_u64_be(key.at);
	db_cursor_close(&cursor);
	*received = has_stream(txn, s->drop->partition);
	db_abort(&txn);
	return 0;
}

/* Find the number of the partition and count its records. */
static int
look(struct state *s, uint64_t *indexed, struct partition_counts *counts,
    struct err *err)
{
	struct db_txn *txn;

	if (db_begin(s->tables, false, &txn, err) != 0)
		return -1;
	*indexed = tables_fact(txn, FACT_INDEXED);
	s->number = dictionary_find(txn, 0, s->drop->partition);
	*counts = (struct partition_counts){ .nodes = 0 };
	if (s->number != 0)
		tables_get_counts(txn, s->number, counts);
	db_abort(&txn);
	return 0;
}

/* Wait until all that was received before the start is indexed. */
static int
await_indexer(struct state *s, struct partition_counts *counts, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + s->drop->timeout_ns;
	const struct timespec nap = { 0, CHECK_NS };
	uint64_t indexed, before = 0;

	for (;;) {
		if (look(s, &indexed, counts, err) != 0)
			return -1;
		if (indexed >= s->last)
			return 0;
		if (indexed != before)
			until_ns = clock_monotonic_ns() + s->drop->timeout_ns;
		before = indexed;
		if (clock_monotonic_ns() > until_ns)
			return err_set(err,
			    "%s: %llu batches are not indexed yet, and "
			    "indexing makes no progress: start its aggregator "
			    "and run the command again",
			    s->drop->store,
			    (unsigned long long)(s->last - indexed));
		nanosleep(&nap, NULL);
	}
}

/* ---- deleting ---- */

/* Delete up to ROWS_AT_ONCE rows; returns how many. */
static uint64_t
delete_some(struct db_txn *txn, uint32_t number)
{
	const uint64_t limit = ROWS_AT_ONCE;
	unsigned char front[5];
	uint64_t deleted = marks_drop_partition(txn, number, limit);

	varint_put_u32_be(front, number);
	for (size_t i = 0; i < sizeof(keyed) / sizeof(*keyed); i++)
		deleted += tables_delete(txn, keyed[i],
		    (struct text){ (const char *)front, 4 }, limit - deleted);
	varint_put_u32_be(front + 1, number);
	for (const char *what = "dlnrst"; *what != '\0'; what++) {
		struct text rows = { (const char *)front, 5 };

		front[0] = (unsigned char)*what;
		deleted +=
		    tables_delete(txn, TABLES_NAMES, rows, limit - deleted);
		deleted += tables_delete(
		    txn, TABLES_NAME_BLOCKS, rows, limit - deleted);
	}
	return deleted;
}

static int
delete_all(struct state *s, struct err *err)
{
	uint64_t deleted;
	struct db_txn *txn;

	do {
		if (db_begin(s->tables, true, &txn, err) != 0)
			return -1;
		/* The archive is not asked to delete what it has. */
		db_pause_marks(txn, true);
		deleted = delete_some(txn, s->number);
		if (deleted < ROWS_AT_ONCE) {
			dictionary_remove_partition(
			    txn, s->number, s->drop->partition);
			tables_delete_counts(txn, s->number);
		}
		/* The indexer forgets the names that it knows. */
		tables_put_fact(
		    txn, FACT_DROPPED, tables_fact(txn, FACT_DROPPED) + 1);
		if (db_commit(&txn, err) != DB_OK)
			return err_prefix(err, "%s", s->drop->store);
	} while (deleted == ROWS_AT_ONCE);
	return 0;
}

/* The next keys of streams of imports that somebody owns; at most
 * STREAMS_AT_ONCE. */
static uint32_t
find_imports(struct db_txn *txn, struct text dropped,
    unsigned char (*keys)[STREAM_KEY_BYTES], uint32_t *bytes)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value, partition, all = { NULL, 0 };
	struct journal_stream stream;
	struct session_id session;
	uint32_t count = 0;
	bool more = db_seek(cursor, all, &key, &value);

	for (; more && count < STREAMS_AT_ONCE;
	     more = db_next(cursor, &key, &value)) {
		if (!journal_stream_key(key, &session, &partition) ||
		    !text_equal(partition, dropped) ||
		    !journal_stream_decode(value, &stream) || !stream.derived ||
		    stream.owner == 0)
			continue;
		memcpy(keys[count], key.at, key.bytes);
		bytes[count++] = key.bytes;
	}
	db_cursor_close(&cursor);
	return count;
}

static void
disown(struct journal *journal, struct text key)
{
	struct text partition;
	struct journal_stream stream;
	struct session_id session;

	if (!journal_stream_key(key, &session, &partition) ||
	    journal_stream_get(journal, &session, partition, &stream) !=
		JOURNAL_FOUND)
		return;
	stream.owner = 0;
	journal_stream_put(journal, &session, partition, &stream);
}

/* Streams of imports belong to nobody any more: their rows are gone, so the
 * same import must store them again, under its next session.  Those of agents
 * stay: what they had acknowledged was to be deleted, and is not sent again. */
static int
disown_imports(struct state *s, bool *found, struct err *err)
{
	unsigned char keys[STREAMS_AT_ONCE][STREAM_KEY_BYTES];
	uint32_t bytes[STREAMS_AT_ONCE], count;

	*found = false;
	do {
		if (journal_begin(s->journal, err) != 0)
			return -1;
		count = find_imports(
		    journal_txn(s->journal), s->drop->partition, keys, bytes);
		for (uint32_t i = 0; i < count; i++)
			disown(s->journal,
			    (struct text){ (const char *)keys[i], bytes[i] });
		if (journal_commit(s->journal, err) != DB_OK)
			return err_prefix(err, "%s", s->drop->store);
		*found |= count > 0;
	} while (count == STREAMS_AT_ONCE);
	return 0;
}

static int
run(struct state *s, struct partition_counts *counts, struct err *err)
{
	bool received, found = false;
	uint64_t indexed;

	if (read_journal(s, &received, err) != 0 ||
	    look(s, &indexed, counts, err) != 0)
		return -1;
	if (s->number != 0 && s->drop->dry_run)
		return 0;
	if ((s->number != 0 || received) && await_indexer(s, counts, err) != 0)
		return -1;
	/* After the records: an import that runs meanwhile sends its rows
	 * again.  A command that was stopped in between does only this. */
	if (!s->drop->dry_run && ((s->number != 0 && delete_all(s, err) != 0) ||
				     disown_imports(s, &found, err) != 0))
		return -1;
	if (s->number != 0 || found)
		return 0;
	return err_set(
	    err, "%s has no records of this partition", s->drop->store);
}

int
partitions_drop(const struct partitions_drop *drop,
    struct partition_counts *counts, struct err *err)
{
	const struct journal_options journal = { .read_only = drop->dry_run,
		.keep_map = true,
		.allow_network = true };
	struct db_options tables = { .keep_map = true, .allow_network = true };
	struct state s = { .drop = drop };
	struct lockfile files = { 0 };
	int rc = -1;

	if (admin_find(drop->store, err) != 0 ||
	    admin_lock_files(&files, drop->store, err) != 0)
		return -1;
	if (journal_open(&s.journal, drop->store, &journal, err) == 0 &&
	    tables_open(&s.tables, drop->store, &tables, err) == 0)
		rc = run(&s, counts, err);
	db_close(&s.tables);
	journal_close(&s.journal);
	lockfile_release(&files);
	return rc;
}
