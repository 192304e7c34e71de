/*
 * metrics_families - the metrics that there are, and their samples.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/version.h"
#include "proto/counter/counter.h"

/* The metrics of nodes, and their samples. */

/* NaN: unknown; then there is no sample. */
struct node_family {
	struct exposition_family family;
	double (*value)(const struct node_state *node);
};

static double
heard_of(const struct node_state *node)
{
	return seconds(node->heard_ns);
}

static double
received_of(const struct node_state *node)
{
	return node->received_ns == INT64_MIN ? NAN
					      : seconds(node->received_ns);
}

static double
state_of(const struct node_state *node)
{
	return node->condition;
}

static double
spool_of(const struct node_state *node)
{
	return node->spool;
}

static double
clock_of(const struct node_state *node)
{
	return node->clock_ns / 1e9;
}

static const struct node_family node_families[] = {
	{ { "poolscope_node_heard_timestamp_seconds", EXPOSITION_GAUGE,
	      "seconds",
	      "When the node made its newest record, by the aggregator's "
	      "clock." },
	    heard_of },
	{ { "poolscope_node_received_timestamp_seconds", EXPOSITION_GAUGE,
	      "seconds",
	      "When the aggregator received the last record of the node." },
	    received_of },
	{ { "poolscope_node_state", EXPOSITION_GAUGE, "",
	      "0 live, 1 late, 2 silent, 3 gone, 4 stopped, 5 imported." },
	    state_of },
	{ { "poolscope_node_spool_bytes", EXPOSITION_GAUGE, "bytes",
	      "What the agent of the node has not sent." },
	    spool_of },
	{ { "poolscope_node_clock_offset_seconds", EXPOSITION_GAUGE, "seconds",
	      "How far the aggregator's clock is ahead of the node's." },
	    clock_of },
};

enum { NODE_FAMILIES = sizeof(node_families) / sizeof(*node_families) };

/* A sample for each reason that there is. */
static const struct exposition_family attention_family = {
	"poolscope_node_attention", EXPOSITION_GAUGE, "",
	"1: the node needs attention for this reason."
};

static const struct exposition_family usage_families[] = {
	[USAGE_CPU] = { "system_cpu_utilization_ratio", EXPOSITION_GAUGE,
	    "ratio",
	    "Share of the processors that did something in the last 5 min." },
	[USAGE_IOWAIT] = { "system_cpu_iowait_ratio", EXPOSITION_GAUGE, "ratio",
	    "Share of the processors that waited for I/O in the last 5 min." },
	[USAGE_LOAD] = { "system_cpu_load_average_1m", EXPOSITION_GAUGE, "",
	    "Threads that run or wait to run, of the last minute." },
	[USAGE_MEMORY_LIMIT] = { "system_memory_limit_bytes", EXPOSITION_GAUGE,
	    "bytes", "Memory of the node." },
	[USAGE_MEMORY_USED] = { "system_memory_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used memory, without buffers and caches." },
	[USAGE_MEMORY_AVAILABLE] = { "system_linux_memory_available_bytes",
	    EXPOSITION_GAUGE, "bytes",
	    "Memory that programs can get without swapping." },
	[USAGE_PAGING_USED] = { "system_paging_usage_bytes", EXPOSITION_GAUGE,
	    "bytes", "Used swap space." },
	[USAGE_CPU_PRESSURE] = { "system_linux_pressure_cpu_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for a "
	    "processor." },
	[USAGE_MEMORY_PRESSURE] = { "system_linux_pressure_memory_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for memory." },
	[USAGE_IO_PRESSURE] = { "system_linux_pressure_io_ratio",
	    EXPOSITION_GAUGE, "ratio",
	    "Share of the last 5 min in which a process waited for I/O." },
};
enum { USAGE_FAMILIES = sizeof(usage_families) / sizeof(*usage_families) };

enum { FAMILIES = NODE_FAMILIES + USAGE_FAMILIES };

/* NaN: there is none.  Families from node_families on are those of usage. */
static void
find_values(const struct metrics_pool *pool, const struct node_state *node,
    double values[static FAMILIES])
{
	const struct node_usage usage =
	    node_usage_of(now_usages(pool->now), node->name);

	for (size_t i = 0; i < NODE_FAMILIES; i++)
		values[i] = node_families[i].value(node);
	for (size_t i = 0; i < USAGE_FAMILIES; i++)
		values[NODE_FAMILIES + i] = usage.numbers[i];
}

uint32_t
metrics_families_count_node(const struct metrics_pool *pool, uint32_t place)
{
	double values[FAMILIES];
	uint32_t count = 0;

	find_values(pool, pool->nodes[place], values);
	for (size_t i = 0; i < FAMILIES; i++)
		count += !isnan(values[i]);
	return count +
	       (uint32_t)__builtin_popcount(pool->nodes[place]->attention);
}

