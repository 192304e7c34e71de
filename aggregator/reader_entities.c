/*
 * reader - entities, in the order (kind, id).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/reader_core.h"

enum { KEY_ROOM = 8 + NAME_BYTES_MAX };

/* A cursor has no room for an id of 255 bytes: it holds the front of it, and
 * how many entities with that front were given. */
static void
set_mark(struct reader_mark *mark, uint32_t kind, struct text id)
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
has_front(const struct reader_mark *mark, uint32_t kind, struct text id)
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
give(struct page *page, uint32_t kind, struct text id, struct text value)
{
	struct lookup *lookup = &page->reader->lookup;
	struct record record = { .kind = RECORD_ENTITY, .name = id };
	struct unpack u = unpack_of(value);
	struct head_item item = { .time_ns = 0 };

	record.source = lookup_number(lookup, kind);
	record.node = lookup_number(lookup, get_u32(&u));
	item.stream = get_u32(&u);
	item.seq = get_varint(&u);
	item.index = get_u32(&u);
	item.receive_ns = pack_unzigzag(get_varint(&u));
	if (u.bad || record.source.bytes == 0 || !wants(page, &record))
		return true;
	record.pairs = lookup_pairs(
	    lookup, get_bytes(&u, unpack_left(&u)), &record.attributes);
	page_set_id(page, &record, &item);
	return page_put(page, &record);
}

bool
select_entities(struct page *page)
{
	struct db_cursor *cursor = db_cursor_open(page->txn, TABLES_ENTITIES);
	struct reader_mark from = page->mark;
	uint64_t skip = from.number;
	unsigned char bytes[KEY_ROOM];
	struct text key, value;
	bool more, good = true;

	put_u32_be(bytes, page->partition);
	put_u32_be(bytes + 4, from.entity_kind);
	memcpy(bytes + 8, from.prefix, from.prefix_bytes);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, 8 + from.prefix_bytes }, &key,
	    &value);
	for (; more && good; more = db_next(cursor, &key, &value)) {
		struct text id = { key.at + 8, key.bytes - 8 };
		uint32_t kind;

		if (key.bytes < 9 || get_u32_be(key.at) != page->partition)
			break;
		kind = get_u32_be(key.at + 4);
		/* Count what is passed over too: it is passed again. */
		if (from.kind == RECORD_ENTITY && skip > 0 &&
		    has_front(&from, kind, id)) {
			skip--;
			continue;
		}
		good = give(page, kind, id, value);
		if (good) {
			set_mark(&page->mark, kind, id);
			good = !page_is_through(page);
		}
	}
	db_cursor_close(&cursor);
	return good;
}
