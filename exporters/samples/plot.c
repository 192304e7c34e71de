/*
 * samples_plot - the data table of a picture of one metric.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"
#include "proto/format/table.h"
#include "proto/metric/dynamic_group.h"
#include "proto/os/clock.h"

enum {
	WIDTH = 1200,
	HEIGHT = 520,
	MAP_HEIGHT = 900, /* with the band above it */
	ROWS = 30,
	TITLE_COLUMNS = 95,
	NAME_COLUMNS = 28,
	FILLED_LINES = 3, /* more would overlap */
	TICS = 10,        /* of the time, at most */
	DUMB_TICS = 5,
	NAMES = 36, /* of a map: all of them, or some of more */
	NAMES_OF_MORE = 16,
};

struct shape {
	const struct samples_plot *plot;
	FILE *file;
	enum gnuplot_terminal terminal;
	bool lines, dumb, map;
	unsigned height;
	double least, greatest; /* range of all cells */
	double greatest_mean;
	struct labels labels; /* of the nodes */
};

static bool
is_lines(const struct samples_plot *plot)
{
	return plot->metric->count <= SAMPLES_LINES;
}

static uint32_t
map_rows(const struct samples_plot *plot)
{
	return plot->metric->count < SAMPLES_MAP_ROWS ? plot->metric->count
						      : SAMPLES_MAP_ROWS;
}

/* Lines need more. */
static bool
has_few_steps(const struct shape *s)
{
	return s->plot->samples->steps <= 2;
}

/* ---- texts ---- */

static void
put_label(const struct shape *s, unsigned line, const char *text)
{
	gnuplot_put_heading(s->file, s->terminal, s->height, ROWS, line, text);
}

/* "system.disk.io.read of disk/sda, acct$render-60, job 77"; instead of a name
 * that is a hash, the labels. */
static void
put_title(const struct shape *s)
{
	const struct samples_metric *metric = s->plot->metric;
	struct text of =
	    metric->labels.bytes > 0 && dynamic_group_is(metric->group)
		? metric->labels
		: metric->group;
	char *title = NULL, shown[4 * TITLE_COLUMNS + 8];
	size_t bytes;
	FILE *memory = memory_stream(&title, &bytes);

	fprintf(memory, "%.*s of %.*s, %.*s", (int)metric->name.bytes,
	    metric->name.at, (int)of.bytes, of.at,
	    (int)s->plot->partition.bytes, s->plot->partition.at);
	if (s->plot->jobs.job != NULL)
		fprintf(memory, ", job %s", s->plot->jobs.job);
	if (s->plot->jobs.user != NULL)
		fprintf(memory, ", user %s", s->plot->jobs.user);
	fclose(memory);
	table_elide(shown, sizeof(shown), text_of(title),
	    s->dumb ? GNUPLOT_DUMB_WIDTH - 2 : TITLE_COLUMNS);
	put_label(s, 0, shown);
	free(title);
}

static void
put_what(const struct shape *s)
{
	const struct samples_metric *metric = s->plot->metric;
	char what[320 + SOURCE_CLOCK_WORDS], step[24], each[64] = "";
	uint32_t rows = map_rows(s->plot);

	samples_plot_step(step, s->plot->samples->step_ns);
	if (s->map && rows < metric->count)
		snprintf(each, sizeof(each),
		    ", a row shows the greatest of %s%u",
		    metric->count % rows != 0 ? "up to " : "",
		    (metric->count + rows - 1) / rows);
	snprintf(what, sizeof(what),
	    "%u node%s%s; steps of %s from %.*s%s%s%s.%s", metric->count,
	    metric->count == 1 ? "" : "s", each, step,
	    (int)metric->rollup.bytes, metric->rollup.at,
	    text_equal(metric->rollup, text_of("raw")) ? " samples"
						       : " buckets",
	    s->plot->samples->clock[0] != '\0' ? "; " : "",
	    s->plot->samples->clock,
	    metric->counter && !s->dumb ? " A counter, as its rate." : "");
	put_label(s, 1, what);
}

