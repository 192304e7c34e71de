/*
 * phases_script - the gnuplot script of the picture of --view phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot_private.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/cascade_plot.h"
#include "exporters/gnuplot/colours.h"
#include "proto/format/table.h"

enum {
	WIDTH = 1200, /* pixels */
	BAR_HEIGHT = 20,
	SLOTS_MIN = 9,
	MARGINS = 150, /* title and axis */
	BANDS_HEIGHT = 720,
	NAME_COLUMNS = 36,
	TITLE_COLUMNS = 90,
	TITLE_BYTES = 4096,
	DUMB_ROWS = 36,
	DUMB_MARGINS = 14,
	SLOWEST = 3, /* are named when there are too many for a bar each */
};

/* Of the slowest node: the labels of the marks must not cover the bands. */
#define ROOM_ABOVE 1.2

/* A few bars must not become thick, and the legend needs its space. */
static unsigned
slots_of(const struct phases_plot *plot)
{
	return plot->count < SLOTS_MIN ? SLOTS_MIN : plot->count;
}

static unsigned
height_of(const struct phases_plot *plot)
{
	return plot->bars ? MARGINS + BAR_HEIGHT * slots_of(plot)
			  : BANDS_HEIGHT;
}

/* The height of a picture of characters, in lines. */
static unsigned
rows_of(const struct phases_plot *plot)
{
	return plot->bars ? DUMB_MARGINS + 2 * slots_of(plot) : DUMB_ROWS;
}

static void
put_terminal(
    const struct phases_plot *plot, FILE *file, enum gnuplot_terminal terminal)
{
	gnuplot_put_terminal(
	    file, terminal, WIDTH, height_of(plot), rows_of(plot));
	fprintf(file, "set key outside %s Left reverse samplen 1.5\n",
	    terminal == GNUPLOT_DUMB ? "bottom center horizontal"
				     : "right top vertical spacing 1.4");
}

static void
put_line(const struct phases_plot *plot, FILE *file,
    enum gnuplot_terminal terminal, unsigned line, const char *text)
{
	gnuplot_put_heading(
	    file, terminal, height_of(plot), rows_of(plot), line, text);
}

static void
put_title(const struct phases_plot *plot, FILE *file, struct text pool,
    enum gnuplot_terminal terminal)
{
	char title[TITLE_BYTES] = "Startup of pool ",
	     what[256 + SOURCE_CLOCK_WORDS];
	char shown[4 * TITLE_COLUMNS + 8];
	size_t used = strlen(title);

	cascade_put_title(
	    plot->cascade, pool, title + used, sizeof(title) - used);
	table_elide(shown, sizeof(shown), text_of(title),
	    terminal == GNUPLOT_DUMB ? GNUPLOT_DUMB_WIDTH - 2 : TITLE_COLUMNS);
	put_line(plot, file, terminal, 0, shown);
	if (plot->bars)
		snprintf(what, sizeof(what),
		    "Startup time of %u node%s by phase. +: started this long "
		    "after the first node.",
		    plot->count, plot->count == 1 ? "" : "s");
	else
		snprintf(what, sizeof(what),
		    "Startup time of %u nodes by phase, fastest first%s.",
		    plot->count,
		    plot->count > PHASES_STEPS
			? ", each step the mean of several nodes"
			: "");
	used = strlen(what);
	if (plot->cascade->clock[0] != '\0')
		snprintf(what + used, sizeof(what) - used, " Of the %s.",
		    plot->cascade->clock);
	put_line(plot, file, terminal, 1, what);
}

/* The sum of the first `bands` bands as a gnuplot expression. */
static void
put_sum(FILE *file, int bands)
{
	putc('(', file);
	for (int i = 0; i < bands; i++)
		fprintf(file, "%s$%d", i ? "+" : "", PHASES_BAND_COLUMN + i);
	fputs(bands == 0 ? "0)" : ")", file);
}

/* The node's name and start, left of each bar. */
static void
put_bar_names(const struct phases_plot *plot, FILE *file)
{
	fputs("set ytics (", file);
	for (uint32_t i = 0; i < plot->count; i++) {
		const struct cascade_node *node = plot->rows[i].node;
		char label[4 * NAME_COLUMNS + 64];
		size_t used =
		    table_elide(label, sizeof(label), node->name, NAME_COLUMNS);
		int64_t us = 0;

		cascade_start_us(node, &us);
		snprintf(label + used, sizeof(label) - used, "  +%.1f s",
		    (double)(us - plot->cascade->first_us) / 1e6);
		fputs(i ? ", " : "", file);
		gnuplot_put_tic(file, text_of(label));
		fprintf(file, " %u", i + 1);
	}
	fputs(")\n", file);
}

