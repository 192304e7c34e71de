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
 * STATSD_SILENT_NS has ended: a gauge has no value then, and counters stay as
 * they are, so that nothing is lost when it goes on.
 *
 * Series of the same tags are columns of groups.  A group's name is its
 * definition, and an agent takes a limited number of columns in an
 * hour (budget.h): so a group keeps its columns, and what comes
 * later goes into another one, unless the group is small.  What the agent would
 * not take is refused here, by its name.  A group of which all series have
 * ended is not published, and forgotten when room gets short.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_SERIES_H
#define AGENTS_RECEIVER_STATSD_SERIES_H

#include "agents/receiver/statsd/line.h"
#include "proto/metric/dynamic_group.h"
#include "proto/os/clock.h"

#define STATSD_SILENT_NS (300 * NS_PER_SECOND)
/* How long a group is left out that the agent has refused. */
#define STATSD_REFUSED_NS (600 * NS_PER_SECOND)

enum {
	/* A group that is published takes more columns up to here. */
	STATSD_SMALL_GROUP = 16,
	/* Of all sets, in a period: no more are known apart. */
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

enum statsd_put { STATSD_PUT, STATSD_PUT_REFUSED, STATSD_PUT_END };

/* Make the groups of all that is to be published, of origin `statsd`, and call
 * on_group for each.  -1: it has returned STATSD_PUT_END. */
int statsd_series_put(struct statsd_series *series, uint64_t boot,
    int64_t now_ns, int64_t wall_ns,
    enum statsd_put (*on_group)(void *arg, const struct dynamic_group *group),
    void *arg);

/* What was put is on disk: begin a period. */
void statsd_series_next_period(struct statsd_series *series, int64_t now_ns);

/* How many series are kept. */
uint32_t statsd_series_count(const struct statsd_series *series);

#endif
