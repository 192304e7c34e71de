/*
 * records - stored records, in the order (hour, node, track, time), samples in
 * the order (hour, metric group, node, time).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/records.h"

#include "aggregator/query/records/absence.h"
#include "aggregator/query/series/series_block.h"

enum { TABLES = 4 }; /* tables that are ordered by hour */

/* ---- records ---- */

static void
fill_event(struct series_block *block, struct record *record,
    const struct row_block_body *body)
{
	struct lookup *lookup = &block->page->reader->lookup;

	record->source = lookup_name(lookup, &body->source);
	record->name = lookup_name(lookup, &body->name);
	record->key = body->uuid;
	record->pairs =
	    lookup_pairs(lookup, body->attributes, &record->attributes);
}

static void
fill(struct series_block *block, struct record *record,
    const struct row_block_body *body)
{
	struct lookup *lookup = &block->page->reader->lookup;

	switch (record->kind) {
	case RECORD_EVENT: fill_event(block, record, body); break;
	case RECORD_SAMPLE:
		record->source = block->track;
		record->values = body->values;
		record->value_bytes = body->value_bytes;
		break;
	case RECORD_SPAN:
		record->source = block->track;
		record->name = lookup_name(lookup, &body->name);
		record->key = lookup_name(lookup, &body->key);
		record->pairs =
		    lookup_pairs(lookup, body->attributes, &record->attributes);
		break;
	case RECORD_GAP:
		record->source = lookup_name(lookup, &body->source);
		record->name = lookup_name(lookup, &body->name);
		record->count = body->count;
		break;
	default:
		record->name = lookup_name(lookup, &body->name);
		record->count = body->count;
		record->value_bytes = body->value_bytes;
		record->key = body->hash;
		break;
	}
}

/* False: the row of a name is damaged.  The receiver would refuse a page with
 * such a record. */
static bool
has_names(const struct record *record)
{
	bool source = record->source.bytes > 0, name = record->name.bytes > 0;

	switch (record->kind) {
	case RECORD_SAMPLE: return source && record->node.bytes > 0;
	case RECORD_EVENT:
	case RECORD_SPAN: return source && name && record->node.bytes > 0;
	case RECORD_REJECTED: return name;
	default: return source && name;
	}
}

static bool
wants(struct series_block *block, const struct row_block_body *body)
{
	struct page *page = block->page;
	struct lookup *lookup = &page->reader->lookup;

	if (page->query->name.bytes == 0)
		return true;
	switch (block->key.kind) {
	case RECORD_EVENT:
		return page_wants_name(page, &body->source, &body->name);
	case RECORD_SAMPLE:
		return true; /* the series block as a whole matched */
	case RECORD_GAP:
		return page_wants_text(
		    page, lookup_name(lookup, &body->source));
	default: return page_wants_text(page, lookup_name(lookup, &body->name));
	}
}

/* False: the page is full. */
static bool
append(struct series_block *block, const struct row_block_item *item)
{
	struct page *page = block->page;
	struct record record = { .kind = (enum record_kind)block->key.kind,
		.node = block->node,
		.time_ns = item->time_ns,
		.has_time = true };
	struct row_block_body body;

	if (!page_wants_time(page, item->time_ns) ||
	    !row_block_get_body(
		item->body, record.kind, item->time_ns, &body) ||
	    !wants(block, &body))
		return true;
	record.end_ns = body.end_ns;
	record.has_end =
	    record.kind == RECORD_SPAN || record.kind == RECORD_GAP;
	fill(block, &record, &body);
	if (!has_names(&record))
		return true;
	page_set_id(page, &record, item);
	return page_put(page, &record);
}

static bool
append_series_block(struct series_block *block)
{
	struct page *page = block->page;
	struct row_block_item item;

	while (merge_next(&page->reader->merge, &item)) {
		if (item.time_ns >= page->query->to_ns)
			break;
		if (block->resumed &&
		    row_block_compare(&item, &block->after) <= 0)
			continue;
		if (!append(block, &item))
			return false;
		series_block_set_cursor(block, &item);
		if (page_examined(page))
			return false;
	}
	return true;
}

/* ---- series blocks ---- */

static bool
select_columns(struct series_block *block, struct hour_cursor *hour_cursor,
    int64_t from_ns)
{
	struct compacted_cursor *compacted_cursor =
	    hour_cursor_alone(hour_cursor, &block->key);
	struct merge *merge = &block->page->reader->merge;
	struct key_row_block next = block->key;
	bool good;

	if (compacted_cursor == NULL) {
		merge_reset(merge);
		hour_cursor_collect(hour_cursor, &block->key, merge, from_ns);
		return series_block_append_columns(block, NULL, from_ns);
	}
	good = series_block_append_columns(block, compacted_cursor, from_ns);
	key_next_series(&next);
	hour_cursor_skip(hour_cursor, &block->key, &next);
	return good;
}

/* Append the records of one node and track from all slices of the hour.
 * False: the page is full. */
