/*
 * compact_pass - one transaction of a compaction job: move some records to
 * chunks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/compact_pass.h"

#include <stdlib.h>

#include "aggregator/db/damage.h"
#include "aggregator/marks/marks.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rollup/rollup_build.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

/* A chunk of samples has several nodes, because short columns compress badly;
 * who reads one of them unpacks all of them. */
enum { SAMPLE_ROWS = 1500, SAMPLE_NODES = 16 };

/* The records collected for the transaction. */
struct take {
	struct compact *compact;
	uint32_t series_blocks_end; /* items in complete series blocks */
	bool full;
};

void
compact_clear(struct compact *compact)
{
	hour_cursor_clear(&compact->hour_cursor);
	merge_clear(&compact->merge);
	compacted_cursor_cache_clear(&compact->cache);
	compacted_row_writer_free(&compact->writer);
	rollup_builder_free(&compact->rollups);
	compacted_row_rows_clear(&compact->rows);
	arena_clear(&compact->arena);
	buffer_clear(&compact->row.bytes);
	free(compact->item);
	free(compact->chunk);
	free(compact->slice);
	*compact = (struct compact){ .busy = false };
}

static void
prepare(struct compact *compact)
{
	if (compact->writer == NULL)
		compact->writer = compacted_row_writer_new();
	if (compact->item == NULL)
		compact->item =
		    memory_alloc(COMPACT_STEP_ROWS * sizeof(*compact->item));
	arena_reset(&compact->arena);
	compact->items = compact->slices = compact->row_block_slices = 0;
	compact->chunks = 0;
}

/* ---- reading ---- */

static void
note_slices(struct compact *compact)
{
	const struct hour_cursor *hour_cursor = &compact->hour_cursor;
	uint32_t i;

	if (compact->slice_room < hour_cursor->count) {
		compact->slice_room = hour_cursor->count;
		free(compact->slice);
		compact->slice =
		    memory_alloc(compact->slice_room * sizeof(*compact->slice));
	}
	for (i = 0; i < hour_cursor->count; i++)
		if (hour_cursor->at[i].compacted_cursor == NULL)
			compact->slice[compact->slices++] =
			    hour_cursor->at[i].row_key.slice;
	compact->row_block_slices = compact->slices;
	for (i = 0; i < hour_cursor->count; i++)
		if (hour_cursor->at[i].compacted_cursor != NULL)
			compact->slice[compact->slices++] =
			    hour_cursor->at[i].row_key.slice;
}

/* Copy a record; false: the limit of the transaction is reached. */
static bool
take_item(struct compact *compact, const struct key_row_block *key,
    const struct row_block_item *item)
{
	uint32_t most =
	    compact->step_rows != 0 ? compact->step_rows : COMPACT_STEP_ROWS;
	struct compacted_row_item *to = &compact->item[compact->items];

	if (compact->items == most ||
	    (compact->items > 0 &&
		compact->arena.used + item->body.bytes > COMPACT_STEP_BYTES))
		return false;
	*to = (struct compacted_row_item){ key->node, key->track, *item };
	to->record.body = arena_text(&compact->arena, item->body);
	compact->items++;
	return true;
}

static void
take_series_block(struct take *take, const struct key_row_block *key)
{
	struct compact *compact = take->compact;
	const struct compact_job *job = &compact->job;
	bool again = job->begun && key->node == job->last.node &&
		     key->track == job->last.track;
	struct row_block_item item;

	merge_reset(&compact->merge);
	hour_cursor_collect(&compact->hour_cursor, key, &compact->merge,
	    again ? job->last.record.time_ns : INT64_MIN);
	while (!take->full && merge_next(&compact->merge, &item)) {
		if (again && row_block_compare(&item, &job->last.record) <= 0)
			continue;
		take->full = !take_item(compact, key, &item);
	}
	if (!take->full)
		take->series_blocks_end = compact->items;
}

/* Collect the records after the last one.  Samples end with a series block if
 * possible, so that each series block is in as few chunks as possible.  True:
 * the job has no more records. */
static bool
take_records(struct compact *compact, struct db_txn *txn)
{
	struct take take = { .compact = compact };
	struct key_row_block first = compact->job.hour, key;

	first.node = compact->job.begun ? compact->job.last.node : 0;
	first.track = compact->job.begun ? compact->job.last.track : 0;
	hour_cursor_open(&compact->hour_cursor, txn, &compact->cache, &first,
	    &compact->job.choice);
	note_slices(compact);
	while (
	    !take.full && hour_cursor_series_block(&compact->hour_cursor, &key))
		take_series_block(&take, &key);
	hour_cursor_close(&compact->hour_cursor);
	if (take.full && compact->job.hour.kind == RECORD_SAMPLE &&
	    take.series_blocks_end > 0)
		compact->items = take.series_blocks_end;
	compact->complete = compact->items == take.series_blocks_end;
	return !take.full;
}

/* ---- writing ---- */

static uint64_t
values_of(const struct compacted_row_item *item)
{
	struct varint_reader u = varint_reader_of(item->record.body);

	return varint_get(&u);
}

/* A chunk of samples has whole series blocks of one track and number of values:
 * as many as have these rows, or one that has more. */
static uint32_t
cut_samples(const struct compact *compact, uint32_t at, uint32_t count)
{
	const struct compacted_row_item *first = &compact->item[at];
	uint32_t whole = 0, nodes = 0, i;

	for (i = 1; i < count; i++) {
		if (first[i].track != first->track)
			return i;
		if (first[i].node != first[i - 1].node) {
			whole = i;
			if (++nodes == SAMPLE_NODES ||
			    values_of(&first[i]) != values_of(first))
				return i;
		}
		if (whole > 0 && i >= SAMPLE_ROWS)
			return whole;
	}
	/* The rest of the last series block does not fit. */
	return whole > 0 && at + count < compact->items ? whole : count;
}

