/*
 * processor_times - notices processor times that cannot be.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/processor_times.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "agents/proc/scan.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

/* The kernel adds ticks late. */
#define LATE_SECONDS 0.1

static bool
is_possible(const struct processor_times *last,
    const struct processor_times_reading *now)
{
	double seconds = (double)(now->end_ns - last->begin_ns) / NS_PER_SECOND;
	double grown = 0;

	for (uint32_t i = 0; i < now->count; i++)
		if (now->times[i] != SCAN_UNKNOWN &&
		    last->at[i] != SCAN_UNKNOWN && now->times[i] > last->at[i])
			grown += (double)(now->times[i] - last->at[i]);
	return now->set == last->set && grown <= (double)now->processors *
						     (double)now->per_second *
						     (seconds + LATE_SECONDS);
}

uint64_t
processor_times_take(
    struct processor_times *times, const struct processor_times_reading *now)
{
	assert(now->count <= PROCESSOR_TIMES_MAX);
	if (times->begin_ns != 0 && !is_possible(times, now))
		times->epoch = (times->epoch + 1) %
			       (UINT64_C(1) << COUNTER_RATE_EPOCH_BITS);
	memcpy(times->at, now->times, now->count * sizeof(*now->times));
	times->set = now->set;
	times->begin_ns = now->begin_ns;
	return times->epoch;
}
