/*
 * counter_rate - how much a counter grew between two neighbouring samples.
 *
 * Counters are kept raw, beside the boot that they count from, so that what a
 * reboot, a wrap or a reset means is decided here and nowhere else: an
 * increase is never negative, and a rate never a spike.
 *
 *     boots differ             counted from the boot: increase v, no rate
 *     v >= u                   increase v - u
 *     one boot, v < u          a 32-bit counter that went round, when u was in
 *                              its upper half and v is more than that behind
 *     v a little below u       no increase, no rate: the kernel's own sums
 *                              (iowait) go back by a tick now and then
 *     v far below u            begun again: increase v, no rate
 *
 * Where one of the boots is not known (0) neither the first line nor the wrap
 * applies: v is not taken for what was counted since a boot that nobody saw.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_COUNTER_RATE_H
#define PROTO_RECORD_COUNTER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

/* The column that says which boot a set's counters count from. */
#define COUNTER_RATE_BOOT_COLUMN "poolscope.boot"

struct counter_rate_sample {
	int64_t time_ns;
	uint64_t boot; /* 0: not known */
	struct value value;
};

struct counter_rate {
	double increase; /* 0 or more */
	double seconds;  /* between the two, when the rate is known; else 0 */
};

/* Is it a number?  Not nil, text or NaN. */
bool counter_rate_is_number(const struct value *value);
double counter_rate_number(const struct value *value); /* NaN when it is none */

/* From `u` to `v`, the next sample of the same counter.  Where either is no
 * number both results are 0. */
struct counter_rate counter_rate_between(
    const struct counter_rate_sample *u, const struct counter_rate_sample *v);

#endif
