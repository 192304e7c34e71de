/*
 * now - what is now of a partition that is watched.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/now.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/phase_rows.h"
#include "exporters/runs/groups.h"
#include "exporters/runs/runs.h"
#include "exporters/source/source.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"
#include "proto/record/run.h"

static void
take(struct newest_runs *newest, const struct runs *runs,
    const struct runs_run *run)
{
	struct newest_run *to = &newest->at[newest->count++];
	int64_t ns;

	*to = (struct newest_run){
		.id = string_table_keep(&newest->texts, run->id),
		.group = string_table_keep(&newest->texts, run->group),
		.state = run->state,
		.is_error = run->error,
		.begin_ns = run->has_time ? run->time_ns : INT64_MIN,
	};
	for (uint32_t i = 0; i < newest->step_count; i++)
		to->steps[i] = runs_total(run, &runs->steps[i], RUN_EMIT, &ns)
				   ? (double)ns / (double)NS_PER_SECOND
				   : NAN;
}

static int
read_newest(struct newest_runs *newest, struct runs *runs, uint32_t most,
    struct err *err)
{
	struct text all = { NULL, 0 };
	struct runs_run *run;
	int rc;

	while (newest->step_count < runs->step_count &&
	       newest->step_count < NEWEST_STEPS_MAX) {
		newest->steps[newest->step_count] = string_table_keep(
		    &newest->texts, runs->steps[newest->step_count].name);
		newest->step_count++;
	}
	if (runs_select(runs, all, all, err) != 0)
		return -1;
	newest->at = memory_zero(most, sizeof(*newest->at));
	run = memory_alloc(sizeof(*run)); /* some 50 KB */
	while ((rc = runs_next(runs, run, err)) > 0)
		if (newest->count < most)
			take(newest, runs, run);
	free(run);
	return rc;
}

static void
newest_runs_init(struct newest_runs *newest)
{
	*newest = (struct newest_runs){ .count = 0 };
	string_table_init(&newest->texts);
}

int
newest_runs_read(struct newest_runs *newest, struct source *source,
    struct text partition, const char *model, uint32_t most, struct err *err)
{
	const struct runs_options options = { .model = model,
		.time = RUN_EMIT,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.newest = most };
	struct runs *runs = memory_zero(1, sizeof(*runs));
	bool had_failed = source_has_failed(source);
	int rc = runs_open(runs, source, partition, &options, err);

	newest_runs_init(newest);
	if (rc == 0)
		rc = read_newest(newest, runs, most, err);
	else if (had_failed || !source_has_failed(source))
		rc = 0; /* it has none */
	runs_clear(runs);
	free(runs);
	return rc;
}

void
newest_runs_clear(struct newest_runs *newest)
{
	free(newest->at);
	string_table_clear(&newest->texts);
	*newest = (struct newest_runs){ .count = 0 };
}

const char *const run_groups_states[RUN_GROUPS_STATES] = {
	[RUN_QUEUED] = "queued",
	[RUN_ONGOING] = "ongoing",
	[RUN_FINISHED] = "finished",
	[RUN_STATES] = "error",
};

static void
run_groups_init(struct run_groups *groups)
{
	*groups = (struct run_groups){ .count = 0 };
	string_table_init(&groups->keys);
}

static void
run_groups_clear(struct run_groups *groups)
{
	free(groups->at);
	string_table_clear(&groups->keys);
	*groups = (struct run_groups){ .count = 0 };
}

/* The groups of one model. */
struct reading {
	struct run_groups *groups;
	struct text model;
};

