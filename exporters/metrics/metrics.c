/*
 * metrics - the numbers of pools for Prometheus and what reads its format.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/metrics/families.h"
#include "proto/base/memory.h"

struct metrics {
	struct source *source;
	struct text pattern;
	bool by_node;
	/* The newest partition first. */
	struct metrics_pool pools[METRICS_PARTITIONS];
	uint32_t count;
	struct metrics_place *places;
	uint32_t place_count, place_room;
	struct metrics_left_out left_out;
};

/* ---- which partitions ---- */

static int
by_age(const void *left, const void *right)
{
	const struct partition_row *a = left, *b = right;

	if (a->is_read != b->is_read)
		return (int)b->is_read - (int)a->is_read;
	if (a->last_ns != b->last_ns)
		return a->last_ns < b->last_ns ? 1 : -1;
	return text_compare(a->name, b->name);
}

static void
clear_pool(struct metrics_pool *pool)
{
	now_free(&pool->now);
	free(pool->nodes);
	*pool = (struct metrics_pool){ .now = NULL };
}

/* The one that was watched before, or a new one. */
static struct now *
take_now(struct metrics *metrics, struct metrics_pool *before, uint32_t count,
    struct text partition)
{
	struct now *now;

	for (uint32_t i = 0; i < count; i++) {
		now = before[i].now;
		if (now == NULL || !text_equal(now_name(now), partition))
			continue;
		before[i].now = NULL;
		return now;
	}
	now = now_new(metrics->source, partition,
	    NOW_NODES | NOW_PHASES | NOW_RUNS | NOW_START |
		(metrics->by_node ? NOW_USAGE : 0));
	/* A scraper keeps its own pace, and expects what is now. */
	now_set_rest(now, 1);
	return now;
}

static int
choose(struct metrics *metrics, struct err *err)
{
	struct metrics_pool before[METRICS_PARTITIONS];
	struct partition_rows rows;
	uint32_t i, count = metrics->count;
	int rc =
	    partition_rows_read(&rows, metrics->source, metrics->pattern, err);

	metrics->left_out = (struct metrics_left_out){ .partitions = 0 };
	if (rc == 0) {
		memcpy(before, metrics->pools, sizeof(before));
		metrics->count = 0;
	}
	if (rc == 0 && rows.count > 0)
		qsort(rows.at, rows.count, sizeof(*rows.at), by_age);
	for (i = 0; rc == 0 && i < rows.count && rows.at[i].is_read; i++) {
		if (i >= METRICS_PARTITIONS) {
			metrics->left_out.partitions++;
			continue;
		}
		metrics->pools[metrics->count++] = (struct metrics_pool){
			.now = take_now(metrics, before, count, rows.at[i].name)
		};
	}
	for (i = 0; rc == 0 && i < count; i++)
		clear_pool(&before[i]);
	partition_rows_clear(&rows);
	return rc;
}

/* ---- which series ---- */

static int
by_heard(const void *left, const void *right)
{
	const struct node_state *a = *(const struct node_state *const *)left;
	const struct node_state *b = *(const struct node_state *const *)right;

	if (a->heard_ns != b->heard_ns)
		return a->heard_ns < b->heard_ns ? 1 : -1;
	return text_compare(a->name, b->name);
}

/* The one that was heard last first. */
static void
sort_nodes(struct metrics_pool *pool)
{
	const struct node_states *states = now_nodes(pool->now);

	free(pool->nodes);
	pool->nodes = memory_alloc(
	    (states->count > 0 ? states->count : 1) * sizeof(*pool->nodes));
	for (uint32_t i = 0; i < states->count; i++)
		pool->nodes[i] = &states->at[i];
	if (states->count > 0)
		qsort(
		    pool->nodes, states->count, sizeof(*pool->nodes), by_heard);
}

static uint64_t
count_series(const struct metrics_pool *pool)
{
	struct exposition counter = { .file = NULL };

	metrics_families_pools(&counter, pool, 1);
	return counter.samples;
}

