/*
 * duration_buckets - the bounds of a histogram of durations.
 *
 * Of phases that take a blink to an hour.  A bucket counts the durations up to
 * its bound, those of the buckets before included; beyond the last bound is
 * what all of them leave.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_DURATION_BUCKETS_H
#define PROTO_BASE_DURATION_BUCKETS_H

#include <stdint.h>

enum { DURATION_BUCKETS = 12 };

static const struct duration_bucket {
	int64_t ns;
	const char *seconds; /* as OpenMetrics writes a float */
} duration_buckets[DURATION_BUCKETS] = {
	{ INT64_C(100000000), "0.1" },
	{ INT64_C(300000000), "0.3" },
	{ INT64_C(1000000000), "1.0" },
	{ INT64_C(3000000000), "3.0" },
	{ INT64_C(10000000000), "10.0" },
	{ INT64_C(30000000000), "30.0" },
	{ INT64_C(60000000000), "60.0" },
	{ INT64_C(120000000000), "120.0" },
	{ INT64_C(300000000000), "300.0" },
	{ INT64_C(600000000000), "600.0" },
	{ INT64_C(1800000000000), "1800.0" },
	{ INT64_C(3600000000000), "3600.0" },
};

#endif
