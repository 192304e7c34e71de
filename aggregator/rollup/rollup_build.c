/*
 * rollup_build - build rollups from compacted samples.
 *
 * It works metric by metric, so that only the columns in use are unpacked and
 * few buckets are in memory at once.
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

struct rollup_builder {
	struct db_txn *txn;
	uint32_t partition;
	struct lookup lookup;
	struct metric_columns columns; /* of the current metric group */
	struct chunk_writer *chunk;
	struct buffer value;
	struct compacted_cursor_cache cache;
	struct bucket *bucket; /* ROLLUP_BUCKETS of each metric */
	const struct counter_rate_column
	    *rate[ROLLUP_METRICS]; /* NULL: gauge */
	uint64_t *boot;            /* of each row */
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t metrics;
	uint32_t most_values; /* of a sample in the series block */
};

struct rollup_builder *
rollup_builder_new(void)
{
	struct rollup_builder *builder = memory_zero(1, sizeof(*builder));

	builder->chunk = chunk_writer_new();
	builder->bucket = memory_zero(
	    (size_t)ROLLUP_METRICS * ROLLUP_BUCKETS, sizeof(*builder->bucket));
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
	free(builder->bucket);
	free(builder->boot);
	free(builder);
}

void
rollup_builder_begin(
    struct rollup_builder *builder, struct db_txn *txn, uint32_t partition)
{
	builder->txn = txn;
	builder->partition = partition;
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
	bucket = &builder->metric[m].bucket[step];
	if (!builder->metric[m].counter)
		bucket_add_gauge(bucket, &sample);
	else
		bucket_add_counter(bucket, builder->rate[m], &sample);
}

static void
see_values(struct rollup_builder *builder, uint32_t values)
{
	if (values > builder->most_values)
		builder->most_values = values;
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

/* Begin with the metrics of the group from `first` on. */
static void
begin_group(struct rollup_builder *builder, uint32_t first)
{
	uint32_t left = builder->columns.count - first;

	builder->most_values = 0;
	builder->metrics = left < ROLLUP_METRICS ? left : ROLLUP_METRICS;
	memset(builder->bucket, 0,
	    (size_t)builder->metrics * ROLLUP_BUCKETS *
		sizeof(*builder->bucket));
	for (uint32_t m = 0; m < builder->metrics; m++) {
		const struct metric_column *from =
		    &builder->columns.wanted[first + m];

		builder->metric[m] =
		    (struct rollup_metric){ from->index, from->counter,
			    &builder->bucket[(size_t)m * ROLLUP_BUCKETS] };
		builder->rate[m] = from->counter ? &from->rate : NULL;
	}
}

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

	compacted_cursor_seek(cursor, block->node, block->track);
	more =
	    cursor->more && cursor->row_key.node == block->node &&
	    cursor->row_key.track == block->track &&
	    compacted_cursor_take_rows(cursor, INT64_MIN, &rows, &first, &end);
	for (; more;
	     more = compacted_cursor_next_rows(cursor, &rows, &first, &end))
		if (!add_columns(builder, rows, first, end, hour_ns))
			add_bodies(builder, rows, first, end, hour_ns);
	compacted_cursor_close(&cursor);
}

/* Names are views that a write may move: find the columns for each series
 * block. */
static void
find_columns(struct rollup_builder *builder, const struct key_row_block *block)
{
	metric_columns_find(&builder->columns, builder->txn, builder->partition,
	    lookup_number(&builder->lookup, block->track),
	    (struct text){ NULL, 0 });
}

static void
remove_old(struct rollup_builder *builder, const struct key_row_block *block,
    enum rollup_step rollup)
{
	struct key_row_block row_key = *block;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	row_key.slice = rollup;
	key_put_row_block(bytes, &row_key);
	tables_delete(builder->txn, tables_rollup(rollup),
	    (struct text){ (const char *)bytes, ROLLUP_PREFIX_BYTES },
	    UINT64_MAX);
}

/* Convert the buckets of one rollup to those of the next, in place. */
static void
widen(struct rollup_builder *builder, uint32_t times)
{
	for (uint32_t m = 0; m < builder->metrics; m++) {
		struct bucket *bucket = builder->metric[m].bucket;

		for (uint32_t i = 0; i < ROLLUP_BUCKETS; i++) {
			struct bucket one = bucket[i];

			memset(&bucket[i], 0, sizeof(bucket[i]));
			bucket_join(&bucket[i / times], builder->rate[m], &one);
		}
	}
}

static void
put_row(struct rollup_builder *builder, const struct key_row_block *block,
    enum rollup_step rollup, uint32_t group, struct text value)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block row_key = *block;

	row_key.first_ns = (int64_t)block->hour * KEY_HOUR_NS;
	row_key.row = group;
	row_key.slice = rollup;
	db_put(builder->txn, tables_rollup(rollup),
	    hour_cursor_key(bytes, &row_key), value);
}

/* Does no sample have a value of this metric? */
static bool
is_beyond(const struct rollup_builder *builder, uint32_t metric)
{
	return builder->columns.wanted[metric].index >= builder->most_values;
}

static void
put_rollups(struct rollup_builder *builder, const struct key_row_block *block,
    const struct rollup_columns *columns, uint32_t group)
{
	int64_t before_ns = rollup_step_ns(ROLLUP_1MIN);

	for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS;
	     rollup++) {
		int64_t step_ns = rollup_step_ns(rollup);
		struct text value;

		if (step_ns > before_ns)
			widen(builder, (uint32_t)(step_ns / before_ns));
		before_ns = step_ns;
		value = rollup_write(builder->chunk, &builder->value,
		    builder->metric, builder->metrics, columns,
		    (uint32_t)(KEY_HOUR_NS / step_ns));
		if (value.bytes > 0)
			put_row(builder, block, rollup, group, value);
	}
}

static void
build(struct rollup_builder *builder, const struct key_row_block *block)
{
	struct rollup_columns columns = {
		.defined = builder->columns.columns,
		.lacking = builder->columns.count == 0,
	};

	for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS; rollup++)
		remove_old(builder, block, rollup);
	begin_group(builder, 0);
	if (columns.lacking) {
		put_rollups(builder, block, &columns, 0);
		return;
	}
	add_series_block(builder, block);
	columns.lacking = builder->most_values > columns.defined;
	put_rollups(builder, block, &columns, 0);
	for (uint32_t first = ROLLUP_METRICS;
	     first < builder->columns.count && !is_beyond(builder, first);
	     first += ROLLUP_METRICS) {
		begin_group(builder, first);
		add_series_block(builder, block);
		put_rollups(builder, block, &columns, first / ROLLUP_METRICS);
	}
}

void
rollup_build(struct rollup_builder *builder, const struct key_row_block *block)
{
	if (block->hour < tables_cut(builder->txn, ROLLUP_RAW) &&
	    rollup_list_any(builder->txn, block))
		return;
	find_columns(builder, block);
	build(builder, block);
}

bool
rollup_build_lacking(
    struct rollup_builder *builder, const struct key_row_block *block)
{
	struct rollup_columns columns;
	struct text value;

	if (!rollup_list_find(builder->txn, ROLLUP_1H, block, &value) ||
	    !rollup_get_columns(value, &columns) || !columns.lacking)
		return false;
	find_columns(builder, block);
	if (builder->columns.columns <= columns.defined)
		return false;
	build(builder, block);
	return true;
}
