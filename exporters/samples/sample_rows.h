/*
 * sample_rows - the values of metrics, and their statistics.
 *
 * A gauge has a value at each sample; a counter has a rate between each two
 * samples, which stands over the time between them.  Values that are not
 * finite, and rates that are unknown because the counter started again, are
 * counted and left out.
 *
 * The mean is by time.  A rate counts for the time in which it was measured
 * and which lies in the window; a value of a gauge as value_time_put says, and
 * a single one as much as the others of its row on average.  Samples of a
 * program (metric groups app/...) are taken when a value changes, so that it
 * counts until the next one in any case.
 *
 * Of jobs the values of gauges count that were sampled while one of them ran on
 * the node, and rates for the time in which one did.
 *
 * Sums are exact, so that a mean does not depend on the order in which a source
 * has the nodes.
 *
 * Quantiles are exact (proto/base/quantile.h): all values are in memory, up to
 * SAMPLE_ROWS_VALUES_MAX.  When there are more, rows with the most of them have
 * no quantiles, and say why.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SAMPLE_ROWS_H
#define EXPORTERS_SAMPLES_SAMPLE_ROWS_H

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "exporters/samples/time_window.h"
#include "exporters/samples/unit.h"
#include "proto/hash/string_table.h"
#include "proto/stats/exact_sum.h"

enum { SAMPLE_ROWS_VALUES_MAX = 32 << 20 }; /* 8 bytes each */

/* Why a row has no quantiles. */
enum sample_row_lack {
	SAMPLE_ROW_EXACT,
	SAMPLE_ROW_ROLLED_UP, /* only rollups of its samples are left */
	SAMPLE_ROW_DENSE,     /* samples closer than the shortest step */
	SAMPLE_ROW_TOO_MANY,
	SAMPLE_ROW_LACKS
};

/* Numbers are in the readable unit (unit.h), of counters as rates; NaN:
 * unknown. */
struct sample_row {
	struct text group, metric;
	struct text unit;   /* NULL: unknown */
	struct text labels; /* of the group, JSON; empty: none */
	struct text node;   /* empty: all */
	bool counter;
	enum sample_row_lack lack;
	uint64_t count, unknown; /* values, and those that were left out */
	double low, high;
	double mean, p50, p99; /* after sample_rows_finish */
	double last;           /* the newest; NaN for more than one node */

	int64_t last_ns;
	uint32_t series; /* of which it has values */
	double *values;
	uint32_t kept, room;
	struct exact_sum weighted; /* sum of value x nanoseconds ... */
	__int128 ns;               /* ... and of these */
	struct exact_sum singles;  /* values that are alone in their series */
	uint64_t single_count;
	struct exact_sum plain; /* values */
};

struct sample_rows {
	bool by_node;
	int64_t from_ns, to_ns;           /* the window */
	const struct job_intervals *jobs; /* NULL: all times of all nodes */
	const struct cpus *cpus;          /* of unit_of_point */
	struct sample_row *at;
	uint32_t count, room;
	struct string_table texts;    /* nodes, groups, metrics, units */
	struct string_table keys;     /* -> index of the row */
	struct string_table nodes;    /* all of which there are values */
	struct sample_series *series; /* by number of the series */
	uint32_t series_count, series_room;
	uint64_t kept, values_max; /* values in all rows */
	unsigned rollup; /* rank of the coarsest; series_rollup_rank */
	struct text rollup_name;
};

void sample_rows_init(struct sample_rows *rows, bool by_node, int64_t from_ns,
    int64_t to_ns, const struct job_intervals *jobs);
void sample_rows_clear(struct sample_rows *rows);

/* How much of a point belongs to the jobs? */
enum sample_rows_part { SAMPLE_ROWS_NONE, SAMPLE_ROWS_SOME, SAMPLE_ROWS_ALL };
enum sample_rows_part sample_rows_part(
    const struct sample_rows *rows, const struct series_point *point);

/* Are the values of this point not known one by one?  Shorter steps may
 * help. */
bool sample_rows_is_joined(
    const struct series_point *point, enum sample_rows_part part);

/* Add a point of a query with `intervals` and `single`: what of it belongs to
 * the jobs, which must not be a part of values that are joined. */
void sample_rows_add(
    struct sample_rows *rows, const struct series_point *point);

/* Compute the statistics, and sort by group, metric and node. */
void sample_rows_finish(struct sample_rows *rows);

/* Read the values of metrics, and compute their statistics. */

/* A row for each metric of each metric group, and of each node if `by_node`.
 * -1 also when there are no values.  Clear `rows` in any case. */
int sample_rows_read(struct sample_rows *rows, bool by_node,
    struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, struct err *err);

#endif
