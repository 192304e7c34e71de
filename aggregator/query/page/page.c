/*
 * page - a page of records while it is made.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/page/page.h"

#include <assert.h>
#include <string.h>

#include "proto/os/log.h"
#include "proto/record/node_list.h"

enum { CURSOR_VERSION = 2, NO_LIMIT = 1 << 30 };

/* ---- the cursor ---- */

/* The encoding has a fixed length, so that it can be written first and
 * replaced at the end. */
static struct text
encode_cursor(unsigned char to[static WIRE_CURSOR_BYTES_MAX],
    const struct page_cursor *mark)
{
	unsigned char *at = to;

	memset(to, 0, WIRE_CURSOR_BYTES_MAX);
	*at++ = CURSOR_VERSION;
	*at++ = mark->kind;
	if (mark->kind == RECORD_ENTITY) {
		varint_put_u32_be(at, mark->entity_kind);
		varint_put_u64_be(at + 4, mark->number);
		at[12] = (unsigned char)mark->prefix_bytes;
		memcpy(at + 13, mark->prefix, sizeof(mark->prefix));
	} else {
		varint_put_u32_be(at, mark->track);
		varint_put_u32_be(at + 4, mark->node);
		varint_put_u32_be(at + 8, (uint32_t)mark->hour);
		varint_put_u64_be(at + 12, (uint64_t)mark->id.time_ns);
		varint_put_u64_be(at + 20, mark->id.seq);
		varint_put_u32_be(at + 28, mark->id.stream);
		varint_put_u32_be(at + 32, mark->id.index);
		varint_put_u64_be(at + 36, mark->hash);
		varint_put_u64_be(at + 44, mark->number);
	}
	return (struct text){ (const char *)to, WIRE_CURSOR_BYTES_MAX };
}

static int
decode_cursor(struct text cursor, struct page_cursor *mark, struct err *err)
{
	const char *at = cursor.at;

	memset(mark, 0, sizeof(*mark));
	if (cursor.bytes == 0)
		return 0;
	if (cursor.bytes != WIRE_CURSOR_BYTES_MAX || at[0] != CURSOR_VERSION ||
	    (unsigned char)at[1] >= RECORD_KINDS)
		return err_set(err, "the cursor is not one of this store");
	mark->kind = (uint8_t)at[1];
	at += 2;
	if (mark->kind == RECORD_ENTITY) {
		mark->entity_kind = varint_get_u32_be(at);
		mark->number = varint_get_u64_be(at + 4);
		mark->prefix_bytes = (unsigned char)at[12];
		if (mark->prefix_bytes > sizeof(mark->prefix))
			return err_set(
			    err, "the cursor is not one of this store");
		memcpy(mark->prefix, at + 13, sizeof(mark->prefix));
		return 0;
	}
	mark->track = varint_get_u32_be(at);
	mark->node = varint_get_u32_be(at + 4);
	mark->hour = (int32_t)varint_get_u32_be(at + 8);
	mark->id.time_ns = (int64_t)varint_get_u64_be(at + 12);
	mark->id.seq = varint_get_u64_be(at + 20);
	mark->id.stream = varint_get_u32_be(at + 28);
	mark->id.index = varint_get_u32_be(at + 32);
	mark->hash = varint_get_u64_be(at + 36);
	mark->number = varint_get_u64_be(at + 44);
	return 0;
}

bool
page_has_moved(const struct page *page)
{
	unsigned char bytes[WIRE_CURSOR_BYTES_MAX];

	return !text_equal(
	    encode_cursor(bytes, &page->cursor), page->query->cursor);
}

bool
page_cursor_is_of(struct text cursor, uint8_t kind)
{
	return cursor.bytes == WIRE_CURSOR_BYTES_MAX &&
	       (unsigned char)cursor.at[1] == kind;
}

