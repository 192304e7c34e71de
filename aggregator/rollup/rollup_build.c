/*
 * rollup_build - build rollups from compacted samples.
 *
 * A row is written when all nodes of its block were added that are compacted in
 * this transaction; what it has of other nodes stays.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_build.h"

#include <stdlib.h>

#include "aggregator/rollup/metric_columns.h"
#include "aggregator/rollup/rollup_list.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

/* A node of the block that is being built. */
struct builder_node {
	struct rollup_columns columns;
	uint32_t node;
	uint32_t most_values; /* of a sample */
	uint32_t samples;
	struct bucket *minutes, *hour; /* of each metric */
};

struct rollup_builder {
	struct db_txn *txn;
	uint32_t partition;
	struct lookup lookup;
	struct metric_columns columns; /* of the current metric group */
	struct chunk_writer *chunk;
	struct buffer value;
	struct compacted_cursor_cache cache;
	struct rollup_list list;
	const struct counter_rate_column
	    *rate[ROLLUP_METRICS]; /* NULL: gauge */
	uint64_t *boot;            /* of each row */
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t metrics;

	/* Nodes that were added, then those that the row has already. */
	struct builder_node node[ROLLUP_NODES];
	uint32_t nodes;
	bool now[ROLLUP_NODES];     /* not later */
	struct key_row_block block; /* of one of them */
	struct builder_node *at;    /* to which samples are added */
};

struct rollup_builder *
rollup_builder_new(void)
{
	struct rollup_builder *builder = memory_zero(1, sizeof(*builder));

	builder->chunk = chunk_writer_new();
	builder->boot =
	    memory_zero(COMPACTED_ROW_ROWS_MAX, sizeof(*builder->boot));
	return builder;
}

void
rollup_builder_free(struct rollup_builder **old)
{
	struct rollup_builder *builder = *old;

	*old = NULL;
	if (builder == NULL)
		return;
	lookup_clear(&builder->lookup);
	metric_columns_clear(&builder->columns);
	chunk_writer_free(&builder->chunk);
	buffer_clear(&builder->value);
	compacted_cursor_cache_clear(&builder->cache);
	rollup_list_clear(&builder->list);
	for (uint32_t k = 0; k < ROLLUP_NODES; k++) {
		free(builder->node[k].minutes);
		free(builder->node[k].hour);
	}
	free(builder->boot);
	free(builder);
}

void
rollup_builder_begin(
    struct rollup_builder *builder, struct db_txn *txn, uint32_t partition)
{
	builder->txn = txn;
	builder->partition = partition;
	builder->nodes = 0;
	rollup_list_forget(&builder->list);
	lookup_use(&builder->lookup, txn, partition);
}

/* ---- samples into buckets ---- */

static void
add(struct rollup_builder *builder, uint32_t m, int64_t hour_ns,
    int64_t time_ns, uint64_t boot, const struct value *value)
{
	struct counter_rate_sample sample = { time_ns, boot, *value };
	int64_t step = (time_ns - hour_ns) / rollup_step_ns(ROLLUP_1MIN);
	struct bucket *bucket;

	if (!counter_rate_is_number(value) || step < 0 ||
	    step >= ROLLUP_BUCKETS)
		return;
	bucket =
	    &builder->at->minutes[(size_t)m * ROLLUP_BUCKETS + (size_t)step];
	if (!builder->metric[m].counter)
		bucket_add_gauge(bucket, &sample);
	else
		bucket_add_counter(bucket, builder->rate[m], &sample);
}

static void
see_values(struct rollup_builder *builder, uint32_t values)
{
	if (values > builder->at->most_values)
		builder->at->most_values = values;
}

