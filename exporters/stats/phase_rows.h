/*
 * stats_phase_rows - the statistics of every phase, a row each.
 *
 * Of all time aggregator/phases/duration_stats.c computes them, and
 * aggregator/query/phases/phase_stats.c (counts) and
 * aggregator/query/page/answer.c (durations) send them as attributes.  Of a
 * window, by key, and of phases that pass from node to node where clocks were
 * off, phases_window.c computes them; the store's attributes still say which
 * phases there are.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_PHASE_ROWS_H
#define EXPORTERS_STATS_PHASE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "exporters/stats/phases_window.h"
#include "proto/base/duration_buckets.h"

struct phase_row {
	struct text phase; /* "model:name" */
	struct text part;  /* the node, key or run; empty: of all */
	/* NaN: unknown.  `attributes` has each of them under its name, too, and
	 * what else is known of the phase, such as the names of its events;
	 * where the two differ, these are right. */
	double numbers[PHASE_NUMBERS];
	/* How many durations each of proto/base/duration_buckets.h counts; NaN:
	 * unknown, as of single nodes. */
	double histogram[DURATION_BUCKETS];
	struct text attributes; /* pairs, as those of a record */
	bool ignores_open;      /* the model allows unmatched events */
};

struct phase_rows; /* opaque */

/* Of the phases and nodes that `query` selects, and of its window; a row for
 * the pool, or for each node or key of a phase.  `query` must live as long.
 * Reads what the window, or the keys, need. */
int phase_rows_open(struct phase_rows **rows, struct source *source,
    struct text partition, const struct wire_query *query,
    enum phases_part part, struct err *err);
void phase_rows_close(struct phase_rows **rows);

/* Call `on_row` for each row; may be called again.  The texts of the row are
 * valid during the call. */
int phase_rows_each(struct phase_rows *rows,
    void (*on_row)(void *arg, const struct phase_row *row), void *arg,
    struct err *err);

/* Complete the sentence about a question without a row: which names are near.
 * Returns -1. */
int phase_rows_refuse(struct phase_rows *rows, struct err *err);

/* Is the attribute `histogram`, which is not for people? */
bool phase_row_is_histogram(const struct record_attribute *attribute);

/* The value of an attribute: of one of the numbers as it is in the row. */
struct value phase_row_value(
    const struct phase_row *row, const struct record_attribute *attribute);

#endif
