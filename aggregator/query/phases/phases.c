/*
 * phases - phases as records: one for each pair, or for a lone start or end,
 * in the order (phase, key, node or run, time of the first event).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phases.h"

#include "proto/record/kv.h"

/* Behind all events: skip the rest of a state. */
static const struct phase_entry last_entry = { .id = { .time_ns = INT64_MAX,
						   .stream = UINT32_MAX,
						   .seq = UINT64_MAX,
						   .index = UINT32_MAX } };

/* The current state. */
struct at {
	struct page *page;
	uint32_t number; /* of the phase */
	struct text id, model, name;
	const struct model_phase *phase; /* NULL: no longer defined */
	struct text scope;
	bool unpaired; /* the reader pairs the events of this phase */
	const struct phase_entry *after; /* append what follows; NULL: all */
};

/* ---- merging the attributes of both events ---- */

struct merged {
	struct record_attribute at[RECORD_ATTRIBUTES_MAX];
	/* Of those whose names are lost, and of one that is not added. */
	char key[RECORD_ATTRIBUTES_MAX + 1][LOOKUP_KEY_BYTES];
	uint32_t count;
};

/* The first value of an attribute wins, so the source with precedence comes
 * first. */
static void
add_attribute(struct merged *merged, const struct record_attribute *attribute)
{
	uint32_t i;

	for (i = 0; i < merged->count; i++) {
		if (text_equal(merged->at[i].key, attribute->key))
			return;
	}
	if (merged->count < RECORD_ATTRIBUTES_MAX)
		merged->at[merged->count++] = *attribute;
}

/* The caller has made room, so that earlier results do not move. */
static struct text
unescape(struct buffer *room, const struct kv_pair *pair)
{
	struct text text;

	if (!pair->escaped)
		return pair->value;
	text = kv_unescape(pair, (char *)room->at + room->bytes);
	room->bytes += pair->value.bytes;
	return text;
}

static void
add_message(struct reader *reader, struct merged *merged, struct text message)
{
	struct kv_pair pair;
	struct record_attribute attribute = { .value.type = VALUE_TEXT };

	while (kv_next(&message, &pair)) {
		if (text_check_name(pair.key) != TEXT_OK)
			continue;
		attribute.key = pair.key;
		attribute.value.is.text = unescape(&reader->text, &pair);
		add_attribute(merged, &attribute);
	}
}

/* Add the attributes of an event, then those in its message. */
static void
add_event(struct at *at, struct merged *merged, const struct phase_entry *entry)
{
	struct reader *reader = at->page->reader;
	struct text rest = entry->id.body, message = { NULL, 0 };
	struct row_block_attribute attribute;

	row_block_attribute_count(&rest);
	while (row_block_next_attribute(&rest, &attribute)) {
		struct record_attribute plain;
		struct text value = attribute.value;

		plain.key = lookup_key(&reader->lookup, &attribute.key,
		    merged->key[merged->count]);
		if (plain.key.bytes == 0 ||
		    !record_next_value(&value, &plain.value))
			continue;
		if (at->phase != NULL && at->phase->kv &&
		    plain.value.type == VALUE_TEXT &&
		    text_equal(plain.key, text_of("message")))
			message = plain.value.is.text;
		else
			add_attribute(merged, &plain);
	}
	add_message(reader, merged, message);
}

static void
set_attributes(struct at *at, struct record *record,
    const struct phase_entry *start, const struct phase_entry *end)
{
	struct reader *reader = at->page->reader;
	struct merged merged;
	struct wire_writer w;
	size_t room = 0;
	uint32_t i;

	merged.count = 0;
	reader->text.bytes = 0;
	buffer_need(&reader->text, (start ? start->id.body.bytes : 0) +
				       (end ? end->id.body.bytes : 0) + 1);
	if (end != NULL)
		add_event(at, &merged, end);
	if (start != NULL)
		add_event(at, &merged, start);
	for (i = 0; i < merged.count; i++) {
		room += merged.at[i].key.bytes + 32;
		if (merged.at[i].value.type == VALUE_TEXT)
			room += merged.at[i].value.is.text.bytes;
	}
	reader->pairs.bytes = 0;
	wire_writer_init(&w, buffer_need(&reader->pairs, room), room);
	for (i = 0; i < merged.count; i++)
		wire_put_attribute(&w, merged.at[i].key, &merged.at[i].value);
	record->attributes = merged.count;
	record->pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
}