static void
put_node_attention(
    struct exposition *exposition, const struct metrics_pool *pool)
{
	for (uint32_t i = 0; i < pool->shown; i++)
		for (int k = 0; k < ATTENTIONS; k++)
			if ((pool->nodes[i]->attention & 1u << k) != 0)
				put(exposition, "",
				    label("partition",
					now_partition(pool->now)->name),
				    label("node", pool->nodes[i]->name),
				    label(
					"reason", text_of(attention_words[k])),
				    1);
}

static void
put_pool_nodes(struct exposition *exposition, const struct metrics_pool *pool,
    size_t family, const double *values)
{
	struct exposition_label partition =
	    label("partition", now_partition(pool->now)->name);

	for (uint32_t i = 0; i < pool->shown; i++)
		if (!isnan(values[i * FAMILIES + family]))
			put(exposition, "", partition,
			    label("node", pool->nodes[i]->name), none,
			    values[i * FAMILIES + family]);
}

void
metrics_families_nodes(struct exposition *exposition,
    const struct metrics_pool *pools, uint32_t count)
{
	double *values, *at;
	uint32_t nodes = 0;

	for (uint32_t k = 0; k < count; k++)
		nodes += pools[k].shown;
	if (nodes == 0)
		return;
	values = at = memory_alloc(nodes * FAMILIES * sizeof(*values));
	for (uint32_t k = 0; k < count; k++)
		for (uint32_t i = 0; i < pools[k].shown; i++, at += FAMILIES)
			find_values(&pools[k], pools[k].nodes[i], at);
	for (size_t i = 0; i < FAMILIES; i++) {
		exposition_begin(exposition,
		    i < NODE_FAMILIES ? &node_families[i].family
				      : &usage_families[i - NODE_FAMILIES]);
		at = values;
		for (uint32_t k = 0; k < count; k++) {
			put_pool_nodes(exposition, &pools[k], i, at);
			at += pools[k].shown * FAMILIES;
		}
	}
	free(values);
	exposition_begin(exposition, &attention_family);
	for (uint32_t k = 0; k < count; k++)
		put_node_attention(exposition, &pools[k]);
}

/* ---- the program ---- */

void
metrics_families_program(struct exposition *exposition, bool is_up)
{
	static const struct exposition_family build = { "poolscope_build",
		EXPOSITION_INFO, "", "The program that wrote this." };
	static const struct exposition_family up = { "poolscope_up",
		EXPOSITION_GAUGE, "",
		"Did the store or aggregator answer (1) or not (0)?" };

	exposition_begin(exposition, &build);
	put(exposition, "_info", label("version", text_of(VERSION)), none, none,
	    1);
	exposition_begin(exposition, &up);
	put(exposition, "", none, none, none, is_up);
}

void
metrics_families_left_out(
    struct exposition *exposition, const struct metrics_left_out *left_out)
{
	static const struct exposition_family families[] = {
		{ "poolscope_partitions_left_out", EXPOSITION_GAUGE, "",
		    "Partitions that are not shown: those with the oldest "
		    "records, beyond the bounds." },
		{ "poolscope_nodes_left_out", EXPOSITION_GAUGE, "",
		    "Nodes that are not shown: those that were heard the "
		    "longest ago, beyond the bound." },
		{ "poolscope_series_left_out", EXPOSITION_GAUGE, "",
		    "Series of the partitions and nodes that were read, but "
		    "are not shown." },
	};
	const uint64_t counts[] = { left_out->partitions, left_out->nodes,
		left_out->series };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		exposition_begin(exposition, &families[i]);
		put(exposition, "", none, none, none, (double)counts[i]);
	}
}

/* ---- partitions ---- */

struct pool_family {
	struct exposition_family family;
	void (*put)(struct exposition *exposition, const struct now *now,
	    struct exposition_label partition);
};

static void
put_nodes(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	for (int i = 0; i < NODE_CONDITIONS; i++)
		put(exposition, "", partition,
		    label("state", text_of(node_condition_words[i])), none,
		    now_nodes(now)->conditions[i]);
}

static void
put_attention(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	for (int i = 0; i < ATTENTIONS; i++)
		put(exposition, "", partition,
		    label("reason", text_of(attention_words[i])), none,
		    now_nodes(now)->attention[i]);
}

static void
put_known(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	put(exposition, "", partition, none, none,
	    (double)now_partition(now)->nodes);
}

static void
put_newest(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	if (now_nodes(now)->heard_ns != INT64_MIN)
		put(exposition, "", partition, none, none,
		    seconds(now_nodes(now)->heard_ns));
}

