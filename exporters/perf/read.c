/*
 * perf_read - read the reports of a pool: sums by node, or the list of a node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/read.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/record/node_list.h"

enum { STEP_DIGITS_MAX = 18 };

static struct wire_query
query_of(const struct perf_select *select, enum record_kind kind)
{
	struct wire_query query = source_query(1u << kind);

	query.name = text_of(kind == RECORD_SAMPLE ? "perf" : "node:*");
	query.node = select->node;
	if (kind != RECORD_SAMPLE)
		return query;
	query.from_ns = select->from_ns;
	query.to_ns = select->to_ns;
	if (select->jobs != NULL)
		job_intervals_narrow(select->jobs, &query);
	return query;
}

/* Is the record a report within the requested time range? */
static bool
is_wanted(const struct perf_select *select, const struct record *record)
{
	return perf_report_is(record) &&
	       (select->jobs == NULL ||
		   job_intervals_has(select->jobs, record));
}

static uint32_t
add_node(struct perf_pool *pool, struct text name)
{
	uint32_t number = string_table_add(&pool->names, name);

	pool->nodes = memory_grow_zero(
	    pool->nodes, &pool->room, number, sizeof(*pool->nodes));
	return number;
}

/* Consumes all samples of a record; an older aggregator sends samples one by
 * one. */
static void
add_reports(struct perf_node *node, const struct record *record)
{
	double numbers[PERF_GROUP_COLUMNS];
	struct wire_columns columns;

	if (wire_columns_init(&columns, record)) {
		perf_node_add_columns(node, &columns);
		return;
	}
	record_get_numbers(record, numbers, PERF_GROUP_COLUMNS);
	perf_node_add(node, record->time_ns, numbers);
}

static int
read_reports(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	struct wire_query query = query_of(select, RECORD_SAMPLE);
	struct record record;
	uint32_t last = 0;
	int rc;

	/* Whether a report belongs to a job must be tested for each report. */
	query.per_record = select->jobs == NULL ? UINT32_MAX : 0;
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0) {
		if (!is_wanted(select, &record))
			continue;
		if (pool->names.count == 0 ||
		    !text_equal(pool->names.names[last], record.node))
			last = add_node(pool, record.node);
		add_reports(&pool->nodes[last], &record);
	}
	return rc;
}

static int
read_nodes(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	struct wire_query query = query_of(select, RECORD_ENTITY);
	const struct job_intervals *job_intervals = select->jobs;
	struct record record;
	int rc;

	for (uint32_t i = 0; job_intervals != NULL && i < job_intervals->count;
	     i++)
		if (node_list_match(query.node, job_intervals->at[i].node))
			add_node(pool, job_intervals->at[i].node);
	if (job_intervals != NULL)
		return 0;
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0)
		if (text_equal(record.source, text_of("node")))
			add_node(pool, record.name);
	return rc;
}

/* ---- order of nodes ---- */

static bool
is_number(struct text name)
{
	if (name.bytes == 0 || name.bytes > STEP_DIGITS_MAX ||
	    (name.at[0] == '0' && name.bytes > 1))
		return false;
	for (uint32_t i = 0; i < name.bytes; i++)
		if (name.at[i] < '0' || name.at[i] > '9')
			return false;
	return true;
}

static int
by_name(const void *left, const void *right, void *arg)
{
	const struct perf_pool *pool = arg;
	struct text a = pool->names.names[*(const uint32_t *)left];
	struct text b = pool->names.names[*(const uint32_t *)right];

	/* Numbers without leading zeros: the longer one is the greater. */
	if (pool->numbered && a.bytes != b.bytes)
		return a.bytes < b.bytes ? -1 : 1;
	return text_compare(a, b);
}

static void
sort(struct perf_pool *pool)
{
	uint32_t count = pool->names.count;

	pool->order = memory_zero(count + 1, sizeof(*pool->order));
	pool->numbered = true;
	for (uint32_t i = 0; i < count; i++) {
		pool->order[i] = i;
		if (!is_number(pool->names.names[i]))
			pool->numbered = false;
	}
	qsort_r(pool->order, count, sizeof(*pool->order), by_name, pool);
}

int
perf_read(
    struct perf_pool *pool, const struct perf_select *select, struct err *err)
{
	string_table_init(&pool->names);
	if (read_reports(pool, select, err) != 0 ||
	    read_nodes(pool, select, err) != 0)
		return -1;
	sort(pool);
	return 0;
}

void
perf_pool_clear(struct perf_pool *pool)
{
	string_table_clear(&pool->names);
	free(pool->nodes);
	free(pool->order);
	memset(pool, 0, sizeof(*pool));
}

int64_t
perf_step(const struct perf_pool *pool, uint32_t row)
{
	uint64_t number = row;

	if (pool->numbered)
		number_parse_u64(
		    pool->names.names[pool->order[row]], &number, NULL);
	return (int64_t)number;
}

int
perf_read_node(const struct perf_select *select, struct text node,
    void (*on_report)(void *arg, const struct perf_report *report), void *arg,
    struct err *err)
{
	struct wire_query query = query_of(select, RECORD_SAMPLE);
	char list[2 * NAME_BYTES_MAX];
	struct perf_report report;
	struct record record;
	int rc;

	query.node = node_list_quote(list, node, false);
	if (source_select(select->source, SOURCE_RECORDS, select->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(select->source, &record, err)) > 0)
		if (is_wanted(select, &record) &&
		    perf_report_get(&report, &record))
			on_report(arg, &report);
	return rc;
}