/* ---- records ---- */

static void
set_duration(struct record *record, const struct phase_entry *start,
    const struct phase_entry *end)
{
	if (end == NULL || (start == NULL && !end->measured))
		return;
	record->duration_ns =
	    phase_duration(start != NULL ? start->id.time_ns : 0, end);
	record->has_duration = true;
	record->count = end->measured ? RECORD_PHASE_MEASURED : 0;
}

/* False: the page is full. */
static bool
put(struct at *at, const struct phase_entry *start,
    const struct phase_entry *end)
{
	struct page *page = at->page;
	const struct phase_entry *first = start ? start : end;
	struct record record = { .kind = RECORD_PHASE,
		.source = at->model,
		.name = at->name,
		.key = page->reader->parts.key,
		.time_ns = start ? start->id.time_ns : 0,
		.end_ns = end ? end->id.time_ns : 0,
		.has_time = start != NULL,
		.has_end = end != NULL };

	set_duration(&record, start, end);
	if (!at->unpaired && !page_wants_time(page, first->id.time_ns))
		return true;
	if (page->open && (start == NULL || end != NULL))
		return true;
	record.node = first->node == page->reader->parts.scope
			  ? at->scope
			  : lookup_number(&page->reader->lookup, first->node);
	if (at->unpaired) {
		record.run = at->scope;
		record.count |=
		    page->reader->parts.list.fifo ? RECORD_PHASE_FIFO : 0;
	} else if (!page_wants_node(page, record.node)) {
		return true;
	}
	set_attributes(at, &record, start, end);
	page_set_id(page, &record, &first->id);
	return page_put(page, &record);
}

static bool
go_on_behind(struct at *at, const struct phase_entry *entry)
{
	const struct part_cursor *parts = &at->page->reader->parts;
	struct page_cursor *mark = &at->page->cursor;

	mark->kind = RECORD_PHASE;
	mark->track = at->number;
	mark->node = parts->scope;
	mark->hash = parts->key_hash;
	mark->id = entry->id;
	mark->number = (uint64_t)entry->node << 1 | entry->is_end;
	return !page_examined(at->page);
}

static bool
is_done(const struct at *at, const struct phase_entry *entry)
{
	return at->after != NULL && phase_compare(entry, at->after) <= 0;
}

/* Append the pairs and the events without a partner of the state.  False: the
 * page is full. */
static bool
append_items(struct at *at)
{
	struct phase_items *items = &at->page->reader->items;
	const struct phase_entry *start, *end;

	phase_items_begin(items, &at->page->reader->parts);
	while (phase_items_next(items, &start, &end)) {
		const struct phase_entry *first = start ? start : end;

		if (!is_done(at, first) &&
		    (!put(at, start, end) || !go_on_behind(at, first)))
			return false;
	}
	return true;
}

/* Append the events of the state, each alone: the reader pairs them. */
static bool
append_events(struct at *at)
{
	const struct phase_entry *entry;

	while ((entry = part_cursor_entry(&at->page->reader->parts)) != NULL)
		if (!is_done(at, entry) &&
		    (!put(at, entry->is_end ? NULL : entry,
			 entry->is_end ? entry : NULL) ||
			!go_on_behind(at, entry)))
			return false;
	return true;
}

/* ---- phases ---- */

/* All that matters here of phases without a model. */
static const struct model_phase own_phase = { .kv = true };

