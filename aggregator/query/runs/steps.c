/*
 * steps - the steps of test runs as phase records: one for each pair, or for a
 * lone begin or end, in the order (model, run, step, k), after all other
 * phases.
 *
 * Their events are stored with the run and not in rows of phases.  Of their
 * attributes only the one that names the run is known.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/runs/runs.h"

#include "aggregator/phases/run_sum.h"
#include "proto/record/pairing.h"

/* The cursor of steps: track has this value, hash is the index of the model. */
#define HERE UINT32_MAX

/* The current run. */
struct at {
	struct page *page;
	const struct run_sum_form *form;
	const struct run_row *row;
	uint32_t run;
	struct text pairs; /* the id of the run as an attribute */
};

static bool
put(struct at *at, struct text id, const struct run_row_event *begin,
    const struct run_row_event *end)
{
	const struct run_row_event *first = begin ? begin : end;
	struct text model = at->form->model->model;
	struct page *page = at->page;
	struct record record = { .kind = RECORD_PHASE,
		.source = model,
		.name = { id.at + model.bytes + 1, id.bytes - model.bytes - 1 },
		.time_ns = begin ? begin->id.time_ns : 0,
		.end_ns = end ? end->id.time_ns : 0,
		.has_time = begin != NULL,
		.has_end = end != NULL,
		.has_duration = begin != NULL && end != NULL,
		.attributes = 1,
		.pairs = at->pairs };

	if (record.has_duration)
		record.duration_ns =
		    pairing_duration(begin->id.time_ns, end->id.time_ns);
	if (!page->unpaired && !page_wants_time(page, first->id.time_ns))
		return true;
	if (page->open && (begin == NULL || end != NULL))
		return true;
	record.node = lookup_number(&page->reader->lookup, first->node);
	if (page->unpaired)
		record.run = at->row->id;
	else if (!page_wants_node(page, record.node))
		return true;
	page_set_id(page, &record, &first->id);
	return page_put(page, &record);
}

/* Append the k-th of a step, unless it is before `from`.  False: the page is
 * full. */
static bool
append(struct at *at, unsigned step, uint32_t k, uint32_t from,
    const struct run_row_event *begin, const struct run_row_event *end)
{
	struct page_cursor *mark = &at->page->cursor;

	if (k < from)
		return true;
	if (!put(at, at->form->model->step[step].phase, begin, end))
		return false;
	mark->node = at->run;
	mark->number = (uint64_t)step << 32 | (k + 1);
	return !page_examined(at->page);
}

/* The events of a step, in the order of time. */
static uint32_t
events_of(const struct at *at, unsigned step,
    const struct run_row_event *event[static RUN_EVENTS_MAX],
    struct pairing pairing[static RUN_EVENTS_MAX])
{
	const struct model_step *of = &at->form->model->step[step];
	uint32_t begin_event = at->form->roles.number[of->of.begin];
	uint32_t end_event = at->form->roles.number[of->of.end];
	uint32_t count = 0;

	for (uint32_t i = 0; i < at->row->count; i++) {
		const struct run_row_event *each = &at->row->at[i];

		if (each->event != begin_event && each->event != end_event)
			continue;
		pairing[count] = (struct pairing){ .time_ns = each->id.time_ns,
			.partner = PAIRING_ALONE,
			.is_end = each->event == end_event };
		event[count++] = each;
	}
	return count;
}

/* The pairs are those of run_events_durations. */
static bool
append_step(struct at *at, unsigned step, uint32_t from)
{
	const struct run_row_event *event[RUN_EVENTS_MAX];
	struct pairing pairing[RUN_EVENTS_MAX];
	uint32_t count, k = 0;

	if (!page_wants_text(at->page, at->form->model->step[step].phase))
		return true;
	count = events_of(at, step, event, pairing);
	if (!at->page->unpaired)
		pairing_find(pairing, count, false);
	else if (count == 0 || !page_wants_times(at->page, pairing[0].time_ns,
				   pairing[count - 1].time_ns))
		return true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t partner = pairing[i].partner;
		bool alone = partner == PAIRING_ALONE;

		if (pairing[i].is_end && !alone)
			continue; /* comes with its begin */
		if (!append(at, step, k++, from,
			pairing[i].is_end ? NULL : event[i],
			pairing[i].is_end ? event[i]
			: alone           ? NULL
					  : event[partner]))
			return false;
	}
	return true;
}

static bool
append_run(struct at *at, const struct page_cursor *from)
{
	bool marked = from->node == at->run;
	unsigned step = marked ? (unsigned)(from->number >> 32) : 0;
	uint32_t k = marked ? (uint32_t)from->number : 0;
	struct buffer *pairs = &at->page->reader->pairs;
	struct value id = { VALUE_TEXT, { .text = at->row->id } };
	struct wire_writer w;

	pairs->bytes = 0;
	wire_writer_init(
	    &w, buffer_need(pairs, 4 * NAME_BYTES_MAX), 4 * NAME_BYTES_MAX);
	wire_put_attribute(&w, at->form->model->attribute, &id);
	at->pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	for (; step < at->form->model->steps; step++, k = 0)
		if (!append_step(at, step, k))
			return false;
	return true;
}

static bool
append_model(struct page *page, struct packed_cursor *cursor,
    const struct run_sum_form *form, const struct page_cursor *from)
{
	struct run_row_key run = { page->partition, form->number, from->node };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key, value;
	struct run_row row;
	bool more, good = true;

	run_row_put_key(bytes, &run);
	more = packed_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; good && more && run_row_get_key(key, &run) &&
	       run.partition == page->partition && run.model == form->number;
	     more = packed_next(cursor, &key, &value)) {
		struct at at = { page, form, &row, run.run, { NULL, 0 } };

		if (run_row_decode(&row, value))
			good = append_run(&at, from);
	}
	return good;
}

bool
query_steps(struct page *page)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(page->txn, tables_runs);
	const struct model_set *models = &page->reader->models;
	struct page_cursor from = page->cursor, none = { .kind = RECORD_PHASE };
	bool good = true;

	if (from.kind != RECORD_PHASE || from.track != HERE)
		from = none;
	for (unsigned i = (unsigned)from.hash; good && i < models->runs; i++) {
		struct run_sum_form form;

		page->cursor = from;
		page->cursor.track = HERE;
		page->cursor.hash = i;
		run_sum_form_make(
		    &form, NULL, page->txn, page->partition, &models->run[i]);
		if (form.number != 0)
			good = append_model(page, cursor, &form, &from);
		from = none;
	}
	packed_cursor_close(&cursor);
	return good;
}