/* Add rows that all have the same number of values. */
static bool
add_columns(struct rollup_builder *builder, struct compacted_row_rows *rows,
    uint32_t first, uint32_t end, int64_t hour_ns)
{
	const struct metric_columns *columns = &builder->columns;
	uint32_t values = compacted_row_values(rows), i, m;
	const struct value *column;

	see_values(builder, values);
	if (values == 0 || values > columns->columns)
		return false;
	memset(
	    builder->boot + first, 0, (end - first) * sizeof(*builder->boot));
	if (columns->boot < values) {
		column = compacted_row_column(rows, columns->boot);
		if (column == NULL)
			return false;
		for (i = first; i < end; i++)
			builder->boot[i] = metric_columns_boot(&column[i]);
	}
	for (m = 0; m < builder->metrics && builder->metric[m].index < values;
	     m++) {
		column = compacted_row_column(rows, builder->metric[m].index);
		for (i = first; column != NULL && i < end; i++)
			add(builder, m, hour_ns, rows->time_ns[i],
			    builder->boot[i], &column[i]);
	}
	return true;
}

static void
add_body(struct rollup_builder *builder, int64_t hour_ns, int64_t time_ns,
    struct text values)
{
	struct text rest = values;
	struct value value = { .type = VALUE_NIL };
	uint64_t boot = 0;
	uint32_t m = 0, i;

	for (i = 0;
	     i <= builder->columns.boot && record_next_value(&rest, &value);
	     i++)
		if (i == builder->columns.boot)
			boot = metric_columns_boot(&value);
	for (i = 0; m < builder->metrics && record_next_value(&values, &value);
	     i++)
		if (i == builder->metric[m].index)
			add(builder, m++, hour_ns, time_ns, boot, &value);
}

/* Add rows that differ, one by one. */
static void
add_bodies(struct rollup_builder *builder, struct compacted_row_rows *rows,
    uint32_t first, uint32_t end, int64_t hour_ns)
{
	struct row_block_item item;
	struct row_block_body body;

	if (!compacted_row_read_bodies(rows))
		return;
	for (uint32_t i = first; i < end; i++) {
		compacted_row_get(rows, i, &item);
		if (!row_block_get_body(
			item.body, RECORD_SAMPLE, item.time_ns, &body))
			continue;
		see_values(builder, body.values);
		if (body.values <= builder->columns.columns)
			add_body(
			    builder, hour_ns, item.time_ns, body.value_bytes);
	}
}

/* ---- a series block ---- */

static void
add_series_block(
    struct rollup_builder *builder, const struct key_row_block *block)
{
	struct compacted_cursor *cursor =
	    compacted_cursor_open(builder->txn, &builder->cache, block);
	int64_t hour_ns = (int64_t)block->hour * KEY_HOUR_NS;
	struct compacted_row_rows *rows;
	uint32_t first, end;
	bool more;

	builder->at->samples = builder->at->most_values = 0;
	compacted_cursor_seek(cursor, block->node, block->track);
	more =
	    cursor->more && cursor->row_key.node == block->node &&
	    cursor->row_key.track == block->track &&
	    compacted_cursor_take_rows(cursor, INT64_MIN, &rows, &first, &end);
	for (; more;
	     more = compacted_cursor_next_rows(cursor, &rows, &first, &end)) {
		builder->at->samples += end - first;
		if (!add_columns(builder, rows, first, end, hour_ns))
			add_bodies(builder, rows, first, end, hour_ns);
	}
	compacted_cursor_close(&cursor);
}

/* ---- a block of nodes ---- */

/* Names are views that a write may move: find the columns for each block. */
static void
find_columns(struct rollup_builder *builder, uint32_t track)
{
	metric_columns_find(&builder->columns, builder->txn, builder->partition,
	    lookup_number(&builder->lookup, track), (struct text){ NULL, 0 });
}

