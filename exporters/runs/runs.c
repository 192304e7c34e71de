/*
 * runs - read the runs of a model, one after another.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"
#include "proto/record/run.h"

enum { MODEL_PAGE_BYTES = 16 << 10, RUN_BYTES = 512 /* about */ };

int64_t
runs_get_int(const struct record *record, const char *key)
{
	struct value found;

	if (!record_find_attribute(record, text_of(key), &found) ||
	    found.type != VALUE_INT)
		return 0;
	return found.is.i;
}

/* ---- the model of the runs ---- */

static bool
same_source(struct text a, struct text b)
{
	a.bytes -= text_after(a, ':').bytes;
	b.bytes -= text_after(b, ':').bytes;
	return text_equal(a, b);
}

/* Omit the source if all roles have the same. */
static void
name_events(struct runs *runs)
{
	bool same = true;

	for (uint32_t i = 1; i < runs->event_count; i++)
		same &= same_source(runs->full[0], runs->full[i]);
	runs->one_source = same;
	for (uint32_t i = 0; i < runs->event_count; i++)
		runs->events[i] =
		    same ? text_after(runs->full[i], ':') : runs->full[i];
}

/* Does it begin with the begin of another step, and end with the end of
 * another? */
static bool
spans_others(const struct runs *runs, const struct runs_step *step)
{
	const struct runs_step *begin = NULL, *end = NULL;

	for (uint32_t i = 0; i < runs->step_count; i++) {
		const struct runs_step *other = &runs->steps[i];

		if (other == step)
			continue;
		if (other->of.begin == step->of.begin &&
		    other->of.end != step->of.end)
			begin = other;
		if (other->of.end == step->of.end &&
		    other->of.begin != step->of.begin)
			end = other;
	}
	return begin != NULL && end != NULL;
}

/* If all steps contain others, none is marked: something must be drawn. */
static void
find_spans(struct runs *runs)
{
	uint32_t spans = 0;

	for (uint32_t i = 0; i < runs->step_count; i++) {
		runs->steps[i].spans = spans_others(runs, &runs->steps[i]);
		spans += runs->steps[i].spans;
	}
	for (uint32_t i = 0; spans == runs->step_count && i < spans; i++)
		runs->steps[i].spans = false;
}

static int
by_position(const void *left, const void *right)
{
	const struct runs_step *a = left, *b = right;

	return a->position < b->position ? -1 : a->position > b->position;
}

static bool
take_event(struct runs *runs, const struct record *record)
{
	int64_t role = runs_get_int(record, "role");

	if (role != runs->event_count || role >= RUN_ROLES_MAX)
		return false;
	runs->full[runs->event_count++] =
	    string_table_keep(&runs->texts, record->name);
	return true;
}

static bool
take_step(struct runs *runs, const struct record *record)
{
	int64_t begin = runs_get_int(record, "begin");
	int64_t end = runs_get_int(record, "end");

	if (runs->step_count == RUN_STEPS_MAX || begin < 0 || end < 0 ||
	    begin >= runs->event_count || end >= runs->event_count)
		return false;
	runs->steps[runs->step_count++] = (struct runs_step){
		.name = string_table_keep(
		    &runs->texts, text_after(record->name, ':')),
		.of = { (uint8_t)begin, (uint8_t)end },
		.position = runs_get_int(record, "place"),
	};
	return true;
}

static struct text
keep_text(struct runs *runs, const struct record *record, const char *key)
{
	struct text text = { "", 0 };

	if (record_find_text(record, key, &text))
		text = string_table_keep(&runs->texts, text);
	return text;
}

