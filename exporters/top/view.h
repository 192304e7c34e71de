/*
 * top_view - what one view shows: columns, and a row for each node, run, pool
 * or line.
 *
 * A view makes the texts of a row only when the row is on the screen.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_VIEW_H
#define EXPORTERS_TOP_VIEW_H

#include <stdio.h>

#include "exporters/source/order.h"
#include "exporters/top/cell.h"
#include "exporters/top/snapshot.h"

enum top_view_number {
	VIEW_NODES,
	VIEW_RUNS,
	VIEW_POOLS,
	VIEW_PIPELINE,
	VIEWS
};

enum { VIEW_COLUMNS_MAX = 20, VIEW_TEXT_BYTES = 300, VIEW_TITLE_BYTES = 40 };

struct view_column {
	char title[VIEW_TITLE_BYTES];
	/* Columns of the terminal: without at least `least` it is left out,
	 * those of the greatest `rank` first; it grows up to `most`. */
	unsigned least, most, rank;
	bool right;
	bool is_text;  /* sorted as text */
	bool is_trend; /* bars of the last minutes */
};

/* How a row looks. */
enum view_look { VIEW_PLAIN, VIEW_GOOD, VIEW_WARNING, VIEW_BAD };

struct view {
	const char *name;
	/* Writes the columns; returns how many there are. */
	uint32_t (*columns)(const struct top_snapshot *snapshot,
	    struct view_column to[static VIEW_COLUMNS_MAX]);
	uint32_t (*count)(const struct top_snapshot *snapshot);
	/* What names the row, for as long as the snapshot lives; empty: it
	 * cannot be selected. */
	struct text (*name_of)(
	    const struct top_snapshot *snapshot, uint32_t row);
	/* Another text that a filter finds, or empty.  NULL: no row has one. */
	struct text (*other_of)(
	    const struct top_snapshot *snapshot, uint32_t row);
	/* NULL: the rows are not sorted. */
	struct order_key (*key)(
	    const struct top_snapshot *snapshot, uint32_t row, int column);
	/* The text of a cell: a view of `to`, or of the snapshot. */
	struct text (*cell)(const struct top_snapshot *snapshot, uint32_t row,
	    uint32_t column, char to[static VIEW_TEXT_BYTES]);
	enum view_look (*look)(
	    const struct top_snapshot *snapshot, uint32_t row);
	/* All that is known of a row, a line each; NULL: no more than the
	 * table. */
	void (*detail)(
	    const struct top_snapshot *snapshot, uint32_t row, FILE *file);
	/* For bars (trend.h): a share, or a count that grows, and when it was
	 * read; NaN: unknown.  `find`: the row that `like` of another snapshot
	 * names.  NULL: no column has bars. */
	double (*trend)(
	    const struct top_snapshot *snapshot, uint32_t row, int64_t *at_ns);
	bool (*find)(const struct top_snapshot *snapshot,
	    const struct top_snapshot *other, uint32_t like, uint32_t *row);
	bool trend_is_share;
	int column;       /* that is sorted by at first; -1: none */
	const char *none; /* what is printed where there are no rows */
};

extern const struct view view_nodes, view_runs, view_pools, view_pipeline;
/* By number. */
const struct view *view_of(enum top_view_number number);

/* Which columns fit into `width`, with a blank between them, and how wide each
 * is; 0: left out.  Returns the columns that are used. */
unsigned view_layout(const struct view_column *columns, uint32_t count,
    unsigned width, unsigned widths[static VIEW_COLUMNS_MAX]);

/* The numbers of the rows that the filter matches, sorted.  The filter is part
 * of a name in either case, or a pattern if it has "*" or "?".  Returns how
 * many there are; `*rows` is grown to hold them. */
uint32_t view_select(const struct view *view,
    const struct top_snapshot *snapshot, struct text filter, int column,
    bool is_reversed, uint32_t **rows, uint32_t *room);
/* Does a filter match a text? */
bool view_matches(struct text filter, struct text text);

#endif
