/*
 * cascade_plot - the table of the picture of --view reference.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade_plot.h"

#include <string.h>
#include <time.h>

#include "exporters/gnuplot/look.h"
#include "proto/base/number.h"

static void
put_time(FILE *file, int64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	int64_t rest = us % 1000000;
	char text[40];
	struct tm tm;

	if (rest < 0) {
		seconds--;
		rest += 1000000;
	}
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d-%H:%M:%S", &tm);
	fprintf(file, "%s.%06d", text, (int)rest);
}

static void
put_node(
    const struct cascade *cascade, const struct cascade_node *node, FILE *file)
{
	static const enum cascade_phase once[] = { CASCADE_DOCKER,
		CASCADE_REGISTRY, CASCADE_SHIPYARD, CASCADE_GLOBAL };
	static const enum cascade_phase images[] = { CASCADE_PULL, CASCADE_SAVE,
		CASCADE_LOAD, CASCADE_TORRENT };
	int64_t us = 0;

	cascade_start_us(node, &us);
	put_time(file, us);
	putc(' ', file);
	gnuplot_put_word(file, node->name);
	for (size_t i = 0; i < 4; i++) {
		char text[NUMBER_BYTES];
		double seconds;
		bool absent;

		cascade_once(node, once[i], &seconds, &absent);
		number_repr(text, seconds);
		fprintf(file, " %s", absent ? "0" : text);
	}
	for (size_t i = 0; i < 4; i++)
		fprintf(file, " %.5f",
		    cascade_images_total(cascade, node, images[i]));
	putc('\n', file);
}

void
cascade_plot_dat(const struct cascade *cascade, FILE *file)
{
	fputs("NodePrepStartTime NodeId NodePrep+DockerInstall "
	      "PrivateRegistrySetup ShipyardContainerPull "
	      "GlobalResourcesLoad TotalPull TotalSave TotalLoad "
	      "TotalTorrent\n",
	    file);
	for (uint32_t i = 0; i < cascade->node_count; i++)
		if (cascade->nodes[i].missing == 0)
			put_node(cascade, &cascade->nodes[i], file);
}

void
cascade_put_title(
    const struct cascade *cascade, struct text pool, char *to, size_t room)
{
	struct text offer = cascade->offer, sku = cascade->sku;
	bool both = offer.bytes > 0 && sku.bytes > 0;
	bool any = offer.bytes > 0 || sku.bytes > 0;

	snprintf(to, room, "%.*s%s%.*s%s%.*s%s", (int)pool.bytes, pool.at,
	    any ? " (" : "", (int)offer.bytes, offer.bytes ? offer.at : "",
	    both ? " " : "", (int)sku.bytes, sku.bytes ? sku.at : "",
	    any ? ")" : "");
}

/*
 * The gnuplot script of the picture of --view reference.
 *
 * It is the one of the older tool: its colours are the defaults of gnuplot.
 */

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
