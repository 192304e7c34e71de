/*
 * runs - test runs as records, in the order (model, number of the run), which
 * is the order of appearance, or the newest of each model first.
 *
 * The cursor holds the model (track) and the number of the next run (node); of
 * the newest ones the time and the number of the last run, `number` is 1 then.
 *
 * The node pattern is matched against the group of a run, the name pattern
 * against "model:id".  The time of a run is that of its first event.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/runs/runs.h"

#include "aggregator/phases/run_sum.h"

static bool
wants(struct page *page, const struct record *record, bool every)
{
	return (!record->has_time || page_wants_time(page, record->time_ns)) &&
	       page_wants_node(page, record->key) &&
	       (every || page_wants_pair(page, record->source, record->name));
}

/* Does the name pattern match every run of the model?  Most questions ask for
 * all. */
static bool
wants_every(const struct page *page, struct text model)
{
	struct text name = page->query->name;

	return name.bytes == model.bytes + 2 &&
	       memcmp(name.at, model.at, model.bytes) == 0 &&
	       memcmp(name.at + model.bytes, ":*", 2) == 0 &&
	       !text_is_pattern(model);
}

/* The run that is being appended.  It is one variable for all of them, because
 * a release sets a large variable to zero each time that its function is
 * called. */
struct at {
	struct run_row row;
	struct run_events events;
	uint32_t number[RUN_EVENTS_MAX]; /* of the nodes of `events` */
	bool every;                      /* wants_every */
};

/* Give the nodes of the events names and indexes instead of their numbers. */
static void
name_nodes(struct lookup *lookup, struct run_events *events, uint32_t *number)
{
	for (uint32_t i = 0; i < events->count; i++) {
		struct run_event *event = &events->at[i];
		uint32_t node = 0;

		while (node < events->nodes && number[node] != event->node)
			node++;
		if (node == events->nodes) {
			number[node] = event->node;
			events->node[node] = lookup_number(lookup, event->node);
			if (events->node[node].bytes == 0)
				events->node[node] = text_of(DICTIONARY_OTHER);
			events->nodes++;
		}
		event->node = node;
	}
}

/* The other events by name, whatever hour they are of. */
static void
count_others(
    struct lookup *lookup, const struct run_row *row, struct run_events *events)
{
	struct text other = text_of(DICTIONARY_OTHER);

	for (uint32_t i = 0; i < row->tallies; i++) {
		const struct run_row_tally *tally = &row->tally[i];
		struct text name = lookup_number(lookup, tally->event);

		if (i > 0 && events->others > 0 &&
		    text_equal(name, events->other[events->others - 1].event))
			events->other[events->others - 1].count += tally->count;
		else if (name.bytes == 0 || text_equal(name, other) ||
			 events->others == RUN_NAMES_MAX)
			events->overflow += tally->count;
		else
			events->other[events->others++] =
			    (struct run_count){ name, tally->count };
	}
}

/* False: the page is full. */
static bool
append(struct page *page, const struct run_sum_form *form, struct at *at)
{
	const struct run_row *row = &at->row;
	struct run_events *events = &at->events;
	struct lookup *lookup = &page->reader->lookup;
	struct buffer *bytes = &page->reader->pairs;
	struct record record = { .kind = RECORD_RUN,
		.source = form->model->model,
		.name = row->id };
	enum run_state state;

	run_row_events(row, &form->roles, events);
	record.has_time = run_row_first(row, &record.time_ns);
	if (row->group != 0)
		record.key = lookup_number(lookup, row->group);
	if (record.name.bytes == 0 || !wants(page, &record, at->every))
		return true;
	state = run_state(events, form->model->begun, form->model->ended);
	record.count = (row->known ? RUN_KNOWN : 0) |
		       (row->error ? RUN_ERROR : 0) |
		       (uint64_t)state << RUN_STATE_SHIFT;
	name_nodes(lookup, events, at->number);
	count_others(lookup, row, events);
	bytes->bytes = 0;
	run_events_put(bytes, record.time_ns, events);
	record.value_bytes = buffer_text(bytes);
	if (row->count > 0)
		page_set_id(page, &record, &row->at[0].id);
	return page_put(page, &record);
}

/* The number of the only run that can match; 0: several may match. */
static uint32_t
only_run(struct page *page, const struct run_sum_form *form)
{
	struct text name = page->query->name, model = form->model->model;

	if (name.bytes <= model.bytes + 1 || text_is_pattern(name) ||
	    memcmp(name.at, model.at, model.bytes) != 0 ||
	    name.at[model.bytes] != ':')
		return 0;
	return dictionary_find(page->txn, page->partition,
	    (struct text){
		name.at + model.bytes + 1, name.bytes - model.bytes - 1 });
}