static void
put_records(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_SAMPLE,
		RECORD_SPAN, RECORD_ENTITY, RECORD_GAP, RECORD_REJECTED };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		put(exposition, "", partition,
		    label("kind", text_of(record_kind_name(kinds[i]))), none,
		    (double)now_partition(now)->records_of[kinds[i]]);
}

/* A model has phases that a pool never goes through. */
static bool
has_occurred(const struct phase_row *row)
{
	return !isnan(row->numbers[PHASE_COUNT]) &&
	       row->numbers[PHASE_COUNT] > 0;
}

static void
put_durations(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	uint32_t count;
	const struct phase_row *rows = now_phases(now, &count);

	for (uint32_t i = 0; i < count; i++) {
		const double *numbers = rows[i].numbers;
		struct exposition_label phase = label("phase", rows[i].phase);

		if (!has_occurred(&rows[i]))
			continue;
		for (int k = 0; k < DURATION_BUCKETS; k++)
			if (!isnan(rows[i].histogram[k]))
				put(exposition, "_bucket", partition, phase,
				    label("le",
					text_of(duration_buckets[k].seconds)),
				    rows[i].histogram[k]);
		put(exposition, "_bucket", partition, phase,
		    label("le", text_of("+Inf")), numbers[PHASE_COUNT]);
		/* OpenMetrics has both or none of them.  Durations are below 0
		 * where a clock was set back. */
		if (!(numbers[PHASE_SUM] >= 0))
			continue;
		put(exposition, "_sum", partition, phase, none,
		    numbers[PHASE_SUM]);
		put(exposition, "_count", partition, phase, none,
		    numbers[PHASE_COUNT]);
	}
}

static void
put_open(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	uint32_t count;
	const struct phase_row *rows = now_phases(now, &count);

	for (uint32_t i = 0; i < count; i++) {
		const double *numbers = rows[i].numbers;
		struct exposition_label phase = label("phase", rows[i].phase);

		if (rows[i].ignores_open ||
		    (numbers[PHASE_COUNT] == 0 &&
			numbers[PHASE_OPEN_STARTS] == 0 &&
			numbers[PHASE_OPEN_ENDS] == 0))
			continue;
		put(exposition, "", partition, phase,
		    label("unmatched", text_of("start")),
		    numbers[PHASE_OPEN_STARTS]);
		put(exposition, "", partition, phase,
		    label("unmatched", text_of("end")),
		    numbers[PHASE_OPEN_ENDS]);
	}
}

/* Nothing while it is not ready. */
static void
put_ready(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	const struct start *start = now_start(now);

	if (start == NULL || start->ready_ns == START_UNKNOWN)
		return;
	put(exposition, "", partition, none, none,
	    (double)(start->ready_ns - start->begin_ns) / 1e9);
}

static void
put_runs(struct exposition *exposition, const struct now *now,
    struct exposition_label partition)
{
	const struct run_groups *groups = now_runs(now);

	for (uint32_t i = 0; i < groups->count; i++)
		for (int k = 0; k < RUN_GROUPS_STATES; k++) {
			const struct exposition_label
			    labels[EXPOSITION_LABELS] = { partition,
				    label("model", groups->at[i].model),
				    label("group", groups->at[i].group),
				    label("state",
					text_of(run_groups_states[k])) };

			exposition_sample(exposition, "", labels,
			    (double)groups->at[i].runs[k]);
		}
}

static const struct pool_family pool_families[] = {
	{ { "poolscope_pool_nodes", EXPOSITION_GAUGE, "",
	      "Nodes by the time since they were heard: live below a minute, "
	      "late below 10, silent below 60, gone; stopped in order; only "
	      "imported." },
	    put_nodes },
	{ { "poolscope_pool_attention", EXPOSITION_GAUGE, "",
	      "Nodes that need attention, by reason: gone, silent, in a phase "
	      "for longer than usual, not ready, records lost, a spool "
	      "that fills, a clock that is "
	      "off." },
	    put_attention },
	{ { "poolscope_pool_nodes_known", EXPOSITION_GAUGE, "",
	      "Nodes that the store has ever seen." },
	    put_known },
	{ { "poolscope_pool_newest_record_timestamp_seconds", EXPOSITION_GAUGE,
	      "seconds",
	      "Time of the newest record, by the aggregator's clock." },
	    put_newest },
	{ { "poolscope_records", EXPOSITION_GAUGE, "",
	      "Records that are stored; retention deletes old ones." },
	    put_records },
	{ { "poolscope_phase_duration_seconds", EXPOSITION_HISTOGRAM, "seconds",
	      "Durations of the stored occurrences of a phase; bounds within "
	      "2 %." },
	    put_durations },
	{ { "poolscope_phase_open", EXPOSITION_GAUGE, "",
	      "Starts of a phase without an end, and ends without a start." },
	    put_open },
	{ { "poolscope_pool_ready_seconds", EXPOSITION_GAUGE, "seconds",
	      "From the begin of the first node of the newest start until all "
	      "were ready; absent while one is not." },
	    put_ready },
	{ { "poolscope_runs", EXPOSITION_GAUGE, "",
	      "Stored test runs of each group, by state; those with an error "
	      "are in no other." },
	    put_runs },
};

