/*
 * series_add - add samples and rollups to buckets.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

/* ---- samples ---- */

/* The boot number of a sample with these values. */
static uint64_t
boot_of(const struct metric_columns *columns, struct text values)
{
	struct value value = { .type = VALUE_NIL };

	if (columns->boot >= columns->columns)
		return 0;
	/* A sample of an older definition may end before it. */
	for (uint32_t i = 0; i <= columns->boot; i++)
		if (!record_next_value(&values, &value))
			return 0;
	return metric_columns_boot(&value);
}

static void
add(const struct metric_column *column, struct bucket *bucket,
    const struct counter_rate_sample *sample)
{
	if (column->counter)
		bucket_add_counter(bucket, &column->rate, sample);
	else
		bucket_add_gauge(bucket, sample);
}

/* A damaged time must not lead outside of the buckets. */
static bool
is_of_hour(const struct series_group *group, int64_t time_ns)
{
	return time_ns >= group->hour_ns &&
	       time_ns < group->hour_ns + KEY_HOUR_NS;
}

static void
see_values(struct series *series, uint32_t values)
{
	if (values > series->most_values && values <= series->columns->columns)
		series->most_values = values;
}

/* Add a sample to the buckets of its step. */
static void
add_sample(struct series *series, const struct series_group *group,
    int64_t time_ns, const struct row_block_body *body)
{
	const struct metric_columns *columns = series->columns;
	struct text values = body->value_bytes;
	uint32_t step =
	    (uint32_t)((time_ns - group->hour_ns) / series->step_ns);
	uint32_t at = group->first, index = 0;
	struct counter_rate_sample sample = { .time_ns = time_ns };

	see_values(series, body->values);
	/* More values than columns: the definition has not arrived. */
	if (body->values > columns->columns || !is_of_hour(group, time_ns))
		return;
	sample.boot = boot_of(columns, values);
	while (at < group->end && record_next_value(&values, &sample.value)) {
		if (index++ != columns->wanted[at].index)
			continue;
		add(&columns->wanted[at],
		    &series->buckets[(at - group->first) * group->steps + step],
		    &sample);
		at++;
	}
}

static void
add_item(struct series *series, const struct page *page,
    const struct series_group *group, const struct row_block_item *item)
{
	struct row_block_body body;

	if (item->time_ns >= page->query->from_ns &&
	    item->time_ns < page->query->to_ns &&
	    row_block_get_body(item->body, RECORD_SAMPLE, item->time_ns, &body))
		add_sample(series, group, item->time_ns, &body);
}

/* Add all samples in the merge. */
static void
add_merged(
    struct series *series, struct page *page, const struct series_group *group)
{
	struct merge *merge = &page->reader->merge;
	struct row_block_item item;

	while (merge_next(merge, &item)) {
		if (item.time_ns >= page->query->to_ns)
			break;
		page->examined++;
		add_item(series, page, group, &item);
	}
}

/* ---- columns of a compacted slice ---- */

static void
add_column(struct series *series, const struct page *page,
    const struct series_group *group, const struct compacted_row_rows *rows,
    const struct value *values, uint32_t first, uint32_t end, uint32_t at)
{
	const struct metric_column *column = &series->columns->wanted[at];
	struct bucket *buckets =
	    &series->buckets[(size_t)(at - group->first) * group->steps];

	for (uint32_t i = first; i < end; i++) {
		struct counter_rate_sample sample = { rows->time_ns[i],
			series->boot[i], values[i] };

		if (sample.time_ns >= page->query->to_ns)
			break;
		if (is_of_hour(group, sample.time_ns))
			add(column,
			    &buckets[(sample.time_ns - group->hour_ns) /
				     series->step_ns],
			    &sample);
	}
}

static void
make_room(struct series *series)
{
	if (series->boot != NULL)
		return;
	series->boot =
	    memory_alloc(COMPACTED_ROW_ROWS_MAX * sizeof(*series->boot));
}

/* Add only the selected columns; false: the rows have different numbers of
 * values. */
static bool
add_columns(struct series *series, const struct page *page,
    const struct series_group *group, struct compacted_row_rows *rows,
    uint32_t first, uint32_t end)
{
	const struct metric_columns *columns = series->columns;
	uint32_t values = compacted_row_values(rows), i;
	const struct value *column;

	if (values == 0 || values > columns->columns)
		return false;
	see_values(series, values);
	make_room(series);
	memset(series->boot + first, 0, (end - first) * sizeof(*series->boot));
	if (columns->boot < values) {
		column = compacted_row_column(rows, columns->boot);
		if (column == NULL)
			return false;
		for (i = first; i < end; i++)
			series->boot[i] = metric_columns_boot(&column[i]);
	}
	for (i = group->first;
	     i < group->end && columns->wanted[i].index < values; i++) {
		column = compacted_row_column(rows, columns->wanted[i].index);
		if (column != NULL)
			add_column(
			    series, page, group, rows, column, first, end, i);
	}
	return true;
}

