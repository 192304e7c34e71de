/*
 * cascade_script - the gnuplot script of the picture of --view reference.
 *
 * It is the one of the older tool: its colours are the defaults of gnuplot.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade_plot.h"

#include <string.h>

#include "exporters/gnuplot/look.h"

/* The older tool's line, in which gnuplot interprets _.  If the name has other
 * special characters, all of them are quoted. */
static void
put_title_line(const struct cascade *cascade, FILE *file, struct text pool)
{
	char what[4096] = "Shipyard Performance for ";
	size_t used = strlen(what);

	if (gnuplot_look.title != NULL)
		snprintf(what, sizeof(what), "%s", gnuplot_look.title);
	else
		cascade_put_title(
		    cascade, pool, what + used, sizeof(what) - used);
	fputs("set title ", file);
	gnuplot_put_text(file, text_of(what));
	if (!gnuplot_is_plain(text_of(what)))
		fputs(" noenhanced", file);
	fputs(" font \", 10\" \n", file);
}

void
cascade_plot_script(const struct cascade *cascade, FILE *file, struct text pool,
    const char *dat, enum gnuplot_terminal terminal)
{
	static const char *const terminals[] = {
		[GNUPLOT_PNG] = "pngcairo enhanced transparent crop",
		[GNUPLOT_SVG] = "svg enhanced background rgb \"white\"",
		[GNUPLOT_DUMB] = "dumb noenhanced 79 32",
		[GNUPLOT_SIXEL] = "sixelgd enhanced transparent",
		[GNUPLOT_PDF] = "pdfcairo enhanced",
	};

	if (gnuplot_look_is_given())
		gnuplot_put_terminal(file, terminal, 640, 480, 32);
	else
		fprintf(file, "set terminal %s\n", terminals[terminal]);
	put_title_line(cascade, file, pool);
	fputs("set key top right horizontal autotitle columnhead "
	      "font \", 7\"\n"
	      "set xtics rotate by 45 right font \", 7\"\n"
	      "set ytics font \", 8\"\n"
	      "set xlabel \"Node Prep Start Time\" font \", 8\"\n"
	      "set ylabel \"Seconds\" font \", 8\"\n"
	      "set format x \"%H:%M:%.3S\"\n"
	      "set xdata time\n"
	      "set timefmt \"%Y-%m-%d-%H:%M:%S\"\n"
	      "set style fill solid\n",
	    file);
	fprintf(
	    file, "set boxwidth %.5f absolute\n", cascade->start_spread / 100);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	fputs(" using 1:($3+$4+$5+$6) with boxes, \\\n"
	      "\t\"\" using 1:($3+$4+$5) with boxes, \\\n"
	      "\t\"\" using 1:($3+$4) with boxes, \\\n"
	      "\t\"\" using 1:3 with boxes\n",
	    file);
}
