/*
 * runs_groups - the store's statistics of each group of runs.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/groups.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/runs/groups_compute.h"
#include "proto/base/memory.h"
#include "proto/record/node_list.h"

struct reading {
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
	struct text model = runs->model;
	uint32_t i = 0;

	if (phase.bytes <= model.bytes || phase.at[model.bytes] != ':')
		return runs->step_count;
	phase.at += model.bytes + 1;
	phase.bytes -= model.bytes + 1;
	while (i < runs->step_count && !text_equal(runs->steps[i].name, phase))
		i++;
	return i;
}

static void
take_stats(struct reading *reading, const struct record *record)
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
	group->requestors = memory_grow(group->requestors,
	    &group->requestor_room, group->requestor_count, sizeof(one));
	group->requestors[group->requestor_count++] = one;
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
	group->listed = memory_grow(group->listed, &group->listed_room,
	    group->listed_count, sizeof(one));
	group->listed[group->listed_count++] = one;
	return 0;
}

/* ---- one group after another ---- */

static int
by_runs(const void *left, const void *right)
{
	const struct runs_requestor *a = left, *b = right;

	if (a->runs != b->runs)
		return a->runs > b->runs ? -1 : 1;
	return text_compare(a->name, b->name);
}

void
runs_group_sort(struct runs_group *group)
{
	if (group->requestor_count > 1)
		qsort(group->requestors, group->requestor_count,
		    sizeof(*group->requestors), by_runs);
}

static int
finish(struct reading *reading, struct err *err)
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
begin(struct reading *reading, const struct record *record)
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
take(struct reading *reading, const struct record *record, struct err *err)
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
		take_stats(reading, record);
	else if (text_equal(kind, text_of("run-requestor")))
		return take_requestor(&reading->group, record, err);
	else if (text_equal(kind, text_of("run-listed")))
		return take_listed(&reading->group, record, err);
	return 0;
}

static int
read_all(struct reading *reading, struct text pattern, struct err *err)
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
	struct reading *reading;
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
