/*
 * result_plot - plot the timings of an entry.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/results/query.h"
#include "exporters/results/result_file.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { RESULT_PLOT_POINTS = 300, RESULT_PLOT_STEPS = 240 };

/* The gnuplot script of result_plot. */

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
	fputs(", ", memory);
	table_put_elided(memory, plot->partition, s->dumb ? 12 : 20);
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

static void
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

static double *
new_values(uint32_t count)
{
	double *values = memory_zero(count, sizeof(*values));

	return values;
}

/* ---- levels ---- */

static void
find_levels(struct result_plot *plot, const struct result_point *points,
    double *values, uint32_t count)
{
	struct change_points change_points;

	for (uint32_t i = 0; i < count; i++)
		values[i] = points[i].value;
	change_points_find(&change_points, values, count);
	for (uint32_t i = 0; i <= change_points.count; i++) {
		uint32_t from = i > 0 ? change_points.at[i - 1] : 0;
		uint32_t to =
		    i < change_points.count ? change_points.at[i] : count;
		struct result_level *level = &plot->levels[i];
		double before = i > 0 ? level[-1].median : 0;

		*level = (struct result_level){
			.from = points[from].time,
			.to = points[to < count ? to : count - 1].time,
			.median =
			    change_points_median(values + from, to - from),
		};
		level->percent = before > 0 ? 100 * (level->median / before - 1)
					    : (double)NAN;
	}
	plot->level_count = change_points.count + 1;
}

/* ---- steps ---- */

static double
choose_step(double span)
{
	static const double minutes[] = { 1, 5, 10, 30, 60, 180, 360, 720, 1440,
		2880, 10080, 43200, 129600 };
	double step = minutes[0];

	for (size_t i = 0; i < sizeof(minutes) / sizeof(*minutes); i++) {
		step = minutes[i] * 60;
		if (span / step < RESULT_PLOT_STEPS)
			return step;
	}
	while (span / step >= RESULT_PLOT_STEPS)
		step *= 2;
	return step;
}

/* Sorts `values`. */
static struct result_step
make_step(double time, double *values, uint32_t count)
{
	struct result_step step = { .time = time, .runs = count };

	step.median = change_points_median(values, count);
	step.least = values[0];
	step.lower = values[(count - 1) / 4];
	step.upper = values[count - 1 - (count - 1) / 4];
	step.greatest = values[count - 1];
	return step;
}

static void
make_steps(struct result_plot *plot, const struct result_point *points,
    double *values, uint32_t count)
{
	double width = plot->step_seconds;

	for (uint32_t i = 0, end; i < count; i = end) {
		double number = width > 0 ? floor(points[i].time / width) : i;

		for (end = i; end < count; end++) {
			if (width > 0
				? floor(points[end].time / width) != number
				: end > i)
				break;
			values[end] = points[end].value;
		}
		plot->steps[plot->step_count++] = make_step(
		    width > 0 ? (number + 0.5) * width : points[i].time,
		    values + i, end - i);
	}
}

/* gnuplot cannot compute with numbers further out. */
#define DRAWN_LEAST 1e-300
#define DRAWN_MOST  1e300

/* A few outliers must not flatten all other points.  Every level is within the
 * range, with space above them for labels. */
static void
choose_range(struct result_plot *plot, double *values, uint32_t count)
{
	uint32_t few = count / 100;
	double low, high, beyond, size;

	plot->median = change_points_median(values, count);
	low = values[few];
	high = values[count - 1 - few];
	for (uint32_t i = 0; i < plot->level_count; i++) {
		low = fmin(low, plot->levels[i].median);
		high = fmax(high, plot->levels[i].median);
	}
	beyond = 0.5 * (high - low);
	plot->low = fmax(values[0], low - beyond);
	plot->high = fmin(values[count - 1], high + beyond);
	plot->low = fmax(fmin(plot->low, DRAWN_MOST / 2), -DRAWN_MOST);
	plot->high = fmin(fmax(plot->high, -DRAWN_MOST / 2), DRAWN_MOST);
	beyond = 0.06 * (plot->high - plot->low);
	/* gnuplot draws no range that is tiny for its numbers. */
	size = fmax(fabs(plot->low), fabs(plot->high));
	if (beyond <= 1e-6 * size || size < DRAWN_LEAST)
		beyond = size < DRAWN_LEAST ? 1 : 0.1 * size;
	plot->low -= plot->low >= 0 && plot->low < beyond ? plot->low : beyond;
	plot->high += plot->level_count > 1 ? 4 * beyond : beyond;
	plot->low = fmax(plot->low, -DRAWN_MOST);
	plot->high = fmin(plot->high, DRAWN_MOST);
	for (uint32_t i = 0; i < count; i++)
		plot->beyond += values[i] < plot->low || values[i] > plot->high;
}