/* The label of the value axis: "bytes per second". */
static void
name_unit(const struct samples_metric *metric, char *to, size_t room)
{
	struct text unit = metric->unit;
	bool per_second = unit.bytes > 2 &&
			  memcmp(unit.at + unit.bytes - 2, "/s", 2) == 0 &&
			  metric->counter;

	unit.bytes -= per_second ? 2 : 0;
	if (text_equal(unit, text_of("{cpu}")))
		unit = text_of("processors");
	if (text_equal(unit, text_of("%")) &&
	    text_equal(metric->group, text_of("cpu")))
		unit = text_of("% of the node's processors");
	if (unit.bytes > 2 && unit.at[0] == '{') { /* an annotation of UCUM */
		unit.at++;
		unit.bytes -= 2;
	}
	if (text_equal(unit, text_of("By")))
		unit = text_of("bytes");
	if (text_equal(unit, text_of("s")))
		unit = text_of("seconds");
	if (unit.bytes > 64)
		unit.bytes = 64;
	if (text_equal(unit, text_of("1")) || unit.bytes == 0)
		snprintf(to, room, "%s", per_second ? "per second" : "");
	else
		snprintf(to, room, "%.*s%s", (int)unit.bytes, unit.at,
		    per_second ? " per second" : "");
}

/* ---- axes ---- */

static bool
is_bytes(const struct samples_metric *metric)
{
	return text_equal(metric->unit, text_of("By")) ||
	       text_equal(metric->unit, text_of("By/s"));
}

/* The range of all cells, and of their means. */
static void
find_range(struct shape *s)
{
	const struct samples_plot *plot = s->plot;

	s->least = s->greatest = s->greatest_mean = NAN;
	for (uint32_t r = 0; r < plot->metric->count; r++)
		for (uint32_t i = 0; i < plot->samples->steps; i++) {
			const struct samples_cell *cell =
			    &plot->metric->rows[r].cells[i];

			s->least = fmin(s->least, (double)cell->low);
			s->greatest = fmax(s->greatest, (double)cell->high);
			s->greatest_mean =
			    fmax(s->greatest_mean, (double)cell->mean);
		}
}

static double
first_time(const struct samples *samples)
{
	return (double)samples->from_ns / 1e9;
}

static double
last_time(const struct samples *samples)
{
	return first_time(samples) +
	       (double)samples->step_ns * samples->steps / 1e9;
}

static void
put_axes(const struct shape *s)
{
	char unit[128];

	name_unit(s->plot->metric, unit, sizeof(unit));
	fputs("set border 3\nset tics nomirror out\nset grid ytics\n", s->file);
	gnuplot_put_time_axis(s->file, first_time(s->plot->samples),
	    last_time(s->plot->samples), s->dumb ? DUMB_TICS : TICS);
	gnuplot_put_range(
	    s->file, "y", s->least, s->greatest, is_bytes(s->plot->metric));
	fputs("set ylabel ", s->file);
	gnuplot_put_text(s->file, text_of(unit));
	putc('\n', s->file);
}

static void
make_labels(struct shape *s)
{
	const struct samples_metric *metric = s->plot->metric;
	struct text *names = memory_zero(metric->count + 1, sizeof(*names));

	for (uint32_t i = 0; i < metric->count; i++)
		names[i] = metric->rows[i].node;
	labels_make(&s->labels, names, metric->count,
	    s->lines ? NAME_COLUMNS : NAME_COLUMNS - 4);
	free(names);
}

/* ---- steps: what was measured, nothing between ---- */