void
metrics_families_pools(struct exposition *exposition,
    const struct metrics_pool *pools, uint32_t count)
{
	for (size_t i = 0; i < sizeof(pool_families) / sizeof(*pool_families);
	     i++) {
		exposition_begin(exposition, &pool_families[i].family);
		for (uint32_t k = 0; k < count; k++)
			if (pools[k].fits)
				pool_families[i].put(exposition, pools[k].now,
				    label("partition",
					now_partition(pools[k].now)->name));
	}
}

/* ---- places ---- */

/* The unit is a part of the name: the last word of it. */
static struct exposition_family
family_of(const struct counter *counter)
{
	struct exposition_family family = { counter->metric, EXPOSITION_GAUGE,
		"", counter->help };

	if (counter->kind == COUNTER_TOTAL)
		family.type = EXPOSITION_COUNTER;
	else if (counter->kind != COUNTER_FLAG)
		family.unit = strrchr(counter->metric, '_') + 1;
	return family;
}

void
metrics_place_init(struct metrics_place *place, const char *name)
{
	place->name = name;
	place->reasons = 0;
	for (int i = 0; i < COUNTERS; i++)
		place->numbers[i] = NAN;
}

static bool
has_reason(const struct metrics_place *place, struct text reason)
{
	uint32_t i = 0;

	while (i < place->reasons &&
	       !text_equal(text_of(place->refused[i].reason), reason))
		i++;
	return i < place->reasons;
}

static void
take_refused(struct metrics_place *place, const struct record *record)
{
	struct text pairs = record->pairs;
	struct record_attribute a;

	while (place->reasons < METRICS_REASONS &&
	       record_next_attribute(&pairs, &a)) {
		uint32_t i = place->reasons;

		if (a.value.type != VALUE_INT ||
		    a.key.bytes >= sizeof(place->refused[i].reason) ||
		    has_reason(place, a.key))
			continue;
		snprintf(place->refused[i].reason,
		    sizeof(place->refused[i].reason), "%.*s", (int)a.key.bytes,
		    a.key.at);
		place->refused[i].count = (double)a.value.is.i;
		place->reasons++;
	}
}

static void
put_refused(struct exposition *exposition, const struct metrics_place *place)
{
	for (uint32_t i = 0; i < place->reasons; i++)
		put(exposition, "", label("place", text_of(place->name)),
		    label("reason", text_of(place->refused[i].reason)), none,
		    place->refused[i].count);
}

void
metrics_place_take(struct metrics_place *place, const struct record *record)
{
	struct value value;

	if (text_equal(record->name, text_of("aggregator:refused")))
		take_refused(place, record);
	for (int i = 0; i < COUNTERS; i++) {
		if (counters[i].metric == NULL ||
		    !text_equal(record->name, text_of(counters[i].of)) ||
		    !record_find_attribute(
			record, text_of(counters[i].name), &value))
			continue;
		if (value.type == VALUE_INT)
			place->numbers[i] = (double)value.is.i;
		else if (value.type == VALUE_BOOL)
			place->numbers[i] = value.is.boolean;
	}
}

void
metrics_families_places(struct exposition *exposition,
    const struct metrics_place *places, uint32_t count)
{
	/* No counter: it begins again with the aggregator. */
	static const struct exposition_family refused = {
		"poolscope_refused_frames", EXPOSITION_GAUGE, "frames",
		"What the aggregator refused since it started, by reason."
	};

	for (int i = 0; i < COUNTERS; i++) {
		struct exposition_family family;

		if (counters[i].metric == NULL)
			continue;
		family = family_of(&counters[i]);
		exposition_begin(exposition, &family);
		for (uint32_t k = 0; k < count; k++)
			if (!isnan(places[k].numbers[i]))
				put(exposition,
				    family.type == EXPOSITION_COUNTER ? "_total"
								      : "",
				    label("place", text_of(places[k].name)),
				    none, none, places[k].numbers[i]);
	}
	exposition_begin(exposition, &refused);
	for (uint32_t k = 0; k < count; k++)
		put_refused(exposition, &places[k]);
}
