/*
 * changes - what chance makes of series without a change: the greatest
 * difference that one in a hundred exceeds, which is the table of
 * change_points_critical, and how long a series takes.
 *
 *	changes [SERIES]	of each length (20000, fewer of long ones)
 *
 * The differences are those of ranks, so it is the same for every distribution
 * without equal values.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/change_points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/sort.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { LENGTH_MAX = 1 << 17, LENGTH_MIN = 8, WORK = 1 << 26 };

static uint64_t state = 1;

int
main(int argc, char **argv)
{
	uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
	double *values = calloc(LENGTH_MAX, sizeof(*values));
	double *sizes = calloc(most + 1, sizeof(*sizes));

	if (values == NULL || sizes == NULL || most < 100)
		return 1;
	for (uint32_t length = LENGTH_MIN; length <= LENGTH_MAX; length *= 2) {
		uint32_t series = WORK / length < most ? WORK / length : most;
		int64_t began_ns = clock_monotonic_ns();

		for (uint32_t i = 0; i < series; i++) {
			uint32_t at;

			for (uint32_t k = 0; k < length; k++)
				values[k] = (double)(prng_bits(&state) >> 11);
			sizes[i] = change_points_greatest(values, length, &at);
		}
		began_ns = clock_monotonic_ns() - began_ns;
		sort_doubles(sizes, series);
		printf("%6u values: %.3f exceeded by 1 %% of %u series "
		       "(%.3f by 5 %%), table %.3f; %.3f ms a series\n",
		    length,
		    sizes[(uint32_t)(series * (1 - CHANGE_POINTS_ALARM))],
		    series, sizes[(uint32_t)(series * 0.95)],
		    change_points_critical(length),
		    (double)began_ns / series / 1e6);
	}
	free(values);
	free(sizes);
	return 0;
}
