/*
 * result_plot_script - the gnuplot script of result_plot.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/axis.h"
#include "exporters/gnuplot/colours.h"
#include "exporters/results/plot.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

enum {
	WIDTH = 1200,
	HEIGHT = 560,
	ROWS = 30,
	TITLE_COLUMNS = 110,
	TITLE_BYTES = 1024,
	LABELS = 8,      /* labelled changes; more labels would overlap */
	LABEL_LINES = 3, /* number of heights at which labels alternate */
	TICS = 8,        /* of the time, at most */
	DUMB_TICS = 4,
};

struct shape {
	const struct result_plot *plot;
	FILE *file;
	enum gnuplot_terminal terminal;
	bool dumb;
	double scale; /* units of a value per second */
	const char *unit;
};

static void
choose_unit(struct shape *s)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = { { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" } };
	double size = fabs(s->plot->median);
	int i = 0;

	while (i < 3 && size > 0 && size * units[i].scale < 1)
		i++;
	s->scale = units[i].scale;
	s->unit = units[i].unit;
}

/* ---- labels ---- */

/* "2017-03-08" */
static void
date_text(char to[static CLOCK_TEXT_BYTES], double time)
{
	double least = (double)(TIME_MIN_NS / NS_PER_SECOND);
	double most = (double)(TIME_MAX_NS / NS_PER_SECOND);

	clock_text(
	    to, (int64_t)fmin(fmax(time, least), most) * NS_PER_SECOND, 0);
	to[10] = '\0';
}

static void
put_label(const struct shape *s, unsigned line, struct text text)
{
	char shown[4 * TITLE_COLUMNS + 8];

	table_elide(shown, sizeof(shown), text,
	    s->dumb ? GNUPLOT_DUMB_WIDTH - 2 : TITLE_COLUMNS);
	gnuplot_put_heading(s->file, s->terminal, HEIGHT, ROWS, line, shown);
}

static void
put_title(const struct shape *s)
{
	const struct result_plot *plot = s->plot;
	char *title = NULL;
	size_t bytes;
	FILE *memory = memory_stream(&title, &bytes);

	table_put_elided(memory, plot->entry, s->dumb ? 24 : 40);
	fputs(" of ", memory);
	table_put_elided(memory, plot->test, s->dumb ? 28 : 40);
	fputs(", pool ", memory);
	table_put_elided(memory, plot->pool, s->dumb ? 12 : 20);
	fclose(memory);
	put_label(s, 0, text_of(title));
	free(title);
}

static void
put_step(const struct shape *s, FILE *memory)
{
	double minutes = s->plot->step_seconds / 60;

	if (minutes == 0)
		return;
	if (minutes < 60)
		fprintf(memory, "; steps of %g min", minutes);
	else if (minutes < 24 * 60)
		fprintf(memory, "; steps of %g h", minutes / 60);
	else
		fprintf(memory, "; steps of %g d", minutes / 24 / 60);
}

static void
put_what(const struct shape *s)
{
	const struct result_plot *plot = s->plot;
	uint32_t changes = plot->level_count - 1;
	char what[TITLE_BYTES] = "", from[CLOCK_TEXT_BYTES],
	     to[CLOCK_TEXT_BYTES];
	FILE *memory = memory_must(fmemopen(what, sizeof(what), "w"));

	date_text(from, plot->first);
	date_text(to, plot->last);
	fprintf(memory, "%s%u run%s, %s to %s", plot->cut ? "the newest " : "",
	    plot->runs, plot->runs == 1 ? "" : "s", from, to);
	put_step(s, memory);
	fprintf(memory, "; median %.4g %s", plot->median * s->scale, s->unit);
	if (changes == 0 && plot->runs >= CHANGE_POINTS_LEAST)
		fputs("; no change", memory);
	else
		fprintf(
		    memory, "; %u change%s", changes, changes == 1 ? "" : "s");
	if (plot->beyond > 0)
		fprintf(memory, "; %u beyond%s", plot->beyond,
		    s->dumb ? "" : " the picture");
	if (plot->left_out > 0)
		fprintf(memory, "; %llu without a number",
		    (unsigned long long)plot->left_out);
	fclose(memory);
	put_label(s, 1, text_of(what));
}

/* ---- axes ---- */

static void
put_axes(const struct shape *s)
{
	const struct result_plot *plot = s->plot;
	double span = plot->last - plot->first;
	double room = span > 0 ? 0.02 * span : 1800;

	fputs("set border 3\nset tics nomirror out\nset grid ytics\n"
	      "set style textbox opaque noborder fillcolor \"" COLOUR_PAPER
	      "\"\n",
	    s->file);
	gnuplot_put_time_axis(s->file, plot->first - room, plot->last + room,
	    s->dumb ? DUMB_TICS : TICS);
	fprintf(s->file, "set yrange [%.9g:%.9g]\nset ylabel \"%s\"\n",
	    plot->low * s->scale, plot->high * s->scale, s->unit);
	gnuplot_put_tics(
	    s->file, "y", plot->low * s->scale, plot->high * s->scale, false);
	if (s->dumb)
		fputs("set key bottom center outside horizontal\n", s->file);
	else
		fputs("set key outside right top vertical Left reverse "
		      "samplen 1.5 spacing 1.2\n",
		    s->file);
}

/* ---- changes ---- */

struct mark {
	const struct result_level *level;
	double size;
};

static int
by_size(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->level < b->level ? -1 : a->level > b->level;
}

static void
put_mark(const struct shape *s, const struct result_level *level, bool words,
    unsigned line)
{
	const char *colour = level->percent > 0 ? COLOUR_WORSE : COLOUR_BETTER;
	char date[CLOCK_TEXT_BYTES];

	fprintf(s->file,
	    "set arrow from %.3f, graph 0 to %.3f, graph 1 nohead front dt 2 "
	    "lc rgb \"%s\"\n",
	    level->from, level->from, colour);
	if (!words)
		return;
	date_text(date, level->from);
	fprintf(s->file, "set label \"%s", date);
	if (!isnan(level->percent))
		fprintf(s->file, " %+.1f %%", level->percent);
	fprintf(s->file,
	    "\" at %.3f, graph %.3f %s offset %s,0 front%s tc rgb "
	    "\"%s\"\n",
	    level->from, 0.97 - (s->dumb ? 0.08 : 0.05) * line,
	    level->from > (s->plot->first + s->plot->last) / 2 ? "right"
							       : "left",
	    level->from > (s->plot->first + s->plot->last) / 2 ? "-0.7" : "0.7",
	    s->dumb ? "" : " boxed", colour);
}

/* Every change gets a line, the largest get labels too. */
static void
put_marks(const struct shape *s)
{
	const struct result_plot *plot = s->plot;
	struct mark marks[CHANGE_POINTS_MAX + 1];
	uint32_t count = plot->level_count - 1, line = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct result_level *level = &plot->levels[i + 1];

		marks[i] = (struct mark){ level, isnan(level->percent)
						     ? (double)INFINITY
						     : fabs(level->percent) };
	}
	qsort(marks, count, sizeof(*marks), by_size);
	for (uint32_t i = 1; i <= count; i++) {
		bool words = false;

		for (uint32_t k = 0; k < count && k < LABELS; k++)
			words |= marks[k].level == &plot->levels[i];
		put_mark(s, &plot->levels[i], words, line % LABEL_LINES);
		line += words;
	}
}

