/*
 * counter_rate - the increase of a counter between two consecutive samples.
 *
 * Counters are stored raw, together with the boot that they count from. Only
 * this module interprets reboots, wraps and resets: an increase is never
 * negative, and a rate never shows a false peak.
 *
 *     boots differ             counted from the boot: increase v, no rate
 *     v >= u                   increase v - u
 *     same boot, v < u         a 32-bit counter wrapped, if u was in its upper
 *                              half and v is more than that below u
 *     v slightly below u       no increase, no rate: the kernel's own sums
 *                              (iowait) sometimes decrease by a tick
 *     v far below u            the counter was reset: increase v, no rate
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

/* The column with the boot that the counters of a metric group count from. */
#define COUNTER_RATE_BOOT_COLUMN "poolscope.boot"

struct counter_rate_sample {
	int64_t time_ns;
	uint64_t boot; /* 0: unknown */
	struct value value;
};

struct counter_rate {
	double increase; /* 0 or more */
	double seconds;  /* between the samples; 0: the rate is unknown */
};

/* Is it a number, that is, not nil, text or NaN? */
bool counter_rate_is_number(const struct value *value);
/* The number; NaN if it is not one. */
double counter_rate_number(const struct value *value);

/* From `u` to `v`, the next sample of the same counter.  If either is not a
 * number, both results are 0. */
struct counter_rate counter_rate_between(
    const struct counter_rate_sample *u, const struct counter_rate_sample *v);

#endif
