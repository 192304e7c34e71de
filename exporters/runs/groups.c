/*
 * runs_groups - the store's statistics of each group of runs.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

enum {
	/* One group, in memory. */
	RUNS_NAMES_BYTES_MAX = 256 << 20,
};

/*
 * Statistics of groups, computed from their runs.
 *
 * The store has those of all time, by the stored times.  Those of a window, and
 * those on corrected clocks, are computed here, with the same definitions and
 * exact quantiles (proto/base/quantile.h).
 */

enum {
	DURATIONS_MAX = 16 << 20, /* 16 bytes each */
	RUNS_MAX = 4 << 20,
	KINDS = RUN_CLOCKS * RUNS_OFS, /* statistics of a step */
};

struct duration {
	uint32_t group;
	uint16_t step, kind; /* clock * RUNS_OFS + of */
	int64_t ns;
};

/* A run, by the number of its id. */
struct one_run {
	uint32_t group, requestor; /* requestor: number + 1; 0: none */
	enum run_state state;
	bool listed;
};

/* A group, by the number of its name. */
struct one_group {
	bool known;
	int64_t runs, state[RUN_STATES], errors;
};

struct reading {
	struct runs *runs;
	struct string_table ids, names, requestors;
	struct one_run *run;
	struct one_group *group;
	uint32_t run_room, group_room;
	struct duration *durations;
	uint32_t count, room;
};

/* ---- reading ---- */

/* The group of runs without a description has a key of its own. */
static uint32_t
group_of(struct reading *reading, const struct runs_run *run)
{
	char key[NAME_BYTES_MAX + 1] = { run->known ? 'k' : 'u' };
	uint32_t before = reading->names.count, number, bytes = 1;

	if (run->known && run->group.bytes > 0) {
		memcpy(key + 1, run->group.at, run->group.bytes);
		bytes += run->group.bytes;
	}
	number = string_table_add(&reading->names, (struct text){ key, bytes });
	MEMORY_GROW(reading->group, reading->group_room, number);
	if (number == before)
		reading->group[number] =
		    (struct one_group){ run->known, 0, { 0 }, 0 };
	return number;
}

static int
add_duration(
    struct reading *reading, const struct duration *duration, struct err *err)
{
	if (reading->count == DURATIONS_MAX)
		return err_set(err,
		    "there are more than %d durations; select groups with "
		    "--group, or a shorter time with --from and --to",
		    DURATIONS_MAX);
	*MEMORY_ADD(reading->durations, reading->room, reading->count) =
	    *duration;
	return 0;
}

static int
take_step(struct reading *reading, const struct runs_run *run, uint32_t group,
    uint32_t step, enum run_clock clock, struct err *err)
{
	int64_t ns[RUN_EVENTS_MAX / 2];
	struct duration duration = { group, (uint16_t)step,
		(uint16_t)(clock * RUNS_OFS + RUNS_OF_ITERATION), 0 };
	uint32_t count = run_events_durations(
	    &run->events, reading->runs->steps[step].of, clock, ns);

	for (uint32_t i = 0; i < count; i++) {
		duration.ns = ns[i];
		if (add_duration(reading, &duration, err) != 0)
			return -1;
	}
	duration.kind = (uint16_t)(clock * RUNS_OFS + RUNS_OF_TOTAL);
	if (!runs_total(run, &reading->runs->steps[step], clock, &duration.ns))
		return 0;
	return add_duration(reading, &duration, err);
}

static int
take_run(struct reading *reading, const struct runs_run *run, struct err *err)
{
	uint32_t group = group_of(reading, run);
	struct one_group *of = &reading->group[group];
	uint32_t id = string_table_add(&reading->ids, run->id);

	if (id == RUNS_MAX)
		return err_set(err,
		    "there are more than %d runs; select groups with "
		    "--group, or a shorter time with --from and --to",
		    RUNS_MAX);
	MEMORY_GROW(reading->run, reading->run_room, id);
	reading->run[id] = (struct one_run){ group, 0, run->state,
		!run->known || (run->state != RUN_FINISHED && !run->error) };
	of->runs++;
	if (run->error)
		of->errors++;
	else
		of->state[run->state]++;
	for (uint32_t step = 0; step < reading->runs->step_count; step++)
		for (int clock = 0; clock < RUN_CLOCKS; clock++)
			if (take_step(reading, run, group, step,
				(enum run_clock)clock, err) != 0)
				return -1;
	return 0;
}