/* 1: continue, 0: complete, -1: not a valid model. */
static int
take(struct runs *runs, const struct record *record, bool *found)
{
	struct text kind = record->source, model;

	if (text_equal(kind, text_of("run-model"))) {
		if (text_equal(record->name, runs->model)) {
			*found = true;
			runs->descriptions.kind =
			    keep_text(runs, record, "kind");
			runs->descriptions.key[RUNS_REQUESTOR] =
			    keep_text(runs, record, "requestor");
			runs->descriptions.key[RUNS_ERROR] =
			    keep_text(runs, record, "error");
		}
		return 1;
	}
	if (!record_find_text(record, "model", &model) ||
	    !text_equal(model, runs->model))
		return *found && runs->step_count > 0 ? 0 : 1;
	if (text_equal(kind, text_of("run-event")))
		return take_event(runs, record) ? 1 : -1;
	if (text_equal(kind, text_of("run-step")))
		return take_step(runs, record) ? 1 : -1;
	return 0;
}

static int
read_model(struct runs *runs, bool *found, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_RUN);
	struct record record;
	int rc, more = 1;

	/* The many groups follow the description: stop before them. */
	query.page_bytes = MODEL_PAGE_BYTES;
	query.name = runs->model;
	if (source_select(
		runs->source, SOURCE_STATS, runs->partition, &query, err) != 0)
		return -1;
	while (
	    more > 0 && (rc = source_next(runs->source, &record, err)) != 0) {
		if (rc < 0)
			return -1;
		if (record.kind == RECORD_ENTITY)
			more = take(runs, &record, found);
	}
	if (more < 0)
		return err_set(err, "%s: cannot parse the model of the runs",
		    source_name(runs->source));
	return 0;
}

int
runs_open(struct runs *runs, struct source *source, struct text partition,
    const struct runs_options *options, struct err *err)
{
	struct wire_query clocks = source_query(1u << RECORD_EVENT);
	char name[128], in[300];
	bool found = false;

	*runs = (struct runs){
		.source = source,
		.partition = partition,
		.model = text_of(options->model),
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
		.newest = options->newest,
		.after = text_of(options->after),
		.wanted = options->wanted,
		.describe_all = runs_wants_some(&options->wanted),
	};
	string_table_init(&runs->texts);
	runs_descriptions_init(&runs->descriptions, source, partition);
	if (read_model(runs, &found, err) != 0)
		return -1;
	if (!found) {
		struct wire_query all = source_query(1u << RECORD_RUN);

		err_set(err, "no runs of model '%s' in partition %s of %s",
		    text_quote(name, sizeof(name), runs->model),
		    text_quote(in, sizeof(in), partition), source_name(source));
		known_suggest(source, SOURCE_STATS, partition, &all, name, err);
		return -1;
	}
	if (source_load_clocks(source, partition, &clocks, err) != 0)
		return -1;
	qsort(runs->steps, runs->step_count, sizeof(*runs->steps), by_position);
	find_spans(runs);
	name_events(runs);
	return 0;
}

void
runs_clear(struct runs *runs)
{
	string_table_clear(&runs->texts);
	runs_descriptions_clear(&runs->descriptions);
}

/* ---- the runs ---- */

/* Ask for the newest runs in pages of about that many.  Where no clock is
 * corrected, the window ends the answer, too. */
static void
ask_newest(struct runs *runs, struct wire_query *query)
{
	runs->passed = 0;
	runs->is_behind = runs->after.bytes == 0;
	if (runs->newest == 0 || !runs->is_behind)
		return;
	if (runs->newest < WIRE_PAGE_BYTES / RUN_BYTES)
		query->page_bytes = (uint32_t)runs->newest * RUN_BYTES;
	if (runs_are_corrected(runs))
		return;
	query->from_ns = runs->from_ns;
	query->to_ns = runs->to_ns;
}

