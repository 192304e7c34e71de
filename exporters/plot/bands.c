/*
 * bands - the table of how nodes divide a time between phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/bands.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"

static int
by_total(const void *left, const void *right)
{
	const struct bands_row *a = left, *b = right;

	if (a->total_s != b->total_s)
		return a->total_s < b->total_s ? -1 : 1;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

void
bands_sort(struct bands *bands)
{
	if (bands->count > BANDS_BARS)
		qsort(
		    bands->rows, bands->count, sizeof(*bands->rows), by_total);
}

static uint32_t
step_count(const struct bands *bands)
{
	return bands->count < BANDS_STEPS ? bands->count : BANDS_STEPS;
}

/* The rows of a step: [first, end). */
static void
step_rows(
    const struct bands *bands, uint32_t step, uint32_t *first, uint32_t *end)
{
	uint64_t count = bands->count, steps = step_count(bands);

	*first = (uint32_t)(count * step / steps);
	*end = (uint32_t)(count * (step + 1) / steps);
}

static void
put_step(const struct bands *bands, FILE *file, uint32_t step)
{
	double seconds[BANDS_MAX] = { 0 }, total = 0;
	uint32_t first, end;

	step_rows(bands, step, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		for (unsigned band = 0; band < bands->band_count; band++)
			seconds[band] += bands->rows[i].seconds[band];
		total += bands->rows[i].total_s;
	}
	fprintf(file, "%u %u ", first + 1, end);
	if (end - first == 1)
		gnuplot_put_word(file, bands->rows[first].node);
	else
		putc('-', file);
	for (unsigned band = 0; band < bands->band_count; band++)
		fprintf(file, " %.6f", seconds[band] / (end - first));
	fprintf(file, " %.6f\n", total / (end - first));
}

void
bands_table(const void *what, FILE *file)
{
	const struct bands *bands = what;

	fputs("First Last Node", file);
	for (unsigned band = 0; band < bands->band_count; band++) {
		putc(' ', file);
		gnuplot_put_word(file, bands->band[band].column);
	}
	fputs(" Total\n", file);
	for (uint32_t step = 0; step < step_count(bands); step++)
		put_step(bands, file, step);
}

/* ---- the script ---- */

enum {
	WIDTH = 1200, /* pixels */
	BAR_HEIGHT = 20,
	SLOTS_MIN = 9,
	MARGINS = 150, /* title and axis */
	BANDS_HEIGHT = 720,
	NAME_COLUMNS = 36,
	BAND_COLUMNS = 30,
	DUMB_BAND_COLUMNS = 18,
	WORDS_BYTES = 1024,
	DUMB_ROWS = 36,
	DUMB_MARGINS = 14,
	SLOWEST = 3,      /* are named when there are too many for a bar each */
	FIRST_COLUMN = 4, /* of the table with a band; the first column is 1 */
};

/* Of the slowest node: the labels of the marks must not cover the bands. */
#define ROOM_ABOVE 1.2

/* What follows the unit where nothing says when. */
#define ADDED_UP " in the phase, added up"

static bool
has_bars(const struct bands *bands)
{
	return bands->count <= BANDS_BARS;
}

/* A few bars must not become thick, and the legend needs its space. */
static unsigned
slots_of(const struct bands *bands)
{
	unsigned least = bands->band_count + 1;

	least = least < SLOTS_MIN ? SLOTS_MIN : least;
	return bands->count < least ? least : bands->count;
}

static unsigned
height_of(const struct bands *bands)
{
	return has_bars(bands) ? MARGINS + BAR_HEIGHT * slots_of(bands)
			       : BANDS_HEIGHT;
}

/* The height of a picture of characters, in lines; the legend has one for
 * each band. */
static unsigned
rows_of(const struct bands *bands)
{
	return bands->band_count + (has_bars(bands)
					   ? DUMB_MARGINS + 2 * slots_of(bands)
					   : DUMB_ROWS);
}

