/*
 * merge - row blocks and compacted slices that may overlap in time, read as
 * one.
 *
 * Row blocks of one hour, node and track overlap, because each comes from one
 * transaction of the indexer.  A row block is opened when the merge reaches
 * its first time, so few are open at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_MERGE_H
#define AGGREGATOR_ROWS_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/rows/compacted_cursor.h"
#include "aggregator/tables/row_block.h"

struct merge_row {
	struct row_block_reader rows;
	/* If not NULL, read this one instead of `rows`. */
	struct compacted_cursor *compacted_cursor;
	struct row_block_item item; /* its next record */
	int64_t first_ns, last_ns;  /* its records are not later */
	bool open;
};

struct merge {
	struct merge_row *at; /* in the order of first_ns */
	uint32_t count, room;
	uint32_t from, to;       /* those that were opened */
	struct merge_row *given; /* the one whose record was returned last */
};

void merge_reset(struct merge *merge);
void merge_clear(struct merge *merge);
/* Add a row block (a view), unless all of it is before `from_ns`. */
void merge_add(
    struct merge *merge, struct text value, int64_t first_ns, int64_t from_ns);
/* Add the current series block of a compacted slice, from `from_ns` on. */
void merge_add_compacted(struct merge *merge,
    struct compacted_cursor *compacted_cursor, int64_t from_ns);
/* Sort the row blocks, if they were not added in the order of first_ns. */
void merge_sort(struct merge *merge);
/* Does each end before the next one begins?  Then they can be read one after
 * another, and the compacted ones column by column. */
bool merge_is_sequence(const struct merge *merge);
/* The next record of all in row_block_compare order; false at the end.  The
 * body is a view, valid until the next call. */
bool merge_next(struct merge *merge, struct row_block_item *item);

#endif