int
runs_select(
    struct runs *runs, struct text id, struct text group, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_RUN);

	if (id.bytes == 0)
		id = text_of("*");
	if (runs->model.bytes + 1 + id.bytes >= sizeof(runs->pattern) ||
	    group.bytes > sizeof(runs->group) / 2)
		return err_set(err, "a pattern is longer than %d bytes",
		    2 * NAME_BYTES_MAX);
	snprintf(runs->pattern, sizeof(runs->pattern), "%.*s:%.*s",
	    (int)runs->model.bytes, runs->model.at, (int)id.bytes, id.at);
	query.name = text_of(runs->pattern);
	query.node = node_list_quote(runs->group, group, true);
	ask_newest(runs, &query);
	if (runs->describe_all &&
	    runs_descriptions_read(&runs->descriptions, text_of(""), err) != 0)
		return -1;
	return source_select(runs->source,
	    runs->newest > 0 ? SOURCE_NEWEST : SOURCE_RECORDS, runs->partition,
	    &query, err);
}

bool
runs_has_window(int64_t from_ns, int64_t to_ns)
{
	return from_ns != TIME_MIN_NS || to_ns != TIME_MAX_NS;
}

bool
runs_are_corrected(const struct runs *runs)
{
	const struct source_clock *clock = source_clock(runs->source);

	return source_clock_moves(clock, 0) ||
	       (clock->choice == CLOCK_CORRECTED && clock->map != NULL &&
		   !clock_map_is_empty(clock->map));
}

/* Sort the events, of which most are in order. */
static void
sort_events(struct run_events *events)
{
	for (uint32_t i = 1; i < events->count; i++) {
		struct run_event event = events->at[i];
		uint32_t k = i;

		for (; k > 0 && events->at[k - 1].time_ns > event.time_ns; k--)
			events->at[k] = events->at[k - 1];
		events->at[k] = event;
	}
}

/* Put the times of a run on one clock.  Where an event that is only counted was
 * the first, the time of the run moves with the first of the others. */
static void
correct(struct runs *runs, struct runs_run *run)
{
	struct run_events *events = &run->events;
	int64_t least_ns = INT64_MAX;

	if (events->count == 0 || !runs_are_corrected(runs))
		return;
	for (uint32_t i = 0; i < events->count; i++) {
		struct run_event *event = &events->at[i];
		int64_t by_ns = source_clock_shift(source_clock(runs->source),
		    events->node[event->node], event->time_ns);
		int64_t before_ns = i == 0 ? run->time_ns : event->time_ns;

		if (__builtin_add_overflow(before_ns, by_ns, &before_ns) ||
		    __builtin_add_overflow(
			event->time_ns, by_ns, &event->time_ns))
			continue;
		if (before_ns < least_ns)
			least_ns = before_ns;
	}
	if (least_ns != INT64_MAX)
		run->time_ns = least_ns;
	sort_events(events);
}

bool
runs_wants_some(const struct runs_wanted *wanted)
{
	for (int i = 0; i < RUNS_PROPERTIES; i++)
		if (wanted->of[i] != NULL && wanted->of[i][0] != '\0')
			return true;
	return false;
}

static bool
is_described(const struct runs *runs, struct text id)
{
	const struct runs_wanted *wanted = &runs->wanted;
	struct runs_description found;

	if (!runs_wants_some(wanted))
		return true;
	found = runs_descriptions_find(&runs->descriptions, id);
	for (int i = 0; i < RUNS_PROPERTIES; i++)
		if (wanted->of[i] != NULL && wanted->of[i][0] != '\0' &&
		    (found.of[i].at == NULL ||
			!text_match(text_of(wanted->of[i]), found.of[i])))
			return false;
	return true;
}

static bool
is_wanted(const struct runs *runs, const struct runs_run *run)
{
	int state = run->error ? RUNS_FAILED : 1 + (int)run->state;

	if (runs->wanted.state != 0 && runs->wanted.state != state)
		return false;
	if (!is_described(runs, run->id))
		return false;
	return !runs_has_window(runs->from_ns, runs->to_ns) ||
	       (run->has_time && run->time_ns >= runs->from_ns &&
		   run->time_ns < runs->to_ns);
}

/* Parse a run. */
static int
take_run(struct runs *runs, const struct record *record, struct runs_run *run,
    struct err *err)
{
	char id[128];

