/*
 * timeline_plot - the picture of what each node did when.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/plot/timeline_plot.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { TIMELINE_PLOT_ROWS = 560, TIMELINE_PLOT_PIXELS = 1000 };

enum {
	WIDTH = 1200, /* pixels */
	BAR_HEIGHT = 20,
	SLOTS_MIN = 9, /* a few bars must not become thick */
	MARGINS = 150, /* headings and axis */
	MARGIN_BELOW = 72,
	NAMES_MAX = 28, /* names next to rows without a line each */
	NAME_COLUMNS = 36,
	DUMB_NAME_COLUMNS = 16,
	PHASES_NAMED = 40, /* as many as on the page; more are counted */
	PHASE_COLUMNS = 30,
	DUMB_PHASE_COLUMNS = 18,
	TITLE_BYTES = 1024,
	DUMB_ROWS = 36,
	DUMB_MARGINS = 14,
};

struct timeline_plot_run {
	int64_t begin_ns, end_ns;
	uint32_t row, phase;
	unsigned shade; /* 0: of one node */
	bool is_open;
};

/* ---- what is drawn ---- */

static bool
has_bars(const struct timeline_plot *plot)
{
	return plot->of->phases.nodes.count <= TIMELINE_PLOT_BARS;
}

static void
add_run(struct timeline_plot *plot, const struct timeline_plot_run *run)
{
	plot->number[run->phase] = 1;
	*MEMORY_ADD(plot->runs, plot->run_room, plot->run_count) = *run;
}

/* A bar each: nodes come one after the other. */
static void
take_segment(void *arg, const struct phases_segment *segment)
{
	struct timeline_plot *plot = arg;
	struct raster_row *last =
	    plot->row_count > 0 ? &plot->rows[plot->row_count - 1] : NULL;

	if (last == NULL || last->first != segment->node) {
		*MEMORY_ADD(plot->rows, plot->row_room, plot->row_count) =
		    (struct raster_row){ .first = segment->node,
			    .last = segment->node,
			    .nodes = 1 };
		plot->row_of[segment->node] = plot->row_count - 1;
	}
	add_run(
	    plot, &(struct timeline_plot_run){ .begin_ns = segment->begin_ns,
		      .end_ns = segment->end_ns,
		      .row = plot->row_count - 1,
		      .phase = segment->phase,
		      .is_open = segment->is_open });
}

struct pixels {
	struct timeline_plot *plot;
	struct raster raster;
};

static void
take_pixels(void *arg, const struct raster_run *run)
{
	struct pixels *pixels = arg;
	const int64_t *edges_ns = &pixels->raster.edges_ns[run->pixel];

	add_run(pixels->plot,
	    &(struct timeline_plot_run){ .begin_ns = edges_ns[0],
		.end_ns = edges_ns[run->pixels],
		.row = run->row,
		.phase = run->phase,
		.shade = run->shade,
		.is_open = run->segment != NULL && run->segment->is_open });
}

static int
make_pixels(struct timeline_plot *plot, struct err *err)
{
	const struct raster_asked asked = { .from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.pixels = TIMELINE_PLOT_PIXELS,
		.rows = TIMELINE_PLOT_ROWS,
		.form = PHASES_CUT,
		.order = PHASES_BY_BEGIN };
	struct pixels pixels = { .plot = plot };
	int rc = raster_begin(&pixels.raster, plot->of, &asked, err);

	if (rc == 0) {
		raster_make(&pixels.raster, take_pixels, &pixels);
		plot->rows = pixels.raster.rows;
		plot->row_count = pixels.raster.count;
		memcpy(plot->row_of, pixels.raster.row_of,
		    plot->of->phases.nodes.count * sizeof(*plot->row_of));
		pixels.raster.rows = NULL;
	}
	raster_clear(&pixels.raster);
	return rc;
}