static void
put_bars(const struct phases_plot *plot, FILE *file, const char *dat)
{
	bool first = true;

	fprintf(file,
	    "set xlabel \"seconds since the node's preparation began\"\n"
	    "set yrange [%u.5:0.5]\n"
	    "set xrange [0:*]\n"
	    "set grid xtics front\n"
	    "set style fill solid 1.0 noborder\n",
	    slots_of(plot));
	put_bar_names(plot, file);
	fputs("plot ", file);
	for (int i = 0; i < PHASES_PARTS; i++) {
		if (!plot->has[phases_bands[i].part])
			continue;
		fputs(first ? "" : ", \\\n\t", file);
		if (first)
			gnuplot_put_file(file, dat);
		else
			fputs("\"\"", file);
		fputs(" skip 1 using ", file);
		put_sum(file, i);
		fputs(":1:", file);
		put_sum(file, i);
		putc(':', file);
		put_sum(file, i + 1);
		fprintf(file,
		    ":($1-0.38):($1+0.38) with boxxyerror "
		    "lc rgb \"%s\" title \"%s\"",
		    phases_bands[i].colour, phases_bands[i].title);
		first = false;
	}
	putc('\n', file);
}

/* Mark the time at which half, 90 % and 99 % of the nodes were ready. */
static void
put_marks(const struct phases_plot *plot, FILE *file)
{
	static const unsigned percents[] = { 50, 90, 99 };
	static const char *const heights[] = { "0.97", "0.97", "0.93" };

	for (size_t i = 0; i < 3; i++) {
		uint32_t rank =
		    (uint32_t)(((uint64_t)plot->count * percents[i] + 99) /
			       100);

		fprintf(file,
		    "set arrow from %u, graph 0 to %u, graph 1 nohead front "
		    "dt 2 lc rgb \"" COLOUR_TEXT "\"\n"
		    "set label \"%u %%: %.1f s\" at %u, graph %s right "
		    "offset -0.5,0 front boxed\n",
		    rank, rank, percents[i], plot->rows[rank - 1].times.total,
		    rank, heights[i]);
	}
}

/* The slowest nodes by name, where the fast ones leave room. */
static void
put_slowest(const struct phases_plot *plot, FILE *file)
{
	char label[4 * NAME_COLUMNS + 64];

	for (uint32_t i = 0; i < SLOWEST && i < plot->count; i++) {
		const struct phases_row *row = &plot->rows[plot->count - 1 - i];
		int used = snprintf(label, sizeof(label), "%s%.1f s  ",
		    i == 0 ? "slowest: " : "", row->times.total);

		table_elide(label + used, sizeof(label) - (size_t)used,
		    row->node->name, NAME_COLUMNS);
		fputs("set label ", file);
		gnuplot_put_text(file, text_of(label));
		fprintf(file, " at graph 0.02, graph %.2f left front boxed\n",
		    0.91 - 0.045 * i);
	}
}

static void
put_bands(const struct phases_plot *plot, FILE *file, const char *dat)
{
	double greatest = plot->rows[plot->count - 1].times.total;
	bool first = true;

	fprintf(file,
	    "set xlabel \"nodes, sorted by the time from the start of "
	    "preparation to all global resources\"\n"
	    "set ylabel \"seconds\"\n"
	    "set xrange [0:%u]\n"
	    "set yrange [0:%.9g]\n"
	    "set grid ytics front\n"
	    "set style textbox opaque noborder fillcolor \"" COLOUR_PAPER "\"\n"
	    "set style fill solid 1.0 noborder\n",
	    plot->count, greatest > 0 ? ROOM_ABOVE * greatest : 1);
	put_marks(plot, file);
	put_slowest(plot, file);
	fputs("plot ", file);
	for (int i = PHASES_PARTS - 1; i >= 0; i--) {
		if (!plot->has[phases_bands[i].part])
			continue;
		fputs(first ? "" : ", \\\n\t", file);
		if (first)
			gnuplot_put_file(file, dat);
		else
			fputs("\"\"", file);
		/* A little wider than the step, to close the gaps between
		 * boxes. */
		fputs(" skip 1 using (($1-1+$2)/2):", file);
		put_sum(file, i + 1);
		fprintf(file, ":($1-1):($2+%.2f):(0):", plot->count / 2400.0);
		put_sum(file, i + 1);
		fprintf(file, " with boxxyerror lc rgb \"%s\" title \"%s\"",
		    phases_bands[i].colour, phases_bands[i].title);
		first = false;
	}
	putc('\n', file);
}

void
phases_plot_script(const struct phases_plot *plot, FILE *file, struct text pool,
    const char *dat, enum gnuplot_terminal terminal)
{
	put_terminal(plot, file, terminal);
	put_title(plot, file, pool, terminal);
	fputs("set tmargin 5\n"
	      "set border 3\n"
	      "set tics nomirror out\n",
	    file);
	if (plot->bars)
		put_bars(plot, file, dat);
	else
		put_bands(plot, file, dat);
}