	run->id = record->name;
	run->group = record->key;
	run->known = (record->count & RUN_KNOWN) != 0;
	run->error = (record->count & RUN_ERROR) != 0;
	run->state = (enum run_state)(record->count >> RUN_STATE_SHIFT);
	run->has_time = record->has_time;
	run->time_ns = record->time_ns;
	if (run->state >= RUN_STATES ||
	    !run_events_get(record->value_bytes, record->time_ns, &run->events))
		return err_set(err, "%s: cannot parse the events of run '%s'",
		    source_name(runs->source),
		    text_quote(id, sizeof(id), record->name));
	for (uint32_t i = 0; i < run->events.count; i++)
		if (run->events.at[i].role >= runs->event_count)
			return err_set(err,
			    "%s: run '%s' has an event that its model does not "
			    "have",
			    source_name(runs->source),
			    text_quote(id, sizeof(id), record->name));
	correct(runs, run);
	return 0;
}

/* It was removed meanwhile, or is of another question. */
static int
refuse_after(const struct runs *runs, struct err *err)
{
	char id[300];

	return err_set(err,
	    "--after: no run '%s' is among these; begin again with the newest",
	    text_quote(id, sizeof(id), runs->after));
}

int
runs_next(struct runs *runs, struct runs_run *run, struct err *err)
{
	struct record record;
	int rc;

	if (runs->newest > 0 && runs->passed == runs->newest)
		return 0;
	while ((rc = source_next(runs->source, &record, err)) > 0) {
		if (record.kind != RECORD_RUN ||
		    !text_equal(record.source, runs->model))
			continue;
		if (take_run(runs, &record, run, err) != 0)
			return -1;
		if (!is_wanted(runs, run))
			continue;
		if (!runs->is_behind) {
			runs->is_behind = text_equal(run->id, runs->after);
			continue;
		}
		runs->passed++;
		return 1;
	}
	return rc == 0 && !runs->is_behind ? refuse_after(runs, err) : rc;
}

uint64_t
runs_count(const struct runs *runs, const struct runs_run *run, uint32_t role)
{
	const struct run_events *events = &run->events;
	uint64_t count = 0;

	for (uint32_t i = 0; i < events->count; i++)
		count += events->at[i].role == role;
	for (uint32_t i = 0; i < events->others; i++)
		if (text_equal(events->other[i].event, runs->full[role]))
			count += events->other[i].count;
	return count;
}

struct text
runs_other_name(const struct runs *runs, struct text event)
{
	for (uint32_t role = 0; role < runs->event_count; role++)
		if (text_equal(event, runs->full[role]))
			return (struct text){ NULL, 0 };
	return runs->one_source ? text_after(event, ':') : event;
}

bool
runs_total(const struct runs_run *run, const struct runs_step *step,
    enum run_clock clock, int64_t *ns)
{
	int64_t duration[RUN_EVENTS_MAX / 2];
	uint32_t count =
	    run_events_durations(&run->events, step->of, clock, duration);
	int64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, duration[i], &sum))
			sum = duration[i] < 0 ? INT64_MIN : INT64_MAX;
	*ns = sum;
	return count > 0;
}

bool
runs_is_doubtful(double received, double emitted)
{
	return fabs(received - emitted) > fabs(emitted) / 2;
}

void
runs_doubt_add(struct runs_doubt *doubt, const struct runs_run *run,
    const struct runs_step *step)
{
	int64_t emitted[RUN_EVENTS_MAX / 2], received[RUN_EVENTS_MAX / 2];
	uint32_t count =
	    run_events_durations(&run->events, step->of, RUN_EMIT, emitted);

	run_events_durations(&run->events, step->of, RUN_RECEIVE, received);
	doubt->durations += count;
	for (uint32_t i = 0; i < count; i++)
		doubt->doubtful +=
		    runs_is_doubtful((double)received[i], (double)emitted[i]);
}

