/*
 * seal_trim - what was sealed goes from where it was.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/seal.h"

#include "aggregator/tables/tables.h"

/* What is left of a row when some of it was sealed: put when the walk is
 * over, since a put moves what the walk looks at. */
struct rest {
	struct key_head key;
	struct text value;
	struct rest *next;
};

struct trim {
	struct seal *seal;
	struct db_txn *txn;
	/* Those behind the one and up to the other; nobody has looked at
	 * what came later to where the job was before. */
	const struct sealed_row_item *after,
	    *last; /* `after` NULL: from the start */
	struct rest *rests;
	uint32_t *row;
};

static void
keep_rest(struct trim *trim, const struct key_head *key, struct text value)
{
	struct rest rest = { .key = *key, .next = trim->rests };

	rest.value = arena_text(&trim->seal->arena, value);
	trim->rests = arena_copy(&trim->seal->arena, &rest, sizeof(rest));
}

static void
put_rests(struct trim *trim, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, table);
	unsigned char key[KEY_HEAD_BYTES];

	for (; trim->rests != NULL; trim->rests = trim->rests->next)
		db_cursor_put(cursor, lane_key(key, &trim->rests->key),
		    trim->rests->value);
	db_cursor_close(&cursor);
}

/* <0: the band of the key is before that of the last record. */
static int
compare_band(const struct key_head *key, const struct sealed_row_item *last)
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
is_sealed(const struct trim *trim, const struct key_head *key,
    const struct head_item *head)
{
	struct sealed_row_item item = { key->node, key->track, *head };

	return (trim->after == NULL ||
		   sealed_row_compare(&item, trim->after) > 0) &&
	       sealed_row_compare(&item, trim->last) <= 0;
}

/* A row of the band of either end. */
static enum fate
cut_row(struct trim *trim, struct key_head *key, struct text value)
{
	struct head_row *row = &trim->seal->row;
	struct head_rows rows;
	struct head_item item;
	bool some = false;

	if (!head_open(&rows, value, key->first_ns))
		return STAYS; /* nobody can read it: verify says so */
	head_row_start(row);
	while (head_next(&rows, &item)) {
		if (is_sealed(trim, key, &item))
			some = true;
		else if (!head_row_add(row, &item))
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
trim_heads(struct trim *trim, const struct key_head *run)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_HEADS);
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, lane_key(bytes, run), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_head head;
		enum fate fate = GOES;

		if (!key_get_head(key, &head) ||
		    head.partition != run->partition ||
		    head.kind != run->kind || head.bucket != run->bucket ||
		    head.run != run->run || compare_band(&head, trim->last) > 0)
			break;
		if (compare_band(&head, trim->last) == 0 &&
		    head.first_ns > trim->last->head.time_ns)
			break;
		if (compare_band(&head, trim->last) == 0 ||
		    (trim->after != NULL &&
			compare_band(&head, trim->after) == 0))
			fate = cut_row(trim, &head, value);
		if (fate == IS_CUT)
			keep_rest(
			    trim, &head, head_row_finish(&trim->seal->row));
		if (fate != STAYS)
			db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	put_rests(trim, TABLES_HEADS);
}

/* ---- sealed runs ---- */

/* The rows behind the last record, as items; they must be room for. */
static uint32_t
rows_behind(struct trim *trim, struct sealed_row_item *items)
{
	const struct sealed_row_rows *rows = &trim->seal->rows;
	uint32_t count = 0;

	for (uint32_t b = 0; b < rows->bands; b++) {
		const struct sealed_row_band *band = &rows->band[b];

		for (uint32_t i = band->from; i < band->to; i++) {
			struct sealed_row_item item = { band->node, band->track,
				{ 0 } };

			sealed_row_get(rows, i, &item.head);
			if (sealed_row_compare(&item, trim->last) > 0)
				items[count++] = item;
		}
	}
	return count;
}

/* A chunk that begins at or before the last record. */
static enum fate
cut_chunk(struct trim *trim, const struct key_head *key, struct text value)
{
	struct seal *seal = trim->seal;
	/* Behind those that were sealed: they are not needed any more. */
	struct sealed_row_item *items = seal->item;
	uint32_t count;

	if (!sealed_row_open(&seal->rows, value) ||
	    !sealed_row_read_bodies(&seal->rows))
		return STAYS;
	count = rows_behind(trim, items);
	if (count == seal->rows.count)
		return STAYS;
	if (count == 0)
		return GOES;
	/* The last row is the same, and so the key is. */
	keep_rest(trim, key,
	    sealed_row_write(
		seal->writer, (enum record_kind)key->kind, items, count));
	return IS_CUT;
}

static enum fate
fate_of_chunk(struct trim *trim, const struct key_head *key, struct text value)
{
	struct sealed_row_item first = { .head = { .body = { NULL, 0 } } };
	int order = compare_band(key, trim->last);
	struct sealed_row_head head;

	if (order < 0 ||
	    (order == 0 && key->first_ns < trim->last->head.time_ns))
		return GOES;
	if (!sealed_row_get_head(value, &head))
		return STAYS;
	first.node = head.node;
	first.track = head.track;
	first.head.time_ns = head.first_ns;
	if (sealed_row_compare(&first, trim->last) > 0)
		return STAYS;
	return cut_chunk(trim, key, value);
}

static void
trim_chunks(struct trim *trim, const struct key_head *run)
{
	struct db_cursor *cursor = db_cursor_open(trim->txn, TABLES_CHUNKS);
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, lane_key(bytes, run), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		struct key_head head;
		enum fate fate;

		if (!key_get_head(key, &head) ||
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
seal_trim(struct seal *seal, struct db_txn *txn,
    const struct sealed_row_item *last, uint32_t *row)
{
	const struct sealed_row_item *after = &seal->job.last;
	struct trim trim = { .seal = seal,
		.txn = txn,
		.after = seal->job.begun ? after : NULL,
		.last = last,
		.row = row };
	struct key_head run = seal->job.hour;

	run.node = seal->job.begun ? after->node : 0;
	run.track = seal->job.begun ? after->track : 0;
	run.row = 0;
	run.first_ns = INT64_MIN;
	for (uint32_t i = 0; i < seal->runs; i++) {
		run.run = seal->run[i];
		if (i < seal->head_runs)
			trim_heads(&trim, &run);
		else
			trim_chunks(&trim, &run);
	}
}
