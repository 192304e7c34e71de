/*
 * usage_plot - plot nodes ordered by use.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/usage_plot.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/plot/look.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/plot/axis.h"
#include "exporters/samples/plot.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

enum {
	WIDTH = 1200, /* pixels */
	BAR_HEIGHT = 20,
	MARGINS = 170,
	SLOTS_MIN = 9,
	STEPS_HEIGHT = 620,
	NAME_COLUMNS = 36,
	DUMB_ROWS = 34,
	DUMB_MARGINS = 12,
	BASE_BYTES = INSTANCE_PATH_BYTES + 16,
};

struct usage_plot {
	const struct usage *usage;
	const struct usage_row **rows; /* most used first */
	uint32_t count;
	struct text partition;
};

/* In CPU hours. */
struct hours {
	double used, unused, idle;
};

static struct hours
hours_of(const struct usage_row *row)
{
	struct hours hours = { fmax(row->at[USAGE_CPU_USED], 0),
		fmax(row->at[USAGE_CPU_UNUSED], 0),
		fmax(row->at[USAGE_IDLE] * row->at[USAGE_CPUS], 0) };

	if (hours.idle > hours.unused)
		hours.idle = hours.unused;
	hours.unused -= hours.idle;
	return hours;
}

static int
by_use(const void *left, const void *right)
{
	const struct usage_row *const *a = left, *const *b = right;
	double x = fmax(usage_share(*a), -1), y = fmax(usage_share(*b), -1);

	if (x != y)
		return x > y ? -1 : 1;
	return text_compare_natural((*a)->node, (*b)->node);
}

static bool
is_bars(const struct usage_plot *plot)
{
	return plot->count <= USAGE_BARS;
}

/* ---- the table ---- */

static void
put_table(const void *what, FILE *file)
{
	const struct usage_plot *plot = what;
	uint64_t count = plot->count;
	uint64_t steps = count < USAGE_STEPS ? count : USAGE_STEPS;

	fputs("First Last Node Used Unused Idle\n", file);
	for (uint64_t step = 0; step < steps; step++) {
		uint64_t first = count * step / steps;
		uint64_t end = count * (step + 1) / steps;
		struct hours sum = { 0, 0, 0 };

		for (uint64_t i = first; i < end; i++) {
			struct hours hours = hours_of(plot->rows[i]);

			sum.used += hours.used;
			sum.unused += hours.unused;
			sum.idle += hours.idle;
		}
		fprintf(file, "%u %u ", (unsigned)first + 1, (unsigned)end);
		if (end - first == 1)
			gnuplot_put_word(file, plot->rows[first]->node);
		else
			putc('-', file);
		fprintf(file, " %.6f %.6f %.6f\n",
		    sum.used / (double)(end - first),
		    sum.unused / (double)(end - first),
		    sum.idle / (double)(end - first));
	}
}

/* ---- the script ---- */

struct shape {
	const struct usage_plot *plot;
	FILE *file;
	enum gnuplot_terminal terminal;
	bool bars;
	unsigned height, rows;
};

static void
put_label(const struct shape *s, unsigned line, const char *text)
{
	gnuplot_put_heading(
	    s->file, s->terminal, s->height, s->rows, line, text);
}

static void
put_titles(const struct shape *s)
{
	const struct usage *usage = s->plot->usage;
	char title[512], what[512], step[24], from[CLOCK_TEXT_BYTES],
	    to[CLOCK_TEXT_BYTES];
	struct hours sum = { 0, 0, 0 };
	double all;

	for (uint32_t i = 0; i < s->plot->count; i++) {
		struct hours hours = hours_of(s->plot->rows[i]);

		sum.used += hours.used;
		sum.unused += hours.unused;
		sum.idle += hours.idle;
	}
	all = sum.used + sum.unused + sum.idle;
	snprintf(title, sizeof(title),
	    "Use of %.*s: %.0f %% of %.*f "
	    "hours of processors",
	    (int)(s->plot->partition.bytes < 200 ? s->plot->partition.bytes
						 : 200),
	    s->plot->partition.at, 100 * sum.used / all, all < 10 ? 2 : 0, all);
	put_label(s, 0, title);
	snprintf(what, sizeof(what),
	    "%u node%s, %s to %s; from %.*s in steps of %s%s%s", s->plot->count,
	    s->plot->count == 1 ? "" : "s", clock_text(from, usage->from_ns, 0),
	    clock_text(to, usage->to_ns, 0), (int)usage->rollup.bytes,
	    usage->rollup.at, samples_plot_step(step, usage->step_ns),
	    usage->clock[0] != '\0' ? "; " : "", usage->clock);
	put_label(s, 1, what);
}

static const struct band {
	const char *title, *colour, *below, *above; /* columns */
} bands[] = {
	{ "used", COLOUR_BLUE, "0", "$4" },
	{ "unused while busy", COLOUR_LIGHT_BLUE, "$4", "($4+$5)" },
	{ "idle", COLOUR_LIGHT_GREY, "($4+$5)", "($4+$5+$6)" },
};
enum { BANDS = 3 };

