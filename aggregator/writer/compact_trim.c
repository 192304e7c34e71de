/*
 * compact_trim - what was compacted goes from where it was.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/compact.h"

#include "aggregator/tables/tables.h"

/* What is left of a row when some of it was compacted: put when the walk is
 * over, since a put moves what the walk looks at. */
struct rest {
	struct key_row_block key;
	struct text value;
	struct rest *next;
};

struct trim {
	struct compact *compact;
	struct db_txn *txn;
	/* Those behind the one and up to the other; nobody has looked at
	 * what came later to where the job was before. */
	const struct compacted_row_item *after,
	    *last; /* `after` NULL: from the start */
	struct rest *rests;
	uint32_t *row;
};

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
		db_cursor_put(cursor, merge_input_key(key, &trim->rests->key),
		    trim->rests->value);
	db_cursor_close(&cursor);
}

/* <0: the series_block of the key is before that of the last record. */
static int
compare_series_block(
    const struct key_row_block *key, const struct compacted_row_item *last)
{
	if (key->node != last->node)
		return key->node < last->node ? -1 : 1;
	if (key->track != last->track)
		return key->track < last->track ? -1 : 1;
	return 0;
}

/* ---- heads ---- */

enum fate { STAYS, GOES, IS_CUT };

static bool
is_compacted(const struct trim *trim, const struct key_row_block *key,
    const struct row_block_item *head)
{
	struct compacted_row_item item = { key->node, key->track, *head };

	return (trim->after == NULL ||
		   compacted_row_compare(&item, trim->after) > 0) &&
	       compacted_row_compare(&item, trim->last) <= 0;
}

/* A row of the series_block of either end. */
static enum fate
cut_row(struct trim *trim, struct key_row_block *key, struct text value)
{
	struct row_block_row *row = &trim->compact->row;
	struct row_block_rows rows;
	struct row_block_item item;
	bool some = false;

	if (!row_block_open(&rows, value, key->first_ns))
		return STAYS; /* nobody can read it: verify says so */
	row_block_row_start(row);
	while (row_block_next(&rows, &item)) {
		if (is_compacted(trim, key, &item))
			some = true;
		else if (!row_block_row_add(row, &item))
			return STAYS; /* never: it did fit */
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
trim_row_blocks(struct trim *trim, const struct key_row_block *run)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_ROW_BLOCKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, merge_input_key(bytes, run), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_row_block head;
		enum fate fate = GOES;

		if (!key_get_row_block(key, &head) ||
		    head.partition != run->partition ||
		    head.kind != run->kind || head.bucket != run->bucket ||
		    head.run != run->run ||
		    compare_series_block(&head, trim->last) > 0)
			break;
		if (compare_series_block(&head, trim->last) == 0 &&
		    head.first_ns > trim->last->head.time_ns)
			break;
		if (compare_series_block(&head, trim->last) == 0 ||
		    (trim->after != NULL &&
			compare_series_block(&head, trim->after) == 0))
			fate = cut_row(trim, &head, value);
		if (fate == IS_CUT)
			keep_rest(trim, &head,
			    row_block_row_finish(&trim->compact->row));
		if (fate != STAYS)
			db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	put_rests(trim, TABLES_ROW_BLOCKS);
}

/* ---- compacted runs ---- */

/* The rows behind the last record, as items; they must be room for. */
static uint32_t
rows_behind(struct trim *trim, struct compacted_row_item *items)
{
	const struct compacted_row_rows *rows = &trim->compact->rows;
	uint32_t count = 0;

	for (uint32_t b = 0; b < rows->series_blocks; b++) {
		const struct compacted_row_series_block *series_block =
		    &rows->series_block[b];

		for (uint32_t i = series_block->from; i < series_block->to;
		     i++) {
			struct compacted_row_item item = { series_block->node,
				series_block->track, { 0 } };

			compacted_row_get(rows, i, &item.head);
			if (compacted_row_compare(&item, trim->last) > 0)
				items[count++] = item;
		}
	}
	return count;
}

/* A chunk that begins at or before the last record. */
static enum fate
cut_chunk(struct trim *trim, const struct key_row_block *key, struct text value)
{
	struct compact *compact = trim->compact;
	/* Behind those that were compacted: they are not needed any more. */
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
	/* The last row is the same, and so the key is. */
	keep_rest(trim, key,
	    compacted_row_write(
		compact->writer, (enum record_kind)key->kind, items, count));
	return IS_CUT;
}

static enum fate
fate_of_chunk(
    struct trim *trim, const struct key_row_block *key, struct text value)
{
	struct compacted_row_item first = { .head = { .body = { NULL, 0 } } };
	int order = compare_series_block(key, trim->last);
	struct compacted_row_head head;

	if (order < 0 ||
	    (order == 0 && key->first_ns < trim->last->head.time_ns))
		return GOES;
	if (!compacted_row_get_head(value, &head))
		return STAYS;
	first.node = head.node;
	first.track = head.track;
	first.head.time_ns = head.first_ns;
	if (compacted_row_compare(&first, trim->last) > 0)
		return STAYS;
	return cut_chunk(trim, key, value);
}

static void
trim_chunks(struct trim *trim, const struct key_row_block *run)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_CHUNKS);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, merge_input_key(bytes, run), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_row_block head;
		enum fate fate;

		if (!key_get_row_block(key, &head) ||
		    head.partition != run->partition ||
		    head.kind != run->kind || head.bucket != run->bucket ||
		    head.run != run->run)
			break;
		fate = fate_of_chunk(trim, &head, value);
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
	struct key_row_block run = compact->job.hour;

	run.node = compact->job.begun ? after->node : 0;
	run.track = compact->job.begun ? after->track : 0;
	run.row = 0;
	run.first_ns = INT64_MIN;
	for (uint32_t i = 0; i < compact->runs; i++) {
		run.run = compact->run[i];
		if (i < compact->row_block_runs)
			trim_row_blocks(&trim, &run);
		else
			trim_chunks(&trim, &run);
	}
}
