/*
 * boxes - how long each step took.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/boxes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"

enum {
	WIDTH = 1200, /* pixels */
	ROW_HEIGHT = 26,
	SLOTS_MIN = 6, /* a few rows must not become thick */
	MARGINS = 150,
	DUMB_MARGINS = 14,
	NAME_COLUMNS = 36,
	WORDS_BYTES = 1024,
};
enum { LEAST, P25, P50, P75, P99, GREATEST }; /* of box.seconds */

/* One step takes this many times as long as another: a logarithmic axis. */
#define FAR 100.0

/* ---- rows ---- */

void
boxes_put_note(char *to, size_t room, const char *start)
{
	snprintf(to, room, "%s%s%s%s", BOXES_NOTE,
	    *start != '\0' ? " Shown: " : "", start, *start != '\0' ? "." : "");
}

void
boxes_add(
    struct boxes *boxes, struct text name, double *seconds, uint64_t count)
{
	static const unsigned percents[BOXES_VALUES] = { 0, 25, 50, 75, 99,
		100 };
	struct box *row;

	if (count == 0)
		return;
	sort_doubles(seconds, count);
	row = MEMORY_ADD(boxes->rows, boxes->room, boxes->count);
	*row = (struct box){ .name = name, .count = count };
	row->seconds[LEAST] = seconds[0];
	for (int i = P25; i <= GREATEST; i++)
		row->seconds[i] = seconds[quantile_index(count, percents[i])];
}

void
boxes_clear(struct boxes *boxes)
{
	free(boxes->rows);
	*boxes = (struct boxes){ .rows = NULL };
}

void
boxes_table(const void *what, FILE *file)
{
	const struct boxes *boxes = what;

	fputs("Row Name Count Min P25 P50 P75 P99 Max\n", file);
	for (uint32_t i = 0; i < boxes->count; i++) {
		const struct box *row = &boxes->rows[i];

		fprintf(file, "%u ", i + 1);
		if (row->name.bytes > 0)
			gnuplot_put_word(file, row->name);
		else
			putc('-', file);
		fprintf(file, " %" PRIu64, row->count);
		for (int value = 0; value < BOXES_VALUES; value++)
			fprintf(file, " %.9g", row->seconds[value]);
		putc('\n', file);
	}
}

/* ---- the axis ---- */

struct axis {
	double low, high; /* of the values, seconds */
	double floor;     /* logarithmic: what is less is drawn here; else 0 */
	struct duration_unit unit; /* of the table's numbers in the picture */
};

static struct axis
axis_of(const struct boxes *boxes)
{
	struct axis axis = { INFINITY, -INFINITY, 0, { .seconds = 1 } };
	double short_s = INFINITY, least = INFINITY; /* that are positive */

	for (uint32_t i = 0; i < boxes->count; i++) {
		const double *s = boxes->rows[i].seconds;

		axis.low = fmin(axis.low, s[LEAST]);
		axis.high = fmax(axis.high, s[GREATEST]);
		if (s[P50] > 0)
			short_s = fmin(short_s, s[P50]);
		for (int value = 0; value < BOXES_VALUES; value++)
			if (s[value] > 0)
				least = fmin(least, s[value]);
	}
	if (axis.low >= 0 && axis.high >= FAR * short_s)
		axis.floor = fmax(least, short_s / 1000) / 1.25;
	else
		axis.unit =
		    duration_unit_of(fmax(fabs(axis.low), fabs(axis.high)));
	return axis;
}

static void
put_axis(const struct axis *axis, FILE *file)
{
	if (axis->floor > 0) {
		duration_put_log_axis(
		    file, "x", axis->floor, 1.25 * axis->high);
		fputs("set xlabel \"duration\"\n", file);
		return;
	}
	fprintf(file, "set xlabel \"duration, %s\"\n", axis->unit.plural);
	gnuplot_put_range(file, "x", axis->low / axis->unit.seconds,
	    axis->high / axis->unit.seconds, false);
}

/* A value of the table as an expression. */
static void
put_value(FILE *file, const struct axis *axis, int value)
{
	int column = 4 + value; /* the first column is 1 */

	if (axis->floor > 0)
		fprintf(file, "($%d>%.9g?$%d:%.9g)", column, axis->floor,
		    column, axis->floor);
	else
		fprintf(file, "($%d/%.9g)", column, axis->unit.seconds);
}

/* ---- the picture ---- */

static struct text
name_of(const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct boxes *boxes = arg;

	snprintf(after, LABELS_AFTER_BYTES, "  n = %" PRIu64,
	    boxes->rows[row].count);
	return boxes->rows[row].name;
}

/* A bar between two values. */
static void
put_bar(FILE *file, const struct axis *axis, int from, int to, double half,
    const char *look)
{
	fputs(" skip 1 using ", file);
	put_value(file, axis, from);
	fputs(":1:", file);
	put_value(file, axis, from);
	putc(':', file);
	put_value(file, axis, to);
	fprintf(
	    file, ":($1-%.2f):($1+%.2f) with boxxyerror %s", half, half, look);
}

static void
put_rows(const struct axis *axis, FILE *file, const char *dat, bool dumb)
{
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	put_bar(file, axis, LEAST, GREATEST, 0.07,
	    "lc rgb \"" COLOUR_GREY "\" title \"least to greatest\"");
	fputs(", \\\n\t\"\"", file);
	put_bar(file, axis, P25, P75, 0.32,
	    "lc rgb \"" COLOUR_BAND "\" title \"middle half\"");
	fputs(", \\\n\t\"\" skip 1 using ", file);
	put_value(file, axis, P50);
	/* Of characters, points 13 and 16 are the letters M and P. */
	fprintf(file,
	    "%s lc rgb \"" COLOUR_DARK_BLUE
	    "\" title \"median\", \\\n\t\"\" skip 1 using ",
	    dumb ? ":1 with points pt 13"
		 : ":($1-0.40):(0):(0.80) with vectors nohead lw 3");
	put_value(file, axis, P99);
	fprintf(file,
	    ":1 with points pt %d ps 0.9 lc rgb \"" COLOUR_RED
	    "\" title \"p99\"\n",
	    dumb ? 16 : 7);
}

void
boxes_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct boxes *boxes = what;
	unsigned slots = boxes->count < SLOTS_MIN ? SLOTS_MIN : boxes->count;
	unsigned height = MARGINS + ROW_HEIGHT * slots;
	unsigned rows = DUMB_MARGINS + 2 * slots;
	struct axis axis = axis_of(boxes);
	char words[WORDS_BYTES];

	gnuplot_put_terminal(file, terminal, WIDTH, height, rows);
	labels_put_title(file, terminal, height, rows, boxes->title);
	snprintf(words, sizeof(words), "%s%s", boxes->note,
	    axis.floor > 0 ? " Logarithmic axis." : "");
	gnuplot_put_heading(file, terminal, height, rows, 1, words);
	gnuplot_put_frame(file, terminal);
	fprintf(file,
	    "set yrange [%u.5:0.5]\nset grid xtics\n"
	    "set style fill solid 1.0 noborder\n",
	    slots);
	put_axis(&axis, file);
	labels_put_rows(file, boxes->count, 1, NAME_COLUMNS, name_of, boxes);
	put_rows(&axis, file, dat, terminal == GNUPLOT_DUMB);
}
