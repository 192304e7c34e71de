/*
 * counter_rate - the increase of a counter between two consecutive samples.
 *
 * Counters are stored raw, together with the boot that they count from. Only
 * this module interprets reboots, wraps and restarts: an increase is never
 * negative, and a rate never shows a false peak.
 *
 *     boots differ             counted from the boot: increase v, no rate
 *     epochs differ            the sampler saw the counters jump: no increase,
 *                              no rate
 *     v >= u                   increase v - u
 *     same boot, v < u         a counter of 32 bits wrapped, if u was in its
 *                              upper half and v is more than that below u
 *     v slightly below u       no increase, no rate: the kernel's own sums
 *                              (iowait) sometimes decrease by some ticks
 *     v below u                the counter started again: increase v, no rate
 *
 * A sum of processor times that falls did not start again (the host slept, or
 * processors went offline), and none grows by more than its processors can:
 * no increase, no rate.
 *
 * "Slightly" is 1 % of u, or 10 ticks of 10 ms of a counter of time.  A wrap
 * is never concluded from values: the column must be one of 32 bits.
 *
 * If one of the boots is unknown (0), neither the first line nor the wrap
 * applies: v is not interpreted as an increase since an unknown boot.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_COUNTER_RATE_H
#define PROTO_RECORD_COUNTER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

/* The column with the boot that the counters of a metric group count from: its
 * number is in the lower bits.  Those above it are the epoch, which changes
 * when the counters jump although the boot is the same. */
#define COUNTER_RATE_BOOT_COLUMN "poolscope.boot"
enum { COUNTER_RATE_BOOT_BITS = 48, COUNTER_RATE_EPOCH_BITS = 15 };

/* More processors than any host has: Linux' limit. */
enum { COUNTER_RATE_PROCESSORS_MAX = 8192 };

/* What is known of a counter before its values are. */
struct counter_rate_column {
	bool is_32_bits;
	double ticks; /* 10 ticks of the kernel's clock; 0: it counts no time */
	double processors; /* it is the time of at most N; 0: it is not */
	bool is_sum;       /* over processors that come and go */
};

struct counter_rate_sample {
	int64_t time_ns;
	uint64_t boot; /* 0: unknown */
	struct value value;
};

struct counter_rate {
	double increase; /* 0 or more */
	double seconds;  /* between the samples; 0: the rate is unknown */
};

/* Do both count from a boot that is known, and not from the same one? */
bool counter_rate_booted(
    const struct counter_rate_sample *u, const struct counter_rate_sample *v);

/* Is it a number, that is, not nil, text or NaN? */
bool counter_rate_is_number(const struct value *value);
/* The number; NaN if it is not one. */
double counter_rate_number(const struct value *value);

/* The column of a metric of this group and unit ("By", "cs", "ms" ...).  Of 32
 * bits are the milliseconds of /proc/diskstats, metrics system.disk.*, alone.
 * Times of processors are system.cpu.time.* (of group cpu/N: of one),
 * container.cpu.time* and system.linux.scheduler.run_time. */
struct counter_rate_column counter_rate_column_of(
    struct text group, struct text metric, struct text unit);

/* From `u` to `v`, the next sample of the same counter.  If either is not a
 * number, both results are 0. */
struct counter_rate counter_rate_between(
    const struct counter_rate_column *column,
    const struct counter_rate_sample *u, const struct counter_rate_sample *v);

#endif