static struct run_group *
group_of(struct run_groups *groups, struct text model, struct text group)
{
	char key[2 * NAME_BYTES_MAX + 2];
	uint32_t before = groups->keys.count, number;
	int bytes = snprintf(key, sizeof(key), "%.*s%c%.*s", (int)model.bytes,
	    model.at, '\0', (int)group.bytes, group.at);
	struct text name = { key, (uint32_t)bytes < sizeof(key)
				      ? (uint32_t)bytes
				      : (uint32_t)sizeof(key) - 1 };

	number = string_table_add(&groups->keys, name);
	MEMORY_GROW(groups->at, groups->room, number);
	if (number == before) {
		name = groups->keys.names[number];
		groups->at[number] = (struct run_group){
			.model = { name.at, model.bytes },
			.group = { name.at + model.bytes + 1,
			    name.bytes - model.bytes - 1 },
		};
		groups->count++;
	}
	return &groups->at[number];
}

static int
add(void *arg, const struct runs_group *from, struct err *err)
{
	struct reading *reading = arg;
	struct run_groups *groups = reading->groups;
	struct text name = from->known ? from->name : text_of("(unknown)");
	struct run_group *group;

	(void)err;
	if (groups->count >= RUN_GROUPS_MAX)
		name = text_of(RUNS_OTHERS);
	group = group_of(groups, reading->model, name);
	for (int i = 0; i < RUN_STATES; i++)
		group->runs[i] += (uint64_t)from->state[i];
	group->runs[RUN_STATES] += (uint64_t)from->errors;
	return 0;
}

/* The phases of a model may be of runs although its runs are none of ours. */
static int
read_model(struct run_groups *groups, struct source *source,
    struct text partition, const char *model, struct err *err)
{
	struct runs_options options = RUNS_DEFAULT;
	struct reading reading = { groups, text_of(model) };
	struct runs runs;
	bool had_failed = source_has_failed(source);
	uint32_t count;
	int rc;

	options.model = model;
	rc = runs_open(&runs, source, partition, &options, err);
	if (rc == 0)
		rc = runs_groups_each(&runs, (struct text){ NULL, 0 }, add,
		    &reading, &count, err);
	else if (had_failed || !source_has_failed(source))
		rc = 0; /* it has no section run */
	runs_clear(&runs);
	return rc;
}

/* Is the phase of a run, and has one begun? */
static bool
is_of_run(const struct phase_row *row)
{
	struct text pairs = row->attributes;
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a))
		if (text_equal(a.key, text_of("run")))
			return row->numbers[PHASE_COUNT] > 0 ||
			       row->numbers[PHASE_OPEN_STARTS] > 0 ||
			       row->numbers[PHASE_OPEN_ENDS] > 0;
	return false;
}

/* Read those of the models that have a phase among these rows. */
static int
run_groups_read(struct run_groups *groups, struct source *source,
    struct text partition, const struct phase_row *rows, uint32_t count,
    struct err *err)
{
	struct string_table models;
	int rc = 0;

	string_table_init(&models);
	for (uint32_t i = 0; i < count; i++) {
		struct text name = rows[i].phase;
		uint32_t colon = 0;

		while (colon < name.bytes && name.at[colon] != ':')
			colon++;
		if (is_of_run(&rows[i]))
			(void)string_table_add(
			    &models, (struct text){ name.at, colon });
	}
	for (uint32_t i = 0; rc == 0 && i < models.count; i++) {
		char model[NAME_BYTES_MAX + 1];

		snprintf(model, sizeof(model), "%.*s",
		    (int)models.names[i].bytes, models.names[i].at);
		rc = read_model(groups, source, partition, model, err);
	}
	string_table_clear(&models);
	return rc;
}

#define USAGE_LIFE_NS (60 * NS_PER_SECOND)

struct phases {
	struct phase_row *at;
	uint32_t count, room;
	bool too_many;
	struct string_table texts;
};

struct now {
	struct source *source;
	char name[NAME_BYTES_MAX];
	uint32_t name_bytes;
	unsigned parts;

