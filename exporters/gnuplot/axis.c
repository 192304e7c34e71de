/*
 * gnuplot_axis - tics of axes, with labels of which no two are equal, and the
 * unit of an axis of durations.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/axis.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "proto/format/quantity.h"
#include "proto/os/clock.h"

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

struct duration_unit
duration_unit_of_runs(double greatest_s)
{
	if (greatest_s >= 120 && greatest_s < units[3].below)
		return units[3].unit;
	return duration_unit_of(greatest_s);
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

void
gnuplot_put_frame(FILE *file, enum gnuplot_terminal terminal)
{
	fprintf(file,
	    "set key outside %s Left reverse samplen 1.5\n"
	    "set tmargin 5\nset border 3\nset tics nomirror out\n",
	    terminal == GNUPLOT_DUMB ? "bottom center horizontal"
				     : "right top vertical spacing 1.4");
}

enum {
	TICS = 6,        /* about as many on an axis of values */
	TICS_MAX = 20,   /* whatever rounding does */
	DIGITS = 6,      /* of a label, as "%g" */
	DIGITS_MAX = 15, /* that a double has */
	DAY_S = 86400,
};

/* ---- values ---- */

/* The least of 1, 2, 5, 10 ... that is not below `least`. */
static double
round_step(double least)
{
	double unit = pow(10, floor(log10(least)));

	if (unit >= least)
		return unit;
	if (2 * unit >= least)
		return 2 * unit;
	return 5 * unit >= least ? 5 * unit : 10 * unit;
}

/* As many digits as tell two neighbours apart. */
static int
digits_for(double greatest, double step)
{
	double digits = ceil(log10(greatest / step)) + 2;

	if (digits < DIGITS)
		return DIGITS;
	return digits > DIGITS_MAX ? DIGITS_MAX : (int)digits;
}

void
gnuplot_put_tics(
    FILE *file, const char *axis, double low, double high, bool bytes)
{
	double greatest = fmax(fabs(low), fabs(high)), step, scale = 1;
	const char *unit = "";
	int digits;

	if (!isfinite(low) || !isfinite(high) || high - low <= 0 ||
	    !isfinite(high - low))
		return;
	step = round_step((high - low) / TICS);
	if (bytes) {
		step = exp2(ceil(log2((high - low) / TICS)));
		unit = quantity_bytes_unit(greatest, &scale);
	}
	if (greatest / step > 1e14)
		return; /* a double has no more digits */
	digits = digits_for(greatest, step);
	fprintf(file, "set %stics (", axis);
	for (unsigned i = 0; i < TICS_MAX; i++) {
		double value = (ceil(low / step - 1e-9) + i) * step;

		if (value > high + 1e-9 * step)
			break;
		fprintf(file, "%s\"%.*g%s%s\" %.17g", i > 0 ? ", " : "", digits,
		    value / scale + 0.0, bytes ? " " : "", unit, value);
	}
	fputs(")\n", file);
}

void
gnuplot_put_range(
    FILE *file, const char *axis, double low, double high, bool bytes)
{
	double room, size = fmax(fabs(low), fabs(high));

	if (!isfinite(low) || !isfinite(high) || !isfinite(high - low)) {
		fprintf(file, "set %srange [*:*]\n", axis);
		return;
	}
	if (low >= 0)
		low = 0;
	room = 0.05 * (high - low);
	/* gnuplot draws no range that is tiny for its numbers. */
	if (room <= 1e-6 * size)
		room = size > 0 ? 0.05 * size : bytes ? 4 : 1;
	high += room;
	if (low < 0)
		low -= room;
	fprintf(file, "set %srange [%.9g:%.9g]\n", axis, low, high);
	gnuplot_put_tics(file, axis, low, high, bytes);
}

/* ---- time ---- */

static const int steps_s[] = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
	1800, 3600, 7200, 10800, 21600, 43200, DAY_S, 2 * DAY_S, 5 * DAY_S,
	10 * DAY_S, 20 * DAY_S, 50 * DAY_S, 100 * DAY_S, 200 * DAY_S };
