/*
 * stats_phases_window - statistics of the phases that begin in a window.
 *
 * The store has statistics of all time, by the clocks of the nodes; these are
 * computed from the phases themselves, of the durations that their records
 * have.  A phase belongs to the window by its begin, an end without a start by
 * its own time.
 * Quantiles (proto/base/quantile.h) are exact.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_PHASES_WINDOW_H
#define EXPORTERS_STATS_PHASES_WINDOW_H

#include "exporters/source/source.h"
#include "proto/base/duration_buckets.h"
#include "proto/hash/string_table.h"

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
extern const char *const phase_number_names[PHASE_NUMBERS];

enum { PHASES_WINDOW_MAX = 16 << 20 }; /* phases; 16 bytes each */

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

/* The same of all phases of these names. */
int phases_window_read_names(struct phases_window *window,
    struct source *source, struct text partition,
    const struct string_table *names, enum phases_part part, struct err *err);

/* The first row of a phase; those of its other parts follow.  NULL: nothing of
 * it begins in the window. */
const struct phases_window_row *phases_window_find(
    const struct phases_window *window, struct text phase);
const struct phases_window_row *phases_window_find_part(
    const struct phases_window *window, struct text phase, struct text part);

/* The duration of a rank, from 0: the least; below row->count. */
double phases_window_seconds(
    const struct phases_window_row *row, uint64_t rank);

/* All numbers; NaN: unknown.  NULL row: of a phase that did not occur. */
void phases_window_numbers(
    const struct phases_window_row *row, double numbers[static PHASE_NUMBERS]);
/* How many durations each of the buckets counts, exactly. */
void phases_window_histogram(const struct phases_window_row *row,
    double counts[static DURATION_BUCKETS]);

#endif
