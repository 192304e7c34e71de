/*
 * retention - delete records that are too old or exceed the size limit: the
 * steps, and the rows of the hours.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include <string.h>

#include "aggregator/indexer/rejected_batch.h"
#include "aggregator/marks/marks.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { VISITS = 4096 }; /* data classes examined per step */
#define CHECK_NS (30 * NS_PER_SECOND)

/* The data classes of a partition: records by kind, then rollups, then
 * compacted samples. */
enum {
	DATA_CLASS_ROLLUPS = RECORD_KINDS,
	DATA_CLASS_SAMPLES = DATA_CLASS_ROLLUPS + ROLLUPS,
	DATA_CLASSES
};

/* What one transaction deletes. */
struct removal {
	struct retention *retention;
	struct db_txn *txn;
	struct db_cursor *row_blocks, *chunks;
	struct partition_counts counts;
	struct compacted_row_rows room; /* bodies of rejected batches */
	uint32_t rows;
};

void
retention_init(struct retention *retention, struct db *db,
    struct indexer_write *indexer_write, const struct model_set *models)
{
	*retention = (struct retention){ .db = db,
		.indexer_write = indexer_write,
		.models = models,
		.compacted = INT32_MAX,
		.derived = INT32_MIN,
		.held_hour = INT32_MAX };
	for (unsigned i = 0; i < RETENTION_CUTS; i++)
		retention->cuts.before[i] = retention->done.before[i] =
		    INT32_MIN;
}

void
retention_clear(struct retention *retention)
{
	rollup_builder_free(&retention->rollups);
	compacted_row_rows_clear(&retention->rows);
}

static void
begin(struct retention *retention, const struct retention_cuts *cuts)
{
	*retention = (struct retention){ .db = retention->db,
		.indexer_write = retention->indexer_write,
		.models = retention->models,
		.clock = retention->clock,
		.doubt = retention->doubt,
		.stopped = retention->stopped,
		.clock_lead_ns = retention->clock_lead_ns,
		.next_ns = retention->next_ns,
		.deleted_ns = retention->deleted_ns,
		.compacted = retention->compacted,
		.rollups = retention->rollups,
		.rows = retention->rows,
		.cuts = *cuts,
		.done = retention->done,
		.derived = retention->derived,
		.held = retention->held,
		.held_hour = INT32_MAX,
		.removals = retention->removals,
		.is_over = retention->is_over,
		.partition = 1,
		.data_class = RECORD_EVENT };
}

int32_t
retention_cut_of(const struct retention_cuts *cuts, unsigned rollup)
{
	int32_t all = cuts->before[RETENTION_ALL], own = cuts->before[rollup];

	return own > all ? own : all;
}

static int32_t
cut_of(const struct retention *retention, unsigned rollup)
{
	return retention_cut_of(&retention->cuts, rollup);
}

/* ---- rows ---- */

/* Deleted rejected batches free space for new ones. */
static void
free_rejected(struct removal *removal, bool compacted, struct text value)
{
	struct partition_counts *counts = &removal->counts;
	uint64_t bytes =
	    compacted ? rejected_batch_bytes_of_chunk(&removal->room, value)
		      : rejected_batch_bytes_of_row(value);

	/* When no rejected batches are left, free the rest, even if a row was
	 * damaged. */
	if (counts->records[RECORD_REJECTED] == 0 ||
	    bytes > counts->rejected_bytes)
		bytes = counts->rejected_bytes;
	counts->rejected_bytes -= bytes;
}

static bool
is_behind(const struct key_row_block *a, const struct key_row_block *b)
{
	if (a->partition != b->partition)
		return a->partition > b->partition;
	return a->kind != b->kind ? a->kind > b->kind : a->hour > b->hour;
}

/* Leave an hour that the archive lacks: it is deleted later. */
static void
leave(struct retention *retention, const struct key_row_block *hour)
{
	const struct key_row_block *last = &retention->last_held;
	struct key_row_block this = { .partition = hour->partition,
		.kind = hour->kind,
		.hour = hour->hour };

	if (hour->hour < retention->held_hour)
		retention->held_hour = hour->hour;
	/* Each transaction walks from the first hour again. */
	if (is_behind(&this, last)) {
		retention->last_held = this;
		retention->holding++;
	}
}

