/*
 * series - what the lines of statsd add up to.
 *
 * A series is a name with its tags.  Its columns:
 *
 *     c          NAME, a counter: sum of value / rate since the start
 *     g          NAME: the last value, or the sum of its deltas
 *     ms h d     NAME.count and .sum since the start, as counters; .min, .max
 *                and .p99 (of 1,024 values drawn at random) of a period
 *     s          NAME: how many different values a period had; 4,096 means
 *                that many or more
 *
 * A period lasts until its numbers are on disk.  A series that had no line for
 * STATSD_SILENT_NS is not published any more; it keeps its sums as long as
 * there is room.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_SERIES_H
#define AGENTS_RECEIVER_STATSD_SERIES_H

#include "agents/receiver/statsd/line.h"
#include "proto/metric/sample_page.h"
#include "proto/os/clock.h"

#define STATSD_SILENT_NS (300 * NS_PER_SECOND)

enum {
	STATSD_SERIES_MAX = 10000,
	STATSD_TAG_SETS_MAX = 2000,
	STATSD_RESERVOIR = 1024,
	STATSD_DISTINCT_MAX = 4096,
	/* Of all sets, in a period: what is more is not told apart. */
	STATSD_ALL_DISTINCT_MAX = 1 << 20,
	/* Values with a time, in a period. */
	STATSD_TIMES_MAX = 1 << 16,
};

struct statsd_series; /* opaque */

void statsd_series_new(struct statsd_series **series);
void statsd_series_free(struct statsd_series **series);

/* Add a line that is neither event nor check.  `now_ns` is monotonic.  What is
 * refused changes nothing. */
enum statsd_fault statsd_series_add(struct statsd_series *series,
    const struct statsd_line *line, int64_t now_ns);

/* Put the numbers of all series that are heard of on the page, which must end
 * before the series change; returns how many. */
uint32_t statsd_series_put(struct statsd_series *series,
    struct sample_page *page, int64_t now_ns, int64_t wall_ns);

/* The numbers of the last statsd_series_put are on disk: begin a period. */
void statsd_series_next_period(struct statsd_series *series, int64_t now_ns);

/* How many series are kept. */
uint32_t statsd_series_count(const struct statsd_series *series);

#endif