static void
put_bar_names(const struct shape *s)
{
	uint32_t count = s->plot->count;
	struct text *names = memory_zero(count + 1, sizeof(*names));
	struct labels labels;

	for (uint32_t i = 0; i < count; i++)
		names[i] = s->plot->rows[i]->node;
	labels_make(&labels, names, count, NAME_COLUMNS);
	free(names);
	fputs("set ytics (", s->file);
	for (uint32_t i = 0; i < count; i++) {
		double share = usage_share(s->plot->rows[i]);
		char label[LABELS_BYTES + 64];

		snprintf(label, sizeof(label), "%s", labels.at[i]);
		if (!isnan(share))
			snprintf(label, sizeof(label), "%s  %.0f %%",
			    labels.at[i], 100 * share);
		gnuplot_put_row_tic(s->file, i, label);
	}
	fputs(")\n", s->file);
	labels_clear(&labels);
}

static void
put_bars(const struct shape *s, const char *dat)
{
	unsigned slots =
	    s->plot->count < SLOTS_MIN ? SLOTS_MIN : s->plot->count;

	fprintf(s->file,
	    "set xlabel \"hours of processors\"\nset yrange [%u.5:0.5]\n"
	    "set xrange [0:*]\nset grid xtics front\n",
	    slots);
	put_bar_names(s);
	fputs("plot ", s->file);
	for (int i = 0; i < BANDS; i++) {
		fputs(i ? ", \\\n\t" : "", s->file);
		gnuplot_put_file(s->file, dat);
		fprintf(s->file,
		    " skip 1 using (%s):1:(%s):(%s):($1-0.38):($1+0.38) with "
		    "boxxyerror lc rgb \"%s\" title \"%s\"",
		    bands[i].below, bands[i].below, bands[i].above,
		    bands[i].colour, bands[i].title);
	}
	putc('\n', s->file);
}

static void
put_steps(const struct shape *s, const char *dat)
{
	fprintf(s->file,
	    "set xlabel \"nodes, most used first\"\n"
	    "set ylabel \"hours of processors\"\n"
	    "set xrange [0:%u]\nset yrange [0:*]\nset grid ytics front\n",
	    s->plot->count);
	fputs("plot ", s->file);
	for (int i = BANDS - 1; i >= 0; i--) {
		fputs(i < BANDS - 1 ? ", \\\n\t" : "", s->file);
		gnuplot_put_file(s->file, dat);
		/* Slightly wider than the step, to hide gaps between the
		 * boxes. */
		fprintf(s->file,
		    " skip 1 using (($1-1+$2)/2):(%s):($1-1):($2+%.2f):(0):"
		    "(%s) with boxxyerror lc rgb \"%s\" title \"%s\"",
		    bands[i].above, s->plot->count / 2400.0, bands[i].above,
		    bands[i].colour, bands[i].title);
	}
	putc('\n', s->file);
}

static void
put_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct usage_plot *plot = what;
	unsigned slots = plot->count < SLOTS_MIN ? SLOTS_MIN : plot->count;
	struct shape s = { plot, file, terminal, is_bars(plot), STEPS_HEIGHT,
		DUMB_ROWS };

	if (s.bars) {
		s.height = MARGINS + BAR_HEIGHT * slots;
		s.rows = DUMB_MARGINS + 2 * slots;
	}
	gnuplot_put_terminal(file, terminal, WIDTH, s.height, s.rows);
	put_titles(&s);
	fprintf(file,
	    "set tmargin %d\nset border 3\nset tics nomirror out\n"
	    "set style fill solid 1.0 noborder\nset key outside %s Left "
	    "reverse samplen 1.5\n",
	    terminal == GNUPLOT_DUMB ? 3 : 5,
	    terminal == GNUPLOT_DUMB ? "bottom center horizontal"
				     : "right top vertical spacing 1.4");
	if (s.bars)
		put_bars(&s, dat);
	else
		put_steps(&s, dat);
}

/* ---- the picture ---- */

/* The rows to draw: nodes, or those of the requested job. */
static void
choose_rows(struct usage_plot *plot)
{
	const struct usage *usage = plot->usage;
	uint32_t end = usage->nodes > 0 ? usage->nodes : usage->count;

	plot->rows = memory_zero(end + 1, sizeof(struct usage_row *));
	for (uint32_t i = 0; i < end; i++)
		if (!isnan(usage_share(&usage->rows[i])))
			plot->rows[plot->count++] = &usage->rows[i];
	if (plot->count > 1)
		qsort(plot->rows, plot->count, sizeof(struct usage_row *),
		    by_use);
}

int
plot_usage(struct source *source, struct text partition,
    const struct time_window_options *options, const struct picture *how,
    struct err *err)
{
	char base[BASE_BYTES], pool[INSTANCE_PATH_BYTES];
	struct text name = pool_base(pool, partition);
	struct picture picture = *how;
	struct usage usage;
	struct usage_plot plot = { .usage = &usage, .partition = partition };
	int rc = usage_read(&usage, source, partition, options, err);

	if (rc == 0) {
		choose_rows(&plot);
		if (plot.count == 0)
			rc = err_set(err, "no CPU samples");
	}
	if (rc == 0)
		rc = picture_make_dir(how->dir, err);
	if (rc == 0) {
		snprintf(
		    base, sizeof(base), "%.*s-usage", (int)name.bytes, name.at);
		picture.base = text_of(base);
		picture.what = &plot;
		picture.put_table = put_table;
		picture.put_script = put_script;
		rc = picture_make(&picture, err);
	}
	free(plot.rows);
	usage_clear(&usage);
	return rc;
}