void
result_plot_init(
    struct result_plot *plot, const struct result_point *points, uint32_t count)
{
	double *values = new_values(count);

	memset(plot, 0, sizeof(*plot));
	plot->runs = count;
	plot->first = points[0].time;
	plot->last = points[count - 1].time;
	if (count > RESULT_PLOT_POINTS)
		plot->step_seconds = choose_step(plot->last - plot->first);
	plot->steps = memory_zero(count, sizeof(*plot->steps));
	find_levels(plot, points, values, count);
	make_steps(plot, points, values, count);
	choose_range(plot, values, count);
	free(values);
}

void
result_plot_clear(struct result_plot *plot)
{
	free(plot->steps);
	plot->steps = NULL;
}

/* Callback of struct picture; its argument is a struct result_plot. */
static void
result_plot_table(const void *what, FILE *file)
{
	const struct result_plot *plot = what;

	fputs("# Time Median Least Lower Upper Greatest Runs\n", file);
	for (uint32_t i = 0; i < plot->step_count; i++) {
		const struct result_step *s = &plot->steps[i];

		fprintf(file, "%.6f %.9g %.9g %.9g %.9g %.9g %u\n", s->time,
		    s->median, s->least, s->lower, s->upper, s->greatest,
		    s->runs);
	}
	fputs("\n\n# From To Median Percent\n", file);
	for (uint32_t i = 0; i < plot->level_count; i++) {
		const struct result_level *level = &plot->levels[i];

		fprintf(file, "%.6f %.6f %.9g ", level->from, level->to,
		    level->median);
		if (isnan(level->percent))
			fputs("-\n", file);
		else
			fprintf(file, "%.3f\n", level->percent);
	}
}

enum {
	PICTURES_MAX = 100, /* limit for one test */
	BASE_BYTES = 180,   /* longer names are truncated and end in a hash */
	BASE_ROOM = INSTANCE_PATH_BYTES + 2 * RESULT_NAME_BYTES_MAX + 32,
};

struct plotter {
	struct source *source;
	struct text partition;
	const struct plot_results *what;
	const struct picture *picture;
};

static struct result_query
query_of(const struct plotter *p, struct text entry)
{
	return (struct result_query){ .source = p->source,
		.partition = p->partition,
		.test = p->what->test,
		.entry = entry,
		.window = result_window(p->what->from_ns, p->what->to_ns) };
}

static bool
has(struct text text, char c)
{
	return memchr(text.at, c, text.bytes) != NULL;
}

/* "acct-pool-test-entry", which can be read as a file name: "//dir:test" is
 * "dir:test", and "a/b" is "a=b".  What is too long, or would have the name of
 * something else, ends in a hash. */
static struct text
make_base(const struct plotter *p, struct text entry, char *base)
{
	struct text test = p->what->test, shown = test;
	struct text made = pool_base(base, p->partition);
	char *at = base + made.bytes;
	bool is_label =
	    test.bytes > 2 && memcmp(test.at, "//", 2) == 0 && has(test, ':');
	bool is_other =
	    has(test, '=') || has(entry, '=') || (!is_label && has(test, ':'));
	int bytes;

	if (is_label)
		shown = (struct text){ test.at + 2, test.bytes - 2 };
	bytes = snprintf(at, BASE_ROOM - made.bytes, "-%.*s-%.*s",
	    (int)shown.bytes, shown.at, (int)entry.bytes, entry.at);
	made.bytes += (uint32_t)bytes;
	for (int i = 0; i < bytes; i++)
		if (at[i] == '/')
			at[i] = '=';
	if (made.bytes > BASE_BYTES || is_other) {
		if (made.bytes > BASE_BYTES - 25)
			made.bytes = BASE_BYTES - 25;
		base[made.bytes] = '-';
		result_id_name(base + made.bytes + 1, test, entry);
		made.bytes += 25;
	}
	return made;
}

