/*
 * samples - delete the compacted samples of an old hour.
 *
 * By size, those that take the place of a rollup (rollup/rollup.h) are deleted
 * in its turn.  By age, all are, and what is to be left of them is built first.
 *
 * Samples that stay make the walk long.  It therefore visits only hours that a
 * cut has passed since its last complete walk; after a start, all of them
 * once.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include "aggregator/rollup/rollup_list.h"

enum { BUILT_ROWS = 64 }; /* building rollups counts as this many rows */

struct walk {
	struct retention *retention;
	struct db_txn *txn;
	struct db_cursor *cursor;
	struct partition_counts *counts;
	uint32_t *rows;
};

/* The first hour from `hour` on that a cut has passed, or INT32_MAX. */
static int32_t
next_hour(const struct retention *retention, int32_t hour)
{
	int32_t next = INT32_MAX;

	for (unsigned i = ROLLUP_RAW; i < RETENTION_CUTS; i++) {
		int32_t from = retention_cut_of(&retention->done, i);

		if (from < hour)
			from = hour;
		if (from < retention_cut_of(&retention->cuts, i) && from < next)
			next = from;
	}
	return next < retention_cut_of(&retention->cuts, ROLLUP_RAW)
		   ? next
		   : INT32_MAX;
}

/* Move to the next series block at or after the position of the walk. */
static bool
next_series_block(struct walk *walk)
{
	struct key_row_block *at = &walk->retention->at, row_key;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key;

	if (!db_seek_key(walk->cursor, hour_cursor_key(bytes, at), &key) ||
	    !key_get_row_block(key, &row_key) ||
	    row_key.partition != at->partition || row_key.kind != at->kind)
		return false;
	*at = row_key;
	return true;
}

static void
remove_series_block(struct walk *walk)
{
	const struct key_row_block *block = &walk->retention->at;
	uint64_t *records = &walk->counts->records[RECORD_SAMPLE];
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	struct key_row_block row_key;
	bool more =
	    db_seek(walk->cursor, hour_cursor_key(bytes, block), &key, &value);

	for (; more && key_get_row_block(key, &row_key) &&
	       row_key.partition == block->partition &&
	       row_key.kind == block->kind && row_key.hour == block->hour &&
	       row_key.slice == block->slice && row_key.node == block->node &&
	       row_key.track == block->track;
	     more = db_next(walk->cursor, &key, &value)) {
		uint64_t count = row_block_count(value);

		*walk->rows += RETENTION_CHUNK;
		*records -= count < *records ? count : *records;
		db_cursor_del(walk->cursor);
	}
}

/* All samples before this hour are too old. */
static int32_t
age_cut(const struct retention *retention)
{
	return retention_cut_of(&retention->cuts, RETENTION_SAMPLES);
}

static void
build_rollups(struct walk *walk)
{
	struct retention *retention = walk->retention;

	if (retention->rollups == NULL)
		retention->rollups = rollup_builder_new();
	rollup_builder_begin(
	    retention->rollups, walk->txn, retention->partition, ROLLUP_DENSE);
	rollup_build_last(
	    retention->rollups, &retention->at, retention->cuts.wanted);
	*walk->rows += BUILT_ROWS;
}

/* Handle one series block and move past it. */
static void
examine(struct walk *walk)
{
	struct key_row_block *at = &walk->retention->at;

	++*walk->rows;
	/* A slice that is not of the last level has no rollups yet. */
	if (compacted_row_level(at->slice) == COMPACTED_ROW_LEVEL_WHOLE) {
		bool needed = rollup_list_need_samples(walk->txn, at);

		if (needed && at->hour < age_cut(walk->retention)) {
			build_rollups(walk);
			needed = false;
		}
		if (!needed)
			remove_series_block(walk);
	}
	at->first_ns = INT64_MIN;
	at->row = 0;
	if (++at->track == 0)
		at->node++;
}

bool
retention_samples(struct retention *retention, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows)
{
	struct walk walk = { retention, txn, db_cursor_open(txn, TABLES_CHUNKS),
		counts, rows };
	struct key_row_block *at = &retention->at;
	int32_t hour = INT32_MIN;

	if (at->partition != retention->partition)
		*at = (struct key_row_block){ .partition = retention->partition,
			.kind = RECORD_SAMPLE,
			.hour = INT32_MIN,
			.first_ns = INT64_MIN };
	while (*rows < RETENTION_ROWS && next_series_block(&walk)) {
		hour = next_hour(retention, at->hour);
		if (hour == INT32_MAX)
			break;
		if (hour == at->hour) {
			examine(&walk);
			continue;
		}
		*at = (struct key_row_block){ .partition = at->partition,
			.kind = at->kind,
			.hour = hour,
			.first_ns = INT64_MIN };
	}
	db_cursor_close(&walk.cursor);
	return hour == INT32_MAX || *rows < RETENTION_ROWS;
}