/* The ranges from one to the other, a box for each step. */
static void
put_ranges(const struct shape *s, const char *dat, unsigned index,
    const char *low, const char *high, const char *fill, const char *colour)
{
	double half = (double)s->plot->samples->step_ns / 2e9;

	gnuplot_put_file(s->file, dat);
	fprintf(s->file,
	    " index %u using 1:%s:($1-%g):($1+%g):%s:%s with boxxyerror fs %s "
	    "noborder lc rgb \"%s\" ",
	    index, low, half, half, low, high, fill, colour);
}

/* The values, a column or an expression as above; with the line of each step,
 * for gnuplot's steps end where the last one begins. */
static void
put_steps(const struct shape *s, const char *dat, unsigned index,
    const char *values, const char *look, unsigned place)
{
	double half = (double)s->plot->samples->step_ns / 2e9;

	if (!s->dumb) {
		gnuplot_put_file(s->file, dat);
		fprintf(s->file,
		    " index %u using ($1-%g):%s:(%g):(0) with vectors nohead "
		    "%s",
		    index, half, values, 2 * half, look);
		palette_put_line(s->file, place);
		fputs(" notitle, \\\n\t", s->file);
	}
	gnuplot_put_file(s->file, dat);
	fprintf(s->file, " index %u using ($1-%g):%s with %s %s", index,
	    s->dumb ? 0 : half, values,
	    has_few_steps(s) ? "points pt 7"
	    : s->dumb        ? "lines"
			     : "steps",
	    look);
	palette_put_line(s->file, place);
	fputs(" title ", s->file);
}

/* ---- lines ---- */

static void
put_key(const struct shape *s)
{
	if (s->dumb)
		fputs("set key bottom center outside horizontal\n", s->file);
	else
		fputs("set key outside right top vertical Left reverse "
		      "samplen 1.5 spacing 1.2\n",
		    s->file);
}

static void
put_lines(const struct shape *s, const char *dat)
{
	const struct samples_metric *metric = s->plot->metric;
	bool filled = metric->count <= FILLED_LINES && !s->dumb;

	put_key(s);
	fputs("plot ", s->file);
	for (uint32_t i = 0; i < metric->count; i++) {
		fputs(i ? ", \\\n\t" : "", s->file);
		if (filled) {
			put_ranges(s, dat, i, "3", "4",
			    "transparent solid 0.25", palette_light(i));
			fputs("notitle, \\\n\t", s->file);
		}
		put_steps(s, dat, i, "2", "lw 1.5", i);
		gnuplot_put_text(s->file, text_of(s->labels.at[i]));
	}
	putc('\n', s->file);
}

/* ---- band and map ---- */

static bool
has_few(const struct samples_plot *plot)
{
	uint32_t i = 0;

	while (
	    i < plot->samples->steps && !samples_step_is_few(plot->metric, i))
		i++;
	return i < plot->samples->steps;
}

/* Column 6 says where few nodes are known: there is no band. */
#define OF_MOST(column) "($6>0?NaN:$" #column ")"

static void
put_band(const struct shape *s, const char *dat)
{
	put_key(s);
	if (!s->dumb)
		fputs("set key at graph 1, graph 1.12 right horizontal\n",
		    s->file);
	fputs("plot ", s->file);
	if (!s->dumb) {
		put_ranges(
		    s, dat, 0, OF_MOST(2), "4", "solid", COLOUR_BAND_WIDE);
		fputs("title \"least to greatest\", \\\n\t", s->file);
	}
	put_steps(s, dat, 0, OF_MOST(3), "lw 2", 0);
	fputs("\"median\"", s->file);
	if (!s->dumb && has_few(s->plot)) {
		fputs(", \\\n\t", s->file);
		put_steps(s, dat, 0, "($6>0?$3:NaN)", "lw 1.5 dt 3", 0);
		fputs("\"median of fewer than half\"", s->file);
	}
	for (int of = 0; s->dumb && of < 2; of++) {
		fputs(", \\\n\t", s->file);
		gnuplot_put_file(s->file, dat);
		fprintf(s->file, " index 0 using 1:%s with lines title \"%s\"",
		    of == 0 ? OF_MOST(2) : OF_MOST(4),
		    of == 0 ? "least" : "greatest");
	}
	putc('\n', s->file);
}

