/*
 * rollup_read - reading buckets from columns.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
rollup_row_clear(struct rollup_row *row)
{
	chunk_reader_free(&row->chunk);
	for (uint32_t m = 0; m < ROLLUP_METRICS; m++) {
		free(row->bucket[m]);
		row->bucket[m] = NULL;
		row->room[m] = 0;
	}
}

bool
rollup_get_numbers(
    struct chunk_reader *chunk, uint32_t column, uint32_t count, int64_t *to)
{
	return column < chunk_columns(chunk) &&
	       chunk_count(chunk, column) == count &&
	       chunk_get_int(chunk, column, to) == CHUNK_OK;
}

bool
rollup_get_floats(
    struct chunk_reader *chunk, uint32_t column, uint32_t count, double *to)
{
	return column < chunk_columns(chunk) &&
	       chunk_count(chunk, column) == count &&
	       chunk_get_float(chunk, column, to) == CHUNK_OK;
}

/* ---- nodes ---- */

static bool
take_node(
    struct rollup_row *row, int64_t number, int64_t buckets, int64_t marks)
{
	struct rollup_row_node *node = &row->node[row->nodes];
	uint32_t first = row->nodes > 0 ? rollup_block(row->node[0].node) : 0;
	int64_t least = row->nodes > 0 ? (int64_t)node[-1].node + 1 : 0;

	if (number < least || number > UINT32_MAX ||
	    (row->nodes > 0 && rollup_block((uint32_t)number) != first) ||
	    buckets < 0 || buckets > ROLLUP_BUCKETS || marks < 0 ||
	    marks / ROLLUP_MARKS > RECORD_VALUES_MAX)
		return false;
	*node = (struct rollup_row_node){
		.node = (uint32_t)number,
		.columns = { (uint32_t)(marks / ROLLUP_MARKS),
		    (marks & ROLLUP_LACKING) != 0,
		    (marks & ROLLUP_LATER) != 0 },
		.from = row->count,
		.to = row->count + (uint32_t)buckets,
	};
	row->count = node->to;
	row->nodes++;
	return buckets == 0 ? node->columns.lacking || node->columns.later
			    : !node->columns.later;
}

static bool
get_nodes(struct rollup_row *row)
{
	int64_t columns[ROLLUP_NODE_COLUMNS][ROLLUP_NODES];
	uint32_t nodes;

	if (chunk_columns(row->chunk) < ROLLUP_NODE_COLUMNS)
		return false;
	nodes = chunk_count(row->chunk, ROLLUP_NODE);
	if (nodes == 0 || nodes > ROLLUP_NODES)
		return false;
	for (unsigned c = 0; c < ROLLUP_NODE_COLUMNS; c++)
		if (!rollup_get_numbers(row->chunk, c, nodes, columns[c]))
			return false;
	for (uint32_t k = 0; k < nodes; k++)
		if (!take_node(row, columns[ROLLUP_NODE][k],
			columns[ROLLUP_NODE_BUCKETS][k],
			columns[ROLLUP_NODE_MARKS][k]))
			return false;
	return true;
}

uint32_t
rollup_find_node(const struct rollup_row *row, uint32_t node)
{
	for (uint32_t k = 0; k < row->nodes; k++)
		if (row->node[k].node == node)
			return k;
	return UINT32_MAX;
}

/* ---- what metrics share ---- */

static bool
get_samples(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	int64_t numbers[ROLLUP_OWN_COLUMNS][ROLLUP_ROWS];

	for (uint32_t c = 0; c < ROLLUP_OWN_COLUMNS; c++)
		if (!rollup_get_numbers(
			row->chunk, column + c, row->count, numbers[c]))
			return false;
	for (uint32_t i = 0; i < row->count; i++) {
		int64_t first_ns = numbers[ROLLUP_FIRST_NS - 1][i];
		int64_t after_ns = numbers[ROLLUP_LAST_NS - 1][i];

		if (numbers[ROLLUP_COUNT - 1][i] < 0)
			return false;
		to[i].count = (uint64_t)numbers[ROLLUP_COUNT - 1][i];
		to[i].first.time_ns = first_ns;
		to[i].last.time_ns =
		    (int64_t)((uint64_t)first_ns + (uint64_t)after_ns);
		to[i].first.boot = (uint64_t)numbers[ROLLUP_FIRST_BOOT - 1][i];
		to[i].last.boot = (uint64_t)numbers[ROLLUP_LAST_BOOT - 1][i];
	}
	return true;
}

static bool
get_seconds(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	double numbers[ROLLUP_ROWS];

	if (!rollup_get_floats(row->chunk, column, row->count, numbers))
		return false;
	for (uint32_t i = 0; i < row->count; i++)
		to[i].seconds = numbers[i];
	return true;
}

static bool
get_shared(struct rollup_row *row)
{
	int64_t steps[ROLLUP_ROWS];
	uint32_t column = ROLLUP_NODE_COLUMNS;

	if (!rollup_get_numbers(
		row->chunk, column + ROLLUP_STEP, row->count, steps) ||
	    !get_samples(row, column + ROLLUP_COUNT, row->shared) ||
	    !get_seconds(row, column + ROLLUP_SECONDS, row->shared))
		return false;
	for (uint32_t k = 0; k < row->nodes; k++) {
		int64_t least = 0;

		for (uint32_t i = row->node[k].from; i < row->node[k].to; i++) {
			if (steps[i] < least || steps[i] >= ROLLUP_BUCKETS)
				return false;
			row->step[i] = (uint32_t)steps[i];
			least = steps[i] + 1;
		}
	}
	return true;
}