enum { STEPS = sizeof(steps_s) / sizeof(*steps_s) };

static double
time_step(double span, unsigned tics)
{
	for (int i = 0; i < STEPS; i++)
		if ((double)steps_s[i] * tics >= span)
			return steps_s[i];
	return ceil(span / tics / (365.0 * DAY_S)) * 365 * DAY_S;
}

enum label_form { LABEL_SECONDS, LABEL_MINUTES, LABEL_DAY_MINUTES, LABEL_DATE };

static const char *const label_forms[] = { "%H:%M:%S", "%H:%M", "%d. %H:%M",
	"%Y-%m-%d" };

static void
put_label(
    char to[static CLOCK_TEXT_BYTES], enum label_form form, const struct tm *tm)
{
	switch (form) {
	case LABEL_SECONDS:
		strftime(to, CLOCK_TEXT_BYTES, "%H:%M:%S", tm);
		break;
	case LABEL_MINUTES: strftime(to, CLOCK_TEXT_BYTES, "%H:%M", tm); break;
	case LABEL_DAY_MINUTES:
		strftime(to, CLOCK_TEXT_BYTES, "%d. %H:%M", tm);
		break;
	case LABEL_DATE: strftime(to, CLOCK_TEXT_BYTES, "%Y-%m-%d", tm); break;
	}
}

/* gnuplot knows only UTC: in another zone place each tic, and write its label.
 */
static void
put_zone_tics(
    FILE *file, double from, double to, double step, enum label_form form)
{
	int64_t shown_ns, step_ns = (int64_t)step * NS_PER_SECOND;
	char label[CLOCK_TEXT_BYTES];

	shown_ns = (int64_t)(fmax(fmin(from, 7e9), -7e9) * 1e9);
	shown_ns += clock_zone_ahead_ns(shown_ns);
	shown_ns = (int64_t)ceil((double)shown_ns / 1e9 / step) * step_ns;
	fputs("set xtics (", file);
	for (int i = 0; i < TICS_MAX; i++, shown_ns += step_ns) {
		int64_t wall_ns = clock_zone_wall_ns(shown_ns);
		time_t seconds = (time_t)(shown_ns / NS_PER_SECOND);
		struct tm tm;

		if ((double)wall_ns / 1e9 > to)
			break;
		gmtime_r(&seconds, &tm);
		put_label(label, form, &tm);
		fprintf(file, "%s\"%s\" %.0f", i > 0 ? ", " : "", label,
		    (double)wall_ns / 1e9);
	}
	fputs(")\n", file);
}

void
gnuplot_put_time_axis(FILE *file, double from, double to, unsigned tics)
{
	double step = time_step(to - from, tics);
	double first = ceil(from / step) * step;
	bool one_day = floor(from / DAY_S) == floor(to / DAY_S);
	enum label_form form = step < 60       ? LABEL_SECONDS
			       : step >= DAY_S ? LABEL_DATE
			       : one_day || to - from <= 2.0 * DAY_S
				   ? LABEL_MINUTES
				   : LABEL_DAY_MINUTES;
	char day[CLOCK_TEXT_BYTES] = "";

	clock_text(day, (int64_t)(fmax(fmin(from, 9e9), -9e9) * 1e9), 0);
	/* The date; of a short time also the time of day, for a tic is where
	 * a second begins. */
	day[to - from < 10 ? 19 : 10] = '\0';
	day[10] = day[10] == 'T' ? ' ' : '\0';
	fprintf(file, "set xrange [%.3f:%.3f]\n", from, to);
	if (strcmp(clock_zone_name(), "UTC") == 0)
		fprintf(file,
		    "set xtics time format \"%s\"\nset xtics %.0f, %.0f\n",
		    label_forms[form], first, step);
	else
		put_zone_tics(file, from, to, step, form);
	fprintf(file, "set xlabel \"%s, from %s\"\n", clock_zone_name(), day);
}