/* May the name pattern match a run of the model? */
static bool
may_match(const struct page *page, struct text model)
{
	struct text front = text_front(page->query->name);

	if (front.bytes > model.bytes && front.at[model.bytes] != ':')
		return false;
	front.bytes = front.bytes < model.bytes ? front.bytes : model.bytes;
	return front.bytes == 0 || memcmp(front.at, model.at, front.bytes) == 0;
}

/* ---- the newest first ---- */

/* Move to the last row of the index before `end`. */
static bool
seek_before(struct packed_cursor *cursor, const struct run_row_time *end,
    struct text *key)
{
	unsigned char bytes[RUN_ROW_TIME_KEY_BYTES];
	struct text value;

	run_row_put_time_key(bytes, end);
	return packed_seek_before(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, key, &value);
}

/* The page has what is before this. */
static struct run_row_time
end_of(const struct page *page, const struct run_sum_form *form)
{
	const struct page_cursor *mark = &page->cursor;
	bool started = mark->number != 0;

	return (struct run_row_time){ page->partition, form->number,
		started ? mark->id.time_ns : page->query->to_ns,
		started ? mark->node : 0 };
}

static bool
is_before(const struct run_row_time *at, const struct run_row_time *end)
{
	return at->time_ns != end->time_ns ? at->time_ns < end->time_ns
					   : at->run < end->run;
}

/* Append a run of the index.  Where it names another time than the run has, a
 * row is damaged: the run may be listed elsewhere.  False: the page is full. */
static bool
append_at(struct page *page, const struct run_sum_form *form,
    const struct run_row_time *time, struct at *at)
{
	if (run_row_find(&at->row, page->reader->packed, page->txn, time) &&
	    !append(page, form, at))
		return false;
	page->cursor.id.time_ns = time->time_ns;
	page->cursor.node = time->run;
	page->cursor.number = 1;
	return !page_examined(page);
}

static bool
append_newest(
    struct page *page, const struct run_sum_form *form, struct at *run)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(page->txn, tables_run_times);
	struct run_row_time end = end_of(page, form), at;
	bool good = true, more;
	struct text key, value;

	more = seek_before(cursor, &end, &key);
	while (good && more && run_row_get_time_key(key, &at) &&
	       at.partition == page->partition && at.model == form->number) {
		if (is_before(&at, &end) && at.time_ns != RUN_ROW_NO_TIME &&
		    at.time_ns < page->query->from_ns) {
			/* All others are too old; no window selects those
			 * without a time. */
			end.time_ns = RUN_ROW_NO_TIME + 1;
			end.run = 0;
			more = seek_before(cursor, &end, &key);
			continue;
		}
		if (is_before(&at, &end))
			good = append_at(page, form, &at, run);
		more = packed_previous(cursor, &key, &value);
	}
	packed_cursor_close(&cursor);
	return good;
}

/* ---- in the order of appearance ---- */

static bool
append_model(struct page *page, struct packed_cursor *cursor,
    const struct run_sum_form *form, struct at *at, uint32_t only)
{
	struct run_row_key run = { page->partition, form->number,
		only > page->cursor.node ? only : page->cursor.node };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key, value;
	bool more, good = true;

	run_row_put_key(bytes, &run);
	more = packed_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; good && more && run_row_get_key(key, &run) &&
	       run.partition == page->partition && run.model == form->number &&
	       (only == 0 || run.run == only);
	     more = packed_next(cursor, &key, &value)) {
		if (run_row_decode(&at->row, value))
			good = append(page, form, at);
		if (good) {
			page->cursor.node = run.run + 1;
			good = !page_examined(page);
		}
	}
	return good;
}

bool
query_runs(struct page *page)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(page->txn, tables_runs);
	const struct model_set *models = &page->reader->models;
	struct at at;
	bool good = true;

	page->cursor.kind = RECORD_RUN;
	for (unsigned i = page->cursor.track; good && i < models->runs; i++) {
		struct run_sum_form form;

		uint32_t only;

		if (page->cursor.track != i)
			page->cursor.node = page->cursor.number = 0;
		page->cursor.track = i;
		run_sum_form_make(
		    &form, NULL, page->txn, page->partition, &models->run[i]);
		if (form.number == 0 || !may_match(page, models->run[i].model))
			continue;
		only = only_run(page, &form);
		at.every = wants_every(page, models->run[i].model);
		good = page->newest && only == 0
			   ? append_newest(page, &form, &at)
			   : append_model(page, cursor, &form, &at, only);
	}
	packed_cursor_close(&cursor);
	return good;
}