int
timeline_plot_make(struct timeline_plot *plot,
    const struct phases_timeline *timeline, struct err *err)
{
	uint32_t phases = timeline->names.phases.count, number = 0;
	int rc = 0;

	plot->of = timeline;
	for (uint32_t i = 0, end; i < timeline->phases.count; i = end) {
		end = phases_share_end(&timeline->phases, i);
		plot->hanging += phases_share_hangs(&timeline->phases, i, end);
	}
	plot->row_of = memory_zero(
	    timeline->phases.nodes.count + 1, sizeof(*plot->row_of));
	for (uint32_t i = 0; i < timeline->phases.nodes.count; i++)
		plot->row_of[i] = UINT32_MAX;
	plot->number = memory_zero(phases + 1, sizeof(*plot->number));
	plot->places = memory_zero(phases + 1, sizeof(*plot->places));
	palette_place(timeline->names.phases.names, phases, plot->places);
	if (has_bars(plot))
		phases_timeline_each(
		    timeline, PHASES_CUT, PHASES_BY_BEGIN, take_segment, plot);
	else
		rc = make_pixels(plot, err);
	for (uint32_t i = 0; i < phases; i++)
		if (plot->number[i] > 0)
			plot->number[i] = ++number;
	return rc;
}

void
timeline_plot_clear(struct timeline_plot *plot)
{
	free(plot->runs);
	free(plot->rows);
	free(plot->row_of);
	free(plot->number);
	free(plot->places);
}

/* ---- the table ---- */

static double
seconds_of(const struct timeline_plot *plot, int64_t at_ns)
{
	return (double)(at_ns - plot->of->first_ns) / (double)NS_PER_SECOND;
}

void
timeline_plot_table(const void *what, FILE *file)
{
	const struct timeline_plot *plot = what;
	const struct text *nodes = plot->of->phases.nodes.names;

	fputs("Row First Last Nodes Phase Name Begin End Open Share\n", file);
	for (uint32_t i = 0; i < plot->run_count; i++) {
		const struct timeline_plot_run *run = &plot->runs[i];
		const struct raster_row *row = &plot->rows[run->row];

		fprintf(file, "%u ", run->row + 1);
		gnuplot_put_word(file, nodes[row->first]);
		putc(' ', file);
		gnuplot_put_word(file, nodes[row->last]);
		fprintf(file, " %u %u ", row->nodes, plot->number[run->phase]);
		gnuplot_put_word(
		    file, plot->of->names.phases.names[run->phase]);
		fprintf(file, " %.9f %.9f %d %.1f\n",
		    seconds_of(plot, run->begin_ns),
		    seconds_of(plot, run->end_ns), run->is_open,
		    run->shade == 0 ? 1 : (double)run->shade / RASTER_SHADES);
	}
}

/* ---- the script ---- */

static uint32_t
phase_count(const struct timeline_plot *plot)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < plot->of->names.phases.count; i++)
		count += plot->number[i] > 0;
	return count;
}

static bool
is_named(const struct timeline_plot *plot, uint32_t phase)
{
	return plot->number[phase] > 0 && plot->number[phase] <= PHASES_NAMED;
}

static unsigned
slots_of(const struct timeline_plot *plot)
{
	uint32_t phases = phase_count(plot), slots = SLOTS_MIN;

	/* Three columns of names must fit next to the bars. */
	if (phases > 3 * (SLOTS_MIN - 1))
		slots = (phases < PHASES_NAMED ? phases : PHASES_NAMED) / 3 + 4;
	return plot->row_count < slots ? slots : plot->row_count;
}

static unsigned
height_of(const struct timeline_plot *plot)
{
	return MARGINS + (has_bars(plot) ? BAR_HEIGHT * slots_of(plot)
					 : TIMELINE_PLOT_ROWS);
}

static unsigned
rows_of(const struct timeline_plot *plot)
{
	uint32_t phases = phase_count(plot);

	return (phases > PHASES_NAMED ? PHASES_NAMED + 1 : phases) +
	       (has_bars(plot) ? DUMB_MARGINS + slots_of(plot) : DUMB_ROWS);
}