static int
draw(const struct plotter *p, struct text entry, struct result_points *points,
    struct err *err)
{
	struct picture picture = *p->picture;
	struct result_plot *plot = memory_alloc(sizeof(*plot));
	char base[BASE_ROOM];
	int rc;

	result_plot_init(plot, points->at, points->count);
	plot->partition = p->partition;
	plot->test = p->what->test;
	plot->entry = entry;
	plot->left_out = points->left_out;
	plot->cut = points->cut;
	picture.base = make_base(p, entry, base);
	picture.what = plot;
	picture.put_table = result_plot_table;
	picture.put_script = result_plot_script;
	rc = picture_make(&picture, err);
	result_plot_clear(plot);
	free(plot);
	return rc;
}

/* Returns 1 if drawn, 0 if there is nothing to draw (`err` says why), or -1. */
static int
plot_entry(const struct plotter *p, struct text entry, struct err *err)
{
	struct result_query query = query_of(p, entry);
	struct result_points points = { .at = NULL };
	char shown[128];
	int rc = result_query_points(&query, &points, err);

	if (rc == 0 && points.count > 0) {
		rc = draw(p, entry, &points, err) == 0 ? 1 : -1;
	} else if (rc == 0) {
		rc = result_query_explain(&query, err);
		if (rc == 0)
			err_set(err,
			    "'%s' has no timing in this time range: nothing to "
			    "draw",
			    text_quote(shown, sizeof(shown), entry));
		rc = rc < 0 ? -1 : 0;
	}
	free(points.at);
	return rc;
}

/* The entries of the latest run; their names point into `copy`. */
static int
read_entries(const struct plotter *p, struct result_file *file, char **copy,
    struct err *err)
{
	struct result_query query = query_of(p, (struct text){ NULL, 0 });
	struct result_range range = result_query_range(&query);
	struct result_row row;
	int rc;

	range.window = result_window_all;
	if (result_range_runs(&range, query.test, 1, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return result_query_explain(&query, err) == 0
			   ? err_set(err, "nothing to draw")
			   : -1;
	*copy = memory_alloc(row.info.bytes + 1);
	memcpy(*copy, row.info.at, row.info.bytes);
	return result_file_read(
	    file, (struct text){ *copy, row.info.bytes }, false, err);
}

/* Draw one picture per name, even if a run repeats the name. */
static bool
is_first(const struct result_file *file, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (text_equal(file->entries[k].name, file->entries[i].name))
			return false;
	return true;
}

/* Draw one picture for each entry that has timings. */
static int
draw_entries(
    const struct plotter *p, const struct result_file *file, struct err *err)
{
	uint32_t drawn = 0, failed = 0, i = 0;
	char shown[128];

	for (; i < file->count && drawn < PICTURES_MAX; i++) {
		int rc;

		if (!is_first(file, i))
			continue;
		rc = plot_entry(p, file->entries[i].name, err);
		if (rc < 0 && err->code == ERR_INTERRUPTED)
			return -1;
		if (rc < 0) {
			log_error("'%s' is not drawn: %s",
			    text_quote(
				shown, sizeof(shown), file->entries[i].name),
			    err->text);
			failed++;
		} else if (rc == 0) {
			log_warn("%s", err->text);
		}
		err_clear(err);
		drawn += rc > 0;
	}
	if (failed > 0)
		return err_set(err, "%u pictures could not be drawn", failed);
	if (drawn == 0)
		return err_set(err, file->count > 0
					? "no entry of the test's latest run "
					  "has timings: nothing to draw"
					: "the test's latest run has no "
					  "entries: nothing to draw");
	if (i < file->count)
		log_warn("%u entries are not drawn; name an entry to draw it",
		    file->count - i);
	return 0;
}

static int
plot_entries(const struct plotter *p, struct err *err)
{
	struct result_file file;
	char *copy = NULL;
	int rc = read_entries(p, &file, &copy, err);

	if (rc == 0) {
		rc = draw_entries(p, &file, err);
		result_file_clear(&file);
	}
	free(copy);
	return rc;
}

int
plot_results(struct source *source, struct text partition,
    const struct plot_results *what, const struct picture *picture,
    struct err *err)
{
	const struct plotter plotter = { source, partition, what, picture };

	if (picture_make_dir(picture->dir, err) != 0)
		return -1;
	if (what->entry.bytes > 0)
		return plot_entry(&plotter, what->entry, err) > 0 ? 0 : -1;
	return plot_entries(&plotter, err);
}