/* The number of items from `at` on that go into one chunk. */
static uint32_t
cut(const struct compact *compact, uint32_t at)
{
	const struct compacted_row_item *first = &compact->item[at];
	size_t bytes = 0;
	uint32_t count;

	for (count = 0;
	     count < COMPACTED_ROW_ROWS_MAX && at + count < compact->items;
	     count++) {
		bytes += first[count].record.body.bytes;
		if (count > 0 && bytes > COMPACTED_ROW_BYTES_MAX)
			break;
	}
	return compact->job.hour.kind == RECORD_SAMPLE
		   ? cut_samples(compact, at, count)
		   : count;
}

static void
encode_chunks(struct compact *compact)
{
	struct key_row_block key = compact->job.hour;
	uint32_t at, count;

	for (at = 0; at < compact->items; at += count) {
		const struct compacted_row_item *last;
		struct text value;

		count = cut(compact, at);
		last = &compact->item[at + count - 1];
		key.node = last->node;
		key.track = last->track;
		key.first_ns = last->record.time_ns;
		value = compacted_row_write(compact->writer,
		    (enum record_kind)key.kind, &compact->item[at], count);
		*MEMORY_ADD(compact->chunk, compact->chunk_room,
		    compact->chunks) = (struct compact_chunk){ key,
			arena_text(&compact->arena, value) };
	}
}

static void
put_chunks(struct compact *compact, struct db_txn *txn, uint32_t *row)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_CHUNKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	for (uint32_t i = 0; i < compact->chunks; i++) {
		struct key_row_block *key = &compact->chunk[i].key;

		key->slice = compact->job.slice;
		key->row = ++*row;
		db_cursor_put(cursor, hour_cursor_key(bytes, key),
		    compact->chunk[i].value);
	}
	db_cursor_close(&cursor);
}

/* Choose the number of the new slice. */
static void
begin_slice(struct compact *compact, struct db_txn *txn)
{
	uint64_t number = tables_fact(txn, FACT_COMPACTED) + 1;
	struct compact_job *job = &compact->job;

	tables_put_fact(txn, FACT_COMPACTED, number);
	job->slice =
	    job->level << COMPACTED_ROW_LEVEL_BITS |
	    (uint32_t)(number & ((1u << COMPACTED_ROW_LEVEL_BITS) - 1));
	if (job->whole)
		job->choice.compacted_to = job->slice - 1;
}

/* Build the rollups of the series blocks whose samples are now all in the
 * slice. */
static void
make_rollups(struct compact *compact, struct db_txn *txn)
{
	struct key_row_block block = compact->job.hour;

	if (compact->rollups == NULL)
		compact->rollups = rollup_builder_new();
	rollup_builder_begin(compact->rollups, txn, block.partition);
	block.slice = compact->job.slice;
	for (uint32_t i = 0; i < compact->items; i++) {
		const struct compacted_row_item *item = &compact->item[i];
		bool last = i + 1 == compact->items;

		if (last ? !compact->complete
			 : item[1].node == item->node &&
			       item[1].track == item->track)
			continue;
		block.node = item->node;
		block.track = item->track;
		rollup_build(compact->rollups, &block);
	}
	rollup_builder_end(compact->rollups);
}

/* Once the records are in chunks, nobody knows which of them the archive
 * lacks. Rows that come after the plan stay where they are. */
bool
compact_is_held(const struct compact_job *job, struct db_txn *txn)
{
	const struct hour_cursor_choice *choice = &job->choice;
	const struct key_row_block *hour = &job->hour;

	return marks_hold(txn, TABLES_ROW_BLOCKS, hour, choice->row_blocks_from,
		   choice->row_blocks_to) ||
	       marks_hold(txn, TABLES_CHUNKS, hour, choice->compacted_from,
		   choice->compacted_to);
}

void
compact_plan_pass(struct compact *compact, struct db_txn *txn)
{
	prepare(compact);
	compact->is_planned = true;
	compact->through =
	    compact_is_held(&compact->job, txn) || take_records(compact, txn);
	encode_chunks(compact);
	compact->last_row = (uint32_t)tables_fact(txn, FACT_ROW);
	compact->dropped = tables_fact(txn, FACT_DROPPED);
	compact->is_damaged = db_damage_met(txn)->ids > 0 || db_failed(txn);
}

void
compact_put_pass(struct compact *compact, struct db_txn *txn)
{
	uint32_t row = (uint32_t)tables_fact(txn, FACT_ROW);
	struct compacted_row_item last = compact->item[compact->items - 1];

	if (!compact->job.begun)
		begin_slice(compact, txn);
	put_chunks(compact, txn, &row);
	if (compact->job.whole && compact->job.hour.kind == RECORD_SAMPLE)
		make_rollups(compact, txn);
	compact_trim(compact, txn, &last, &row);
	tables_put_fact(txn, FACT_ROW, row);
	/* The arena owns the body and is reset. */
	last.record.body = (struct text){ NULL, 0 };
	compact->job.last = last;
	compact->job.begun = true;
}

enum db_result
compact_pass(
    struct compact *compact, struct db *db, bool *done, struct err *err)
{
	struct db_txn *txn;

	*done = true;
	if (db_begin(db, true, &txn, err) != 0)
		return DB_BROKEN;
	compact_plan_pass(compact, txn);
	compact->is_planned = false;
	*done = compact->through || compact->items == 0;
	if (compact->items == 0) {
		db_abort(&txn);
		return DB_OK;
	}
	compact_put_pass(compact, txn);
	return db_commit(&txn, err);
}
