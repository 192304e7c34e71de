/*
 * rollup_read - reading buckets from columns.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_private.h"

void
rollup_row_clear(struct rollup_row *row)
{
	chunk_reader_free(&row->chunk);
}

static bool
get_numbers(struct rollup_row *row, uint32_t column, int64_t *to)
{
	return column < chunk_columns(row->chunk) &&
	       chunk_count(row->chunk, column) == row->count &&
	       chunk_get_int(row->chunk, column, to) == CHUNK_OK;
}

static bool
get_floats(struct rollup_row *row, uint32_t column, double *to)
{
	return column < chunk_columns(row->chunk) &&
	       chunk_count(row->chunk, column) == row->count &&
	       chunk_get_float(row->chunk, column, to) == CHUNK_OK;
}

static bool
get_samples(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	int64_t numbers[ROLLUP_OWN_COLUMNS][ROLLUP_BUCKETS];

	for (uint32_t c = 0; c < ROLLUP_OWN_COLUMNS; c++)
		if (!get_numbers(row, column + c, numbers[c]))
			return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (numbers[0][i] < 0)
			return false;
		to[i].count = (uint64_t)numbers[ROLLUP_COUNT - 1][i];
		to[i].first.time_ns = numbers[ROLLUP_FIRST_NS - 1][i];
		to[i].last.time_ns = numbers[ROLLUP_LAST_NS - 1][i];
		to[i].first.boot = (uint64_t)numbers[ROLLUP_FIRST_BOOT - 1][i];
		to[i].last.boot = (uint64_t)numbers[ROLLUP_LAST_BOOT - 1][i];
	}
	return true;
}

static bool
get_seconds(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	double numbers[ROLLUP_BUCKETS];

	if (!get_floats(row, column, numbers))
		return false;
	for (uint32_t i = 0; i < row->count; i++)
		to[i].seconds = numbers[i];
	return true;
}

static bool
get_shared(struct rollup_row *row)
{
	int64_t steps[ROLLUP_BUCKETS];

	if (!get_numbers(row, ROLLUP_STEP, steps) ||
	    !get_samples(row, ROLLUP_COUNT, row->shared) ||
	    !get_seconds(row, ROLLUP_SECONDS, row->shared))
		return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (steps[i] < (i > 0 ? (int64_t)row->step[i - 1] + 1 : 0) ||
		    steps[i] >= ROLLUP_BUCKETS)
			return false;
		row->step[i] = (uint32_t)steps[i];
	}
	return true;
}

static void
get_columns(struct varint_reader *u, struct rollup_columns *columns)
{
	columns->lacking = varint_get_max(u, 1) != 0;
	columns->defined = (uint32_t)varint_get_max(u, RECORD_VALUES_MAX);
}

bool
rollup_get_columns(struct text value, struct rollup_columns *columns)
{
	struct varint_reader u = varint_reader_of(value);

	get_columns(&u, columns);
	return !u.bad;
}

/* Read the metrics of the row, and where their columns begin. */
static bool
get_metrics(struct rollup_row *row, struct varint_reader *u)
{
	uint32_t column = ROLLUP_SHARED_COLUMNS;

	get_columns(u, &row->columns);
	row->metrics = (uint32_t)varint_get_max(u, ROLLUP_METRICS);
	for (uint32_t i = 0; i < row->metrics; i++) {
		uint32_t index = (uint32_t)varint_get_max(u, RECORD_VALUES_MAX);

		row->own[i] = (uint8_t)varint_get_max(u, ROLLUP_FLAGS_MAX);
		row->metric[i] = (struct rollup_metric){ index,
			(row->own[i] & ROLLUP_COUNTER) != 0, NULL };
		row->column[i] = column;
		column += ROLLUP_METRIC_COLUMNS -
			  (row->own[i] & ROLLUP_GROWS ? 1 : 0);
		column +=
		    row->own[i] & ROLLUP_OWN_SAMPLES ? ROLLUP_OWN_COLUMNS : 0;
		column += row->own[i] & ROLLUP_OWN_SECONDS ? 1 : 0;
	}
	return !u->bad;
}

bool
rollup_open(struct rollup_row *row, struct text value)
{
	struct varint_reader u = varint_reader_of(value);

	if (row->chunk == NULL)
		row->chunk = chunk_reader_new();
	row->count = 0;
	if (!get_metrics(row, &u))
		return false;
	if (row->metrics == 0)
		return row->columns.lacking && varint_left(&u) == 0;
	if (chunk_open(row->chunk, varint_get_bytes(&u, varint_left(&u))) !=
		CHUNK_OK ||
	    chunk_columns(row->chunk) < ROLLUP_SHARED_COLUMNS ||
	    chunk_count(row->chunk, ROLLUP_STEP) == 0 ||
	    chunk_count(row->chunk, ROLLUP_STEP) > ROLLUP_BUCKETS)
		return false;
	row->count = chunk_count(row->chunk, ROLLUP_STEP);
	return get_shared(row);
}

static bool
get_ends(struct rollup_row *row, uint32_t column, struct bucket *to)
{
	struct value values[2][ROLLUP_BUCKETS];

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

bool
rollup_read(struct rollup_row *row, uint32_t metric,
    struct bucket to[static ROLLUP_BUCKETS])
{
	double low[ROLLUP_BUCKETS], high[ROLLUP_BUCKETS], sum[ROLLUP_BUCKETS];
	uint32_t column = row->column[metric];
	bool grows = (row->own[metric] & ROLLUP_GROWS) != 0;

	memcpy(to, row->shared, row->count * sizeof(*to));
	if (row->own[metric] & ROLLUP_OWN_SAMPLES) {
		if (!get_samples(row, column, to))
			return false;
		column += ROLLUP_OWN_COLUMNS;
	}
	if (row->own[metric] & ROLLUP_OWN_SECONDS &&
	    !get_seconds(row, column++, to))
		return false;
	if (!get_floats(row, column + ROLLUP_LOW, low) ||
	    !get_floats(row, column + ROLLUP_HIGH, high) ||
	    !get_ends(row, column + ROLLUP_FIRST, to) ||
	    (!grows && !get_floats(row, column + ROLLUP_SUM, sum)))
		return false;
	for (uint32_t i = 0; i < row->count; i++) {
		to[i].low = low[i];
		to[i].high = high[i];
		to[i].sum = grows ? rollup_growth(&to[i]) : sum[i];
		if (!row->metric[metric].counter)
			to[i].seconds = 0;
	}
	return true;
}