struct text
page_cursor_at(
    unsigned char to[static WIRE_CURSOR_BYTES_MAX], uint8_t kind, int32_t hour)
{
	const struct page_cursor mark = {
		.kind = kind, .hour = hour, .id = { .time_ns = INT64_MIN }
	};

	return encode_cursor(to, &mark);
}

/* ---- the page ---- */

int
page_put_cursor(struct page *page, struct text cursor, struct err *err)
{
	wire_put_page_cursor(page->w, cursor);
	if (page->w->full)
		return err_set(err, "the buffer is too small for a page");
	page->start = page->w->bytes;
	page->limit = page->query->page_bytes ? page->query->page_bytes
					      : (size_t)NO_LIMIT;
	return 0;
}

void
page_replace_cursor(struct page *page, struct text cursor)
{
	page->w->full =
	    false; /* the record that did not fit will be in the next page */
	memcpy(
	    page->w->at + page->start - cursor.bytes, cursor.at, cursor.bytes);
}

int
page_begin(struct page *page, struct err *err)
{
	unsigned char bytes[WIRE_CURSOR_BYTES_MAX];
	uint64_t hash;

	if (decode_cursor(page->query->cursor, &page->cursor, err) != 0)
		return -1;
	if (page_put_cursor(page, encode_cursor(bytes, &page->cursor), err) !=
	    0)
		return -1;
	if (db_begin(page->reader->tables, false, &page->txn, err) != 0)
		return -1;
	hash = tables_fact(page->txn, FACT_MODELS);
	if (hash != page->reader->models_hash) {
		tables_get_models(page->txn, &page->reader->models);
		page->reader->models_hash = hash;
	}
	return 0;
}

int
page_end(struct page *page, bool *last, struct err *err)
{
	unsigned char bytes[WIRE_CURSOR_BYTES_MAX];

	page->reader->damage = *db_damage_met(page->txn);
	if (db_failed(page->txn)) {
		db_commit(&page->txn, err);
		return -1;
	}
	db_abort(&page->txn);
	*last = !page->full;
	page_replace_cursor(page, encode_cursor(bytes, &page->cursor));
	return 0;
}

/* A record that is too large for any page is returned without its largest
 * attributes; the attribute _left_out gives their number. */
static bool
put_truncated(struct page *page, struct record *record)
{
	struct buffer *pairs = &page->reader->pairs;
	struct text rest = record->pairs;
	size_t room = page->w->room - page->w->bytes, fits;
	struct record_attribute attribute;
	struct value value = { VALUE_INT, { .i = 0 } };
	struct wire_writer w;
	uint32_t kept = 0;

	fits = room > 8192 ? (room - 8192) / RECORD_ATTRIBUTES_MAX : 0;
	if (record->attributes == 0 || fits < 16)
		return false;
	pairs->bytes = 0;
	wire_writer_init(&w, buffer_need(pairs, room), room);
	while (record_next_attribute(&rest, &attribute)) {
		if (attribute.value.type == VALUE_TEXT &&
		    attribute.value.is.text.bytes + attribute.key.bytes >
			fits - 16)
			value.is.i++;
		else if (wire_put_attribute(
			     &w, attribute.key, &attribute.value))
			kept++;
	}
	wire_put_attribute(&w, text_of("_left_out"), &value);
	record->attributes = kept + 1;
	record->pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	page->w->full = false;
	return wire_put_record(page->w, record);
}

bool
page_has_room(struct page *page)
{
	const struct wire_writer *w = page->w;

	if (w->records == 0 || w->bytes - page->start < page->limit)
		return true;
	page->full = true;
	return false;
}

bool
page_put(struct page *page, struct record *record)
{
	struct wire_writer *w = page->w;
	size_t before = w->bytes;

	if (!page_has_room(page))
		return false;
	if (wire_put_context_entry(w, record, page->entry) &&
	    (wire_put_record(w, record) ||
		(w->records == 0 && put_truncated(page, record))))
		return true;
	w->bytes = before; /* remove the context of the record too */
	w->full = false;
	if (w->records == 0) {
		/* No page can hold this record, so a further page would not
		 * help. */
		log_warn("query: a record of kind %s does not fit in a page; "
			 "it is missing from the answer",
		    record_kind_name(record->kind));
		return true;
	}
	page->full = true;
	return false;
}

