/*
 * retain - which compacted samples of an old hour go: not those that stand for
 * a rollup that is kept (rollups/rollup.h).
 *
 * These make the walk long, so it looks only at hours that a cut has passed
 * since it was last through; after a start, once at all of them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/rollup/rollup_list.h"

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

	for (unsigned rollup = ROLLUP_RAW; rollup < ROLLUPS; rollup++) {
		int32_t from = retention_cut_of(&retention->done, rollup);

		if (from < hour)
			from = hour;
		if (from < retention_cut_of(&retention->cuts, rollup) &&
		    from < next)
			next = from;
	}
	return next < retention_cut_of(&retention->cuts, ROLLUP_RAW)
		   ? next
		   : INT32_MAX;
}

/* To the next series_block at or behind where the walk is. */
static bool
next_series_block(struct walk *walk)
{
	struct key_row_block *at = &walk->retention->at, head;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key;

	if (!db_seek_key(walk->cursor, merge_input_key(bytes, at), &key) ||
	    !key_get_row_block(key, &head) || head.partition != at->partition ||
	    head.kind != at->kind)
		return false;
	*at = head;
	return true;
}

static void
remove_series_block(struct walk *walk)
{
	const struct key_row_block *series_block = &walk->retention->at;
	uint64_t *records = &walk->counts->records[RECORD_SAMPLE];
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	struct key_row_block head;
	bool more = db_seek(
	    walk->cursor, merge_input_key(bytes, series_block), &key, &value);

	for (;
	     more && key_get_row_block(key, &head) &&
	     head.partition == series_block->partition &&
	     head.kind == series_block->kind &&
	     head.bucket == series_block->bucket &&
	     head.run == series_block->run && head.node == series_block->node &&
	     head.track == series_block->track;
	     more = db_next(walk->cursor, &key, &value)) {
		uint64_t count = row_block_count(value);

		*walk->rows += RETENTION_CHUNK;
		*records -= count < *records ? count : *records;
		db_cursor_del(walk->cursor);
	}
}

/* One series_block; then the walk is behind it. */
static void
look_at(struct walk *walk)
{
	struct key_row_block *at = &walk->retention->at;

	++*walk->rows;
	/* What is not compacted whole has no rollups yet. */
	if (compact_level(at->run) == COMPACTED_ROW_LEVEL_WHOLE &&
	    !rollup_list_need_samples(walk->txn, at))
		remove_series_block(walk);
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
			.bucket = INT32_MIN,
			.first_ns = INT64_MIN };
	while (*rows < RETENTION_ROWS && next_series_block(&walk)) {
		hour = next_hour(retention, at->bucket);
		if (hour == INT32_MAX)
			break;
		if (hour == at->bucket) {
			look_at(&walk);
			continue;
		}
		*at = (struct key_row_block){ .partition = at->partition,
			.kind = at->kind,
			.bucket = hour,
			.first_ns = INT64_MIN };
	}
	db_cursor_close(&walk.cursor);
	return hour == INT32_MAX || *rows < RETENTION_ROWS;
}
