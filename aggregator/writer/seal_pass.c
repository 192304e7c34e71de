/*
 * seal_pass - one transaction of a job: some records into chunks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/seal.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "aggregator/tiers/tier.h"
#include "aggregator/writer/tier_build.h"
#include "proto/base/memory.h"

/* What is collected of the records. */
struct take {
	struct seal *seal;
	uint32_t bands_end; /* items of bands that are complete */
	bool full;
};

void
seal_clear(struct seal *seal)
{
	hour_cursor_clear(&seal->hour_cursor);
	merge_clear(&seal->merge);
	sealed_cursor_cache_clear(&seal->cache);
	sealed_row_writer_free(&seal->writer);
	tier_builder_free(&seal->tiers);
	sealed_row_rows_clear(&seal->rows);
	arena_clear(&seal->arena);
	buffer_clear(&seal->row.bytes);
	free(seal->item);
	free(seal->run);
	*seal = (struct seal){ .busy = false };
}

static void
prepare(struct seal *seal)
{
	if (seal->writer == NULL)
		seal->writer = sealed_row_writer_new();
	if (seal->item == NULL)
		seal->item = memory_alloc(SEAL_STEP_ROWS * sizeof(*seal->item));
	arena_reset(&seal->arena);
	seal->items = seal->runs = seal->head_runs = 0;
}

/* ---- reading ---- */

static void
note_runs(struct seal *seal)
{
	const struct hour_cursor *hour_cursor = &seal->hour_cursor;
	uint32_t i;

	if (seal->run_room < hour_cursor->count) {
		seal->run_room = hour_cursor->count;
		free(seal->run);
		seal->run = memory_alloc(seal->run_room * sizeof(*seal->run));
	}
	for (i = 0; i < hour_cursor->count; i++)
		if (hour_cursor->at[i].sealed_cursor == NULL)
			seal->run[seal->runs++] = hour_cursor->at[i].head.run;
	seal->head_runs = seal->runs;
	for (i = 0; i < hour_cursor->count; i++)
		if (hour_cursor->at[i].sealed_cursor != NULL)
			seal->run[seal->runs++] = hour_cursor->at[i].head.run;
}

/* Copy a record; false: no room for it. */
static bool
take_item(
    struct seal *seal, const struct key_head *key, const struct head_item *item)
{
	uint32_t most = seal->step_rows != 0 ? seal->step_rows : SEAL_STEP_ROWS;
	struct sealed_row_item *to = &seal->item[seal->items];

	if (seal->items == most ||
	    (seal->items > 0 &&
		seal->arena.used + item->body.bytes > SEAL_STEP_BYTES))
		return false;
	*to = (struct sealed_row_item){ key->node, key->track, *item };
	to->head.body = arena_text(&seal->arena, item->body);
	seal->items++;
	return true;
}

static void
take_band(struct take *take, const struct key_head *key)
{
	struct seal *seal = take->seal;
	const struct seal_job *job = &seal->job;
	bool again = job->begun && key->node == job->last.node &&
		     key->track == job->last.track;
	struct head_item item;

	merge_reset(&seal->merge);
	hour_cursor_collect(&seal->hour_cursor, key, &seal->merge,
	    again ? job->last.head.time_ns : INT64_MIN);
	while (!take->full && merge_next(&seal->merge, &item)) {
		if (again && head_compare(&item, &job->last.head) <= 0)
			continue;
		take->full = !take_item(seal, key, &item);
	}
	if (!take->full)
		take->bands_end = seal->items;
}

/* Records from behind the last on.  Samples end with a band when they can, so
 * that each is in as few chunks as possible.  True: these were all. */
static bool
take_records(struct seal *seal, struct db_txn *txn)
{
	struct take take = { .seal = seal };
	struct key_head first = seal->job.hour, key;

	first.node = seal->job.begun ? seal->job.last.node : 0;
	first.track = seal->job.begun ? seal->job.last.track : 0;
	hour_cursor_open(
	    &seal->hour_cursor, txn, &seal->cache, &first, &seal->job.choice);
	note_runs(seal);
	while (!take.full && hour_cursor_band(&seal->hour_cursor, &key))
		take_band(&take, &key);
	hour_cursor_close(&seal->hour_cursor);
	if (take.full && seal->job.hour.kind == RECORD_SAMPLE &&
	    take.bands_end > 0)
		seal->items = take.bands_end;
	seal->complete = seal->items == take.bands_end;
	return !take.full;
}