bool
page_examined(struct page *page)
{
	if (++page->examined >= page->reader->examined_max)
		page->full = true;
	return page->full;
}

void
page_meet_absent(struct page *page, const struct absent_need *need)
{
	page->reader->met_absent = page->full = true;
	page->reader->absent = *need;
}

bool
page_wants_node(const struct page *page, struct text node)
{
	return node_list_match(page->query->node, node);
}

bool
page_wants_node_number(struct page *page, uint32_t number, struct text *node)
{
	*node = lookup_number(&page->reader->lookup, number);
	if (number == 0 || page->asked_node != number) {
		page->asked_node = number;
		page->wants_asked = page_wants_node(page, *node);
	}
	return page->wants_asked;
}

bool
page_only_node(const struct page *page, uint32_t *only)
{
	char room[NAME_BYTES_MAX];
	struct text name;

	*only = 0;
	if (!node_list_is_name(page->query->node, room, &name))
		return true;
	*only = dictionary_find(page->txn, page->partition, name);
	return *only != 0;
}

bool
page_node_range(const struct page *page, uint32_t *first, uint32_t *last)
{
	uint32_t only;

	if (!page_only_node(page, &only))
		return false;
	*first = only;
	*last = only != 0 ? only : UINT32_MAX;
	return true;
}

bool
page_wants_text(const struct page *page, struct text name)
{
	return page->query->name.bytes == 0 ||
	       text_match(page->query->name, name);
}

bool
page_wants_time(const struct page *page, int64_t time_ns)
{
	return time_ns >= page->query->from_ns && time_ns < page->query->to_ns;
}

bool
page_wants_times(const struct page *page, int64_t first_ns, int64_t last_ns)
{
	return last_ns >= page->query->from_ns && first_ns < page->query->to_ns;
}

bool
page_wants_pair(const struct page *page, struct text a, struct text b)
{
	char both[2 * NAME_BYTES_MAX + 1];

	if (page->query->name.bytes == 0)
		return true;
	assert(a.bytes <= NAME_BYTES_MAX && b.bytes <= NAME_BYTES_MAX);
	if (a.bytes > 0)
		memcpy(both, a.at, a.bytes);
	both[a.bytes] = ':';
	if (b.bytes > 0)
		memcpy(both + a.bytes + 1, b.at, b.bytes);
	return page_wants_text(
	    page, (struct text){ both, a.bytes + 1 + b.bytes });
}

static bool
matches(struct page *page, const struct row_block_name *source,
    const struct row_block_name *name)
{
	return page_wants_pair(page, lookup_name(&page->reader->lookup, source),
	    lookup_name(&page->reader->lookup, name));
}

bool
page_wants_name(struct page *page, const struct row_block_name *source,
    const struct row_block_name *name)
{
	uint32_t slot = (source->number * 31 + name->number) % PAGE_NAMES;

	if (page->query->name.bytes == 0)
		return true;
	if (source->number == 0 || name->number == 0)
		return matches(page, source, name);
	if (page->matched[slot].source != source->number ||
	    page->matched[slot].name != name->number) {
		page->matched[slot].source = source->number;
		page->matched[slot].name = name->number;
		page->matched[slot].yes = matches(page, source, name);
	}
	return page->matched[slot].yes;
}

void
page_set_id(
    struct page *page, struct record *record, const struct row_block_item *item)
{
	if (!lookup_session(
		&page->reader->lookup, item->stream, &record->id.session))
		memset(&record->id.session, 0, sizeof(record->id.session));
	record->id.seq = item->seq;
	record->id.index = item->index;
	record->receive_ns = item->receive_ns;
}