/* The entities that describe the runs name who asked for them. */
static int
read_requestors(struct reading *reading, struct err *err)
{
	const struct runs *runs = reading->runs;
	struct text kind = runs->descriptions.kind;
	struct text requestor = runs->descriptions.key[RUNS_REQUESTOR];
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char pattern[NAME_BYTES_MAX + 3], key[NAME_BYTES_MAX + 1];
	struct record record;
	struct text name;
	uint32_t id;
	int rc;

	if (kind.bytes == 0 || requestor.bytes == 0)
		return 0;
	snprintf(pattern, sizeof(pattern), "%.*s:*", (int)kind.bytes, kind.at);
	snprintf(key, sizeof(key), "%.*s", (int)requestor.bytes, requestor.at);
	query.name = text_of(pattern);
	if (source_select(runs->source, SOURCE_RECORDS, runs->partition, &query,
		err) != 0)
		return -1;
	while ((rc = source_next(runs->source, &record, err)) > 0)
		if (string_table_find(&reading->ids, record.name, &id) &&
		    record_find_text(&record, key, &name) && name.bytes > 0)
			reading->run[id].requestor =
			    1 + string_table_add(&reading->requestors, name);
	return rc;
}

static int
read_runs(struct reading *reading, struct text pattern, struct err *err)
{
	struct runs_run run;
	int rc = runs_select(reading->runs, text_of(""), pattern, err);

	while (rc == 0 && (rc = runs_next(reading->runs, &run, err)) > 0)
		rc = take_run(reading, &run, err);
	return rc == 0 ? read_requestors(reading, err) : -1;
}

/* ---- statistics ---- */

static int
by_place(const void *left, const void *right)
{
	const struct duration *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static double
quantile(const struct duration *sorted, uint32_t count, unsigned percent)
{
	return (double)sorted[quantile_index(count, percent)].ns /
	       NS_PER_SECOND;
}

static struct runs_stats
stats_of(const struct duration *sorted, uint32_t count)
{
	long double mean, squares = 0;
	__int128 sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += sorted[i].ns;
	mean = (long double)sum / count;
	for (uint32_t i = 0; i < count; i++) {
		long double off = (long double)sorted[i].ns - mean;

		squares += off * off;
	}
	return (struct runs_stats){
		.count = count,
		.sum = (double)sum / NS_PER_SECOND,
		.min = (double)sorted[0].ns / NS_PER_SECOND,
		.max = (double)sorted[count - 1].ns / NS_PER_SECOND,
		.mean = (double)(mean / NS_PER_SECOND),
		.std_population =
		    (double)(sqrtl(squares / count) / NS_PER_SECOND),
		.std_sample =
		    count > 1
			? (double)(sqrtl(squares / (count - 1)) / NS_PER_SECOND)
			: NAN,
		.p50 = quantile(sorted, count, 50),
		.p90 = quantile(sorted, count, 90),
		.p99 = quantile(sorted, count, 99),
	};
}

/* Take the statistics of a group from `*at` on. */
static void
take_stats(const struct reading *reading, uint32_t group, uint32_t *at,
    struct runs_group *to)
{
	while (*at < reading->count && reading->durations[*at].group == group) {
		const struct duration *first = &reading->durations[*at];
		uint32_t count = 0;

		while (*at + count < reading->count &&
		       first[count].group == group &&
		       first[count].step == first->step &&
		       first[count].kind == first->kind)
			count++;
		to->stats[first->step][first->kind / RUNS_OFS]
			 [first->kind % RUNS_OFS] = stats_of(first, count);
		*at += count;
	}
}

/* ---- groups ---- */

static int
by_runs(const void *left, const void *right)
{
	const struct runs_requestor *a = left, *b = right;

	if (a->runs != b->runs)
		return a->runs > b->runs ? -1 : 1;
	return text_compare(a->name, b->name);
}

/* Sort its requestors. */
static void
runs_group_sort(struct runs_group *group)
{
	if (group->requestor_count > 1)
		qsort(group->requestors, group->requestor_count,
		    sizeof(*group->requestors), by_runs);
}

static void
take_names(struct reading *reading, uint32_t group, struct runs_group *to)
{
	uint32_t names = reading->requestors.count;
	int64_t *runs = memory_zero(names + 1, sizeof(*runs));

	to->listed_count = to->requestor_count = 0;
	for (uint32_t i = 0; i < reading->ids.count; i++) {
		const struct one_run *run = &reading->run[i];

		if (run->group != group)
			continue;
		if (run->requestor > 0)
			runs[run->requestor - 1]++;
		if (!run->listed)
			continue;
		*MEMORY_ADD(to->listed, to->listed_room, to->listed_count) =
		    (struct runs_listed){ reading->ids.names[i], run->state };
	}
	for (uint32_t i = 0; i < names; i++) {
		if (runs[i] == 0)
			continue;
		*MEMORY_ADD(
		    to->requestors, to->requestor_room, to->requestor_count) =
		    (struct runs_requestor){ reading->requestors.names[i],
			    runs[i] };
	}
	free(runs);
	runs_group_sort(to);
}

static int
put_groups(struct reading *reading,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, struct err *err)
{
	struct runs_group *group = memory_zero(1, sizeof(*group));
	uint32_t at = 0;
	int rc = 0;

	if (reading->count > 1)
		qsort(reading->durations, reading->count,
		    sizeof(*reading->durations), by_place);
	for (uint32_t i = 0; rc == 0 && i < reading->names.count; i++) {
		const struct one_group *of = &reading->group[i];
		struct text key = reading->names.names[i];

		group->name = (struct text){ key.at + 1, key.bytes - 1 };
		group->known = of->known;
		group->runs = of->runs;
		memcpy(group->state, of->state, sizeof(group->state));
		group->errors = of->errors;
		memset(group->stats, 0, sizeof(group->stats));
		take_stats(reading, i, &at, group);
		take_names(reading, i, group);
		rc = put(arg, group, err);
	}
	free(group->requestors);
	free(group->listed);
	free(group);
	return rc;
}

/* As runs_groups_each, of the window and on the clocks of `runs`. */
static int
runs_groups_compute(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err)
{
	struct reading reading = { .runs = runs };
	int rc;

	string_table_init(&reading.ids);
	string_table_init(&reading.names);
	string_table_init(&reading.requestors);
	rc = read_runs(&reading, pattern, err);
	if (rc == 0)
		rc = put_groups(&reading, put, arg, err);
	*count = reading.names.count;
	string_table_clear(&reading.ids);
	string_table_clear(&reading.names);
	string_table_clear(&reading.requestors);
	free(reading.run);
	free(reading.group);
	free(reading.durations);
	return rc;
}

struct groups_reading {
	struct runs *runs;
	struct runs_group group;
	bool begun; /* `group` is valid */
	uint32_t count;
	int (*put)(void *arg, const struct runs_group *group, struct err *err);
	void *arg;
};

double
runs_errors_of_ended(const struct runs_group *group)
{
	int64_t ended = group->state[RUN_FINISHED] + group->errors;

	return ended > 0 ? 100.0 * (double)group->errors / (double)ended : 0;
}

double
runs_errors_of_all(const struct runs_group *group)
{
	return group->runs > 0
		   ? 100.0 * (double)group->errors / (double)group->runs
		   : 0;
}

/* ---- one record ---- */

/* NAN: there is none. */
static double
get_float(const struct record *record, const char *key)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value))
		return NAN;
	return value.type == VALUE_FLOAT ? value.is.f
	       : value.type == VALUE_INT ? (double)value.is.i
					 : NAN;
}