static const struct model_phase *
find_phase(const struct model_set *models, struct text id)
{
	unsigned i;

	for (i = 0; i < models->phases; i++) {
		if (text_equal(models->phase[i].id, id))
			return &models->phase[i];
	}
	return own_phase_is(id) ? &own_phase : NULL;
}

static void
enter_phase(struct at *at)
{
	const char *colon;

	at->id = lookup_number(&at->page->reader->lookup, at->number);
	at->phase = find_phase(&at->page->reader->models, at->id);
	colon = at->id.bytes ? memchr(at->id.at, ':', at->id.bytes) : NULL;
	at->model = at->name = at->id;
	if (colon == NULL)
		return;
	at->model.bytes = (uint32_t)(colon - at->id.at);
	at->name.at = colon + 1;
	at->name.bytes = at->id.bytes - at->model.bytes - 1;
}

/* Go to the place behind the last record of the page before.  What is there
 * pairs without the events before it, unless more than one start may wait. */
static bool
seek(struct at *at, const struct page_cursor *from,
    const struct phase_entry *after)
{
	struct part_cursor *parts = &at->page->reader->parts;

	if (!part_cursor_open(
		parts, at->page->txn, at->page->partition, at->number, true))
		return false;
	part_cursor_seek(parts, after != NULL ? from->hash : 0,
	    after != NULL ? from->node : 0,
	    after == NULL || parts->list.fifo ? INT64_MIN : after->id.time_ns);
	return true;
}

/* Is the node of the state selected?  Then its name is noted. */
static bool
wants_scope(struct at *at, uint32_t first, uint32_t last)
{
	uint32_t scope = at->page->reader->parts.scope;

	return scope >= first && scope <= last &&
	       page_wants_node_number(at->page, scope, &at->scope);
}

/* Append the states of the phase, from the cursor on. */
static bool
append_phase(struct at *at, const struct page_cursor *from)
{
	struct page *page = at->page;
	struct part_cursor *parts = &page->reader->parts;
	bool by_node = at->phase == NULL || at->phase->run.bytes == 0;
	bool marked = from->kind == RECORD_PHASE && from->track == at->number;
	const struct phase_entry after = { .id = from->id,
		.is_end = (from->number & 1) != 0,
		.node = (uint32_t)(from->number >> 1) };
	uint32_t first = 0, last = UINT32_MAX;
	bool good = true;

	/* With scope "run" the node is that of the event. */
	at->unpaired = page->unpaired && !by_node;
	if ((by_node && !page_node_range(page, &first, &last)) ||
	    !seek(at, from, marked ? &after : NULL))
		return true;
	while (good && part_cursor_state(parts)) {
		at->after = marked && from->hash == parts->key_hash &&
				    from->node == parts->scope
				? &after
				: NULL;
		if (by_node && !wants_scope(at, first, last)) {
			good =
			    at->after != NULL || go_on_behind(at, &last_entry);
			continue;
		}
		if (!by_node)
			at->scope =
			    lookup_number(&page->reader->lookup, parts->scope);
		good = at->unpaired ? append_events(at) : append_items(at);
	}
	part_cursor_close(parts);
	return good;
}

/* No phase has the number UINT32_MAX: query_steps uses it in the cursor. */
bool
query_phases(struct page *page)
{
	struct db_cursor *cursor = db_cursor_open(page->txn, TABLES_PHASES);
	struct page_cursor from = page->cursor;
	struct at at = { .page = page, .number = from.track };
	uint32_t partition = page->partition;
	bool good = true;

	while (good && part_list_find(cursor, &partition, &at.number) &&
	       partition == page->partition) {
		enter_phase(&at);
		/* An empty id means that the row of its name is damaged. */
		if (at.id.bytes > 0 && page_wants_text(page, at.id))
			good = append_phase(&at, &from);
		at.number++;
	}
	db_cursor_close(&cursor);
	return good;
}
