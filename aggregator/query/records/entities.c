/*
 * entities - entities as records, in the order (kind, id).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/records.h"

enum { KEY_ROOM = 8 + NAME_BYTES_MAX };

/* A cursor has no room for an id of 255 bytes.  It holds the first bytes of
 * the id, and the number of entities with these bytes that were already
 * returned. */
static void
set_cursor(struct page_cursor *mark, uint32_t kind, struct text id)
{
	uint32_t bytes =
	    id.bytes < sizeof(mark->prefix) ? id.bytes : sizeof(mark->prefix);

	if (mark->kind == RECORD_ENTITY && mark->entity_kind == kind &&
	    mark->prefix_bytes == bytes &&
	    memcmp(mark->prefix, id.at, bytes) == 0) {
		mark->number++;
		return;
	}
	mark->kind = RECORD_ENTITY;
	mark->entity_kind = kind;
	mark->number = 1;
	mark->prefix_bytes = bytes;
	memcpy(mark->prefix, id.at, bytes);
}

static bool
has_front(const struct page_cursor *mark, uint32_t kind, struct text id)
{
	uint32_t bytes =
	    id.bytes < sizeof(mark->prefix) ? id.bytes : sizeof(mark->prefix);

	return mark->entity_kind == kind && mark->prefix_bytes == bytes &&
	       memcmp(mark->prefix, id.at, bytes) == 0;
}

static bool
wants(struct page *page, const struct record *record)
{
	return page_wants_node(page, record->node) &&
	       page_wants_pair(page, record->source, record->name);
}

/* False: the page is full. */
static bool
append(struct page *page, uint32_t kind, struct text id, struct text value)
{
	struct lookup *lookup = &page->reader->lookup;
	struct record record = { .kind = RECORD_ENTITY, .name = id };
	struct varint_reader u = varint_reader_of(value);
	struct row_block_item item = { .time_ns = 0 };

	record.source = lookup_number(lookup, kind);
	record.node = lookup_number(lookup, varint_get_u32(&u));
	item.stream = varint_get_u32(&u);
	item.seq = varint_get(&u);
	item.index = varint_get_u32(&u);
	item.receive_ns = varint_unzigzag(varint_get(&u));
	if (u.bad || record.source.bytes == 0 || !wants(page, &record))
		return true;
	record.pairs = lookup_pairs(
	    lookup, varint_get_bytes(&u, varint_left(&u)), &record.attributes);
	page_set_id(page, &record, &item);
	return page_put(page, &record);
}

/* ---- the ids that can match "kind:id" ---- */

/* The range of ids of a kind that can match: they begin with the part of the
 * pattern before its first wild card.  An exact id among millions is a single
 * lookup. */
struct range {
	uint32_t kind; /* 0: not determined yet */
	bool any;
	bool exact; /* only the id `front` itself matches */
	struct text front;
};

static void
find_range(struct page *page, uint32_t number, struct range *range)
{
	struct text name = page->query->name, front = text_front(name);
	struct text kind = lookup_number(&page->reader->lookup, number);
	uint32_t bytes = kind.bytes < front.bytes ? kind.bytes : front.bytes;

	*range = (struct range){ .kind = number };
	if (bytes > 0 && memcmp(front.at, kind.at, bytes) != 0)
		return;
	if (front.bytes <= kind.bytes) {
		range->any = name.bytes == 0 || text_is_pattern(name);
		return;
	}
	range->exact = !text_is_pattern(name);
	range->front =
	    (struct text){ front.at + bytes + 1, front.bytes - bytes - 1 };
	range->any =
	    front.at[bytes] == ':' && range->front.bytes <= NAME_BYTES_MAX;
}

enum place { BEFORE, WITHIN, BEHIND };

static enum place
find_place(const struct range *range, struct text id)
{
	int order;

	if (!range->any)
		return BEHIND;
	if (id.bytes > range->front.bytes && !range->exact)
		id.bytes = range->front.bytes;
	order = text_compare(id, range->front);
	return order < 0 ? BEFORE : order > 0 ? BEHIND : WITHIN;
}

/* ---- a page of entities ---- */

struct rows {
	struct page *page;
	struct packed_cursor *cursor;
	struct page_cursor from;
	/* Entities with the first bytes of `from` already returned. */
	uint64_t skip;
	struct range range;
	struct text key, value;
};

static bool
seek(struct rows *rows, uint32_t kind, struct text front)
{
	unsigned char bytes[KEY_ROOM];

	varint_put_u32_be(bytes, rows->page->partition);
	varint_put_u32_be(bytes + 4, kind);
	if (front.bytes > 0)
		memcpy(bytes + 8, front.at, front.bytes);
	return packed_seek(rows->cursor,
	    (struct text){ (const char *)bytes, 8 + front.bytes }, &rows->key,
	    &rows->value);
}

/* Move to the next kind.  False: the page is full. */
static bool
next_kind(struct rows *rows, uint32_t kind, bool *more)
{
	rows->page->cursor = (struct page_cursor){ .kind = RECORD_ENTITY,
		.entity_kind = kind + 1 };
	*more =
	    kind < UINT32_MAX && seek(rows, kind + 1, (struct text){ NULL, 0 });
	return !*more || !page_examined(rows->page);
}

/* Append the current row if it is selected, and move to the next one.  False:
 * the page is full. */
static bool
take(struct rows *rows, uint32_t kind, struct text id, bool *more)
{
	struct page *page = rows->page;
	bool good = true;

	/* Rows that are not selected count too, because the next page skips
	 * them again. */
	if (rows->from.kind == RECORD_ENTITY && rows->skip > 0 &&
	    has_front(&rows->from, kind, id)) {
		rows->skip--;
	} else {
		good = append(page, kind, id, rows->value);
		if (good) {
			set_cursor(&page->cursor, kind, id);
			good = !page_examined(page);
		}
	}
	*more = good && packed_next(rows->cursor, &rows->key, &rows->value);
	return good;
}

bool
query_entities(struct page *page)
{
	struct rows rows = { .page = page,
		.cursor = packed_cursor_open(page->txn, tables_entities),
		.from = page->cursor,
		.skip = page->cursor.number };
	bool good = true,
	     more = seek(&rows, rows.from.entity_kind,
		 (struct text){ rows.from.prefix, rows.from.prefix_bytes });

	while (good && more && rows.key.bytes > 8 &&
	       varint_get_u32_be(rows.key.at) == page->partition) {
		struct text id = { rows.key.at + 8, rows.key.bytes - 8 };
		uint32_t kind = varint_get_u32_be(rows.key.at + 4);

		if (kind != rows.range.kind)
			find_range(page, kind, &rows.range);
		switch (find_place(&rows.range, id)) {
		case BEFORE: more = seek(&rows, kind, rows.range.front); break;
		case WITHIN: good = take(&rows, kind, id, &more); break;
		case BEHIND: good = next_kind(&rows, kind, &more); break;
		}
	}
	packed_cursor_close(&rows.cursor);
	return good;
}