void
runs_doubt_warn(const struct runs_doubt *doubt, const char *what)
{
	if (doubt->doubtful > 0)
		log_warn("--time receive: %" PRIu64 " of %" PRIu64
			 " %s are not credible: events were delayed for "
			 "longer than half of the step; use --time emit, and "
			 "see the delays with 'stats skew'",
		    doubt->doubtful, doubt->durations, what);
}

const struct opt runs_options[] = {
	[RUNS_MODEL] = { "model", 0, OPT_TEXT,
	    OPT_TO(struct runs_options, model), "NAME",
	    "runs: read those of this model (default: testrun); phases: draw "
	    "this model" },
	[RUNS_TIME] = { "time", 0, OPT_CHOICE,
	    OPT_TO(struct runs_options, time), "WHICH",
	    "runs: use the times at which events were emitted (default) or "
	    "received",
	    "emit|receive" },
	[RUNS_GROUP] = { "group", 0, OPT_TEXT,
	    OPT_TO(struct runs_options, group), "PATTERN",
	    "runs: show only those of groups that match this pattern" },
	[RUNS_RUN] = { "run", 0, OPT_LIST, OPT_TO(struct runs_options, ids),
	    "RUN", "runs: show only the one with this id; may be repeated" },
	[RUNS_NEWEST] = { "newest", 0, OPT_COUNT,
	    OPT_TO(struct runs_options, newest), "N",
	    "runs: print the newest N, the newest first; starts: the newest N "
	    "(default: 20)" },
	[RUNS_AFTER] = { "after", 0, OPT_TEXT,
	    OPT_TO(struct runs_options, after), "RUN",
	    "with --newest: print those that follow this run in that order" },
	{ .name = NULL },
};

bool
runs_option_is_given(enum runs_option option)
{
	return opt_origin(&runs_options[option]) == OPT_COMMAND_LINE;
}

/* ---- answers ---- */

static void
add(struct run_tallies *tallies, struct text name, uint64_t count)
{
	tallies->at[tallies->count++] = (struct run_tally){ name, count };
	tallies->events += count;
}

void
run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run)
{
	const struct run_events *events = &run->events;
	uint64_t unnamed = events->overflow;

	tallies->count = 0;
	tallies->events = 0;
	for (uint32_t i = 0; i < runs->event_count; i++)
		add(tallies, runs->events[i], runs_count(runs, run, i));
	tallies->roles = tallies->count;
	for (uint32_t i = 0; i < events->others; i++) {
		struct text name =
		    runs_other_name(runs, events->other[i].event);

		if (text_equal(name, text_of(RUNS_OTHERS)))
			unnamed += events->other[i].count;
		else if (name.bytes > 0)
			add(tallies, name, events->other[i].count);
	}
	if (unnamed > 0)
		add(tallies, text_of(RUNS_OTHERS), unnamed);
}

/* ---- columns and head ---- */

void
run_rows_add_steps(const struct runs *runs, struct answer *answer)
{
	for (uint32_t i = 0; i < runs->step_count; i++) {
		struct text name = runs->steps[i].name;
		char *key =
		    memory_format("step.%.*s", (int)name.bytes, name.at);

		answer_add_column(answer, text_of(key), key + strlen("step."),
		    ANSWER_SECONDS, "s");
		free(key);
	}
}

const struct answer_column run_rows_head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT),
	    "the model that says which events and steps a run has" },
	{ "time", ANSWER_HEAD(ANSWER_TEXT),
	    "which time of an event counts: emit or receive" },
	{ .key = NULL },
};

void
run_rows_put_head(const struct runs *runs, const struct runs_options *options,
    const char *what, struct answer *answer)
{
	bool emitted = options->time == RUN_EMIT;
	char shown[300];

	answer_head(answer, "model", answer_text(runs->model));
	answer_head(
	    answer, "time", answer_string(emitted ? "emit" : "receive"));
	answer_title(answer, "%s of %s, seconds between events as %s", what,
	    text_quote(shown, sizeof(shown), runs->partition),
	    emitted ? "emitted" : "received");
}