static void
put_headings(const struct timeline_plot *plot, FILE *file,
    enum gnuplot_terminal terminal)
{
	unsigned height = height_of(plot), rows = rows_of(plot);
	uint32_t nodes = plot->of->phases.nodes.count;
	char what[TITLE_BYTES], open[96] = "", path[CRITICAL_SHOWN_BYTES];

	labels_put_title(file, terminal, height, rows, plot->title);
	if (plot->hanging > 0)
		snprintf(open, sizeof(open),
		    ", those with a phase that has no end first (%u)",
		    plot->hanging);
	snprintf(what, sizeof(what), "What %u node%s did when%s%s%s.%s", nodes,
	    nodes == 1 ? "" : "s", open,
	    plot->row_count < nodes ? ", each row several nodes" : "",
	    critical_shown_words(path, plot->path), plot->note);
	gnuplot_put_heading(file, terminal, height, rows, 1, what);
}

static struct text
name_of(const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct timeline_plot *plot = arg;

	(void)after;
	return plot->of->phases.nodes.names[plot->rows[row].first];
}

static void
put_axes(const struct timeline_plot *plot, FILE *file,
    enum gnuplot_terminal terminal, const struct duration_unit *unit)
{
	uint32_t step =
	    has_bars(plot) ? 1 : (plot->row_count + NAMES_MAX - 1) / NAMES_MAX;
	char begin[CLOCK_TEXT_BYTES];

	fprintf(file, "set xlabel \"%s since %s\"\nset yrange [%u.5:0.5]\n",
	    unit->plural, clock_text(begin, plot->of->first_ns, 3),
	    has_bars(plot) ? slots_of(plot) : plot->row_count);
	gnuplot_put_range(file, "x", 0,
	    seconds_of(plot, plot->of->last_ns) / unit->seconds, false);
	fputs("set grid xtics front\n", file);
	labels_put_rows(file, plot->row_count, step,
	    terminal == GNUPLOT_DUMB ? DUMB_NAME_COLUMNS : NAME_COLUMNS,
	    name_of, plot);
}

static void
put_phase_title(const struct timeline_plot *plot, FILE *file, uint32_t phase,
    enum gnuplot_terminal terminal)
{
	palette_put_fill(file, plot->places[phase]);
	fputs(" title ", file);
	labels_put_cut(file,
	    text_after(plot->of->names.phases.names[phase], ':'),
	    terminal == GNUPLOT_DUMB ? DUMB_PHASE_COLUMNS : PHASE_COLUMNS);
}

/* Behind those of phases with a name: how many have none here. */
static void
put_more_title(const struct timeline_plot *plot, FILE *file)
{
	fprintf(
	    file, " title \"and %u more\"", phase_count(plot) - PHASES_NAMED);
}

/* Of the runs for which `which` holds. */
static void
put_boxes(const struct timeline_plot *plot, FILE *file, const char *which,
    const struct duration_unit *unit)
{
	/* Rows without a gap reach below the next one, which covers that: else
	 * the paper shines through edges inside of a pixel. */
	fprintf(file,
	    " skip 1 using (%s ? $7/%.9g : NaN):1:($7/%.9g):($8/%.9g):%s",
	    which, unit->seconds, unit->seconds, unit->seconds,
	    has_bars(plot) ? "($1-0.38):($1+0.38)" : "($1-0.5):($1+0.75)");
}

static void
put_series(const struct timeline_plot *plot, FILE *file, const char *dat,
    const char *which, const struct duration_unit *unit)
{
	gnuplot_put_file(file, dat);
	put_boxes(plot, file, which, unit);
	fputs(" with boxxyerror", file);
}

/* Characters have no colours: a series for each phase, and one for all that
 * have no name here. */
