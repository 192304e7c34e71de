/*
 * rollup_columns - rollups of samples as rows of the archive.
 *
 * A row of table rollups is a bucket of a series: 64 metrics from number
 * 64 `metrics` of the group on.  Its arrays have a place for each metric,
 * `types` three letters: c (counter) or g, and those of `first` and `last`
 * (record_columns.h; n: the bucket has no sample of this metric).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROLLUP_COLUMNS_H
#define AGGREGATOR_ARCHIVE_ROLLUP_COLUMNS_H

#include "aggregator/archive/rows/typed.h"
#include "aggregator/rollup/rollup.h"

/* The letters of a metric. */
enum {
	ROLLUP_COLUMNS_LETTERS = 3,
	ROLLUP_COLUMNS_COUNTER = 'c',
	ROLLUP_COLUMNS_GAUGE = 'g',
};

/* The columns behind `pos` of bucket number `at` of an open row, of which all
 * metrics can be read. */
void rollup_columns_put(struct typed *to, struct rollup_row *row,
    const struct rollup_row_node *node, uint32_t at);

#endif