/* ---- writing ---- */

/* How many of the items from `at` on are a chunk. */
static uint32_t
cut(const struct seal *seal, uint32_t at)
{
	bool one_band = seal->job.hour.kind == RECORD_SAMPLE;
	const struct sealed_row_item *first = &seal->item[at];
	size_t bytes = 0;
	uint32_t count;

	for (count = 0; count < SEALED_ROW_ROWS_MAX && at + count < seal->items;
	     count++) {
		bytes += first[count].head.body.bytes;
		if (count > 0 && bytes > SEALED_ROW_BYTES_MAX)
			break;
		if (one_band && (first[count].node != first->node ||
				    first[count].track != first->track))
			break;
	}
	return count;
}

static void
put_chunks(struct seal *seal, struct db_txn *txn, uint32_t *row)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_CHUNKS);
	struct key_head key = seal->job.hour;
	unsigned char bytes[KEY_HEAD_BYTES];
	uint32_t at, count;

	key.run = seal->job.run;
	for (at = 0; at < seal->items; at += count) {
		const struct sealed_row_item *last;

		count = cut(seal, at);
		last = &seal->item[at + count - 1];
		key.node = last->node;
		key.track = last->track;
		key.first_ns = last->head.time_ns;
		key.row = ++*row;
		db_cursor_put(cursor, lane_key(bytes, &key),
		    sealed_row_write(seal->writer, (enum record_kind)key.kind,
			&seal->item[at], count));
	}
	db_cursor_close(&cursor);
}

/* A number for the run that comes out. */
static void
begin_run(struct seal *seal, struct db_txn *txn)
{
	uint64_t number = tables_fact(txn, FACT_SEALED) + 1;
	struct seal_job *job = &seal->job;

	tables_put_fact(txn, FACT_SEALED, number);
	job->run = job->level << SEALED_ROW_LEVEL_BITS |
		   (uint32_t)(number & ((1u << SEALED_ROW_LEVEL_BITS) - 1));
	if (job->whole)
		job->choice.sealed_to = job->run - 1;
}

/* Of the bands that have all of their samples in the run now. */
static void
make_tiers(struct seal *seal, struct db_txn *txn)
{
	struct key_head band = seal->job.hour;

	if (seal->tiers == NULL)
		seal->tiers = tier_builder_new();
	tier_builder_begin(seal->tiers, txn, band.partition,
	    seal->dense != 0 ? seal->dense : TIER_DENSE);
	band.run = seal->job.run;
	for (uint32_t i = 0; i < seal->items; i++) {
		const struct sealed_row_item *item = &seal->item[i];
		bool last = i + 1 == seal->items;

		if (last ? !seal->complete
			 : item[1].node == item->node &&
			       item[1].track == item->track)
			continue;
		band.node = item->node;
		band.track = item->track;
		tier_build(seal->tiers, &band);
	}
}

static void
write_out(struct seal *seal, struct db_txn *txn)
{
	uint32_t row = (uint32_t)tables_fact(txn, FACT_ROW);
	struct sealed_row_item last = seal->item[seal->items - 1];

	if (!seal->job.begun)
		begin_run(seal, txn);
	put_chunks(seal, txn, &row);
	if (seal->job.whole && seal->job.hour.kind == RECORD_SAMPLE)
		make_tiers(seal, txn);
	seal_trim(seal, txn, &last, &row);
	tables_put_fact(txn, FACT_ROW, row);
	/* Its body goes with the arena. */
	last.head.body = (struct text){ NULL, 0 };
	seal->job.last = last;
	seal->job.begun = true;
}

enum db_result
seal_pass(struct seal *seal, struct db *db, bool *done, struct err *err)
{
	struct db_txn *txn;

	*done = true;
	if (db_begin(db, true, &txn, err) != 0)
		return DB_BROKEN;
	prepare(seal);
	*done = take_records(seal, txn);
	if (seal->items == 0) {
		db_abort(&txn);
		*done = true;
		return DB_OK;
	}
	write_out(seal, txn);
	return db_commit(&txn, err);
}
