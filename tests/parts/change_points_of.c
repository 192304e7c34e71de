/*
 * change_points_of - where the level of series changes, for judges.
 *
 * A line of standard input: the number of values, and the values.  A line of
 * standard output: the indices of the first value of each new level.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "exporters/results/change_points.h"

enum { VALUES_MAX = 100000 };

int
main(void)
{
	static double values[VALUES_MAX];
	uint32_t count;

	while (scanf("%" SCNu32, &count) == 1 && count <= VALUES_MAX) {
		struct change_points found;

		for (uint32_t i = 0; i < count; i++)
			if (scanf("%lf", &values[i]) != 1)
				return 1;
		change_points_find(&found, values, count);
		for (uint32_t i = 0; i < found.count; i++)
			printf("%s%" PRIu32, i > 0 ? " " : "", found.at[i]);
		putchar('\n');
	}
	return 0;
}