struct text
run_rows_group(const struct runs_run *run)
{
	return run->known ? run->group : (struct text){ NULL, 0 };
}

void
run_rows_note_doubt(
    const struct runs_doubt *doubt, const char *what, struct answer *answer)
{
	if (doubt->doubtful > 0)
		answer_note(answer, "doubtful", doubt->doubtful,
		    "--time receive: %" PRIu64 " of %" PRIu64
		    " %s are not credible: events were delayed for longer than "
		    "half of the step; use --time emit, and see the delays "
		    "with 'stats skew'",
		    doubt->doubtful, doubt->durations, what);
}

/* ---- which runs ---- */

int
run_rows_check(const struct runs_options *options, struct err *err)
{
	const struct opt_list *ids = &options->ids;

	for (uint32_t i = 0; i < ids->count; i++)
		if (ids->at[i][0] == '\0' ||
		    strlen(ids->at[i]) > NAME_BYTES_MAX)
			return err_set_option(err, "run",
			    "takes the id of a run, of 1 to %d bytes",
			    NAME_BYTES_MAX);
	if (ids->count > 0 && options->newest > 0)
		return err_set_option(
		    err, "newest", "is for all runs, not for those of --run");
	if (options->after != NULL &&
	    (options->newest == 0 || options->after[0] == '\0'))
		return err_set_option(err, "after",
		    "takes the id of a run, and goes with --newest");
	return 0;
}

struct selecting {
	struct runs *runs;
	const struct runs_options *options;
	int (*put)(void *arg, const struct runs_run *run);
	void *arg;
};

static const char *
in_window(const struct runs_options *options)
{
	return runs_has_window(options->from_ns, options->to_ns)
		   ? " that began in that time"
		   : "";
}

static const char *
in_group(const struct runs_options *options)
{
	const struct runs_wanted *wanted = &options->wanted;

	if (wanted->state != 0 || runs_wants_some(wanted))
		return " with these properties";
	return options->group != NULL ? " in a matching group" : "";
}

/* `id`: empty for all. */
static int
select_runs(const struct selecting *selecting, struct text id, struct err *err)
{
	const struct runs_options *options = selecting->options;
	uint64_t count = 0;
	struct runs_run run;
	char shown[300];
	int rc;

	if (runs_select(selecting->runs, id, text_of(options->group), err) != 0)
		return -1;
	while ((rc = runs_next(selecting->runs, &run, err)) > 0) {
		/* The id may be a pattern, too. */
		if (id.bytes > 0 && !text_equal(run.id, id))
			continue;
		count++;
		if (selecting->put(selecting->arg, &run) != 0)
			return 0;
	}
	if (rc < 0 || count > 0)
		return rc;
	if (id.bytes > 0)
		return err_set(err, "no run '%s' of model %s%s%s",
		    text_quote(shown, sizeof(shown), id), options->model,
		    in_group(options), in_window(options));
	/* Behind the last run there is none, which is an answer. */
	return options->after != NULL
		   ? 0
		   : err_set(err, "no runs%s%s", in_group(options),
			 in_window(options));
}

static bool
is_repeated(const struct opt_list *list, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (strcmp(list->at[i], list->at[at]) == 0)
			return true;
	return false;
}

int
run_rows_each(struct runs *runs, const struct runs_options *options,
    int (*put)(void *arg, const struct runs_run *run), void *arg,
    struct err *err)
{
	const struct selecting selecting = { runs, options, put, arg };
	const struct opt_list *ids = &options->ids;
	int rc = 0;

	if (ids->count == 0)
		return select_runs(&selecting, text_of(""), err);
	for (uint32_t i = 0; rc == 0 && i < ids->count; i++)
		if (!is_repeated(ids, i))
			rc = select_runs(&selecting, text_of(ids->at[i]), err);
	return rc;
}