/* Take the metrics of the group from `first` on. */
static void
take_metrics(struct rollup_builder *builder, uint32_t first)
{
	uint32_t left = builder->columns.count - first;

	builder->metrics = left < ROLLUP_METRICS ? left : ROLLUP_METRICS;
	for (uint32_t m = 0; m < builder->metrics; m++) {
		const struct metric_column *from =
		    &builder->columns.wanted[first + m];

		builder->metric[m] =
		    (struct rollup_metric){ from->index, from->counter };
		builder->rate[m] = from->counter ? &from->rate : NULL;
	}
}

/* Empty buckets of all metrics. */
static void
clear_node(struct builder_node *node)
{
	enum { MINUTES = ROLLUP_METRICS * ROLLUP_BUCKETS };

	if (node->minutes == NULL) {
		node->minutes = memory_zero(MINUTES, sizeof(struct bucket));
		node->hour = memory_zero(ROLLUP_METRICS, sizeof(struct bucket));
		return;
	}
	memset(node->minutes, 0, MINUTES * sizeof(struct bucket));
	memset(node->hour, 0, ROLLUP_METRICS * sizeof(struct bucket));
}

/* Join the buckets of minutes, and round them all. */
static void
finish_node(struct rollup_builder *builder, struct builder_node *node)
{
	for (uint32_t m = 0; m < builder->metrics; m++) {
		struct bucket *minute = &node->minutes[m * ROLLUP_BUCKETS];
		bool counter = builder->metric[m].counter;

		for (uint32_t i = 0; i < ROLLUP_BUCKETS; i++) {
			bucket_join(
			    &node->hour[m], builder->rate[m], &minute[i]);
			rollup_round(&minute[i], counter);
		}
		rollup_round(&node->hour[m], counter);
	}
}

static void
build_nodes(struct rollup_builder *builder)
{
	for (uint32_t k = 0; k < builder->nodes; k++) {
		struct key_row_block block = builder->block;
		struct builder_node *node = builder->at = &builder->node[k];
		uint32_t defined = builder->columns.columns;

		block.node = node->node;
		clear_node(node);
		add_series_block(builder, &block);
		finish_node(builder, node);
		node->columns = (struct rollup_columns){ .defined = defined,
			.lacking = node->most_values > defined,
			.later = !builder->now[k] &&
				 node->samples <= ROLLUP_SAMPLES_FEW };
	}
}

/* Copy the buckets that a row has of a node. */
static bool
copy_node(struct rollup_row *row, uint32_t number, struct bucket *to,
    uint32_t buckets)
{
	const struct rollup_row_node *node = &row->node[number];

	for (uint32_t m = 0; m < row->metrics; m++) {
		const struct bucket *bucket = rollup_read(row, m);

		if (bucket == NULL)
			return false;
		for (uint32_t i = node->from; i < node->to; i++)
			if (row->step[i] < buckets)
				to[m * buckets + row->step[i]] = bucket[i];
	}
	return true;
}

static bool
is_added(const struct rollup_builder *builder, uint32_t node)
{
	for (uint32_t k = 0; k < builder->nodes; k++)
		if (builder->node[k].node == node)
			return true;
	return false;
}

/* Add the other nodes of a row to the list; returns how many there are then. */
static uint32_t
keep_others(struct rollup_builder *builder, struct rollup_row *row,
    enum rollup_step rollup, struct rollup_node *list)
{
	uint32_t count = builder->nodes;
	uint32_t buckets = (uint32_t)(KEY_HOUR_NS / rollup_step_ns(rollup));

	for (uint32_t k = 0; row != NULL && k < row->nodes; k++) {
		struct builder_node *node = &builder->node[count];

		if (count == ROLLUP_NODES ||
		    is_added(builder, row->node[k].node))
			continue;
		clear_node(node);
		list[count] = (struct rollup_node){ row->node[k].node,
			row->node[k].columns,
			rollup == ROLLUP_1MIN ? node->minutes : node->hour };
		if (copy_node(row, k, list[count].bucket, buckets))
			count++;
	}
	return count;
}