/* ---- curves ---- */

static void
put_curve(const struct shape *s, const char *dat, const char *columns,
    const char *with)
{
	gnuplot_put_file(s->file, dat);
	fprintf(s->file, " index 0 using %s with %s", columns, with);
}

static void
put_plot(const struct shape *s, const char *dat)
{
	bool points = s->plot->step_seconds == 0;

	fprintf(s->file, "m = %.9g\nplot ", s->scale);
	if (points) {
		put_curve(s, dat, "1:($2*m)",
		    s->dumb ? "points pt \"*\" title \"run\""
			    : "linespoints lw 0.7 pt 7 ps 0.6 lc rgb "
			      "\"" COLOUR_BLUE "\" title \"run\"");
	} else if (s->dumb) {
		put_curve(
		    s, dat, "1:($3*m)", "points pt \".\" title \"least\"");
		fputs(", \\\n\t", s->file);
		put_curve(
		    s, dat, "1:($6*m)", "points pt \"'\" title \"greatest\"");
		fputs(", \\\n\t", s->file);
		put_curve(
		    s, dat, "1:($2*m)", "points pt \"*\" title \"median\"");
	} else {
		put_curve(s, dat, "1:($3*m):($6*m)",
		    "filledcurves lc rgb \"" COLOUR_BAND_LIGHT
		    "\" title \"least to "
		    "greatest\"");
		fputs(", \\\n\t", s->file);
		put_curve(s, dat, "1:($4*m):($5*m)",
		    "filledcurves lc rgb \"" COLOUR_BAND
		    "\" title \"middle half\"");
		fputs(", \\\n\t", s->file);
		put_curve(s, dat, "1:($2*m)",
		    "lines lw 1.5 lc rgb \"" COLOUR_DARK_BLUE
		    "\" title \"median\"");
	}
	if (!s->dumb) {
		fputs(", \\\n\t", s->file);
		gnuplot_put_file(s->file, dat);
		fputs(" index 1 using 1:($3*m):($2-$1):(0) with vectors nohead "
		      "lw 2.5 lc rgb \"" COLOUR_ORANGE "\" title \"level\"",
		    s->file);
	}
	putc('\n', s->file);
}

void
result_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	struct shape s = { .plot = what,
		.file = file,
		.terminal = terminal,
		.dumb = terminal == GNUPLOT_DUMB };

	choose_unit(&s);
	gnuplot_put_terminal(file, terminal, WIDTH, HEIGHT, ROWS);
	put_title(&s);
	put_what(&s);
	fputs(s.dumb ? "set tmargin 4\n" : "set tmargin 5\n", file);
	put_axes(&s);
	put_marks(&s);
	put_plot(&s, dat);
}
