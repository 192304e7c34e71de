/*
 * groups - the definitions of test runs, and the statistics of their groups.
 *
 * The cursor holds the model (track), the part of its definition (hash, below
 * DESCRIBED), then the key of the next row of its groups.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/runs/runs.h"

#include "aggregator/phases/run_sum.h"
#include "aggregator/query/page/answer.h"

#define DESCRIBED UINT64_MAX

/* ---- definitions ---- */

static bool
append_model(struct page *page, const struct model_run *run)
{
	struct answer answer;

	answer_start(&answer, text_of("run-model"), run->model);
	if (run->begun < RUN_ROLES_MAX)
		answer_put_int(&answer, "begun", run->begun);
	if (run->ended < RUN_ROLES_MAX)
		answer_put_int(&answer, "ended", run->ended);
	answer_put_word(&answer, "kind", run->kind);
	answer_put_word(&answer, "requestor", run->requestor);
	answer_put_word(&answer, "error", run->error);
	return answer_append(page, &answer);
}

static bool
append_event(struct page *page, const struct model_run *run, unsigned role)
{
	struct answer answer;

	answer_start(&answer, text_of("run-event"), run->event[role]);
	answer_put_word(&answer, "model", run->model);
	answer_put_int(&answer, "role", role);
	return answer_append(page, &answer);
}

static bool
append_step(struct page *page, const struct model_run *run, unsigned place)
{
	const struct model_step *step = &run->step[place];
	struct answer answer;

	answer_start(&answer, text_of("run-step"), step->phase);
	answer_put_word(&answer, "model", run->model);
	answer_put_int(&answer, "place", place);
	answer_put_int(&answer, "begin", step->of.begin);
	answer_put_int(&answer, "end", step->of.end);
	return answer_append(page, &answer);
}

static bool
describe(struct page *page, const struct model_run *run)
{
	uint64_t *next = &page->cursor.hash;
	bool good = true;

	if (*next == DESCRIBED)
		return true;
	for (; good && *next < 1 + run->events + run->steps; *next += good) {
		unsigned i = (unsigned)*next;

		if (i == 0)
			good = append_model(page, run);
		else if (i <= run->events)
			good = append_event(page, run, i - 1);
		else
			good = append_step(page, run, i - 1 - run->events);
	}
	if (good)
		*next = DESCRIBED;
	return good;
}

/* ---- the row of a group ---- */

static void
start(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key, const char *kind, struct text id,
    struct answer *answer)
{
	struct text group = { NULL, 0 };

	if (key->group != RUN_SUM_GROUP_UNKNOWN && key->group != 0)
		group = lookup_number(&page->reader->lookup, key->group);
	answer_start(answer, text_of(kind), id);
	answer_put_word(answer, "model", form->model->model);
	if (group.bytes > 0)
		answer_put_word(answer, "group", group);
	answer_put_bool(answer, "known", key->group != RUN_SUM_GROUP_UNKNOWN);
}

static bool
append_counts(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key, struct text value)
{
	uint64_t counts[RUN_SUM_COUNTS];
	struct answer answer;

	run_sum_get_counts(value, RUN_SUM_COUNTS, counts);
	start(page, form, key, "run-group", form->model->model, &answer);
	answer_put_int(&answer, "runs", counts[RUN_SUM_COUNT_RUNS]);
	answer_put_int(
	    &answer, "queued", counts[RUN_SUM_COUNT_STATE + RUN_QUEUED]);
	answer_put_int(
	    &answer, "ongoing", counts[RUN_SUM_COUNT_STATE + RUN_ONGOING]);
	answer_put_int(
	    &answer, "finished", counts[RUN_SUM_COUNT_STATE + RUN_FINISHED]);
	answer_put_int(&answer, "errors", counts[RUN_SUM_COUNT_ERRORS]);
	return answer_append(page, &answer);
}

