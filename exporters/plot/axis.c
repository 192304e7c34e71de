/*
 * gnuplot_axis - tics of axes, with labels of which no two are equal, and the
 * unit of an axis of durations.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/axis.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/format/quantity.h"
#include "proto/format/table.h"
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

/* ---- names of rows ---- */

/* ---- characters ---- */

static uint32_t
next(struct text t, uint32_t at)
{
	uint32_t character;
	uint32_t bytes = text_character(
	    (struct text){ t.at + at, t.bytes - at }, &character);

	return at + (bytes > 0 ? bytes : 1);
}

/* The position in bytes of a character. */
static uint32_t
position(struct text t, uint32_t characters)
{
	uint32_t at = 0;

	while (characters-- > 0 && at < t.bytes)
		at = next(t, at);
	return at;
}

static uint32_t
length(struct text t)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < t.bytes; at = next(t, at))
		count++;
	return count;
}

/* ---- names that would be equal ---- */

/* What all names of a group have in common at both ends, in characters. */
struct common {
	uint32_t front, back;
};

static struct common
common_of(struct text a, struct text b)
{
	uint32_t front = 0, back = 0;
	uint32_t least = a.bytes < b.bytes ? a.bytes : b.bytes;

	while (front < least && a.at[front] == b.at[front])
		front++;
	while (back < least - front &&
	       a.at[a.bytes - 1 - back] == b.at[b.bytes - 1 - back])
		back++;
	/* A part of a character is not in common. */
	while (front > 0 && front < a.bytes &&
	       ((unsigned char)a.at[front] & 0xC0) == 0x80)
		front--;
	while (back > 0 && ((unsigned char)a.at[a.bytes - back] & 0xC0) == 0x80)
		back--;
	return (struct common){ length((struct text){ a.at, front }),
		length((struct text){ a.at + a.bytes - back, back }) };
}

/* Leave out the characters [from, to). */
static size_t
put_without(
    char *to, size_t room, struct text name, uint32_t from, uint32_t end)
{
	uint32_t first = position(name, from), last = position(name, end);
	int bytes = snprintf(to, room, "%.*s..%.*s", (int)first, name.at,
	    (int)(name.bytes - last), name.at + last);

	return (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* Leave out what names have in common; at both ends if one is too short. */
static void
shorten(char *to, struct text name, struct common common, uint32_t width)
{
	uint32_t all = length(name), cut = all - width + 2;
	uint32_t from = (all - cut) / 2;

	if (common.back >= cut) {
		if (from < all - common.back)
			from = all - common.back;
		put_without(to, LABELS_BYTES, name, from, from + cut);
	} else if (common.front >= cut) {
		if (from > common.front - cut)
			from = common.front - cut;
		put_without(to, LABELS_BYTES, name, from, from + cut);
	} else {
		uint32_t first = position(name, common.front);
		struct text rest = { name.at + first, name.bytes - first };

		memcpy(to, "..", 3);
		table_elide(to + 2, LABELS_BYTES - 2, rest, width - 2);
	}
}

/* ---- all names ---- */

struct entry {
	const char *label;
	struct text name;
	uint32_t number;
};

static int
by_label(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->label, b->label);

	return order != 0 ? order : text_compare(a->name, b->name);
}

static void
tell_apart(struct labels *labels, const struct entry *entries, uint32_t count,
    unsigned width)
{
	/* They are sorted: the first and the last differ earliest, and all
	 * pairs must be looked at for the end. */
	struct common common =
	    common_of(entries[0].name, entries[count - 1].name);

	for (uint32_t i = 1; i < count; i++) {
		struct common each =
		    common_of(entries[i - 1].name, entries[i].name);

		if (each.back < common.back)
			common.back = each.back;
	}
	for (uint32_t i = 0; i < count; i++)
		shorten(labels->at[entries[i].number], entries[i].name, common,
		    width);
}

void
labels_make(struct labels *labels, const struct text *names, uint32_t count,
    unsigned width)
{
	struct entry *entries = memory_zero(count + 1, sizeof(*entries));
	uint32_t end;

	labels->count = count;
	labels->at = memory_zero(count + 1, sizeof(*labels->at));
	for (uint32_t i = 0; i < count; i++) {
		table_elide(
		    labels->at[i], sizeof(labels->at[i]), names[i], width);
		entries[i] = (struct entry){ labels->at[i], names[i], i };
	}
	qsort(entries, count, sizeof(*entries), by_label);
	for (uint32_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && strcmp(entries[i].label,
						     entries[end].label) == 0;
		     end++)
			;
		if (end - i > 1 && length(entries[i].name) > width &&
		    !text_equal(entries[i].name, entries[end - 1].name))
			tell_apart(labels, entries + i, end - i, width);
	}
	free(entries);
}

void
labels_clear(struct labels *labels)
{
	free(labels->at);
	labels->at = NULL;
}

/* ---- of rows ---- */

void
labels_put_rows(FILE *file, uint32_t count, uint32_t step, unsigned width,
    labels_name *name_of, const void *arg)
{
	uint32_t shown = (count + step - 1) / step;
	struct text *names = memory_zero(shown, sizeof(*names));
	char after[LABELS_AFTER_BYTES];
	struct labels labels;

	for (uint32_t i = 0; i < shown; i++) {
		after[0] = '\0';
		names[i] = name_of(arg, i * step, after);
	}
	labels_make(&labels, names, shown, width);
	fputs("set ytics (", file);
	for (uint32_t i = 0; i < shown; i++) {
		char label[LABELS_BYTES + LABELS_AFTER_BYTES];

		after[0] = '\0';
		name_of(arg, i * step, after);
		snprintf(label, sizeof(label), "%s%s", labels.at[i], after);
		gnuplot_put_row_tic(file, i * step, label);
	}
	fputs(")\n", file);
	labels_clear(&labels);
	free(names);
}

/* ---- of a line ---- */

enum { TITLE_COLUMNS = 90, CUT_BYTES = 4 * TITLE_COLUMNS + 8 };

void
labels_put_cut(FILE *file, struct text text, unsigned columns)
{
	char shown[CUT_BYTES];

	table_elide(shown, sizeof(shown), text, columns);
	gnuplot_put_text(file, text_of(shown));
}

void
labels_put_title(FILE *file, enum gnuplot_terminal terminal, unsigned height,
    unsigned rows, const char *title)
{
	char shown[CUT_BYTES];

	table_elide(shown, sizeof(shown), text_of(title),
	    terminal == GNUPLOT_DUMB ? GNUPLOT_DUMB_WIDTH - 2 : TITLE_COLUMNS);
	gnuplot_put_heading(file, terminal, height, rows, 0, shown);
}
