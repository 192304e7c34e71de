/*
 * stats_phase_rows - the statistics of every phase, a row each.
 *
 * Of all time aggregator/phases/duration_stats.c computes them, and
 * aggregator/query/phases/phase_stats.c (counts) and
 * aggregator/query/page/answer.c (durations) send them as attributes.  Of a
 * window, by key, and of phases that pass from node to node where clocks were
 * off, they are computed here; the store's attributes still say which phases
 * there are.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_PHASE_ROWS_H
#define EXPORTERS_PHASES_PHASE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/base/duration_buckets.h"
#include "proto/hash/string_table.h"

/*
 * Statistics of the phases that begin in a window.
 *
 * The store has statistics of all time, by the clocks of the nodes; these are
 * computed from the phases themselves, of the durations that their records
 * have.  A phase belongs to the window by its begin, an end without a start by
 * its own time.  Quantiles (proto/base/quantile.h) are exact.
 */

enum phase_number {
	PHASE_COUNT,
	/* Seconds; the quantiles by nearest rank. */
	PHASE_SUM,
	PHASE_MIN,
	PHASE_MAX,
	PHASE_MEAN,
	PHASE_STD_POPULATION,
	PHASE_STD_SAMPLE,
	PHASE_P50,
	PHASE_P90,
	PHASE_P99,
	/* Unmatched. */
	PHASE_OPEN_STARTS,
	PHASE_OPEN_ENDS,
	PHASE_NUMBERS
};

/* What is kept apart: nothing, or what is of several nodes, keys or runs. */
enum phases_part {
	PHASES_OF_POOL,
	PHASES_BY_NODE,
	PHASES_BY_KEY,
	PHASES_BY_RUN
};

struct phases_window_item; /* opaque */

/* The phases of one name, and of one part. */
struct phases_window_row {
	struct text phase, part; /* "model:name"; part: empty for all */
	uint64_t count, open_starts, open_ends;
	const struct phases_window_item *first;       /* of `count`, sorted */
	double sum, mean, std_population, std_sample; /* seconds */
};

struct phases_window {
	struct string_table phases, parts;
	struct phases_window_item *items;
	uint32_t count, room;
	struct phases_window_row *rows; /* by phase, then by name of the part */
	uint32_t row_count;
};

/* Read what begins in the window of `query`, which also selects nodes and
 * phases.  -1 also when there are more than PHASES_WINDOW_MAX.  Clear it in any
 * case. */
int phases_window_read(struct phases_window *window, struct source *source,
    struct text partition, const struct wire_query *query,
    enum phases_part part, struct err *err);
void phases_window_clear(struct phases_window *window);

/* The first row of a phase; those of its other parts follow.  NULL: nothing of
 * it begins in the window. */
const struct phases_window_row *phases_window_find(
    const struct phases_window *window, struct text phase);

/* The duration of a rank, from 0: the least; below row->count. */
double phases_window_seconds(
    const struct phases_window_row *row, uint64_t rank);

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

/* Of a record of an answer to SOURCE_STATS, by the clocks of the nodes; a view.
 */
struct phase_row phase_row_of(const struct record *record);

/* The end of a sentence that there are no phases: what would make some. */
#define PHASE_ROWS_HINT                                                        \
	"; two events X:start and X:end of a node make one (poolscope emit X " \
	"start, poolscope emit X end), with the same id, key, img or step if " \
	"they have one, a model defines others: poolscope-model(5)"

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

#endif
