/*
 * phases - phases as records: one for each pair, or for a lone start or end,
 * in the order (phase, key, node or run, time of the first event).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phases.h"

#include "aggregator/query/phases/phase_states.h"
#include "proto/record/kv.h"

/* Behind all events: skip the rest of a phase, node and key. */
static const struct phase_entry last_entry = { .id = { .time_ns = INT64_MAX,
						   .stream = UINT32_MAX,
						   .seq = UINT64_MAX,
						   .index = UINT32_MAX } };

/* The current row. */
struct at {
	struct page *page;
	struct key_phase key;
	struct text id, model, name;
	const struct model_phase *phase; /* NULL: no longer defined */
	struct text scope;
	bool unpaired; /* the reader pairs the events of this phase */
	const struct phase_entry *after; /* append what follows; NULL: all */
};

/* ---- merging the attributes of both events ---- */

struct merged {
	struct record_attribute at[RECORD_ATTRIBUTES_MAX];
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

		plain.key = lookup_name(&reader->lookup, &attribute.key);
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
		.key = page->reader->row.key,
		.time_ns = start ? start->id.time_ns : 0,
		.end_ns = end ? end->id.time_ns : 0,
		.has_time = start != NULL,
		.has_end = end != NULL };

	if (!at->unpaired && !page_wants_time(page, first->id.time_ns))
		return true;
	record.node = first->node == at->key.scope
			  ? at->scope
			  : lookup_number(&page->reader->lookup, first->node);
	if (at->unpaired) {
		record.run = at->scope;
		record.count = page->reader->row.fifo;
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
	struct page_cursor *mark = &at->page->cursor;

	mark->kind = RECORD_PHASE;
	mark->track = at->key.phase;
	mark->node = at->key.scope;
	mark->hash = at->key.key_hash;
	mark->id = entry->id;
	mark->number = entry->is_end;
	return !page_examined(at->page);
}

/* Append the pairs and the events without a partner of the row.  False: the
 * page is full. */
static bool
append_row(struct at *at)
{
	const struct phase_row *row = &at->page->reader->row;

	/* The partner of an event in the window may be outside of it, on
	 * another node. */
	if (at->unpaired && row->count > 0 &&
	    !page_wants_times(at->page, row->at[0].id.time_ns,
		row->at[row->count - 1].id.time_ns))
		return go_on_behind(at, &row->at[row->count - 1]);
	for (uint32_t i = 0; i < row->count; i++) {
		const struct phase_entry *entry = &row->at[i];
		const struct phase_entry *start = entry, *end = NULL;

		if (at->after != NULL && phase_compare(entry, at->after) <= 0)
			continue;
		if (entry->partner != PAIRING_ALONE && !at->unpaired)
			end = &row->at[entry->partner];
		if (entry->is_end && end != NULL)
			continue; /* came with its start */
		if (entry->is_end) {
			start = NULL;
			end = entry;
		}
		if (!put(at, start, end) || !go_on_behind(at, entry))
			return false;
	}
	return true;
}

/* ---- rows ---- */

static const struct model_phase *
find_phase(const struct model_set *models, struct text id)
{
	unsigned i;

	for (i = 0; i < models->phases; i++) {
		if (text_equal(models->phase[i].id, id))
			return &models->phase[i];
	}
	return NULL;
}

static void
enter_phase(struct at *at)
{
	const char *colon;

	at->id = lookup_number(&at->page->reader->lookup, at->key.phase);
	at->phase = find_phase(&at->page->reader->models, at->id);
	colon = at->id.bytes ? memchr(at->id.at, ':', at->id.bytes) : NULL;
	at->model = at->name = at->id;
	if (colon == NULL)
		return;
	at->model.bytes = (uint32_t)(colon - at->id.at);
	at->name.at = colon + 1;
	at->name.bytes = at->id.bytes - at->model.bytes - 1;
}

/* Append the rows of the phase, from the cursor on. */
static bool
append_phase(
    struct at *at, struct db_cursor *cursor, const struct page_cursor *from)
{
	struct page *page = at->page;
	struct key_phase start = { page->partition, at->key.phase, 0, 0 };
	bool by_node = at->phase == NULL || at->phase->run.bytes == 0;
	bool marked = from->kind == RECORD_PHASE && from->track == start.phase;
	bool good = true, more;
	uint32_t first = 0, last = UINT32_MAX;
	struct phase_states phase_states;
	struct phase_entry after = { .id = from->id,
		.is_end = from->number != 0 };

	/* With scope "run" the node is that of the event. */
	at->unpaired = page->unpaired && !by_node;
	if (by_node && !page_node_range(page, &first, &last))
		return true;
	if (marked) {
		start.key_hash = from->hash;
		start.scope = from->node;
	}
	more = phase_states_begin(
	    &phase_states, cursor, &start, marked ? &after : NULL, first, last);
	for (; good && more; more = good && phase_states_next(&phase_states)) {
		at->key = phase_states.at;
		at->after = marked && from->hash == at->key.key_hash &&
				    from->node == at->key.scope
				? &after
				: NULL;
		if (!page_wants_node_number(page, at->key.scope, &at->scope) &&
		    by_node) {
			good =
			    at->after != NULL || go_on_behind(at, &last_entry);
			continue;
		}
		if (phase_row_decode(
			&page->reader->row, phase_states.value, at->key.scope))
			good = append_row(at);
	}
	return good;
}

/* No phase has the number UINT32_MAX: query_steps uses it in the cursor. */
bool
query_phases(struct page *page)
{
	struct db_cursor *cursor = db_cursor_open(page->txn, TABLES_PHASES);
	struct page_cursor from = page->cursor;
	struct at at = { .page = page, .key.phase = from.track };
	bool good = true;

	while (good && phase_states_find_phase(
			   cursor, page->partition, &at.key.phase)) {
		uint32_t phase = at.key.phase;

		enter_phase(&at);
		/* An empty id means that the row of its name is damaged. */
		if (at.id.bytes > 0 && page_wants_text(page, at.id))
			good = append_phase(&at, cursor, &from);
		at.key.phase = phase + 1;
	}
	db_cursor_close(&cursor);
	return good;
}
