/*
 * rollup_columns - rollups of samples as rows of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rollup_columns.h"

#include "aggregator/archive/rows/record_columns.h"

/* Columns behind `samples`. */
enum {
	METRIC,
	TYPES,
	COUNT,
	FIRST_NS,
	LAST_NS,
	FIRST_BOOT,
	LAST_BOOT,
	SECONDS,
	LOW,
	HIGH,
	SUM,
	FIRST,
	LAST,
	BIG,
	COLUMNS
};

static void
put_metric(struct native_block *block, unsigned column,
    const struct rollup_metric *metric, const struct bucket *of, char *letters)
{
	static const struct bucket none = { .first.value.type = VALUE_NIL,
		.last.value.type = VALUE_NIL };
	const struct bucket *bucket = of->count > 0 ? of : &none;

	native_put_uint(block, column + METRIC, metric->index);
	native_put_uint(block, column + COUNT, bucket->count);
	native_put_uint(
	    block, column + FIRST_NS, (uint64_t)bucket->first.time_ns);
	native_put_uint(
	    block, column + LAST_NS, (uint64_t)bucket->last.time_ns);
	native_put_uint(block, column + FIRST_BOOT, bucket->first.boot);
	native_put_uint(block, column + LAST_BOOT, bucket->last.boot);
	native_put_float(block, column + SECONDS, bucket->seconds);
	native_put_float(block, column + LOW, bucket->low);
	native_put_float(block, column + HIGH, bucket->high);
	native_put_float(block, column + SUM, bucket->sum);
	letters[0] =
	    metric->counter ? ROLLUP_COLUMNS_COUNTER : ROLLUP_COLUMNS_GAUGE;
	letters[1] = archive_put_number(
	    block, column + FIRST, column + BIG, &bucket->first.value);
	letters[2] = archive_put_number(
	    block, column + LAST, column + BIG, &bucket->last.value);
}

void
rollup_columns_put(struct typed *to, struct rollup_row *row,
    const struct rollup_row_node *node, uint32_t at)
{
	char letters[ROLLUP_METRICS * ROLLUP_COLUMNS_LETTERS];
	uint64_t samples = 0;
	unsigned column;

	for (uint32_t m = 0; m < row->metrics; m++)
		if (rollup_read(row, m)[at].count > samples)
			samples = rollup_read(row, m)[at].count;
	typed_put_uint(to, node->columns.defined);
	typed_put_uint(to, node->columns.lacking);
	typed_put_uint(to, samples);
	column = to->column;
	for (uint32_t m = 0; m < row->metrics; m++)
		put_metric(to->block, column, &row->metric[m],
		    &rollup_read(row, m)[at],
		    letters + (size_t)ROLLUP_COLUMNS_LETTERS * m);
	native_put_text(to->block, column + TYPES,
	    (struct text){ letters, ROLLUP_COLUMNS_LETTERS * row->metrics });
	for (unsigned i = 0; i < COLUMNS; i++)
		if (i != TYPES)
			native_end_array(to->block, column + i);
	to->column += COLUMNS;
}
