/*
 * values - what is kept of the values of a timer, and of a set.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_VALUES_H
#define AGENTS_RECEIVER_STATSD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STATSD_RESERVOIR = 1024,
	STATSD_DISTINCT_MAX = 4096,
};

struct statsd_timer {
	double count, sum; /* since the start */
	bool fell;         /* a value was below 0: the sum is no counter */
	/* Of this period; min and max if there are any. */
	uint64_t seen;
	double min, max;
	double *value; /* min(seen, STATSD_RESERVOIR) of them */
	uint32_t room;
};

/* Add a value that stands for `weight` values.  `random` is the state of
 * prng.h. */
void statsd_timer_add(
    struct statsd_timer *timer, double value, double weight, uint64_t *random);
/* Of the values that are kept, in a period that has some. */
double statsd_timer_p99(const struct statsd_timer *timer);
void statsd_timer_next_period(struct statsd_timer *timer);
void statsd_timer_clear(struct statsd_timer *timer);

/* The hashes of different values.  A set of STATSD_DISTINCT_MAX takes no more.
 */
struct statsd_distinct {
	uint64_t *slot; /* 0: free */
	uint32_t slots, count;
};

/* Is it a new one?  Then it is added. */
bool statsd_distinct_add(struct statsd_distinct *distinct, uint64_t hash);
void statsd_distinct_clear(struct statsd_distinct *distinct);

#endif