/* Label some rows with their node names. */
static void
put_map_names(const struct shape *s)
{
	const struct samples_metric *metric = s->plot->metric;
	uint32_t rows = map_rows(s->plot);
	uint32_t shown = rows <= NAMES ? rows : NAMES_OF_MORE;

	fputs("set ytics (", s->file);
	for (uint32_t i = 0; i < shown; i++) {
		uint64_t row = (uint64_t)rows * i / shown;
		uint64_t node = (uint64_t)metric->count * row / rows;

		fputs(i ? ", " : "", s->file);
		gnuplot_put_tic(s->file, text_of(s->labels.at[node]));
		fprintf(s->file, " %u", (unsigned)row);
	}
	fputs(") font \",8\"\n", s->file);
}

static void
put_map_cells(const struct shape *s, const char *dat)
{
	const struct samples *samples = s->plot->samples;
	double step = (double)samples->step_ns / 1e9;

	fputs("unset label\nunset key\nunset grid\nunset ylabel\n"
	      "set size 1, 0.60\nset origin 0, 0\nset tmargin 1\n"
	      "set bmargin 4\n"
	      "set colorbox user origin screen 0.90, graph 0 size screen 0.02, "
	      "graph 1\n"
	      "set palette defined (0 \"" COLOUR_HEAT_0
	      "\", 0.02 \"" COLOUR_HEAT_2 "\", "
	      "0.25 \"" COLOUR_HEAT_25 "\", 0.5 \"" COLOUR_HEAT_50
	      "\", 0.75 \"" COLOUR_ORANGE "\", "
	      "1 \"" COLOUR_HEAT_100 "\")\n",
	    s->file);
	fprintf(s->file, "set yrange [%u.5:-0.5]\n", map_rows(s->plot) - 1);
	gnuplot_put_range(s->file, "cb", s->least, s->greatest_mean,
	    is_bytes(s->plot->metric));
	put_map_names(s);
	fputs("plot ", s->file);
	gnuplot_put_file(s->file, dat);
	/* An image has at least two columns. */
	if (samples->steps > 1)
		fprintf(s->file,
		    " index 1 matrix using (%.2f+($1+0.5)*%g):2:3 with image\n",
		    first_time(samples), step);
	else
		fprintf(s->file,
		    " index 1 matrix using (%.2f):2:(%.2f):(%.2f):($2-0.5):"
		    "($2+0.5):3 with boxxyerror fs solid noborder lc palette\n",
		    first_time(samples) + step / 2, first_time(samples),
		    last_time(samples));
	fputs("unset multiplot\n", s->file);
}

void
samples_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	struct shape s = { .plot = what,
		.file = file,
		.terminal = terminal,
		.dumb = terminal == GNUPLOT_DUMB };

	find_range(&s);
	s.lines = is_lines(s.plot);
	s.map = !s.lines && !s.dumb;
	s.height = s.map ? MAP_HEIGHT : HEIGHT;
	gnuplot_put_terminal(file, terminal, WIDTH, s.height, ROWS);
	put_title(&s);
	put_what(&s);
	fputs(s.dumb ? "set tmargin 3\n" : "set tmargin 5\n", file);
	put_axes(&s);
	if (s.map)
		fputs("set multiplot\nset lmargin at screen 0.15\n"
		      "set rmargin at screen 0.88\n"
		      "set size 1, 0.40\nset origin 0, 0.60\n",
		    file);
	make_labels(&s);
	if (s.lines)
		put_lines(&s, dat);
	else
		put_band(&s, dat);
	if (s.map)
		put_map_cells(&s, dat);
	labels_clear(&s.labels);
}