	struct partition_row partition;
	struct node_states nodes;
	struct phases phases;
	struct run_groups runs;
	struct node_usages usages;
	int64_t used_ns; /* when these were read (monotonic) */
	struct open_phases open;
	struct start start;        /* of no nodes: there is none */
	int64_t gap_ns;            /* that parted it from others */
	bool has_earlier;          /* it is not the only one */
	struct string_table ready; /* nodes that began, in any start */
	int64_t *ready_ns;         /* by number; START_UNKNOWN: it is not */
	uint32_t ready_room;
	uint64_t start_events, start_generation; /* that it was read after */
	/* What the parts were read after; `is_read`: successfully. */
	uint64_t entry, generation;
	bool is_read;
	bool is_old;     /* the nodes, although nothing came */
	int64_t next_ns; /* not to be read before (monotonic) */
	/* Up to when it is known what came (wall clock); up to when the
	 * answers of the last poll are complete. */
	int64_t known_ns, complete_ns;
	unsigned rest;
	unsigned read;             /* parts that the last poll has read */
	struct hash_key key;       /* of these sums, which show what changed: */
	uint64_t sums[NOW_SUMMED]; /* by part */
};

int64_t
now_known_ns(const struct now *now)
{
	return now->known_ns;
}

struct text
now_name(const struct now *now)
{
	return (struct text){ now->name, now->name_bytes };
}

/* ---- what changed ---- */

static uint64_t
sum_bytes(const struct now *now, uint64_t sum, const void *at, size_t bytes)
{
	struct hash_key key = { now->key.k0 ^ sum, now->key.k1 };

	return hash_bytes(key, at, bytes);
}

static uint64_t
sum_text(const struct now *now, uint64_t sum, struct text text)
{
	return sum_bytes(now, sum ^ text.bytes, text.at, text.bytes);
}

static uint64_t
sum_partition(const struct now *now)
{
	const struct partition_row *row = &now->partition;
	const uint64_t values[] = { row->nodes, row->records, row->last_entry,
		row->generation, (uint64_t)row->first_ns,
		(uint64_t)row->last_ns, row->name.bytes };

	return sum_bytes(now, 0, values, sizeof(values));
}

/* They come in no order. */
static uint64_t
sum_nodes(const struct now *now)
{
	uint64_t all = now->nodes.count;

	for (uint32_t i = 0; i < now->nodes.count; i++) {
		const struct node_state *node = &now->nodes.at[i];
		const int64_t times[] = { node->made_ns, node->received_ns,
			node->last_ns, (int64_t)node->condition,
			(int64_t)node->attention };
		const double numbers[] = { node->spool, node->clock_ns };
		uint64_t sum = sum_text(now, 0, node->name);

		sum = sum_bytes(now, sum, times, sizeof(times));
		all += sum_bytes(now, sum, numbers, sizeof(numbers));
	}
	return all;
}

static uint64_t
sum_phases(const struct now *now)
{
	uint64_t sum = now->phases.count;

	for (uint32_t i = 0; i < now->phases.count; i++) {
		const struct phase_row *row = &now->phases.at[i];

		sum = sum_text(now, sum, row->phase);
		sum = sum_bytes(now, sum, row->numbers, sizeof(row->numbers));
		sum =
		    sum_bytes(now, sum, row->histogram, sizeof(row->histogram));
	}
	return sum;
}

static uint64_t
sum_runs(const struct now *now)
{
	uint64_t sum = now->runs.count;

	for (uint32_t i = 0; i < now->runs.count; i++) {
		const struct run_group *group = &now->runs.at[i];

		sum = sum_text(now, sum, group->model);
		sum = sum_text(now, sum, group->group);
		sum = sum_bytes(now, sum, group->runs, sizeof(group->runs));
	}
	return sum;
}

static uint64_t
sum_usages(const struct now *now)
{
	uint64_t sum = now->usages.nodes.count;

	for (uint32_t i = 0; i < now->usages.nodes.count; i++) {
		sum = sum_text(now, sum, now->usages.nodes.names[i]);
		sum = sum_bytes(
		    now, sum, &now->usages.at[i], sizeof(*now->usages.at));
	}
	return sum;
}