static void
put_characters(const struct timeline_plot *plot, FILE *file, const char *dat,
    const struct duration_unit *unit)
{
	const char *before = "plot ";

	for (uint32_t i = 0; i < plot->of->names.phases.count; i++) {
		char which[32];

		if (!is_named(plot, i))
			continue;
		fputs(before, file);
		snprintf(which, sizeof(which), "$5==%u", plot->number[i]);
		put_series(plot, file, dat, which, unit);
		put_phase_title(plot, file, i, GNUPLOT_DUMB);
		before = ", \\\n\t";
	}
	if (phase_count(plot) > PHASES_NAMED) {
		char which[32];

		snprintf(which, sizeof(which), "$5>%d", PHASES_NAMED);
		fputs(before, file);
		put_series(plot, file, dat, which, unit);
		put_more_title(plot, file);
	}
	putc('\n', file);
}

/* The colour of a run is that of its phase, and the paper's the more the less
 * of the time it is: pictures do without transparency, of which edges that
 * meet in a pixel make stripes. */
static void
put_functions(const struct timeline_plot *plot, FILE *file)
{
	fputs("colours = \"", file);
	for (uint32_t i = 0; i < plot->of->names.phases.count; i++)
		if (plot->number[i] > 0)
			fprintf(file, "%s%s", plot->number[i] > 1 ? " " : "",
			    palette_light(plot->places[i]));
	fputs("\"\n"
	      "hex(s) = int(real(\"0x\".s[2:7]))\n"
	      "colour(n) = hex(word(colours, int(n)))\n"
	      "paper = hex(\"" COLOUR_PAPER "\")\n"
	      "part(c, b) = int(c / b) % 256\n"
	      "mix(c, b, s) = b * int(part(paper, b) + "
	      "(part(c, b) - part(paper, b)) * s)\n"
	      "pale(c, s) = mix(c, 65536, s) + mix(c, 256, s) + mix(c, 1, s)\n",
	    file);
}

/* The critical path: a line along the row of each piece, 0 or 1 where the pool
 * waits, and one from row to row, 2, which is narrow, or many of these would be
 * all that is seen. */
static void
put_path(const struct timeline_plot *plot, FILE *file,
    const struct duration_unit *unit)
{
	const struct critical_path *path = &plot->path->path;
	uint32_t row = UINT32_MAX, number;

	fputs("$path << EOD\n", file);
	for (uint32_t i = 0; i < path->count; i++) {
		const struct critical_piece *piece = &path->at[i];
		double from = seconds_of(plot, piece->from_ns) / unit->seconds;
		double to = seconds_of(plot, piece->to_ns) / unit->seconds;
		uint32_t before = row;
		struct text node, phase, key;
		bool waits = piece->kind == CRITICAL_BEGAN ||
			     piece->kind == CRITICAL_WAIT;

		(void)critical_shown_piece(
		    plot->path, piece, &node, &phase, &key);
		row = string_table_find(&plot->of->phases.nodes, node, &number)
			  ? plot->row_of[number]
			  : UINT32_MAX;
		if (row == UINT32_MAX || to <= 0)
			continue;
		from = from > 0 ? from : 0;
		if (before != UINT32_MAX && before != row)
			fprintf(file, "%.9f %u 2\n%.9f %u 2\n\n", from,
			    before + 1, from, row + 1);
		fprintf(file, "%.9f %u %d\n%.9f %u %d\n\n", from, row + 1,
		    waits, to, row + 1, waits);
	}
	fputs("EOD\n", file);
}

static void
put_path_lines(FILE *file)
{
	fputs(", \\\n\t$path using 1:($3 < 2 ? $2 : NaN) with lines lw 4 lc "
	      "rgb \"" COLOUR_PAPER "\" notitle"
	      ", \\\n\t$path using 1:($3 == 2 ? $2 : NaN) with lines lw 0.7 "
	      "lc rgb \"" COLOUR_TEXT "\" notitle"
	      ", \\\n\t$path using 1:($3 == 0 ? $2 : NaN) with lines lw 2 "
	      "lc rgb \"" COLOUR_TEXT "\" title \"path to ready\""
	      ", \\\n\t$path using 1:($3 == 1 ? $2 : NaN) with lines lw 2 "
	      "dt 2 lc rgb \"" COLOUR_TEXT "\" title \"path: the pool waits\"",
	    file);
}

