/*
 * compare_read - the runs of a source that can be compared.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/read.h"
#include "exporters/results/entries.h"
#include "exporters/results/plot.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/starts.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum {
	METRIC_BYTES = 4 * NAME_BYTES_MAX,
	/* More starts than are wanted by this number are read at once, at
	 * first: some are unlike, or not whole. */
	BLOCK_STARTS = 16,
	BLOCK_NODES = 50000
};

static double
seconds_of(int64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

static int
by_size(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int
by_name(const void *left, const void *right)
{
	return text_compare(
	    *(const struct text *)left, *(const struct text *)right);
}

static const char *
utc_of(char to[static CLOCK_TEXT_BYTES], int64_t ns)
{
	return clock_utc_text(to, ns, ns % NS_PER_SECOND == 0 ? 0 : 6);
}

/* ---- starts ---- */

/* "60 nodes; redis, tf"; the text is that of `to`. */
static struct text
likeness_of(struct buffer *to, const struct start *start,
    const struct phases_read *phases)
{
	size_t room = (size_t)phases->keys.count + 1;
	struct text *keys = memory_zero(room, sizeof(*keys));
	bool *is_used = memory_zero(room, sizeof(*is_used));
	char nodes[40];
	uint32_t count = 0;

	snprintf(nodes, sizeof(nodes), "%u node%s", start->nodes,
	    start->nodes == 1 ? "" : "s");
	to->bytes = 0;
	buffer_put_text(to, text_of(nodes));
	for (uint32_t i = 0; i < phases->count; i++) {
		uint32_t key = phases->items[i].key;

		if (!is_used[key] && phases->keys.names[key].bytes > 0)
			keys[count++] = phases->keys.names[key];
		is_used[key] = true;
	}
	qsort(keys, count, sizeof(*keys), by_name);
	for (uint32_t i = 0; i < count; i++) {
		buffer_put_text(to, text_of(i == 0 ? "; " : ", "));
		buffer_put_text(to, keys[i]);
	}
	free(is_used);
	free(keys);
	return (struct text){ (const char *)to->at, (uint32_t)to->bytes };
}

/* The median of what the nodes spent in each phase, its keys added up: of all
 * keys together it were between two images, and would move with one node. */
static void
put_medians(struct compare_set *set, const struct phases_names *names,
    const struct phases_read *phases)
{
	int64_t *lengths =
	    memory_zero((size_t)phases->count + 1, sizeof(*lengths));
	char metric[METRIC_BYTES];

	for (uint32_t phase = 0; phase < names->phases.count; phase++) {
		struct text name = names->phases.names[phase];
		uint32_t count = 0, node = UINT32_MAX;

		for (uint32_t i = 0; i < phases->count; i++) {
			const struct phases_item *item = &phases->items[i];

			if (item->phase != phase || item->is_open)
				continue;
			if (item->node != node)
				lengths[count++] = 0;
			node = item->node; /* they are sorted */
			lengths[count - 1] += item->end_ns - item->begin_ns;
		}
		if (count == 0)
			continue;
		qsort(lengths, count, sizeof(*lengths), by_size);
		snprintf(metric, sizeof(metric), "p50:%.*s", (int)name.bytes,
		    name.at);
		compare_set_value(set, text_of(metric), false,
		    seconds_of(
			lengths[(count - 1) / 2] / 2 + lengths[count / 2] / 2));
	}
	free(lengths);
}

static void
offer_start(struct compare_set *set, const struct start *start,
    const struct phases_names *names, const struct phases_read *phases)
{
	char name[CLOCK_TEXT_BYTES];
	struct buffer like = { .at = NULL };

	if (start->ready_ns == START_UNKNOWN)
		set->unfinished++;
	else if (compare_set_offer(set, text_of(utc_of(name, start->begin_ns)),
		     start->begin_ns, likeness_of(&like, start, phases))) {
		compare_set_value(set, text_of("ready"), true,
		    seconds_of(start->ready_ns - start->begin_ns));
		put_medians(set, names, phases);
	}
	buffer_clear(&like);
}

/* Which of the starts from `first` to before `end` had begun last. */
static uint32_t
find_start(
    const struct starts *starts, uint32_t first, uint32_t end, int64_t ns)
{
	while (end - first > 1) {
		uint32_t middle = first + (end - first) / 2;

		if (starts->at[middle].begin_ns <= ns)
			first = middle;
		else
			end = middle;
	}
	return first;
}

/* Each phase is of the start in which it begins; their order remains. */
static void
offer_starts(struct compare_set *set, const struct starts *starts,
    uint32_t first, uint32_t end, const struct phases_names *names,
    const struct phases_read *phases)
{
	struct phases_item *items =
	    memory_zero((size_t)phases->count + 1, sizeof(*items));
	uint32_t *ends = memory_zero((size_t)end - first + 2, sizeof(*ends));
	struct phases_read of = *phases;

	/* By start: where its phases begin, and when they are there, end. */
	for (uint32_t i = 0; i < phases->count; i++)
		ends[find_start(starts, first, end, phases->items[i].begin_ns) -
		     first + 2]++;
	for (uint32_t i = 1; i <= end - first; i++)
		ends[i] += ends[i - 1];
	for (uint32_t i = 0; i < phases->count; i++)
		items[ends[find_start(
			       starts, first, end, phases->items[i].begin_ns) -
			   first + 1]++] = phases->items[i];
	for (uint32_t i = end; i-- > first && compare_set_wants(set);) {
		of.items = items + ends[i - first];
		of.count = ends[i - first + 1] - ends[i - first];
		offer_start(set, &starts->at[i], names, &of);
	}
	free(ends);
	free(items);
}

static int
read_block(struct compare_set *set, const struct compare_query *query,
    struct source *source, const struct starts *starts, uint32_t first,
    uint32_t end, struct err *err)
{
	struct wire_query of = source_query(1u << RECORD_PHASE);
	struct phases_names names = { .models.names = NULL };
	struct phases_read phases;
	struct text model;
	int rc;

	of.from_ns = starts->at[first].begin_ns;
	if (end < starts->count)
		of.to_ns = starts->at[end].begin_ns;
	rc = phases_read_model(&phases, &names, source, query->partition, &of,
	    starts->model, PHASES_TIMELINE, &model, err);
	if (rc == 0)
		offer_starts(set, starts, first, end, &names, &phases);
	phases_read_clear(&phases);
	phases_names_clear(&names);
	return rc;
}

static int
read_starts(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err)
{
	const struct starts_query of = { .model = query->model,
		.from_ns = query->from_ns,
		.to_ns = query->to_ns,
		.gap_ns = query->gap_ns };
	struct starts starts;
	int rc = starts_read(&starts, source, query->partition, &of, err);
	uint32_t first, end = starts.count;
	uint64_t most = BLOCK_STARTS + set->choice[COMPARE_OLD].newest +
			set->choice[COMPARE_NEW].newest;

	for (; rc == 0 && end > 0 && compare_set_wants(set); end = first) {
		uint32_t nodes = 0;

		for (first = end;
		     first > 0 && end - first < most && nodes < BLOCK_NODES;)
			nodes += starts.at[--first].nodes;
		rc = read_block(set, query, source, &starts, first, end, err);
		most *= 2;
	}
	starts_clear(&starts);
	return rc;
}

/* ---- test runs ---- */

struct reading {
	struct compare_set *set;
	const struct runs *runs;
	struct buffer like;
};

static void
add_like(struct buffer *like, const char *what, struct text word)
{
	if (word.at == NULL || word.bytes == 0)
		return;
	buffer_put_text(like, text_of(like->bytes > 0 ? "; " : ""));
	buffer_put_text(like, text_of(what));
	buffer_put_text(like, word);
}

/* How long all of it took, unless the model has a step for that, which the run
 * lacks. */
static bool
find_whole(const struct runs *runs, const struct runs_run *run,
    const char **metric, int64_t *ns)
{
	const struct run_events *events = &run->events;

	*metric = "testrun";
	for (uint32_t i = 0; i < runs->step_count; i++)
		if (text_equal(runs->steps[i].name, text_of(*metric)))
			return runs_total(run, &runs->steps[i], RUN_EMIT, ns);
	*metric = "run";
	*ns = events->at[events->count - 1].time_ns - events->at[0].time_ns;
	return true;
}

static void
put_steps(struct compare_set *set, const struct runs *runs,
    const struct runs_run *run)
{
	int64_t ns;

	for (uint32_t i = 0; i < runs->step_count; i++) {
		const struct runs_step *step = &runs->steps[i];

		if (!text_equal(step->name, text_of("testrun")) &&
		    runs_total(run, step, RUN_EMIT, &ns))
			compare_set_value(
			    set, step->name, false, seconds_of(ns));
	}
}

static int
on_run(void *arg, const struct runs_run *run)
{
	struct reading *reading = arg;
	struct runs_description is =
	    runs_descriptions_find(&reading->runs->descriptions, run->id);
	const char *metric;
	int64_t ns;

	if (!compare_set_wants(reading->set))
		return 1;
	if (run->error || run->state != RUN_FINISHED ||
	    run->events.count == 0 ||
	    !find_whole(reading->runs, run, &metric, &ns)) {
		reading->set->unfinished++;
		return 0;
	}
	reading->like.bytes = 0;
	add_like(&reading->like, "group ", run->group);
	add_like(&reading->like, "configuration ", is.of[RUNS_CONFIGURATION]);
	if (compare_set_offer(reading->set, run->id, run->time_ns,
		(struct text){ (const char *)reading->like.at,
		    (uint32_t)reading->like.bytes })) {
		compare_set_value(
		    reading->set, text_of(metric), true, seconds_of(ns));
		put_steps(reading->set, reading->runs, run);
	}
	return 0;
}

static int
read_runs(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err)
{
	struct runs_options options = *query->runs;
	struct runs runs;
	struct reading reading = { .set = set, .runs = &runs };
	int rc;

	options.newest = COMPARE_RUNS_MAX;
	options.from_ns = query->from_ns;
	options.to_ns = query->to_ns;
	rc = runs_open(&runs, source, query->partition, &options, err);
	runs.describe_all = true;
	if (rc == 0)
		rc = run_rows_each(&runs, &options, on_run, &reading, err);
	runs_clear(&runs);
	buffer_clear(&reading.like);
	return rc;
}

/* ---- results ---- */

struct timing {
	int64_t time_ns;
	uint32_t entry; /* number in the texts of the reading */
	double seconds;
};

struct result_reading {
	struct result_query query;
	struct string_table entries;
	struct timing *at;
	uint32_t count, room;
	uint64_t no_number;
};

static int
on_entry(void *arg, struct text test, struct text entry, struct err *err)
{
	struct result_reading *reading = arg;
	struct result_query query = reading->query;
	struct result_points points = { .at = NULL };
	uint32_t number = string_table_add(&reading->entries, entry);
	int rc;

	query.test = test;
	query.entry = entry;
	rc = result_query_points(&query, &points, err);
	if (rc == 0 && points.count == 0)
		rc = result_query_explain(&query, err) == 0 ? 0 : -1;
	for (uint32_t i = 0; rc == 0 && i < points.count; i++) {
		int64_t us = (int64_t)llround(points.at[i].time * 1e6);

		reading->at = memory_grow(reading->at, &reading->room,
		    reading->count, sizeof(*reading->at));
		reading->at[reading->count++] =
		    (struct timing){ us * 1000, number, points.at[i].value };
	}
	reading->no_number += points.left_out;
	free(points.at);
	return rc;
}

static int
newest_first(const void *left, const void *right)
{
	const struct timing *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return (a->entry > b->entry) - (a->entry < b->entry);
}

/* A start of the test is a run, with a timing of each entry. */
static void
put_timings(struct compare_set *set, const struct result_reading *reading)
{
	char name[CLOCK_TEXT_BYTES];
	bool taken = false;

	for (uint32_t i = 0; i < reading->count; i++) {
		const struct timing *at = &reading->at[i];

		if (i == 0 || at->time_ns != at[-1].time_ns) {
			if (!compare_set_wants(set))
				return;
			taken = compare_set_offer(set,
			    text_of(utc_of(name, at->time_ns)), at->time_ns,
			    reading->query.test);
		}
		if (taken)
			compare_set_value(set,
			    reading->entries.names[at->entry], true,
			    at->seconds);
	}
}

static int
read_results(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err)
{
	struct result_reading reading = {
		.query = { .source = source,
		    .partition = query->partition,
		    .test = text_of(query->test),
		    .entry = text_of(query->entry),
		    .window = result_window(query->from_ns, query->to_ns) }
	};
	int rc;

	string_table_init(&reading.entries);
	rc = result_entries_each(&reading.query, on_entry, &reading, err);
	if (rc == 0) {
		set->no_time += reading.no_number;
		if (reading.count > 0)
			qsort(reading.at, reading.count, sizeof(*reading.at),
			    newest_first);
		put_timings(set, &reading);
	}
	free(reading.at);
	string_table_clear(&reading.entries);
	return rc;
}

/* ---- jobs ---- */

struct job {
	struct text name;
	int64_t from_ns, to_ns;
	uint32_t nodes;
};

static int
newest_job_first(const void *left, const void *right)
{
	const struct job *a = left, *b = right;

	if (a->from_ns != b->from_ns)
		return a->from_ns > b->from_ns ? -1 : 1;
	return text_compare(a->name, b->name);
}

/* New jobs: from the first begin to the last end.  Intervals are sorted by
 * node. */
static struct job *
jobs_of(
    const struct job_intervals *intervals, const char *pattern, uint32_t *count)
{
	struct job *jobs =
	    memory_zero((size_t)intervals->count + 1, sizeof(*jobs));
	uint32_t *last =
	    memory_zero((size_t)intervals->count + 1, sizeof(*last));
	struct string_table names;

	string_table_init(&names);
	*count = 0;
	for (uint32_t i = 0, node = 0; i < intervals->count; i++) {
		const struct job_interval *at = &intervals->at[i];
		struct job *job;
		uint32_t number;

		node += i == 0 || !text_equal(at->node, at[-1].node);
		if (pattern != NULL && !text_match(text_of(pattern), at->job))
			continue;
		number = string_table_add(&names, at->job);
		job = &jobs[number];
		if (number == *count) {
			*job =
			    (struct job){ at->job, at->from_ns, at->to_ns, 0 };
			(*count)++;
		}
		if (at->from_ns < job->from_ns)
			job->from_ns = at->from_ns;
		if (at->to_ns > job->to_ns)
			job->to_ns = at->to_ns;
		job->nodes += last[number] != node;
		last[number] = node;
	}
	string_table_clear(&names);
	free(last);
	qsort(jobs, *count, sizeof(*jobs), newest_job_first);
	return jobs;
}

static void
put_jobs(struct compare_set *set, const struct compare_query *query,
    const struct job_intervals *intervals)
{
	uint32_t count;
	struct job *jobs = jobs_of(intervals, query->pattern, &count);
	char like[40];

	for (uint32_t i = 0; i < count && compare_set_wants(set); i++) {
		const struct job *job = &jobs[i];

		if (job->from_ns < query->from_ns ||
		    job->from_ns >= query->to_ns)
			continue;
		if (job->to_ns == TIME_MAX_NS) {
			set->unfinished++;
			continue;
		}
		snprintf(like, sizeof(like), "%u node%s", job->nodes,
		    job->nodes == 1 ? "" : "s");
		if (compare_set_offer(
			set, job->name, job->from_ns, text_of(like)))
			compare_set_value(set, text_of("job"), true,
			    seconds_of(job->to_ns - job->from_ns));
	}
	free(jobs);
}

static int
read_jobs(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err)
{
	const struct job_options all = { .job = NULL };
	struct job_intervals intervals;
	int rc =
	    job_intervals_read(&intervals, source, query->partition, &all, err);

	if (rc == 0)
		put_jobs(set, query, &intervals);
	job_intervals_clear(&intervals);
	return rc;
}

int
compare_read(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err)
{
	static int (*const reads[])(struct compare_set *,
	    const struct compare_query *, struct source *, struct err *) = {
		[COMPARE_STARTS] = read_starts,
		[COMPARE_TEST_RUNS] = read_runs,
		[COMPARE_RESULTS] = read_results,
		[COMPARE_JOBS] = read_jobs,
	};

	return reads[query->unit](set, query, source, err);
}