const char *
samples_plot_step(char to[static 24], int64_t step_ns)
{
	double seconds = (double)step_ns / 1e9;

	if (seconds >= 3600)
		snprintf(to, 24, "%g h", seconds / 3600);
	else if (seconds >= 60)
		snprintf(to, 24, "%g min", seconds / 60);
	else
		snprintf(to, 24, "%g s", seconds);
	return to;
}

/* The middle of a step, seconds since the epoch. */
static double
time_of(const struct samples *samples, uint32_t step)
{
	return (double)(samples->from_ns + step * samples->step_ns +
			samples->step_ns / 2) /
	       1e9;
}

static void
put_number(FILE *file, double value)
{
	if (isnan(value))
		fputs(" nan", file);
	else
		fprintf(file, " %.16g", value);
}

/* ---- one line for each node ---- */

static void
put_line(
    const struct samples *samples, FILE *file, const struct samples_row *row)
{
	bool missing = false;

	fputs("# ", file);
	gnuplot_put_word(file, row->node);
	fputs("\n# time mean low high\n", file);
	for (uint32_t i = 0; i < samples->steps; i++) {
		const struct samples_cell *cell = &row->cells[i];

		if (isnan(cell->mean)) {
			if (!missing)
				putc('\n', file);
			missing = true;
			continue;
		}
		missing = false;
		fprintf(file, "%.2f", time_of(samples, i));
		put_number(file, cell->mean);
		put_number(file, cell->low);
		put_number(file, cell->high);
		putc('\n', file);
	}
	fputs("\n\n", file);
}

/* ---- the band ---- */

static void
put_band_step(
    const struct samples_plot *plot, FILE *file, uint32_t step, double *means)
{
	const struct samples_metric *metric = plot->metric;
	double low = NAN, high = NAN;
	uint32_t count = 0;

	for (uint32_t i = 0; i < metric->count; i++) {
		const struct samples_cell *cell = &metric->rows[i].cells[step];

		if (isnan(cell->mean))
			continue;
		low = fmin(low, cell->low);
		high = fmax(high, cell->high);
		means[count++] = cell->mean;
	}
	fprintf(file, "%.2f", time_of(plot->samples, step));
	sort_doubles(means, count);
	put_number(file, low);
	put_number(file, count > 0 ? quantile_median(means, count) : NAN);
	put_number(file, high);
	fprintf(file, " %u %d\n", count, samples_step_is_few(metric, step));
}

/* ---- the map ---- */

/* The greatest of rows [first, end): a mean would hide a busy node. */
static double
greatest_of(const struct samples_metric *metric, uint32_t first, uint32_t end,
    uint32_t step)
{
	double greatest = NAN;

	for (uint32_t i = first; i < end; i++)
		greatest = fmax(greatest, metric->rows[i].cells[step].mean);
	return greatest;
}

static void
put_map(const struct samples_plot *plot, FILE *file)
{
	uint64_t count = plot->metric->count;
	uint64_t rows = map_rows(plot);

	fputs("\n\n# a line a row of the map, a column a step\n", file);
	for (uint64_t row = 0; row < rows; row++) {
		uint32_t first = (uint32_t)(count * row / rows);
		uint32_t end = (uint32_t)(count * (row + 1) / rows);

		for (uint32_t i = 0; i < plot->samples->steps; i++)
			put_number(
			    file, greatest_of(plot->metric, first, end, i));
		putc('\n', file);
	}
}

void
samples_plot_table(const void *what, FILE *file)
{
	const struct samples_plot *plot = what;
	double *means;

	if (is_lines(plot)) {
		for (uint32_t i = 0; i < plot->metric->count; i++)
			put_line(plot->samples, file, &plot->metric->rows[i]);
		return;
	}
	means = memory_zero(plot->metric->count, sizeof(*means));
	fputs("# time least median greatest nodes few\n", file);
	for (uint32_t i = 0; i < plot->samples->steps; i++)
		put_band_step(plot, file, i, means);
	free(means);
	put_map(plot, file);
}
