/*
 * compact_trim - remove compacted records from their old slices.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/compact_pass.h"

#include "aggregator/tables/tables.h"

/* The rest of a row that was compacted in part.  It is written after the walk,
 * because a write moves the data that the walk reads. */
struct rest {
	struct key_row_block key;
	struct text value;
	struct rest *next;
};

struct trim {
	struct compact *compact;
	struct db_txn *txn;
	/* Remove records after `after` and up to `last`.  Records that arrived
	 * in front of the job's position were not compacted. */
	const struct compacted_row_item *after,
	    *last; /* `after` NULL: from the start */
	struct rest *rests;
	uint32_t *row;
};

static int
compare_items(const struct trim *trim, const struct compacted_row_item *a,
    const struct compacted_row_item *b)
{
	return compacted_row_compare(
	    (enum record_kind)trim->compact->job.hour.kind, a, b);
}

static void
keep_rest(struct trim *trim, const struct key_row_block *key, struct text value)
{
	struct rest rest = { .key = *key, .next = trim->rests };

	rest.value = arena_text(&trim->compact->arena, value);
	trim->rests = arena_copy(&trim->compact->arena, &rest, sizeof(rest));
}

static void
put_rests(struct trim *trim, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, table);
	unsigned char key[KEY_ROW_BLOCK_BYTES];

	for (; trim->rests != NULL; trim->rests = trim->rests->next)
		db_cursor_put(cursor, hour_cursor_key(key, &trim->rests->key),
		    trim->rests->value);
	db_cursor_close(&cursor);
}

/* < 0: the series block of the key comes before that of the last record. */
static int
compare_series_block(
    const struct key_row_block *key, const struct compacted_row_item *last)
{
	return key_compare_series(
	    key->kind, key->node, key->track, last->node, last->track);
}

/* ---- row blocks ---- */

enum fate { STAYS, GOES, IS_CUT };

static bool
is_compacted(const struct trim *trim, const struct key_row_block *key,
    const struct row_block_item *record)
{
	struct compacted_row_item item = { key->node, key->track, *record };

	return (trim->after == NULL ||
		   compare_items(trim, &item, trim->after) > 0) &&
	       compare_items(trim, &item, trim->last) <= 0;
}

/* Has the indexer added the row since the plan was made?  Row numbers may begin
 * again. */
static bool
is_newer(const struct trim *trim, const struct key_row_block *key)
{
	return (int32_t)(key->row - trim->compact->last_row) > 0;
}

/* Trim a row in the first or the last series block. */
static enum fate
cut_row(struct trim *trim, struct key_row_block *key, struct text value)
{
	struct row_block_builder *row = &trim->compact->row;
	struct row_block_reader rows;
	struct row_block_item item;
	bool some = false;

	if (!row_block_open(&rows, value, key->first_ns))
		return STAYS; /* damaged: keep it, verify reports it */
	row_block_begin(row);
	while (row_block_next(&rows, &item)) {
		if (is_compacted(trim, key, &item))
			some = true;
		else if (!row_block_add(row, &item))
			return STAYS; /* cannot happen: it fitted before */
	}
	if (!some)
		return STAYS;
	if (row->records == 0)
		return GOES;
	key->first_ns = row->first_ns;
	key->row = ++*trim->row;
	return IS_CUT;
}

static void
trim_row_blocks(struct trim *trim, const struct key_row_block *slice)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_ROW_BLOCKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more =
	    db_seek(cursor, hour_cursor_key(bytes, slice), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_row_block row_key;
		enum fate fate = GOES;

		if (!key_get_row_block(key, &row_key) ||
		    row_key.partition != slice->partition ||
		    row_key.kind != slice->kind ||
		    row_key.hour != slice->hour ||
		    row_key.slice != slice->slice ||
		    compare_series_block(&row_key, trim->last) > 0)
			break;
		if (compare_series_block(&row_key, trim->last) == 0 &&
		    row_key.first_ns > trim->last->record.time_ns)
			break;
		if (is_newer(trim, &row_key))
			continue;
		if (compare_series_block(&row_key, trim->last) == 0 ||
		    (trim->after != NULL &&
			compare_series_block(&row_key, trim->after) == 0))
			fate = cut_row(trim, &row_key, value);
		if (fate == IS_CUT)
			keep_rest(trim, &row_key,
			    row_block_finish(&trim->compact->row));
		if (fate != STAYS)
			db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	put_rests(trim, TABLES_ROW_BLOCKS);
}