static bool
is_known(const struct record *record)
{
	struct value value;

	return !record_find_attribute(record, text_of("known"), &value) ||
	       value.type != VALUE_BOOL || value.is.boolean;
}

static void
take_counts(struct runs_group *group, const struct record *record)
{
	group->runs = runs_get_int(record, "runs");
	group->state[RUN_QUEUED] = runs_get_int(record, "queued");
	group->state[RUN_ONGOING] = runs_get_int(record, "ongoing");
	group->state[RUN_FINISHED] = runs_get_int(record, "finished");
	group->errors = runs_get_int(record, "errors");
}

/* The step of a phase; the last step of the model if the phase was removed in
 * the meantime. */
static uint32_t
find_step(const struct runs *runs, struct text phase)
{
	uint32_t i = 0;

	if (!text_equal(text_before(phase, ':'), runs->model))
		return runs->step_count;
	phase = text_after(phase, ':');
	while (i < runs->step_count && !text_equal(runs->steps[i].name, phase))
		i++;
	return i;
}

static void
groups_take_stats(struct groups_reading *reading, const struct record *record)
{
	uint32_t step = find_step(reading->runs, record->name);
	struct text clock, of;
	struct runs_stats *to;

	if (step == reading->runs->step_count ||
	    !record_find_text(record, "clock", &clock) ||
	    !record_find_text(record, "of", &of))
		return;
	to = &reading->group
		  .stats[step][text_equal(clock, text_of("emit")) ? RUN_EMIT
								  : RUN_RECEIVE]
			[text_equal(of, text_of("total")) ? RUNS_OF_TOTAL
							  : RUNS_OF_ITERATION];
	*to = (struct runs_stats){
		.count = runs_get_int(record, "count"),
		.sum = get_float(record, "sum"),
		.min = get_float(record, "min"),
		.max = get_float(record, "max"),
		.mean = get_float(record, "mean"),
		.std_population = get_float(record, "std_population"),
		.std_sample = get_float(record, "std_sample"),
		.p50 = get_float(record, "p50"),
		.p90 = get_float(record, "p90"),
		.p99 = get_float(record, "p99"),
	};
}

