/*
 * merge - head rows and compacted runs that may overlap in time, read as
 * one.
 *
 * Rows of one hour, node and track overlap, since each is of one transaction
 * of the indexer.  A row is opened when the time reaches it, so few are open at
 * once.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_MERGE_H
#define AGGREGATOR_ROWS_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/rows/compacted_cursor.h"
#include "aggregator/tables/row_block.h"

struct merge_row {
	struct row_block_rows rows;
	struct compacted_cursor *compacted_cursor; /* in place of them */
	struct row_block_item item;                /* the next of it */
	int64_t first_ns;
	bool open;
};

struct merge {
	struct merge_row *at; /* by first_ns */
	uint32_t count, room;
	uint32_t from, to;       /* those that are open, or were */
	struct merge_row *given; /* whose item the caller has */
};

void merge_reset(struct merge *merge);
void merge_clear(struct merge *merge);
/* Add a row (a view), unless all of it is before `from_ns`. */
void merge_add(
    struct merge *merge, struct text value, int64_t first_ns, int64_t from_ns);
/* Add the series_block at hand of a compacted run, from `from_ns` on. */
void merge_add_compacted(struct merge *merge,
    struct compacted_cursor *compacted_cursor, int64_t from_ns);
/* Rows were not added in the order of first_ns. */
void merge_sort(struct merge *merge);
/* The records of all rows in row_block_compare order; false at the end.  The
 * body is a view, valid until the next call. */
bool merge_next(struct merge *merge, struct row_block_item *item);

#endif