/* Add the rows that the cursor has found, and those that follow. */
static void
add_rows(struct series *series, struct page *page,
    const struct series_group *group, struct compacted_cursor *cursor)
{
	struct compacted_row_rows *rows;
	struct row_block_item item;
	uint32_t first, end;
	bool more = true;

	compacted_cursor_taken_rows(cursor, &rows, &first, &end);
	for (; more && rows->time_ns[first] < page->query->to_ns;
	     more = compacted_cursor_next_rows(cursor, &rows, &first, &end)) {
		page->examined +=
		    (end - first) / 16; /* columns are cheaper to read */
		if (add_columns(series, page, group, rows, first, end) ||
		    !compacted_row_read_bodies(rows))
			continue;
		for (; first < end; first++) {
			compacted_row_get(rows, first, &item);
			add_item(series, page, group, &item);
		}
	}
}

static void
add_compacted(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	int64_t first_ns;

	if (compacted_cursor_may_have(part->compacted_cursor,
		page->query->from_ns, page->query->to_ns) &&
	    compacted_cursor_take(
		part->compacted_cursor, page->query->from_ns, &first_ns))
		add_rows(series, page, group, part->compacted_cursor);
}

/* Add all samples in the merge, one row block or compacted slice after
 * another. */
static void
add_sequence(
    struct series *series, struct page *page, const struct series_group *group)
{
	struct merge *merge = &page->reader->merge;
	struct row_block_item item;

	for (uint32_t i = 0; i < merge->count; i++) {
		struct merge_row *row = &merge->at[i];

		if (row->compacted_cursor != NULL) {
			add_rows(series, page, group, row->compacted_cursor);
			continue;
		}
		while (row_block_next(&row->rows, &item)) {
			page->examined++;
			add_item(series, page, group, &item);
		}
	}
}

/* ---- rows of a rollup ---- */

/* A node in a row of a rollup. */
struct source {
	struct rollup_row *row;
	const struct rollup_row_node *node;
	enum rollup_step rollup;
};

/* Add the buckets of the `number`-th metric in the row. */
static void
join_metric(struct series *series, const struct page *page,
    const struct source *source, const struct series_group *group,
    uint32_t number, uint32_t at)
{
	int64_t rollup_ns = rollup_step_ns(source->rollup);
	const struct bucket *from = rollup_read(source->row, number);
	const struct metric_column *column = &series->columns->wanted[at];
	struct bucket *to =
	    &series->buckets[(size_t)(at - group->first) * group->steps];

	for (uint32_t i = source->node->from;
	     from != NULL && i < source->node->to; i++) {
		int64_t since_ns = (int64_t)source->row->step[i] * rollup_ns;
		int64_t begin_ns = group->hour_ns + since_ns;

		if (since_ns < KEY_HOUR_NS && begin_ns < page->query->to_ns &&
		    begin_ns + rollup_ns > page->query->from_ns)
			bucket_join(&to[since_ns / series->step_ns],
			    column->counter ? &column->rate : NULL, &from[i]);
	}
}

static void
join_row(struct series *series, const struct page *page,
    const struct source *source, const struct series_group *group)
{
	const struct rollup_row *row = source->row;
	uint32_t number, at = group->first;

	/* Both lists are in the order of the index. */
	for (number = 0; number < row->metrics; number++) {
		const struct rollup_metric *metric = &row->metric[number];

		while (at < group->end &&
		       series->columns->wanted[at].index < metric->index)
			at++;
		if (at < group->end &&
		    series->columns->wanted[at].index == metric->index &&
		    series->columns->wanted[at].counter == metric->counter)
			join_metric(series, page, source, group, number, at);
	}
}

static void
add_rollup(struct series *series, struct page *page,
    const struct series_input *input, const struct series_group *group)
{
	struct source source = { .rollup = input->rollup };

	for (uint32_t part = 0;
	     (source.row = rollup_list_find(&series->rollups, page->txn,
		  input->rollup, &input->key, part)) != NULL;
	     part++) {
		uint32_t k = rollup_find_node(source.row, input->key.node);

		page->examined += 4;
		if (k == UINT32_MAX)
			continue;
		source.node = &source.row->node[k];
		/* It has the columns that were defined when it was made. */
		if (source.node->columns.defined > series->columns->columns)
			continue;
		see_values(series, source.node->columns.defined);
		join_row(series, page, &source, group);
	}
}

/* ---- a series block ---- */

static void
reset(struct series *series, const struct series_group *group)
{
	uint32_t columns = group->end - group->first;

	series->most_values = 0;
	/* Nothing else of an empty bucket is defined, or read. */
	for (uint32_t i = 0; i < columns * group->steps; i++)
		series->buckets[i].count = 0;
}

void
series_add(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	reset(series, group);
	if (part->rollup != ROLLUP_RAW)
		add_rollup(series, page, part, group);
	else if (part->compacted_cursor != NULL)
		add_compacted(series, page, part, group);
	else if (merge_is_sequence(&page->reader->merge))
		add_sequence(series, page, group);
	else
		add_merged(series, page, group);
}