/* Names stay valid until the group is complete. */
static int
store_name(struct runs_group *group, struct text *name, size_t more_bytes,
    struct err *err)
{
	group->text_bytes += name->bytes + more_bytes;
	if (group->text_bytes > RUNS_NAMES_BYTES_MAX)
		return err_set(err,
		    "the requestors and unfinished runs of a group are more "
		    "than %d MiB",
		    RUNS_NAMES_BYTES_MAX >> 20);
	*name = string_table_keep(&group->texts, *name);
	return 0;
}

static int
take_requestor(
    struct runs_group *group, const struct record *record, struct err *err)
{
	struct runs_requestor one = { record->name,
		runs_get_int(record, "runs") };

	if (store_name(group, &one.name, sizeof(one), err) != 0)
		return -1;
	*MEMORY_ADD(group->requestors, group->requestor_room,
	    group->requestor_count) = one;
	return 0;
}

static int
take_listed(
    struct runs_group *group, const struct record *record, struct err *err)
{
	struct runs_listed one = { record->name, RUN_FINISHED };
	struct text state;

	if (!record_find_text(record, "state", &state))
		return 0;
	if (text_equal(state, text_of("queued")))
		one.state = RUN_QUEUED;
	else if (text_equal(state, text_of("ongoing")))
		one.state = RUN_ONGOING;
	if (store_name(group, &one.id, sizeof(one), err) != 0)
		return -1;
	*MEMORY_ADD(group->listed, group->listed_room, group->listed_count) =
	    one;
	return 0;
}

/* ---- one group after another ---- */

static int
finish(struct groups_reading *reading, struct err *err)
{
	struct runs_group *group = &reading->group;

	if (!reading->begun)
		return 0;
	reading->begun = false;
	reading->count++;
	runs_group_sort(group);
	return reading->put(reading->arg, group, err);
}

/* Reset the group for the next one; its memory is reused. */
static void
begin(struct groups_reading *reading, const struct record *record)
{
	struct runs_group *group = &reading->group;
	struct text name = { "", 0 };

	string_table_clear(&group->texts);
	string_table_init(&group->texts);
	group->text_bytes = 0;
	group->requestor_count = group->listed_count = 0;
	memset(group->stats, 0, sizeof(group->stats));
	record_find_text(record, "group", &name);
	group->name = string_table_keep(&group->texts, name);
	group->known = is_known(record);
	take_counts(group, record);
	reading->begun = true;
}

static int
take(struct groups_reading *reading, const struct record *record,
    struct err *err)
{
	struct text kind = record->source, model = record->name;

	if (text_equal(kind, text_of("run-group"))) {
		if (finish(reading, err) != 0)
			return -1;
		if (text_equal(model, reading->runs->model))
			begin(reading, record);
		return 0;
	}
	if (!reading->begun || !record_find_text(record, "model", &model) ||
	    !text_equal(model, reading->runs->model))
		return 0;
	if (text_equal(kind, text_of("run-stats")))
		groups_take_stats(reading, record);
	else if (text_equal(kind, text_of("run-requestor")))
		return take_requestor(&reading->group, record, err);
	else if (text_equal(kind, text_of("run-listed")))
		return take_listed(&reading->group, record, err);
	return 0;
}

static int
read_all(struct groups_reading *reading, struct text pattern, struct err *err)
{
	struct runs *runs = reading->runs;
	struct wire_query query = source_query(1u << RECORD_RUN);
	char list[2 * (2 * NAME_BYTES_MAX + 1)];
	struct record record;
	int rc;

	if (pattern.bytes > sizeof(list) / 2)
		return err_set(err, "a pattern is longer than %d bytes",
		    2 * NAME_BYTES_MAX);
	query.name = runs->model;
	query.node = node_list_quote(list, pattern, true);
	if (source_select(
		runs->source, SOURCE_STATS, runs->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(runs->source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY &&
		    take(reading, &record, err) != 0)
			return -1;
	return rc == 0 ? finish(reading, err) : -1;
}

int
runs_groups_each(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err)
{
	struct groups_reading *reading;
	int rc;

	if (runs_has_window(runs->from_ns, runs->to_ns) ||
	    runs_are_corrected(runs))
		return runs_groups_compute(runs, pattern, put, arg, count, err);
	reading = memory_zero(1, sizeof(*reading));
	reading->runs = runs;
	reading->put = put;
	reading->arg = arg;
	string_table_init(&reading->group.texts);
	rc = read_all(reading, pattern, err);
	*count = reading->count;
	string_table_clear(&reading->group.texts);
	free(reading->group.requestors);
	free(reading->group.listed);
	free(reading);
	return rc;
}