static struct duration_unit
unit_of(const struct bands *bands, double *greatest)
{
	struct duration_unit unit;

	*greatest = 0;
	for (uint32_t i = 0; i < bands->count; i++)
		*greatest = fmax(*greatest, bands->rows[i].total_s);
	unit = duration_unit_of(*greatest);
	*greatest /= unit.seconds;
	return unit;
}

static void
put_title(const struct bands *bands, FILE *file, enum gnuplot_terminal terminal)
{
	unsigned height = height_of(bands), rows = rows_of(bands);
	char what[WORDS_BYTES];

	labels_put_title(file, terminal, height, rows, bands->title);
	if (has_bars(bands))
		snprintf(what, sizeof(what),
		    "%s of %u node%s by phase. +: started this long after the "
		    "first node.%s",
		    bands->subject, bands->count, bands->count == 1 ? "" : "s",
		    bands->note);
	else
		snprintf(what, sizeof(what),
		    "%s of %u nodes by phase, fastest first%s.%s",
		    bands->subject, bands->count,
		    bands->count > BANDS_STEPS
			? ", each step the mean of several nodes"
			: "",
		    bands->note);
	gnuplot_put_heading(file, terminal, height, rows, 1, what);
}

/* The sum of the first `count` bands as a gnuplot expression. */
static void
put_sum(FILE *file, unsigned count, double unit)
{
	fputs("((", file);
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "%s$%u", i > 0 ? "+" : "", FIRST_COLUMN + i);
	fprintf(file, count == 0 ? "0))" : ")/%.9g)", unit);
}

static void
put_source(FILE *file, const char *dat, bool first)
{
	if (first)
		gnuplot_put_file(file, dat);
	else
		fputs(", \\\n\t\"\"", file);
	fputs(" skip 1 using ", file);
}

static void
put_band_title(
    FILE *file, const struct band *band, enum gnuplot_terminal terminal)
{
	fputs(" with boxxyerror", file);
	palette_put_fill(file, band->place);
	fputs(" title ", file);
	labels_put_cut(file, band->title,
	    terminal == GNUPLOT_DUMB ? DUMB_BAND_COLUMNS : BAND_COLUMNS);
}

static struct labels
labels_of(const struct bands *bands)
{
	struct text *names = memory_zero(bands->count, sizeof(*names));
	struct labels labels;

	for (uint32_t i = 0; i < bands->count; i++)
		names[i] = bands->rows[i].node;
	labels_make(&labels, names, bands->count, NAME_COLUMNS);
	free(names);
	return labels;
}

/* The node's name and start, left of each bar; the starts in one unit. */
static void
put_bar_names(const struct bands *bands, FILE *file)
{
	struct labels labels = labels_of(bands);
	double last = 0;
	struct duration_unit unit;

	for (uint32_t i = 0; i < bands->count; i++)
		last = fmax(last, bands->rows[i].start_s);
	unit = duration_unit_of(last);
	fputs("set ytics (", file);
	for (uint32_t i = 0; i < bands->count; i++) {
		char label[LABELS_BYTES + 64];

		snprintf(label, sizeof(label), "%s  +%.1f %s", labels.at[i],
		    bands->rows[i].start_s / unit.seconds, unit.sign);
		gnuplot_put_row_tic(file, i, label);
	}
	fputs(")\n", file);
	labels_clear(&labels);
}

static void
put_bars(const struct bands *bands, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	double greatest;
	struct duration_unit unit = unit_of(bands, &greatest);

	fprintf(file, "set xlabel \"%s%s%s\"\nset yrange [%u.5:0.5]\n",
	    unit.plural, bands->zero != NULL ? " since " : ADDED_UP,
	    bands->zero != NULL ? bands->zero : "", slots_of(bands));
	gnuplot_put_range(file, "x", 0, greatest, false);
	fputs("set grid xtics front\n"
	      "set style fill solid 1.0 noborder\n",
	    file);
	put_bar_names(bands, file);
	fputs("plot ", file);
	for (unsigned i = 0; i < bands->band_count; i++) {
		put_source(file, dat, i == 0);
		put_sum(file, i, unit.seconds);
		fputs(":1:", file);
		put_sum(file, i, unit.seconds);
		putc(':', file);
		put_sum(file, i + 1, unit.seconds);
		fputs(":($1-0.38):($1+0.38)", file);
		put_band_title(file, &bands->band[i], terminal);
	}
	putc('\n', file);
}