static bool
append_stats(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key, struct text value)
{
	static const char *const clocks[] = { "emit", "receive" };
	static const char *const sorts[] = { "iteration", "total" };
	struct duration_stats *stats = page->reader->stats;
	struct varint_reader u = varint_reader_of(value);
	struct answer answer;
	unsigned step = 0;

	while (step < form->model->steps && form->phase[step] != key->number)
		step++;
	if (step == form->model->steps || key->which >= RUN_SUM_OPEN)
		return true; /* of an earlier model, or the number of open
			      * events
			      */
	duration_stats_reset(stats);
	duration_stats_decode(stats, &u);
	start(page, form, key, "run-stats", form->model->step[step].phase,
	    &answer);
	answer_put_word(
	    &answer, "clock", text_of(clocks[key->which / RUN_SUM_SORTS]));
	answer_put_word(
	    &answer, "of", text_of(sorts[key->which % RUN_SUM_SORTS]));
	answer_put_stats(&answer, stats);
	return answer_append(page, &answer);
}

static bool
append_requestor(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key, struct text value)
{
	struct text name = lookup_number(&page->reader->lookup, key->number);
	struct varint_reader u = varint_reader_of(value);
	struct answer answer;

	if (name.bytes == 0)
		return true;
	start(page, form, key, "run-requestor", name, &answer);
	answer_put_int(&answer, "runs", varint_get(&u));
	return answer_append(page, &answer);
}

static bool
append_listed(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key)
{
	static const char *const states[] = { "queued", "ongoing", "finished" };
	struct text id = lookup_number(&page->reader->lookup, key->number);
	struct answer answer;

	if (id.bytes == 0 || key->which >= RUN_STATES)
		return true;
	start(page, form, key, "run-listed", id, &answer);
	answer_put_word(&answer, "state", text_of(states[key->which]));
	return answer_append(page, &answer);
}

static bool
append_row(struct page *page, const struct run_sum_form *form,
    const struct run_sum_key *key, struct text value)
{
	struct text group = { NULL, 0 };

	if (key->group != RUN_SUM_GROUP_UNKNOWN && key->group != 0)
		group = lookup_number(&page->reader->lookup, key->group);
	if (!page_wants_node(page, group))
		return true;
	switch (key->part) {
	case RUN_SUM_PART_COUNTS: return append_counts(page, form, key, value);
	case RUN_SUM_PART_STEP: return append_stats(page, form, key, value);
	case RUN_SUM_PART_REQUESTOR:
		return append_requestor(page, form, key, value);
	case RUN_SUM_PART_LIST: return append_listed(page, form, key);
	default: return true;
	}
}

/* ---- the groups of a model ---- */

static struct run_sum_key
key_of(const struct page *page, const struct run_sum_form *form)
{
	const struct page_cursor *mark = &page->cursor;

	return (struct run_sum_key){ page->partition, form->number, mark->node,
		(uint8_t)(mark->hour & 0xff), (uint8_t)(mark->hour >> 8),
		(uint32_t)mark->number };
}

/* Continue with the row after `key`. */
static void
set_cursor(struct page *page, const struct run_sum_key *key)
{
	struct page_cursor *mark = &page->cursor;

	mark->node = key->group;
	mark->number = key->number;
	mark->hour = key->part | (key->which + 1) << 8;
}

static bool
append_groups(struct page *page, const struct run_sum_form *form)
{
	struct db_cursor *cursor = db_cursor_open(page->txn, TABLES_GROUPS);
	struct run_sum_key at = key_of(page, form);
	unsigned char bytes[RUN_SUM_KEY_BYTES];
	struct text key, value;
	bool more, good = true;

	run_sum_put_key(bytes, &at);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; good && more && run_sum_get_key(key, &at) &&
	       at.partition == page->partition && at.model == form->number;
	     more = db_next(cursor, &key, &value)) {
		good = append_row(page, form, &at, value);
		if (good) {
			set_cursor(page, &at);
			good = !page_examined(page);
		}
	}
	db_cursor_close(&cursor);
	return good;
}

bool
query_run_groups(struct page *page)
{
	const struct model_set *models = &page->reader->models;
	struct page_cursor *mark = &page->cursor;
	bool good = true;

	if (mark->kind == 0)
		*mark = (struct page_cursor){ .kind = RECORD_RUN };
	while (good && mark->track < models->runs) {
		const struct model_run *run = &models->run[mark->track];
		struct run_sum_form form;

		run_sum_form_make(&form, NULL, page->txn, page->partition, run);
		if (page_wants_text(page, run->model))
			good = describe(page, run) &&
			       (form.number == 0 || append_groups(page, &form));
		if (good)
			*mark = (struct page_cursor){ .kind = RECORD_RUN,
				.track = mark->track + 1 };
	}
	return good;
}