/* Those that fit.  `*series` and `*nodes`: what is shown so far. */
static void
choose_nodes(struct metrics *metrics, struct metrics_pool *pool,
    uint64_t *series, uint32_t *nodes)
{
	uint32_t i, count = now_nodes(pool->now)->count;

	sort_nodes(pool);
	for (i = 0; i < count; i++) {
		uint64_t more = metrics_families_count_node(pool, i);

		if (!pool->fits || pool->shown < i || *nodes == METRICS_NODES ||
		    *series + more > METRICS_SERIES) {
			metrics->left_out.nodes++;
			metrics->left_out.series += more;
			continue;
		}
		pool->shown++;
		*nodes += 1;
		*series += more;
	}
}

/* The numbers of a partition as a whole, or not at all; then its nodes. */
static void
choose_series(struct metrics *metrics)
{
	uint64_t series = 0;
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < metrics->count; i++) {
		struct metrics_pool *pool = &metrics->pools[i];
		uint64_t own;

		pool->fits = true;
		pool->shown = 0;
		own = count_series(pool);
		pool->fits = series + own <= METRICS_SERIES;
		if (pool->fits) {
			series += own;
		} else {
			metrics->left_out.partitions++;
			metrics->left_out.series += own;
		}
		if (metrics->by_node)
			choose_nodes(metrics, pool, &series, &nodes);
	}
}

/* ---- places ---- */

static struct metrics_place *
place_of(struct metrics *metrics, uint32_t number)
{
	while (metrics->place_count <= number) {
		MEMORY_GROW(
		    metrics->places, metrics->place_room, metrics->place_count);
		metrics_place_init(&metrics->places[metrics->place_count],
		    source_place_name(metrics->source, metrics->place_count));
		metrics->place_count++;
	}
	return &metrics->places[number];
}

static int
read_places(struct metrics *metrics, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	struct text name;
	int rc;

	metrics->place_count = 0;
	if (source_select(metrics->source, SOURCE_STATUS,
		(struct text){ NULL, 0 }, &query, err) != 0)
		return -1;
	while ((rc = source_next(metrics->source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY &&
		    !partition_rows_name(&record, &name))
			metrics_place_take(
			    place_of(metrics, source_place(metrics->source)),
			    &record);
	return rc;
}

/* ---- all ---- */

struct metrics *
metrics_new(struct source *source, struct text pattern, bool by_node)
{
	struct metrics *metrics = memory_zero(1, sizeof(*metrics));

	metrics->source = source;
	metrics->pattern = pattern;
	metrics->by_node = by_node;
	return metrics;
}

void
metrics_free(struct metrics **freed)
{
	struct metrics *metrics = *freed;

	if (metrics == NULL)
		return;
	for (uint32_t i = 0; i < metrics->count; i++)
		clear_pool(&metrics->pools[i]);
	free(metrics->places);
	free(metrics);
	*freed = NULL;
}

int
metrics_read(struct metrics *metrics, int64_t now_ns, struct err *err)
{
	int rc = choose(metrics, err);
	unsigned changed;

	for (uint32_t i = 0; rc == 0 && i < metrics->count; i++)
		rc = now_poll(metrics->pools[i].now, now_ns, &changed, err);
	if (rc == 0)
		rc = read_places(metrics, err);
	if (rc == 0)
		choose_series(metrics);
	return rc;
}

bool
metrics_is_empty(const struct metrics *metrics)
{
	return metrics->count == 0;
}

void
metrics_give(const struct metrics *metrics, struct exposition *exposition)
{
	metrics_families_program(exposition, true);
	metrics_families_pools(exposition, metrics->pools, metrics->count);
	metrics_families_nodes(exposition, metrics->pools, metrics->count);
	metrics_families_places(
	    exposition, metrics->places, metrics->place_count);
	metrics_families_left_out(exposition, &metrics->left_out);
}

void
metrics_write(
    const struct metrics *metrics, enum exposition_format format, FILE *file)
{
	struct exposition exposition = { .file = file, .format = format };

	metrics_give(metrics, &exposition);
	exposition_end(&exposition);
}

void
metrics_give_down(struct exposition *exposition)
{
	metrics_families_program(exposition, false);
}

void
metrics_write_down(enum exposition_format format, FILE *file)
{
	struct exposition exposition = { .file = file, .format = format };

	metrics_give_down(&exposition);
	exposition_end(&exposition);
}