/* Mark the time at which half, 90 % and 99 % of the nodes were ready. */
static void
put_marks(const struct bands *bands, FILE *file)
{
	static const unsigned percents[] = { 50, 90, 99 };
	static const char *const heights[] = { "0.97", "0.97", "0.93" };

	for (size_t i = 0; i < 3; i++) {
		uint32_t rank =
		    (uint32_t)(((uint64_t)bands->count * percents[i] + 99) /
			       100);
		char time[32];

		duration_words(
		    time, sizeof(time), bands->rows[rank - 1].total_s);
		fprintf(file,
		    "set arrow from %u, graph 0 to %u, graph 1 nohead front "
		    "dt 2 lc rgb \"" COLOUR_TEXT "\"\n"
		    "set label \"%u %%: %s\" at %u, graph %s right "
		    "offset -0.5,0 front boxed\n",
		    rank, rank, percents[i], time, rank, heights[i]);
	}
}

/* The slowest nodes by name, where the fast ones leave room. */
static void
put_slowest(const struct bands *bands, FILE *file)
{
	struct labels labels = labels_of(bands);
	char label[LABELS_BYTES + 64], time[32];

	for (uint32_t i = 0; i < SLOWEST && i < bands->count; i++) {
		uint32_t at = bands->count - 1 - i;

		duration_words(time, sizeof(time), bands->rows[at].total_s);
		snprintf(label, sizeof(label), "%s%s  %s",
		    i == 0 ? "slowest: " : "", time, labels.at[at]);
		fputs("set label ", file);
		gnuplot_put_text(file, text_of(label));
		fprintf(file, " at graph 0.02, graph %.3f left front boxed\n",
		    0.91 - 0.045 * i);
	}
	labels_clear(&labels);
}

static void
put_bands(const struct bands *bands, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	double greatest;
	struct duration_unit unit = unit_of(bands, &greatest);

	greatest = greatest > 0 ? ROOM_ABOVE * greatest : 1;
	fprintf(file,
	    "set xlabel \"nodes, sorted by %s\"\n"
	    "set ylabel \"%s%s\"\n"
	    "set xrange [0:%u]\n"
	    "set yrange [0:%.9g]\n",
	    bands->total, unit.plural, bands->zero != NULL ? "" : ADDED_UP,
	    bands->count, greatest);
	gnuplot_put_tics(file, "y", 0, greatest, false);
	fputs("set grid ytics front\n"
	      "set style textbox opaque noborder fillcolor \"" COLOUR_PAPER
	      "\"\n"
	      "set style fill solid 1.0 noborder\n",
	    file);
	put_marks(bands, file);
	put_slowest(bands, file);
	fputs("plot ", file);
	for (unsigned i = bands->band_count; i-- > 0;) {
		put_source(file, dat, i + 1 == bands->band_count);
		/* A little wider than the step, to close the gaps between
		 * boxes. */
		fputs("(($1-1+$2)/2):", file);
		put_sum(file, i + 1, unit.seconds);
		fprintf(file, ":($1-1):($2+%.2f):(0):", bands->count / 2400.0);
		put_sum(file, i + 1, unit.seconds);
		put_band_title(file, &bands->band[i], terminal);
	}
	putc('\n', file);
}

void
bands_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct bands *bands = what;

	gnuplot_put_terminal(
	    file, terminal, WIDTH, height_of(bands), rows_of(bands));
	gnuplot_put_frame(file, terminal);
	if (terminal == GNUPLOT_DUMB)
		fputs("set key maxcols 1\n", file);
	put_title(bands, file, terminal);
	if (has_bars(bands))
		put_bars(bands, file, dat, terminal);
	else
		put_bands(bands, file, dat, terminal);
}