/* ---- metrics ---- */

static uint32_t
columns_of(unsigned flags)
{
	return ROLLUP_METRIC_COLUMNS - (flags & ROLLUP_GROWS ? 1 : 0) +
	       (flags & ROLLUP_OWN_SAMPLES ? ROLLUP_OWN_COLUMNS : 0) +
	       (flags & ROLLUP_OWN_SECONDS ? 1 : 0);
}

/* Read the metrics of the row, and where their columns begin. */
static bool
get_metrics(struct rollup_row *row, struct varint_reader *u)
{
	uint32_t column = ROLLUP_NODE_COLUMNS + ROLLUP_SHARED_COLUMNS;

	row->metrics = (uint32_t)varint_get_max(u, ROLLUP_METRICS);
	for (uint32_t i = 0; i < row->metrics; i++) {
		uint32_t index = (uint32_t)varint_get_max(u, RECORD_VALUES_MAX);
		unsigned flags = (unsigned)varint_get_max(u, ROLLUP_FLAGS_MAX);

		row->digits[i] = 0;
		if (flags & ROLLUP_DECIMAL)
			row->digits[i] =
			    (uint8_t)varint_get_max(u, ROLLUP_DECIMAL_MAX);
		if (row->digits[i] >> ROLLUP_TYPE_SHIFT >= ROLLUP_TYPES)
			return false;
		row->flags[i] = (uint8_t)flags;
		row->metric[i] = (struct rollup_metric){ index,
			(flags & ROLLUP_COUNTER) != 0 };
		row->column[i] = column;
		row->is_read[i] = false;
		column += columns_of(flags);
	}
	return !u->bad;
}

bool
rollup_open(struct rollup_row *row, struct text value)
{
	struct varint_reader u = varint_reader_of(value);

	if (row->chunk == NULL)
		row->chunk = chunk_reader_new();
	row->count = row->nodes = 0;
	return get_metrics(row, &u) &&
	       chunk_open(row->chunk, varint_get_bytes(&u, varint_left(&u))) ==
		   CHUNK_OK &&
	       get_nodes(row) && (row->count > 0) == (row->metrics > 0) &&
	       (row->count == 0 || get_shared(row));
}

static bool
get_ends(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	struct value values[2][ROLLUP_ROWS];

	for (uint32_t c = 0; c < 2; c++)
		if (column + c >= chunk_columns(row->chunk) ||
		    chunk_count(row->chunk, column + c) != row->count ||
		    chunk_get_value(row->chunk, column + c, values[c]) !=
			CHUNK_OK)
			return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (to[i].count > 0 &&
		    (!counter_rate_is_number(&values[0][i]) ||
			!counter_rate_is_number(&values[1][i])))
			return false;
		to[i].first.value = values[0][i];
		to[i].last.value = values[1][i];
	}
	return true;
}

/* The numbers of a metric that are no decimals. */
static bool
get_plain(
    struct rollup_row *row, uint32_t column, unsigned flags, struct bucket *to)
{
	double low[ROLLUP_ROWS], high[ROLLUP_ROWS], sum[ROLLUP_ROWS];
	bool grows = (flags & ROLLUP_GROWS) != 0;
	uint32_t count = row->count;

	if (!rollup_get_floats(row->chunk, column + ROLLUP_LOW, count, low) ||
	    !rollup_get_floats(row->chunk, column + ROLLUP_HIGH, count, high) ||
	    !get_ends(row, column + ROLLUP_FIRST, to) ||
	    (!grows && !rollup_get_floats(
			   row->chunk, column + ROLLUP_SUM, count, sum)))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		to[i].low = low[i];
		to[i].high = high[i];
		to[i].sum = grows ? rollup_growth(&to[i]) : sum[i];
		if ((flags & ROLLUP_COUNTER) == 0)
			to[i].seconds = 0;
	}
	return true;
}

static bool
get_metric(struct rollup_row *row, uint32_t metric, struct bucket *to)
{
	uint32_t column = row->column[metric];
	unsigned flags = row->flags[metric];

	memcpy(to, row->shared, row->count * sizeof(*to));
	if (flags & ROLLUP_OWN_SAMPLES) {
		if (!get_samples(row, column, to))
			return false;
		column += ROLLUP_OWN_COLUMNS;
	}
	if (flags & ROLLUP_OWN_SECONDS && !get_seconds(row, column++, to))
		return false;
	return flags & ROLLUP_DECIMAL
		   ? rollup_get_decimals(row->chunk, column, to, row->count,
			 flags, row->digits[metric])
		   : get_plain(row, column, flags, to);
}

const struct bucket *
rollup_read(struct rollup_row *row, uint32_t metric)
{
	if (row->is_read[metric])
		return row->bucket[metric];
	if (row->room[metric] < row->count) {
		free(row->bucket[metric]);
		row->bucket[metric] =
		    memory_zero(row->count, sizeof(struct bucket));
		row->room[metric] = row->count;
	}
	row->is_read[metric] = get_metric(row, metric, row->bucket[metric]);
	return row->is_read[metric] ? row->bucket[metric] : NULL;
}