static int
compare_nodes(const void *left, const void *right)
{
	const struct rollup_node *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

static void
put_row(struct rollup_builder *builder, enum rollup_step rollup, uint32_t part)
{
	uint32_t buckets = (uint32_t)(KEY_HOUR_NS / rollup_step_ns(rollup));
	struct key_row_block row_key =
	    rollup_list_key(rollup, &builder->block, part);
	struct rollup_row *row = rollup_list_find(
	    &builder->list, builder->txn, rollup, &builder->block, part);
	const struct rollup_metric *metric = builder->metric;
	struct rollup_node list[ROLLUP_NODES];
	uint32_t metrics = builder->metrics, count;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text value, key = hour_cursor_key(bytes, &row_key);

	for (uint32_t k = 0; k < builder->nodes; k++) {
		struct builder_node *node = &builder->node[k];

		list[k] = (struct rollup_node){ node->node, node->columns,
			rollup == ROLLUP_1MIN ? node->minutes : node->hour };
		/* One of an hour is never made later. */
		if (rollup != ROLLUP_1MIN)
			list[k].columns.later = false;
	}
	count = keep_others(builder, row, rollup, list);
	if (row != NULL && row->metrics > metrics) {
		metric = row->metric;
		metrics = row->metrics;
	}
	qsort(list, count, sizeof(*list), compare_nodes);
	value = rollup_write(builder->chunk, &builder->value, metric, metrics,
	    list, count, buckets);
	/* LMDB would write a shorter value into the pages of a longer one of
	 * this transaction, and leave the rest of them. */
	if (row != NULL)
		db_del(builder->txn, tables_rollup(rollup), key);
	if (value.bytes > 0)
		db_put(builder->txn, tables_rollup(rollup), key, value);
	rollup_list_forget(&builder->list);
}

/* Does no sample have a value of this metric? */
static bool
is_beyond(const struct rollup_builder *builder, uint32_t metric)
{
	for (uint32_t k = 0; k < builder->nodes; k++)
		if (builder->columns.wanted[metric].index <
		    builder->node[k].most_values)
			return false;
	return true;
}

void
rollup_builder_end(struct rollup_builder *builder)
{
	uint32_t first = 0;

	if (builder->nodes == 0)
		return;
	find_columns(builder, builder->block.track);
	do {
		take_metrics(builder, first);
		build_nodes(builder);
		for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS;
		     rollup++)
			put_row(builder, rollup, first / ROLLUP_METRICS);
		first += ROLLUP_METRICS;
	} while (first < builder->columns.count && !is_beyond(builder, first));
	builder->nodes = 0;
}

static void
add_to_block(
    struct rollup_builder *builder, const struct key_row_block *node, bool now)
{
	const struct key_row_block *block = &builder->block;

	if (builder->nodes > 0 &&
	    (block->hour != node->hour || block->slice != node->slice ||
		block->track != node->track ||
		rollup_block(block->node) != rollup_block(node->node)))
		rollup_builder_end(builder);
	builder->block = *node;
	builder->now[builder->nodes] = now;
	builder->node[builder->nodes++].node = node->node;
}

void
rollup_build(struct rollup_builder *builder, const struct key_row_block *node)
{
	struct rollup_columns columns;

	if (node->hour < tables_cut(builder->txn, ROLLUP_RAW))
		for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS;
		     rollup++)
			if (rollup_list_has(&builder->list, builder->txn,
				rollup, node, &columns))
				return;
	add_to_block(builder, node, false);
}

bool
rollup_build_lacking(
    struct rollup_builder *builder, const struct key_row_block *node)
{
	struct rollup_columns columns;
	bool lacking = false;

	find_columns(builder, node->track);
	for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS; rollup++)
		if (rollup_list_has(
			&builder->list, builder->txn, rollup, node, &columns))
			lacking = lacking || columns.later ||
				  (columns.lacking && builder->columns.columns >
							  columns.defined);
	if (lacking)
		add_to_block(builder, node, true);
	return lacking;
}