static bool
select_series_block(struct series_block *block, struct hour_cursor *hour_cursor)
{
	struct page *page = block->page;
	struct key_row_block next;
	bool wanted = series_block_is_wanted(block, &next);
	int64_t from_ns = page->query->from_ns;

	block->resumed = series_block_is_cursor(block);
	block->after = page->cursor.id;
	if (!wanted) {
		hour_cursor_skip(hour_cursor, &block->key, &next);
		return series_block_skip(block);
	}
	if (page->series != NULL)
		return series_block_select_series(block, hour_cursor);
	if (block->resumed && page->cursor.id.time_ns > from_ns)
		from_ns = page->cursor.id.time_ns;
	if (block->key.kind == RECORD_SAMPLE && page->query->per_record > 1)
		return select_columns(block, hour_cursor, from_ns);
	merge_reset(&page->reader->merge);
	hour_cursor_collect(
	    hour_cursor, &block->key, &page->reader->merge, from_ns);
	return append_series_block(block);
}

/* ---- hours ---- */

/* Append the records of an hour, from `first` on.  False: the page is full. */
static bool
select_hour(struct page *page, const struct key_row_block *first, uint32_t only,
    struct hour_cursor *hour_cursor)
{
	bool by_track = key_is_by_track(first->kind);
	struct series_block block = { .page = page, .only = only };
	struct key_row_block from = *first;
	bool good = true;
	uint32_t slice;

	if (from.node < only) {
		from.node = only;
		if (!by_track)
			from.track = 0;
	}
	if (page->series != NULL &&
	    series_block_find_rollup(&block, &from, &slice))
		return series_block_select_rollup(&block, &from, slice);
	hour_cursor_open(hour_cursor, page->txn, &page->reader->compacted,
	    &from, &hour_cursor_all);
	while (good && hour_cursor_series_block(hour_cursor, &block.key)) {
		if (only != 0 && block.key.node > only && !by_track)
			break;
		good = select_series_block(&block, hour_cursor);
	}
	hour_cursor_close(hour_cursor);
	return good;
}

/* The number of the only name that can match; 0: several may match.  False: no
 * such name exists. */
static bool
find_one(const struct page *page, struct text pattern, uint32_t *only)
{
	*only = 0;
	if (pattern.bytes == 0 || text_is_pattern(pattern))
		return true;
	*only = dictionary_find(page->txn, page->partition, pattern);
	return *only != 0;
}

/* Where reading begins: at the series block of the cursor, or at the first
 * selected hour. */
static struct key_row_block
first_key(const struct page *page, enum record_kind kind)
{
	struct key_row_block row_key = { .partition = page->partition,
		.kind = (uint8_t)kind,
		.hour = page->cursor.hour,
		.node = page->cursor.node,
		.track = page->cursor.track,
		.first_ns = INT64_MIN };
	int32_t hour = key_hour(page->query->from_ns);

	if (row_key.hour < hour) {
		row_key.hour = hour;
		row_key.node = row_key.track = 0;
	}
	return row_key;
}

/* Find the next hour with rows, at or after that of `first`. */
static bool
find_hour(const struct page *page, struct db_cursor *const cursors[],
    struct key_row_block *first)
{
	int32_t hour = absence_next(page, first);

	for (unsigned i = 0; i < TABLES; i++) {
		int32_t next = series_block_next_hour(cursors[i], first);

		/* Only queries for buckets use rollups. */
		if (next < hour && (i < 2 || page->series != NULL))
			hour = next;
	}
	if (hour >= page->hour_end)
		return false;
	if (hour != first->hour) {
		first->hour = hour;
		first->node = first->track = 0;
	}
	return true;
}

/* An hour was read; the next one begins at `next`.  True: the page has read
 * enough.  Buckets go on: they are not complete before the end. */
static bool
has_read_enough(struct page *page, const struct key_row_block *next)
{
	if (page->series != NULL)
		return false;
	page->examined += PAGE_EXAMINED_HOUR - 1;
	if (!page_examined(page))
		return false;
	page->cursor = (struct page_cursor){ .kind = next->kind,
		.hour = next->hour,
		.id = { .time_ns = INT64_MIN } };
	return true;
}

bool
query_records(struct page *page, enum record_kind kind)
{
	struct key_row_block first = first_key(page, kind);
	struct hour_cursor hour_cursor = { .at = NULL };
	static const unsigned tables[TABLES] = { TABLES_ROW_BLOCKS,
		TABLES_CHUNKS, TABLES_ROLLUPS, TABLES_ROLLUPS_END };
	struct db_cursor *cursors[TABLES];
	bool good = true;
	uint32_t only;

	if (page->query->from_ns >= page->query->to_ns ||
	    !page_only_node(page, &only) ||
	    (kind == RECORD_SAMPLE &&
		!find_one(page, page->query->name, &page->only_group)))
		return true;
	for (unsigned i = 0; i < TABLES; i++)
		cursors[i] = db_cursor_open(page->txn, tables[i]);
	page->hour_end = key_hour(page->query->to_ns - 1) + 1;
	while (good && find_hour(page, cursors, &first)) {
		good = !absence_ends(page, &first, only) &&
		       select_hour(page, &first, only, &hour_cursor);
		if (first.hour == INT32_MAX)
			break;
		first.hour++;
		first.node = first.track = 0;
		good = good && !has_read_enough(page, &first);
	}
	for (unsigned i = 0; i < TABLES; i++)
		db_cursor_close(&cursors[i]);
	hour_cursor_clear(&hour_cursor);
	return good;
}