bool
retention_leaves(struct retention *retention, struct db_txn *txn,
    const struct key_row_block *hour)
{
	bool is_held = marks_hold_records(txn, hour);

	if (is_held)
		leave(retention, hour);
	return is_held;
}

/* Go on behind the hour. */
static bool
seek_next_hour(struct db_cursor *cursor, const struct key_row_block *hour,
    struct text *key, struct text *value)
{
	struct key_row_block next = { .partition = hour->partition,
		.kind = hour->kind,
		.hour = hour->hour + 1,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	return db_seek(cursor, hour_cursor_key(bytes, &next), key, value);
}

/* Delete records of the data class before an hour; true: none are left, other
 * than those of hours that the archive lacks. */
static bool
remove_records(struct removal *removal, struct db_cursor *cursor, int32_t cut)
{
	struct retention *retention = removal->retention;
	int32_t known = INT32_MIN; /* this hour is not held */
	uint64_t *records = &removal->counts.records[retention->data_class];
	struct key_row_block row_key = { .partition = retention->partition,
		.kind = (uint8_t)retention->data_class,
		.hour = INT32_MIN,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more =
	    db_seek(cursor, hour_cursor_key(bytes, &row_key), &key, &value);

	while (more) {
		uint64_t count = row_block_count(value);

		if (!key_get_row_block(key, &row_key) ||
		    row_key.partition != retention->partition ||
		    row_key.kind != retention->data_class ||
		    row_key.hour >= cut)
			return true;
		if (removal->rows >= RETENTION_ROWS)
			return false;
		if (row_key.hour != known &&
		    retention_leaves(retention, removal->txn, &row_key)) {
			removal->rows++;
			more = seek_next_hour(cursor, &row_key, &key, &value);
			continue;
		}
		known = row_key.hour;
		removal->rows +=
		    cursor == removal->chunks ? RETENTION_CHUNK : 1;
		*records -= count < *records ? count : *records;
		if (retention->data_class == RECORD_REJECTED)
			free_rejected(
			    removal, cursor == removal->chunks, value);
		db_cursor_del(cursor);
		more = db_next(cursor, &key, &value);
	}
	return true;
}

/* Remove the buckets of a rollup before an hour; true: none are left, other
 * than those that the archive lacks, as it did not answer or has not asked for
 * them yet. */
static bool
remove_buckets(struct removal *removal, unsigned rollup, int32_t cut)
{
	struct retention *retention = removal->retention;
	unsigned table = tables_rollup(rollup);
	struct key_row_block row_key = { .partition = retention->partition,
		.kind = RECORD_SAMPLE,
		.hour = INT32_MIN,
		.first_ns = INT64_MIN };
	struct db_cursor *cursor = db_cursor_open(removal->txn, table);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	int32_t known = INT32_MIN; /* this hour is not held */
	struct text key, value;
	bool more =
	    db_seek(cursor, hour_cursor_key(bytes, &row_key), &key, &value);

	/* The archive keeps what it has. */
	db_pause_marks(removal->txn, true);
	while (more && removal->rows < RETENTION_ROWS) {
		more = key_get_row_block(key, &row_key) &&
		       row_key.partition == retention->partition &&
		       row_key.hour < cut;
		if (!more)
			break;
		removal->rows++;
		if (row_key.hour != known &&
		    marks_hold(removal->txn, table, &row_key, 0, UINT32_MAX)) {
			leave(retention, &row_key);
			more = seek_next_hour(cursor, &row_key, &key, &value);
			continue;
		}
		known = row_key.hour;
		db_cursor_del(cursor);
		more = db_next(cursor, &key, &value);
	}
	db_pause_marks(removal->txn, false);
	db_cursor_close(&cursor);
	return !more;
}

/* The same for the marks of records that are kept once. */
static bool
remove_once(struct removal *removal, int32_t cut)
{
	uint32_t partition = removal->retention->partition;
	struct key_once once = { .partition = partition, .hour = INT32_MIN };
	struct db_cursor *cursor = db_cursor_open(removal->txn, TABLES_ONCE);
	unsigned char bytes[KEY_ONCE_BYTES];
	struct text key, value;
	bool more;

	key_put_once(bytes, &once);
	db_pause_marks(removal->txn, true);
	for (more = db_seek(cursor,
		 (struct text){ (const char *)bytes, sizeof(bytes) }, &key,
		 &value);
	     more && removal->rows < RETENTION_ROWS;
	     more = db_next(cursor, &key, &value)) {
		more = key_get_once(key, &once) &&
		       once.partition == partition && once.hour < cut;
		if (!more)
			break;
		removal->rows++;
		db_cursor_del(cursor);
	}
	db_pause_marks(removal->txn, false);
	db_cursor_close(&cursor);
	return !more;
}

static bool
clear_data_class(struct removal *removal)
{
	const struct retention *retention = removal->retention;
	int32_t all = retention->cuts.before[RETENTION_ALL];

	if (retention->data_class == DATA_CLASS_SAMPLES)
		return retention_samples(removal->retention, removal->txn,
		    &removal->counts, &removal->rows);
	if (retention->data_class >= DATA_CLASS_ROLLUPS) {
		unsigned rollup = retention->data_class - DATA_CLASS_ROLLUPS;

		return rollup == ROLLUP_RAW || remove_buckets(removal, rollup,
						   cut_of(retention, rollup));
	}
	return (retention->data_class != RECORD_EVENT ||
		   remove_once(removal, all)) &&
	       remove_records(removal, removal->row_blocks, all) &&
	       remove_records(removal, removal->chunks, all);
}

/* What only the archive has from now on. */
static void
count_archived(struct partition_counts *counts, const uint64_t *before)
{
	for (unsigned i = 0; i < RECORD_KINDS; i++)
		counts->archived[i] += before[i] - counts->records[i];
}

static void
clear_partition(struct removal *removal, struct db_txn *txn, uint32_t *visits)
{
	struct retention *retention = removal->retention;
	int32_t all = retention->cuts.before[RETENTION_ALL];
	struct partition_counts *counts = &removal->counts;
	uint64_t before[RECORD_KINDS];

	tables_get_counts(txn, retention->partition, counts);
	memcpy(before, counts->records, sizeof(before));
	while (
	    retention->data_class < DATA_CLASSES && clear_data_class(removal)) {
		retention->data_class++;
		++*visits;
	}
	/* Before that there may be records that are counted. */
	if (retention->data_class == DATA_CLASSES && all != INT32_MIN &&
	    counts->first_ns < all * KEY_HOUR_NS)
		counts->first_ns = all * KEY_HOUR_NS;
	if (marks_are_kept(txn))
		count_archived(counts, before);
	else
		counts->oldest_ns = counts->first_ns;
	tables_put_counts(txn, retention->partition, counts);
	if (retention->data_class == DATA_CLASSES) {
		retention->data_class = RECORD_EVENT;
		retention->partition++;
	}
}

static void
remove_rows(struct retention *retention, struct db_txn *txn)
{
	struct removal removal = { .retention = retention,
		.row_blocks = db_cursor_open(txn, TABLES_ROW_BLOCKS),
		.chunks = db_cursor_open(txn, TABLES_CHUNKS),
		.txn = txn };
	uint32_t partitions = dictionary_last(txn, 0), visits = 0;

	/* Set the cut before the first row is deleted: readers use the rollups
	 * from now on. */
	for (unsigned rollup = 0; rollup < ROLLUPS; rollup++)
		if (cut_of(retention, rollup) > tables_cut(txn, rollup))
			tables_put_cut(txn, rollup, cut_of(retention, rollup));
	while (visits < VISITS && removal.rows < RETENTION_ROWS &&
	       retention->partition <= partitions)
		clear_partition(&removal, txn, &visits);
	db_cursor_close(&removal.row_blocks);
	db_cursor_close(&removal.chunks);
	compacted_row_rows_clear(&removal.room);
	retention->rows_done = retention->partition > partitions;
}

/* ---- a step ---- */

static void
say(struct retention *retention)
{
	int32_t all = retention->cuts.before[RETENTION_ALL];
	char when[CLOCK_TEXT_BYTES];

	if (all == INT32_MIN)
		return;
	retention->deleted_ns = all * KEY_HOUR_NS;
	log_debug("indexer: records before %s were deleted (retention)",
	    clock_text(when, retention->deleted_ns, 0));
}

/* Is there anything left to delete? */
static bool
is_wanted(const struct retention_cuts *cuts, const struct retention_cuts *done)
{
	for (unsigned i = 0; i < RETENTION_CUTS; i++)
		if (cuts->before[i] > done->before[i])
			return true;
	return false;
}

/* What is held is tried again at the next check, not before. */
static void
finish(struct retention *retention)
{
	struct retention_cuts *cuts = &retention->cuts;

	if (retention->holding > 0) {
		if (retention->held == 0)
			log_warn("retention: %llu hours that are old enough "
				 "are not deleted yet: the archive lacks "
				 "records of them",
			    (unsigned long long)retention->holding);
		retention->next_ns = clock_monotonic_ns() + CHECK_NS;
	}
	retention->held = retention->holding;
	retention->holding = 0;
	for (unsigned i = 0; i < RETENTION_CUTS; i++) {
		int32_t before = cuts->before[i];

		if (before > retention->held_hour)
			before = retention->held_hour;
		cuts->before[i] = before;
		if (before > retention->done.before[i])
			retention->done.before[i] = before;
	}
}

static bool
remove_in(struct retention *retention, struct db_txn *txn)
{
	int32_t all = retention->cuts.before[RETENTION_ALL];

	if (!retention->rows_done) {
		remove_rows(retention, txn);
		return false;
	}
	if (all > retention->derived) {
		/* The archive has phases, runs and entities as rows of the
		 * store: what were deleted here, it would lose, too. */
		bool stay = marks_are_kept(txn);

		retention->phases_done = stay || retention->phases_done ||
					 retention_phases(retention, txn);
		if (!retention->phases_done ||
		    (!stay && !retention_runs(retention, txn)))
			return false;
		tables_put_fact(txn, FACT_RETAINED, varint_zigzag(all));
		retention->derived = all;
	}
	return true;
}

static enum db_result
remove_some(struct retention *retention, bool *more, struct err *err)
{
	struct retention saved = *retention;
	enum db_result result;
	struct db_txn *txn;
	bool through;

	if (db_begin(retention->db, true, &txn, err) != 0)
		return DB_BROKEN;
	through = remove_in(retention, txn);
	result = db_commit(&txn, err);
	if (result != DB_OK) {
		saved.rollups = retention->rollups;
		saved.rows = retention->rows;
		saved.is_full = result == DB_FULL;
		*retention = saved;
		return result;
	}
	retention->is_full = false;
	retention->removals++;
	*more = true; /* when done: check whether it was enough */
	if (!through)
		return DB_OK;
	finish(retention);
	retention_clear(retention);
	say(retention);
	return DB_OK;
}

/* An idle store notes the time too.  Not being able to is no reason to stop. */
static int
save_clock(struct retention *retention, struct err *err)
{
	struct db_txn *txn;
	enum db_result result;

	if (!store_clock_is_unsaved(&retention->clock))
		return 0;
	if (db_begin(retention->db, true, &txn, err) != 0)
		return -1;
	store_clock_load(&retention->clock, txn);
	store_clock_save(&retention->clock, txn);
	result = db_commit(&txn, err);
	if (result == DB_OK)
		store_clock_saved(&retention->clock);
	return result == DB_BROKEN ? -1 : 0;
}

enum db_result
retention_step(struct retention *retention,
    const struct retention_limits *limits, bool *more, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	struct retention_cuts cuts;

	*more = false;
	if (is_wanted(&retention->cuts, &retention->done))
		return remove_some(retention, more, err);
	if (now_ns < retention->next_ns)
		return DB_OK;
	retention->next_ns = now_ns + CHECK_NS;
	if (retention_find_cuts(retention, limits, &cuts, err) != 0 ||
	    save_clock(retention, err) != 0)
		return DB_BROKEN;
	if (retention->compacted < retention->done.before[ROLLUP_RAW])
		retention->done.before[ROLLUP_RAW] = retention->compacted;
	retention->compacted = INT32_MAX;
	if (is_wanted(&cuts, &retention->done)) {
		begin(retention, &cuts);
		retention->next_ns = 0; /* check again when this is done */
		*more = true;
	}
	return DB_OK;
}