static unsigned
find_changes(struct now *now)
{
	const uint64_t sums[NOW_SUMMED] = { sum_partition(now), sum_nodes(now),
		sum_phases(now), sum_runs(now), sum_usages(now) };
	unsigned changed = 0;

	for (unsigned i = 0; i < NOW_SUMMED; i++)
		if (sums[i] != now->sums[i])
			changed |= 1u << i;
	memcpy(now->sums, sums, sizeof(sums));
	changed |= now->read & NOW_OPEN;
	return changed & (now->parts | NOW_PARTITION);
}

/* ---- phases ---- */

static void
phases_clear(struct phases *phases)
{
	free(phases->at);
	string_table_clear(&phases->texts);
	*phases = (struct phases){ .count = 0 };
}

static void
keep_phase(void *arg, const struct phase_row *row)
{
	struct phases *phases = arg;
	struct phase_row *kept;

	phases->too_many = phases->count == NOW_PHASES_MAX;
	if (phases->too_many)
		return;
	kept = MEMORY_ADD(phases->at, phases->room, phases->count);
	*kept = *row;
	kept->phase = string_table_keep(&phases->texts, row->phase);
	kept->part = string_table_keep(&phases->texts, row->part);
	kept->attributes = string_table_keep(&phases->texts, row->attributes);
}

static int
read_phases(struct now *now, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct phases phases = { .count = 0 };
	struct phase_rows *rows;
	int rc;

	if ((now->parts & NOW_PHASES_NEWEST) != 0 && now->has_earlier)
		query.from_ns = now->start.begin_ns;
	rc = phase_rows_open(
	    &rows, now->source, now_name(now), &query, PHASES_OF_POOL, err);
	if (rc != 0)
		return -1;
	string_table_init(&phases.texts);
	rc = phase_rows_each(rows, keep_phase, &phases, err);
	phase_rows_close(&rows);
	if (rc == 0 && phases.too_many)
		rc = err_set(err, "more than %d phases", NOW_PHASES_MAX);
	if (rc != 0) {
		phases_clear(&phases);
		return -1;
	}
	phases_clear(&now->phases);
	now->phases = phases;
	return 0;
}

static int
read_runs(struct now *now, struct err *err)
{
	struct run_groups groups;

	run_groups_init(&groups);
	if (run_groups_read(&groups, now->source, now_name(now), now->phases.at,
		now->phases.count, err) != 0) {
		run_groups_clear(&groups);
		return -1;
	}
	run_groups_clear(&now->runs);
	now->runs = groups;
	return 0;
}

static int
read_usages(struct now *now, int64_t now_ns, struct err *err)
{
	enum node_usage_rate rate =
	    (now->parts & NOW_USAGE_LAST) != 0 ? USAGE_LAST : USAGE_MEAN;
	struct node_usages usages;

	if (node_usage_read(
		&usages, now->source, now_name(now), rate, now_ns, err) != 0) {
		node_usage_clear(&usages);
		return -1;
	}
	node_usage_clear(&now->usages);
	now->usages = usages;
	now->used_ns = clock_monotonic_ns();
	return 0;
}

/* ---- reading ---- */

static int
read_partition(struct now *now, struct err *err)
{
	struct partition_row row;

	if (partition_rows_read_one(&row, now->source, now_name(now), err) != 0)
		return -1;
	now->partition = row;
	return 0;
}

static bool
has_come(const struct now *now)
{
	return !now->is_read || now->is_old ||
	       now->entry != now->partition.last_entry ||
	       now->generation != now->partition.generation;
}

