/*
 * gnuplot_duration - the unit of an axis of durations.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/duration.h"

#include <math.h>
#include <stdbool.h>

static const struct {
	double below; /* seconds */
	struct duration_unit unit;
} units[] = {
	{ 1e-3, { 1e-6, "microseconds", "us" } },
	{ 1, { 1e-3, "milliseconds", "ms" } },
	{ 7200, { 1, "seconds", "s" } },
	{ 36e3, { 60, "minutes", "min" } },
	{ 20 * 86400.0, { 3600, "hours", "h" } },
	{ INFINITY, { 86400, "days", "d" } },
};
enum { UNITS = sizeof(units) / sizeof(*units) };

struct duration_unit
duration_unit_of(double greatest_s)
{
	int i = 0;

	if (greatest_s <= 0)
		return units[2].unit;
	while (i + 1 < UNITS && greatest_s >= units[i].below)
		i++;
	return units[i].unit;
}

void
duration_words(char *to, size_t room, double seconds)
{
	struct duration_unit unit = duration_unit_of(fabs(seconds));

	snprintf(to, room, "%.1f %s", seconds / unit.seconds, unit.sign);
}

void
duration_put_log_axis(FILE *file, const char *axis, double low, double high)
{
	static const struct {
		double seconds;
		const char *words;
	} tics[] = { { 1e-6, "1 us" }, { 1e-5, "10 us" }, { 1e-4, "100 us" },
		{ 1e-3, "1 ms" }, { 0.01, "10 ms" }, { 0.1, "100 ms" },
		{ 1, "1 s" }, { 10, "10 s" }, { 60, "1 min" },
		{ 600, "10 min" }, { 3600, "1 h" }, { 36000, "10 h" },
		{ 86400, "1 d" }, { 864000, "10 d" }, { 864e4, "100 d" },
		{ 864e5, "1000 d" }, { 864e6, "10000 d" } };
	bool first = true;

	fprintf(file, "set logscale %s\nset %srange [%.9g:%.9g]\nset %stics (",
	    axis, axis, low, high, axis);
	for (size_t i = 0; i < sizeof(tics) / sizeof(*tics); i++) {
		if (tics[i].seconds < low || tics[i].seconds > high)
			continue;
		fprintf(file, "%s\"%s\" %.9g", first ? "" : ", ", tics[i].words,
		    tics[i].seconds);
		first = false;
	}
	fputs(")\n", file);
}