/* Over its colour, which another phase has without one. */
static void
put_pattern(const struct timeline_plot *plot, FILE *file, uint32_t phase,
    const struct duration_unit *unit)
{
	char which[32];

	if (plot->places[phase] < PALETTE_PLACES)
		return;
	snprintf(which, sizeof(which), "$5==%u && $9==0", plot->number[phase]);
	fputs(", \\\n\t\"\"", file);
	put_boxes(plot, file, which, unit);
	fputs(" with boxxyerror", file);
	palette_put_fill(file, plot->places[phase]);
	fputs(" notitle", file);
}

static void
put_colours(const struct timeline_plot *plot, FILE *file, const char *dat,
    const struct duration_unit *unit, enum gnuplot_terminal terminal)
{
	put_functions(plot, file);
	put_path(plot, file, unit);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	put_boxes(plot, file, "1", unit);
	fprintf(file,
	    ":(pale(colour($5), $9 == 1 ? 0.25 : $10)) with boxxyerror "
	    "fs solid 1.0 %s lc rgb variable notitle",
	    has_bars(plot) ? "border lw 0.5" : "noborder");
	if (plot->hanging > 0) {
		fputs(", \\\n\t\"\"", file);
		put_boxes(plot, file, "$9 == 1", unit);
		fputs(":(colour($5)) with boxxyerror fs empty border lw 1.5 "
		      "lc rgb variable notitle",
		    file);
	}
	for (uint32_t i = 0; i < plot->of->names.phases.count; i++)
		if (is_named(plot, i)) {
			put_pattern(plot, file, i, unit);
			fputs(", \\\n\tNaN with boxes", file);
			put_phase_title(plot, file, i, terminal);
		}
	if (phase_count(plot) > PHASES_NAMED) {
		fputs(
		    ", \\\n\tNaN with dots lc rgb \"" COLOUR_PAPER "\"", file);
		put_more_title(plot, file);
	}
	if (plot->path->path.count > 0)
		put_path_lines(file);
	if (plot->hanging > 0)
		fputs(", \\\n\tNaN with boxes lc rgb \"" COLOUR_TEXT
		      "\" fs empty border title \"open: no end\"",
		    file);
	putc('\n', file);
}

/* A row has as many pixels as the next one: others make stripes. */
static void
put_margins(const struct timeline_plot *plot, FILE *file,
    enum gnuplot_terminal terminal)
{
	double height = height_of(plot);

	if (!has_bars(plot) && terminal != GNUPLOT_DUMB &&
	    gnuplot_look.height == 0)
		fprintf(file,
		    "set tmargin at screen %.9f\nset bmargin at screen %.9f\n",
		    (MARGIN_BELOW + TIMELINE_PLOT_ROWS) / height,
		    MARGIN_BELOW / height);
}

void
timeline_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct timeline_plot *plot = what;
	struct duration_unit unit =
	    duration_unit_of(seconds_of(plot, plot->of->last_ns));

	gnuplot_put_terminal(
	    file, terminal, WIDTH, height_of(plot), rows_of(plot));
	gnuplot_put_frame(file, terminal);
	if (terminal == GNUPLOT_DUMB)
		fputs("set key maxcols 1\n", file);
	put_headings(plot, file, terminal);
	put_margins(plot, file, terminal);
	fputs("set style fill solid 1.0\n", file);
	put_axes(plot, file, terminal, &unit);
	if (terminal == GNUPLOT_DUMB)
		put_characters(plot, file, dat, &unit);
	else
		put_colours(plot, file, dat, &unit, terminal);
}