static int
read_nodes(struct now *now, int64_t now_ns, struct err *err)
{
	struct node_states states;

	if (node_states_read(&states, now->source, now_name(now),
		(struct text){ NULL, 0 }, TIME_MIN_NS, now_ns, err) != 0) {
		node_states_clear(&states);
		return -1;
	}
	node_states_clear(&now->nodes);
	now->nodes = states;
	/* It is judged as of known_ns from now on. */
	if (states.complete_ns < now->complete_ns)
		now->complete_ns = states.complete_ns;
	now->nodes.complete_ns = INT64_MAX;
	return 0;
}

static int
read_open(struct now *now, struct err *err)
{
	struct open_phases open;
	int rc = open_phases_read(&open, now->source, now_name(now), err);

	if (rc != 0) {
		open_phases_clear(&open);
		return -1;
	}
	open_phases_clear(&now->open);
	now->open = open;
	return 0;
}

/* A node that has not begun again is as ready as before. */
static void
take_ready(struct now *now, const struct starts *starts)
{
	for (uint32_t i = 0; i < starts->nodes.count; i++) {
		uint32_t number;

		if (starts->ready_ns[i] == START_NONE)
			continue;
		number = string_table_add(&now->ready, starts->nodes.names[i]);
		MEMORY_GROW(now->ready_ns, now->ready_room, number);
		now->ready_ns[number] = starts->ready_ns[i];
	}
}

static void
clear_ready(struct now *now)
{
	string_table_clear(&now->ready);
	string_table_init(&now->ready);
}

/* What begins from the last start on; all of it when that is not there any
 * more, or was not known. */
static int
read_starts(struct now *now, int64_t from_ns, struct err *err)
{
	const struct starts_query query = { .from_ns = from_ns,
		.to_ns = TIME_MAX_NS,
		.gap_ns = STARTS_GAP_MODEL };
	struct starts starts;
	int rc = starts_read(&starts, now->source, now_name(now), &query, err);

	now->start = rc == 0 ? starts.at[starts.count - 1]
			     : (struct start){ .nodes = 0 };
	now->gap_ns = starts.pool.gap_ns;
	if (from_ns == TIME_MIN_NS && !source_has_failed(now->source))
		clear_ready(now);
	if (rc == 0)
		take_ready(now, &starts);
	now->has_earlier =
	    starts.count > 1 || (now->has_earlier && from_ns != TIME_MIN_NS);
	starts_clear(&starts);
	/* That no node began is an answer. */
	return rc != 0 && source_has_failed(now->source) ? -1 : 0;
}

static int
read_start(struct now *now, struct err *err)
{
	uint64_t events = now->partition.records_of[RECORD_EVENT];
	int64_t from_ns = now->start.begin_ns - now->gap_ns;
	bool known = now->start.nodes > 0 &&
		     now->start_generation == now->partition.generation;

	if (now->is_read && now->start_events == events &&
	    now->start_generation == now->partition.generation)
		return 0;
	if (known && read_starts(now, from_ns, err) != 0)
		return -1;
	if (now->start.nodes == 0 || !known)
		if (read_starts(now, TIME_MIN_NS, err) != 0)
			return -1;
	now->start_events = events;
	now->start_generation = now->partition.generation;
	return 0;
}

static int
read_parts(struct now *now, int64_t now_ns, struct err *err)
{
	int64_t begin_ns = clock_monotonic_ns(), end_ns, rest_ns;
	int rc = 0;

	if ((now->parts & NOW_NODES) != 0)
		rc = read_nodes(now, now_ns, err);
	if (rc == 0 && (now->parts & NOW_START) != 0)
		rc = read_start(now, err);
	if (rc == 0 && (now->parts & NOW_PHASES) != 0)
		rc = read_phases(now, err);
	if (rc == 0 && (now->parts & NOW_RUNS) != 0)
		rc = read_runs(now, err);
	if (rc == 0 && (now->parts & NOW_USAGE) != 0)
		rc = read_usages(now, now_ns, err);
	if (rc == 0 && (now->parts & NOW_OPEN) != 0)
		rc = read_open(now, err);
	end_ns = clock_monotonic_ns();
	rest_ns = rc == 0 ? now->rest * (end_ns - begin_ns) : NS_PER_SECOND;
	now->next_ns =
	    end_ns + (rest_ns < NOW_REST_MAX_NS ? rest_ns : NOW_REST_MAX_NS);
	now->read = rc == 0 ? now->parts : 0;
	now->is_read = rc == 0;
	now->is_old = false;
	now->entry = now->partition.last_entry;
	now->generation = now->partition.generation;
	return rc;
}

