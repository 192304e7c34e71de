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
	struct compacted_row_rows rows;
	struct bucket *bucket; /* ROLLUP_BUCKETS of each metric */
	const struct counter_rate_column
	    *rate[ROLLUP_METRICS]; /* NULL: gauge */
	uint64_t *boot;            /* of each row */
	struct value *column;
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t metrics;
	uint32_t dense;                     /* as ROLLUP_DENSE */
	uint32_t samples;                   /* in the series block */
	uint32_t most_values;               /* of one of them */
	unsigned char seen[ROLLUP_BUCKETS]; /* 1: the step has samples */
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
	builder->column =
	    memory_zero(COMPACTED_ROW_ROWS_MAX, sizeof(*builder->column));
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
	compacted_row_rows_clear(&builder->rows);
	free(builder->bucket);
	free(builder->boot);
	free(builder->column);
	free(builder);
}

void
rollup_builder_begin(struct rollup_builder *builder, struct db_txn *txn,
    uint32_t partition, uint32_t dense)
{
	builder->dense = dense;
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
	int64_t step = (time_ns - hour_ns) / rollup_step_ns(ROLLUP_10S);
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

/* Add a chunk whose samples all have the same number of values. */
static bool
add_columns(struct rollup_builder *builder, int64_t hour_ns)
{
	const struct metric_columns *columns = &builder->columns;
	struct compacted_row_rows *rows = &builder->rows;
	uint32_t values = compacted_row_values(rows);
	uint32_t count = rows->count, i, m;

	see_values(builder, values);
	if (values == 0 || values > columns->columns ||
	    !compacted_row_read_ids(rows))
		return false;
	memset(builder->boot, 0, count * sizeof(*builder->boot));
	if (columns->boot < values) {
		if (!compacted_row_read_value(
			rows, columns->boot, builder->column, count))
			return false;
		for (i = 0; i < count; i++)
			builder->boot[i] =
			    metric_columns_boot(&builder->column[i]);
	}
	for (m = 0; m < builder->metrics && builder->metric[m].index < values;
	     m++) {
		if (!compacted_row_read_value(
			rows, builder->metric[m].index, builder->column, count))
			continue;
		for (i = 0; i < count; i++)
			add(builder, m, hour_ns, rows->time_ns[i],
			    builder->boot[i], &builder->column[i]);
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

/* Add a chunk whose samples differ, one by one. */
static void
add_bodies(struct rollup_builder *builder, int64_t hour_ns)
{
	struct compacted_row_rows *rows = &builder->rows;
	struct row_block_item item;
	struct row_block_body body;

	if (!compacted_row_read_bodies(rows))
		return;
	for (uint32_t i = 0; i < rows->count; i++) {
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

/* Count the samples, and mark the steps that have any. */
static void
count_samples(struct rollup_builder *builder, int64_t hour_ns)
{
	const struct compacted_row_rows *rows = &builder->rows;

	builder->samples += rows->count;
	for (uint32_t i = 0; i < rows->count; i++) {
		int64_t step =
		    (rows->time_ns[i] - hour_ns) / rollup_step_ns(ROLLUP_10S);

		if (step >= 0 && step < ROLLUP_BUCKETS)
			builder->seen[step] = 1;
	}
}

/* Begin with the metrics of the group from `first` on. */
static void
begin_group(struct rollup_builder *builder, uint32_t first)
{
	uint32_t left = builder->columns.count - first;

	builder->samples = builder->most_values = 0;
	memset(builder->seen, 0, sizeof(builder->seen));
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
	struct db_cursor *cursor = db_cursor_open(builder->txn, TABLES_CHUNKS);
	int64_t hour_ns = (int64_t)block->hour * KEY_HOUR_NS;
	struct key_row_block from = *block, row_key;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more;

	from.first_ns = INT64_MIN;
	from.row = 0;
	more = db_seek(cursor, hour_cursor_key(bytes, &from), &key, &value);
	for (; more && key_get_row_block(key, &row_key) &&
	       row_key.node == block->node && row_key.track == block->track &&
	       row_key.slice == block->slice && row_key.hour == block->hour &&
	       row_key.kind == block->kind &&
	       row_key.partition == block->partition;
	     more = db_next(cursor, &key, &value)) {
		if (!compacted_row_open(&builder->rows, value))
			continue;
		if (!add_columns(builder, hour_ns))
			add_bodies(builder, hour_ns);
		if (compacted_row_read_ids(&builder->rows))
			count_samples(builder, hour_ns);
	}
	db_cursor_close(&cursor);
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

/* The finest rollup with enough samples in each bucket that has any; ROLLUPS:
 * none has. */
static enum rollup_step
finest_dense(const struct rollup_builder *builder)
{
	enum rollup_step rollup;

	for (rollup = ROLLUP_10S; rollup < ROLLUPS; rollup++) {
		uint32_t of = (uint32_t)(rollup_step_ns(rollup) /
					 rollup_step_ns(ROLLUP_10S));
		uint32_t buckets = 0;

		for (uint32_t i = 0; i < ROLLUP_BUCKETS; i += of)
			buckets += memchr(&builder->seen[i], 1, of) != NULL;
		if (builder->samples >= (uint64_t)builder->dense * buckets)
			break;
	}
	return rollup;
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
    const bool make[static ROLLUPS], uint32_t group)
{
	int64_t before_ns = rollup_step_ns(ROLLUP_10S);

	for (enum rollup_step rollup = ROLLUP_10S; rollup < ROLLUPS; rollup++) {
		int64_t step_ns = rollup_step_ns(rollup);
		struct text value;

		if (!make[rollup])
			continue;
		if (step_ns > before_ns)
			widen(builder, (uint32_t)(step_ns / before_ns));
		before_ns = step_ns;
		value = rollup_write(builder->chunk, &builder->value,
		    builder->metric, builder->metrics, builder->columns.columns,
		    (uint32_t)(KEY_HOUR_NS / step_ns));
		if (value.bytes > 0)
			put_row(builder, block, rollup, group, value);
	}
}

/* Write a mark for each rollup finer than `finest`. */
static void
put_marks(struct rollup_builder *builder, const struct key_row_block *block,
    enum rollup_step finest, const char *mark)
{
	for (enum rollup_step rollup = ROLLUP_10S; rollup < finest; rollup++)
		put_row(builder, block, rollup, 0,
		    (struct text){ mark, ROLLUP_MARK_BYTES });
}

void
rollup_build(struct rollup_builder *builder, const struct key_row_block *block)
{
	enum rollup_step finest = ROLLUPS;
	bool make[ROLLUPS] = { false };
	uint32_t first;

	if (block->hour < tables_cut(builder->txn, ROLLUP_RAW) &&
	    rollup_list_any(builder->txn, block) &&
	    !rollup_list_need_samples(builder->txn, block))
		return;
	for (enum rollup_step rollup = ROLLUP_10S; rollup < ROLLUPS; rollup++)
		remove_old(builder, block, rollup);
	find_columns(builder, block);
	/* The metric group may be defined later. */
	if (builder->columns.count == 0)
		put_marks(builder, block, ROLLUPS, ROLLUP_UNKNOWN);
	for (first = 0; first < builder->columns.count;
	     first += ROLLUP_METRICS) {
		if (first > 0 && is_beyond(builder, first))
			break;
		begin_group(builder, first);
		add_series_block(builder, block);
		if (first == 0) {
			/* The rest of the definition may come later: until
			 * then the samples keep what a rollup would lose. */
			finest = builder->most_values > builder->columns.columns
				     ? ROLLUPS
				     : finest_dense(builder);
			put_marks(builder, block, finest, ROLLUP_SAMPLES);
			for (unsigned i = finest; i < ROLLUPS; i++)
				make[i] = true;
		}
		if (finest == ROLLUPS)
			break;
		put_rollups(builder, block, make, first / ROLLUP_METRICS);
	}
}

/* ---- samples that are about to be deleted ---- */

/* Which of the rollups whose place the samples take are to be built?  Marks the
 * others; false: none is. */
static bool
choose_last(struct rollup_builder *builder, const struct key_row_block *block,
    const bool wanted[static ROLLUPS], bool make[static ROLLUPS])
{
	bool coarser = false, any = false;
	struct text value;

	for (enum rollup_step rollup = ROLLUPS; --rollup >= ROLLUP_10S;) {
		if (!rollup_list_find(builder->txn, rollup, block, &value))
			continue;
		if (!rollup_is_samples(value)) {
			coarser = coarser || !rollup_is_mark(value);
			continue;
		}
		make[rollup] = wanted[rollup] || !coarser;
		any = any || make[rollup];
		coarser = true;
		remove_old(builder, block, rollup);
		if (!make[rollup])
			put_row(builder, block, rollup, 0,
			    (struct text){ ROLLUP_COARSER, ROLLUP_MARK_BYTES });
	}
	return any;
}

void
rollup_build_last(struct rollup_builder *builder,
    const struct key_row_block *block, const bool wanted[static ROLLUPS])
{
	bool make[ROLLUPS] = { false };

	if (!choose_last(builder, block, wanted, make))
		return;
	find_columns(builder, block);
	for (uint32_t first = 0; first < builder->columns.count;
	     first += ROLLUP_METRICS) {
		if (first > 0 && is_beyond(builder, first))
			break;
		begin_group(builder, first);
		add_series_block(builder, block);
		put_rollups(builder, block, make, first / ROLLUP_METRICS);
	}
}