/* ---- compacted slices ---- */

/* Collect the rows after the last record as items; the caller has made room. */
static uint32_t
rows_behind(struct trim *trim, struct compacted_row_item *items)
{
	const struct compacted_row_rows *rows = &trim->compact->rows;
	uint32_t count = 0;

	for (uint32_t b = 0; b < rows->series_blocks; b++) {
		const struct compacted_row_series_block *block =
		    &rows->series_block[b];

		for (uint32_t i = block->from; i < block->to; i++) {
			struct compacted_row_item item = { block->node,
				block->track, { 0 } };

			compacted_row_get(rows, i, &item.record);
			if (compare_items(trim, &item, trim->last) > 0)
				items[count++] = item;
		}
	}
	return count;
}

/* Trim a chunk that begins at or before the last record. */
static enum fate
cut_chunk(struct trim *trim, const struct key_row_block *key, struct text value)
{
	struct compact *compact = trim->compact;
	/* They overwrite the compacted items, which are no longer needed. */
	struct compacted_row_item *items = compact->item;
	uint32_t count;

	if (!compacted_row_open(&compact->rows, value) ||
	    !compacted_row_read_bodies(&compact->rows))
		return STAYS;
	count = rows_behind(trim, items);
	if (count == compact->rows.count)
		return STAYS;
	if (count == 0)
		return GOES;
	/* The last row is the same, so the key is too. */
	keep_rest(trim, key,
	    compacted_row_write(
		compact->writer, (enum record_kind)key->kind, items, count));
	return IS_CUT;
}

static enum fate
fate_of_chunk(
    struct trim *trim, const struct key_row_block *key, struct text value)
{
	struct compacted_row_item first = { .record = { .body = { NULL, 0 } } };
	int order = compare_series_block(key, trim->last);
	struct compacted_row_header header;

	if (order < 0 ||
	    (order == 0 && key->first_ns < trim->last->record.time_ns))
		return GOES;
	if (!compacted_row_get_header(value, &header))
		return STAYS;
	first.node = header.node;
	first.track = header.track;
	first.record.time_ns = header.first_ns;
	if (compare_items(trim, &first, trim->last) > 0)
		return STAYS;
	return cut_chunk(trim, key, value);
}

static void
trim_chunks(struct trim *trim, const struct key_row_block *slice)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_CHUNKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more =
	    db_seek(cursor, hour_cursor_key(bytes, slice), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_row_block row_key;
		enum fate fate;

		if (!key_get_row_block(key, &row_key) ||
		    row_key.partition != slice->partition ||
		    row_key.kind != slice->kind ||
		    row_key.hour != slice->hour ||
		    row_key.slice != slice->slice)
			break;
		fate = fate_of_chunk(trim, &row_key, value);
		if (fate == GOES)
			db_cursor_del(cursor);
		else
			break;
	}
	db_cursor_close(&cursor);
	put_rests(trim, TABLES_CHUNKS);
}

void
compact_trim(struct compact *compact, struct db_txn *txn,
    const struct compacted_row_item *last, uint32_t *row)
{
	const struct compacted_row_item *after = &compact->job.last;
	struct trim trim = { .compact = compact,
		.txn = txn,
		.after = compact->job.begun ? after : NULL,
		.last = last,
		.row = row };
	struct key_row_block slice = compact->job.hour;

	/* The archive has these records: what is left of a row is not new. */
	db_pause_marks(txn, true);
	slice.node = compact->job.begun ? after->node : 0;
	slice.track = compact->job.begun ? after->track : 0;
	slice.row = 0;
	slice.first_ns = INT64_MIN;
	for (uint32_t i = 0; i < compact->slices; i++) {
		slice.slice = compact->slice[i];
		if (i < compact->row_block_slices)
			trim_row_blocks(&trim, &slice);
		else
			trim_chunks(&trim, &slice);
	}
	db_pause_marks(txn, false);
}