int
now_poll(struct now *now, int64_t now_ns, unsigned *changed, struct err *err)
{
	int rc = read_partition(now, err);

	now->complete_ns = source_complete_ns(now->source);
	now->is_old = node_states_are_old(&now->nodes, now_ns);
	*changed = now->read = 0;
	if (rc == 0 && has_come(now) && clock_monotonic_ns() >= now->next_ns)
		rc = read_parts(now, now_ns, err);
	else if (rc == 0 && (now->parts & NOW_USAGE) != 0 &&
		 clock_monotonic_ns() - now->used_ns > USAGE_LIFE_NS)
		rc = read_usages(now, now_ns, err);
	/* What came and is not read, or may have come, is no silence. */
	if (rc == 0 && !has_come(now))
		now->known_ns =
		    now->complete_ns < now_ns ? now->complete_ns : now_ns;
	node_states_judge(&now->nodes, now->known_ns);
	*changed = find_changes(now);
	return rc;
}

bool
now_is_behind(const struct now *now, int64_t *next_ns)
{
	*next_ns = now->next_ns;
	return has_come(now);
}

/* ---- life ---- */

struct now *
now_new(struct source *source, struct text partition, unsigned parts)
{
	struct now *now = memory_zero(1, sizeof(*now));

	now->source = source;
	now->name_bytes = partition.bytes < sizeof(now->name)
			      ? partition.bytes
			      : (uint32_t)sizeof(now->name);
	memcpy(now->name, partition.at, now->name_bytes);
	now->parts = parts;
	now->key = hash_key_random();
	now->next_ns = INT64_MIN;
	now->rest = NOW_REST;
	string_table_init(&now->nodes.names);
	string_table_init(&now->phases.texts);
	run_groups_init(&now->runs);
	node_usage_init(&now->usages);
	open_phases_init(&now->open);
	string_table_init(&now->ready);
	return now;
}

void
now_set_rest(struct now *now, unsigned rest)
{
	now->rest = rest;
}

void
now_free(struct now **freed)
{
	struct now *now = *freed;

	if (now == NULL)
		return;
	node_states_clear(&now->nodes);
	phases_clear(&now->phases);
	run_groups_clear(&now->runs);
	node_usage_clear(&now->usages);
	open_phases_clear(&now->open);
	string_table_clear(&now->ready);
	free(now->ready_ns);
	free(now);
	*freed = NULL;
}

const struct partition_row *
now_partition(const struct now *now)
{
	return &now->partition;
}

const struct node_states *
now_nodes(const struct now *now)
{
	return &now->nodes;
}

const struct open_phases *
now_open(const struct now *now)
{
	return &now->open;
}

const struct phase_row *
now_phases(const struct now *now, uint32_t *count)
{
	*count = now->phases.count;
	return now->phases.at;
}

const struct run_groups *
now_runs(const struct now *now)
{
	return &now->runs;
}

const struct node_usages *
now_usages(const struct now *now)
{
	return &now->usages;
}

const struct start *
now_start(const struct now *now)
{
	return now->start.nodes > 0 ? &now->start : NULL;
}

int64_t
now_ready_ns(const struct now *now, struct text node)
{
	uint32_t number;

	return string_table_find(&now->ready, node, &number)
		   ? now->ready_ns[number]
		   : START_UNKNOWN;
}
