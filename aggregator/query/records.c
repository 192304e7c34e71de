/*
 * reader - records out of head rows, in the order (hour, node, track, time).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/band.h"

enum { TABLES = 5 }; /* with hours in them */

/* ---- records ---- */

static void
fill_event(
    struct band *band, struct record *record, const struct head_body *body)
{
	struct lookup *lookup = &band->page->reader->lookup;

	record->source = lookup_name(lookup, &body->source);
	record->name = lookup_name(lookup, &body->name);
	record->key = body->uuid;
	record->pairs =
	    lookup_pairs(lookup, body->attributes, &record->attributes);
}

static void
fill(struct band *band, struct record *record, const struct head_body *body)
{
	struct lookup *lookup = &band->page->reader->lookup;

	switch (record->kind) {
	case RECORD_EVENT: fill_event(band, record, body); break;
	case RECORD_SAMPLE:
		record->source = band->track;
		record->values = body->values;
		record->value_bytes = body->value_bytes;
		break;
	case RECORD_SPAN:
		record->source = band->track;
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

/* False: the row of a name is damaged.  A page with such a record would be
 * refused whole. */
static bool
has_names(const struct record *record)
{
	bool source = record->source.bytes > 0, name = record->name.bytes > 0;

	switch (record->kind) {
	case RECORD_SAMPLE: return source;
	case RECORD_DEAD: return name;
	default: return source && name;
	}
}

static bool
wants(struct band *band, const struct head_body *body)
{
	struct page *page = band->page;
	struct lookup *lookup = &page->reader->lookup;

	if (page->query->name.bytes == 0)
		return true;
	switch (band->key.kind) {
	case RECORD_EVENT:
		return page_wants_name(page, &body->source, &body->name);
	case RECORD_SAMPLE: return true; /* the whole band was */
	case RECORD_GAP:
		return page_wants_text(
		    page, lookup_name(lookup, &body->source));
	default: return page_wants_text(page, lookup_name(lookup, &body->name));
	}
}

void
band_set_mark(struct band *band, const struct head_item *item)
{
	struct reader_mark *mark = &band->page->mark;

	mark->kind = band->key.kind;
	mark->bucket = band->key.bucket;
	mark->node = band->key.node;
	mark->track = band->key.track;
	mark->id = *item;
}

/* False: the page is full. */
static bool
give(struct band *band, const struct head_item *item)
{
	struct page *page = band->page;
	struct record record = { .kind = (enum record_kind)band->key.kind,
		.node = band->node,
		.time_ns = item->time_ns,
		.has_time = true };
	struct head_body body;

	if (!page_wants_time(page, item->time_ns) ||
	    !head_get_body(item->body, record.kind, item->time_ns, &body) ||
	    !wants(band, &body))
		return true;
	record.end_ns = body.end_ns;
	record.has_end =
	    record.kind == RECORD_SPAN || record.kind == RECORD_GAP;
	fill(band, &record, &body);
	if (!has_names(&record))
		return true;
	page_set_id(page, &record, item);
	return page_put(page, &record);
}

static bool
give_band(struct band *band)
{
	struct page *page = band->page;
	struct head_item item;

	while (merge_next(&page->reader->merge, &item)) {
		if (item.time_ns >= page->query->to_ns)
			break;
		if (band->again && head_compare(&item, &band->mark) <= 0)
			continue;
		if (!give(band, &item))
			return false;
		band_set_mark(band, &item);
		if (page_is_through(page))
			return false;
	}
	return true;
}

/* Nothing of the band is wanted.  False: the page is full. */
bool
band_pass(struct band *band)
{
	const struct head_item last = { INT64_MAX, INT64_MAX, UINT64_MAX,
		UINT32_MAX, UINT32_MAX, { NULL, 0 } };

	if (band->again)
		return true; /* the page before ended with it */
	band_set_mark(band, &last);
	return !page_is_through(band->page);
}

/* ---- bands ---- */

/* To the next set, or the only one that is wanted, of the next node when it
 * was passed. */
static void
pass_set(const struct page *page, struct key_head *next)
{
	if (page->only_set == 0) {
		next->track++;
		return;
	}
	if (next->track > page->only_set)
		next->node++;
	next->track = page->only_set;
}

/* Is any record of this band wanted?  If not, `next` is where to go on. */
bool
band_is_wanted(struct band *band, struct key_head *next)
{
	struct page *page = band->page;
	struct lookup *lookup = &page->reader->lookup;

	*next = band->key;
	band->node = lookup_number(lookup, band->key.node);
	if (!page_wants_node(page, band->node)) {
		next->node++;
		next->track = 0;
		return false;
	}
	band->track = lookup_number(lookup, band->key.track);
	if (band->key.kind == RECORD_SAMPLE &&
	    !page_wants_text(page, band->track)) {
		pass_set(page, next);
		return false;
	}
	if (band->key.kind == RECORD_SPAN && page->query->columns.bytes > 0 &&
	    !text_match(page->query->columns, band->track)) {
		next->track++;
		return false;
	}
	if (page->series != NULL &&
	    !series_wants(page->series, page, band->key.track, band->track)) {
		next->track++;
		return false;
	}
	return true;
}

bool
band_is_mark(const struct band *band)
{
	const struct reader_mark *mark = &band->page->mark;
	const struct key_head *key = &band->key;

	return mark->kind == key->kind && mark->bucket == key->bucket &&
	       mark->node == key->node && mark->track == key->track;
}

static bool
select_columns(
    struct band *band, struct hour_cursor *hour_cursor, int64_t from_ns)
{
	struct sealed_cursor *sealed_cursor =
	    hour_cursor_alone(hour_cursor, &band->key);
	struct merge *merge = &band->page->reader->merge;
	struct key_head next = band->key;
	bool good;

	if (sealed_cursor == NULL) {
		merge_reset(merge);
		hour_cursor_collect(hour_cursor, &band->key, merge, from_ns);
		return band_give_columns(band, NULL, from_ns);
	}
	good = band_give_columns(band, sealed_cursor, from_ns);
	next.track++;
	hour_cursor_pass(hour_cursor, &band->key, &next);
	return good;
}

/* The records of one node and track, from all runs of the hour.  False: the
 * page is full. */
static bool
select_band(struct band *band, struct hour_cursor *hour_cursor)
{
	struct page *page = band->page;
	struct key_head next;
	bool wanted = band_is_wanted(band, &next);
	int64_t from_ns = page->query->from_ns;

	band->again = band_is_mark(band);
	band->mark = page->mark.id;
	if (!wanted) {
		hour_cursor_pass(hour_cursor, &band->key, &next);
		return band_pass(band);
	}
	if (page->series != NULL)
		return band_select_series(band, hour_cursor);
	if (band->again && page->mark.id.time_ns > from_ns)
		from_ns = page->mark.id.time_ns;
	if (band->key.kind == RECORD_SAMPLE && page->query->run > 1)
		return select_columns(band, hour_cursor, from_ns);
	merge_reset(&page->reader->merge);
	hour_cursor_collect(
	    hour_cursor, &band->key, &page->reader->merge, from_ns);
	return give_band(band);
}

/* ---- hours ---- */

/* One hour; `first` says where in it to begin.  False: the page is full. */
static bool
select_hour(struct page *page, const struct key_head *first, uint32_t only,
    struct hour_cursor *hour_cursor)
{
	struct band band = { .page = page };
	struct key_head from = *first;
	bool good = true;
	uint32_t run;

	if (from.node < only) {
		from.node = only;
		from.track = 0;
	}
	if (page->series != NULL && band_find_tier(&band, &from, &run))
		return band_select_tier(&band, &from, only, run);
	hour_cursor_open(hour_cursor, page->txn, &page->reader->sealed, &from,
	    &hour_cursor_all);
	while (good && hour_cursor_band(hour_cursor, &band.key)) {
		if (only != 0 && band.key.node > only)
			break;
		good = select_band(&band, hour_cursor);
	}
	hour_cursor_close(hour_cursor);
	return good;
}

/* The number of the one that is asked for; 0: several may be.  False: there is
 * none of that name. */
static bool
find_one(const struct page *page, struct text pattern, uint32_t *only)
{
	*only = 0;
	if (pattern.bytes == 0 || text_is_pattern(pattern))
		return true;
	*only = dictionary_find(page->txn, page->partition, pattern);
	return *only != 0;
}

/* Where reading begins: the mark's band, or the first hour that is wanted. */
static struct key_head
first_key(const struct page *page, enum record_kind kind)
{
	struct key_head head = { .partition = page->partition,
		.kind = (uint8_t)kind,
		.bucket = page->mark.bucket,
		.node = page->mark.node,
		.track = page->mark.track,
		.first_ns = INT64_MIN };
	int32_t hour = key_bucket(page->query->from_ns);

	if (head.bucket < hour) {
		head.bucket = hour;
		head.node = head.track = 0;
	}
	return head;
}

/* The first hour of a table at or behind that of `first`, or INT32_MAX. */
int32_t
band_next_hour(struct db_cursor *cursor, const struct key_head *first)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = *first, head;
	struct text key, value;

	to.run = to.node = to.track = 0;
	if (!db_seek(cursor, lane_key(bytes, &to), &key, &value) ||
	    !key_get_head(key, &head) || head.partition != to.partition ||
	    head.kind != to.kind)
		return INT32_MAX;
	return head.bucket;
}

/* The next hour at or behind that of `first` that has any rows. */
static bool
find_hour(const struct page *page, struct db_cursor *const cursors[TABLES],
    struct key_head *first)
{
	int32_t hour = INT32_MAX;

	for (unsigned i = 0; i < TABLES; i++) {
		int32_t next = band_next_hour(cursors[i], first);

		/* Tiers are of no use to who wants records. */
		if (next < hour && (i < 2 || page->series != NULL))
			hour = next;
	}
	if (hour >= page->hour_end)
		return false;
	if (hour != first->bucket) {
		first->bucket = hour;
		first->node = first->track = 0;
	}
	return true;
}

bool
select_heads(struct page *page, enum record_kind kind)
{
	struct key_head first = first_key(page, kind);
	struct hour_cursor hour_cursor = { .at = NULL };
	static const unsigned tables[TABLES] = { TABLES_HEADS, TABLES_CHUNKS,
		TABLES_TIERS, TABLES_TIERS + 1, TABLES_TIERS + 2 };
	struct db_cursor *cursors[TABLES];
	bool good = true;
	uint32_t only;

	if (page->query->from_ns >= page->query->to_ns ||
	    !find_one(page, page->query->node, &only) ||
	    (kind == RECORD_SAMPLE &&
		!find_one(page, page->query->name, &page->only_set)))
		return true;
	for (unsigned i = 0; i < TABLES; i++)
		cursors[i] = db_cursor_open(page->txn, tables[i]);
	page->hour_end = key_bucket(page->query->to_ns - 1) + 1;
	while (good && find_hour(page, cursors, &first)) {
		good = select_hour(page, &first, only, &hour_cursor);
		if (first.bucket == INT32_MAX)
			break;
		first.bucket++;
		first.node = first.track = 0;
	}
	for (unsigned i = 0; i < TABLES; i++)
		db_cursor_close(&cursors[i]);
	hour_cursor_clear(&hour_cursor);
	return good;
}
