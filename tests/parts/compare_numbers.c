/*
 * compare_numbers - what the comparison of runs says of two groups, for judges.
 *
 * A line of standard input: the share of comparisons in which a limit may be
 * wrong, the numbers of old and of all values, the old ones, the new ones.  A
 * line of standard output: estimate, lower and upper limit ("inf" if there are
 * too few), and likeness.  The values are not logarithms here, and any number
 * is one.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/compare/limits.h"

enum { VALUES_MAX = 20000 };

static int
by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int
main(void)
{
	static double values[VALUES_MAX];
	struct ranks_null null = { 0 };
	uint32_t old, count;
	double share;

	while (scanf("%lf %" SCNu32 " %" SCNu32, &share, &old, &count) == 3 &&
	       count <= VALUES_MAX && old < count) {
		struct limits_groups groups = { values, values + old, old,
			count - old, &null };
		double low, high;

		for (uint32_t i = 0; i < count; i++)
			if (scanf("%lf", &values[i]) != 1)
				return 1;
		qsort(values, old, sizeof(*values), by_size);
		qsort(values + old, count - old, sizeof(*values), by_size);
		ranks_null_make(&null, old, count - old);
		limits_find(&groups, share, &low, &high);
		printf("%.17g %.17g %.17g %.17g\n", limits_estimate(&groups),
		    low, high,
		    ranks_likeness(groups.old, old, groups.new, count - old));
	}
	ranks_null_clear(&null);
	return 0;
}
