/*
 * robust - medians, spreads and bounds that a few odd values do not move.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/robust.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/sort.h"

double
robust_quantile(const double *sorted, uint32_t count, double share)
{
	double place = share * (count - 1);
	uint32_t below = (uint32_t)floor(place);
	uint32_t above = below + (below + 1 < count);

	return sorted[below] +
	       (place - below) * (sorted[above] - sorted[below]);
}

double
robust_spread(const double *sorted, uint32_t count)
{
	double median = robust_median(sorted, count), spread;
	double *distances = memory_zero(count, sizeof(*distances));

	for (uint32_t i = 0; i < count; i++)
		distances[i] = fabs(sorted[i] - median);
	sort_doubles(distances, count);
	spread = ROBUST_NORMAL * robust_median(distances, count);
	free(distances);
	return spread;
}

double
robust_upper_spread(const double *sorted, uint32_t count)
{
	double median = robust_median(sorted, count);
	uint32_t first = 0;

	while (first < count && sorted[first] <= median)
		first++;
	return first == count
		   ? 0
		   : ROBUST_NORMAL *
			 (robust_median(sorted + first, count - first) -
			     median);
}

double
robust_tukey(const double *sorted, uint32_t count)
{
	double low = robust_quantile(sorted, count, 0.25);
	double high = robust_quantile(sorted, count, 0.75);

	return high + 1.5 * (high - low);
}
