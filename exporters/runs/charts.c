/*
 * runs_charts - the durations of a step day by day, and the errors of groups.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/charts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

enum { RUNS_DAYS_VALUES_MAX = 16 << 20 };

enum { WIDTH = 1200, WORDS_BYTES = 512 };
enum {
	HEIGHT = 520,
	ROWS = 30,
	DAY_SECONDS = 86400,
	POINTS_MAX = 120,
};
#define DAY_NS (DAY_SECONDS * NS_PER_SECOND)

void
runs_days_clear(struct runs_days *days)
{
	free(days->days);
	free(days->values);
	days->days = NULL;
	days->values = NULL;
	days->count = days->value_count = days->value_room = 0;
}

/* ---- days: reading ---- */

static int
take_run(struct runs_days *days, const struct runs_run *run, struct err *err)
{
	int64_t duration[RUN_EVENTS_MAX / 2];
	int64_t shown_ns = run->time_ns + clock_zone_ahead_ns(run->time_ns);
	int64_t day = shown_ns / DAY_NS - (shown_ns % DAY_NS < 0);
	uint32_t count = run_events_durations(
	    &run->events, days->step->of, days->clock, duration);

	if (days->clock == RUN_RECEIVE)
		runs_doubt_add(&days->doubt, run, days->step);
	for (uint32_t i = 0; i < count; i++) {
		if (days->value_count == RUNS_DAYS_VALUES_MAX)
			return err_set(err,
			    "more than %d durations of a step: select a group "
			    "with --group",
			    RUNS_DAYS_VALUES_MAX);
		*MEMORY_ADD(days->values, days->value_room, days->value_count) =
		    (struct runs_value){ day, duration[i] };
	}
	return 0;
}

static int
by_day(const void *left, const void *right)
{
	const struct runs_value *a = left, *b = right;

	if (a->day != b->day)
		return a->day < b->day ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static double
quantile(const struct runs_value *sorted, uint32_t count, unsigned percent)
{
	return (double)sorted[quantile_index(count, percent)].ns /
	       NS_PER_SECOND;
}

static void
add_up(struct runs_days *days)
{
	uint32_t end;

	qsort(days->values, days->value_count, sizeof(*days->values), by_day);
	days->count = 0;
	for (uint32_t at = 0; at < days->value_count; at = end) {
		const struct runs_value *first = &days->values[at];
		uint32_t count;

		for (end = at; end < days->value_count &&
			       days->values[end].day == first->day;
		     end++)
			;
		count = end - at;
		/* There are at most as many days as values: it fits. */
		days->days[days->count++] = (struct runs_day){ first->day,
			count, (double)first->ns / NS_PER_SECOND,
			quantile(first, count, 50), quantile(first, count, 90),
			(double)first[count - 1].ns / NS_PER_SECOND };
	}
}

int
runs_days_read(struct runs_days *days, struct err *err)
{
	struct text all = { NULL, 0 };
	struct runs_run run;
	int rc;

	days->count = days->value_count = 0;
	if (runs_select(days->runs, all, days->group, err) != 0)
		return -1;
	while ((rc = runs_next(days->runs, &run, err)) > 0)
		if (run.has_time && take_run(days, &run, err) != 0)
			return -1;
	if (rc != 0 || days->value_count == 0)
		return rc;
	free(days->days);
	days->days = memory_zero(days->value_count, sizeof(*days->days));
	add_up(days);
	return 0;
}

/* ---- days: the picture ---- */

void
runs_days_table(const void *what, FILE *file)
{
	const struct runs_days *days = what;

	fputs("Time Day Count Least Median P90 Greatest\n", file);
	for (uint32_t i = 0; i < days->count; i++) {
		const struct runs_day *d = &days->days[i];
		char text[CLOCK_TEXT_BYTES];

		fprintf(file, "%lld %.10s %u %.9g %.9g %.9g %.9g\n",
		    (long long)d->day * DAY_SECONDS,
		    clock_text(text, clock_zone_wall_ns(d->day * DAY_NS), 0),
		    d->count, d->least, d->p50, d->p90, d->greatest);
	}
}

/* The begin of a line, as table_elide does. */
static size_t
elide(char words[static WORDS_BYTES], struct text text, unsigned most)
{
	return table_elide(words, WORDS_BYTES, text, most);
}

static void
put_days_headings(
    const struct runs_days *days, FILE *file, enum gnuplot_terminal terminal)
{
	static const char *const clocks[] = { "emitted", "received" };
	char words[WORDS_BYTES];
	size_t used = elide(words, days->step->name, 40);

	snprintf(words + used, sizeof(words) - used, " of runs, day by day");
	gnuplot_put_heading(file, terminal, HEIGHT, ROWS, 0, words);
	used = elide(words, days->runs->partition, 30);
	snprintf(words + used, sizeof(words) - used,
	    ", %u time%s on %u day%s (%s), as %s", days->value_count,
	    days->value_count == 1 ? "" : "s", days->count,
	    days->count == 1 ? "" : "s", clock_zone_name(),
	    clocks[days->clock]);
	gnuplot_put_heading(file, terminal, HEIGHT, ROWS, 1, words);
}

/* From 0 to a little more than what is drawn; returns its unit. */
static struct duration_unit
put_range(const struct runs_days *days, FILE *file)
{
	double low = 0, high = 0;
	struct duration_unit unit;

	for (uint32_t i = 0; i < days->count; i++) {
		low = fmin(low, days->days[i].p50);
		high = fmax(high, days->days[i].p90);
	}
	unit = duration_unit_of_runs(high);
	fprintf(file, "set ylabel \"Time / %s\"\n", unit.sign);
	gnuplot_put_range(
	    file, "y", low / unit.seconds, high / unit.seconds, false);
	return unit;
}

/* Equal distances: gnuplot would round them to months. */
static void
put_dates(long long first, long long last, bool dumb, FILE *file)
{
	long long step = (last - first) / (dumb ? 4 : 8) + 1;
	char text[CLOCK_TEXT_BYTES];

	fputs("set xtics (", file);
	for (long long day = first; day <= last; day += step) {
		clock_text(text, day * DAY_NS, 0);
		fprintf(file, "%s\"%.*s\" \"%lld\"", day > first ? ", " : "",
		    dumb ? 8 : 10, dumb ? text + 2 : text, day * DAY_SECONDS);
	}
	fputs(")\n", file);
}

void
runs_days_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct runs_days *days = what;
	long long first = (long long)days->days[0].day;
	long long last = (long long)days->days[days->count - 1].day;
	/* Many large points would lie on each other. */
	const char *look = days->count <= POINTS_MAX
			       ? "linespoints pt 7 ps 0.6"
			       : "linespoints pt 7 ps 0.3";
	struct duration_unit unit;

	gnuplot_put_terminal(file, terminal, WIDTH, HEIGHT, ROWS);
	put_days_headings(days, file, terminal);
	fprintf(file,
	    "set tmargin 5\nset border 3\nset tics nomirror out\n"
	    "set key outside %s Left reverse samplen 1.5\n"
	    "set xdata time\nset timefmt \"%%s\"\n"
	    "set xrange [\"%lld\":\"%lld\"]\n"
	    "set grid ytics\nset style fill solid 0.4 noborder\n",
	    terminal == GNUPLOT_DUMB ? "bottom center horizontal"
				     : "right top vertical",
	    first * DAY_SECONDS - DAY_SECONDS / 2,
	    last * DAY_SECONDS + DAY_SECONDS / 2);
	put_dates(first, last, terminal == GNUPLOT_DUMB, file);
	unit = put_range(days, file);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	fprintf(file,
	    " skip 1 using 1:($5/%g):($6/%g) with filledcurves "
	    "lc rgb \"" COLOUR_BAND "\" title \"median to p90\", \\\n"
	    "\t\"\" skip 1 using 1:($6/%g) with %s "
	    "lc rgb \"" COLOUR_ORANGE "\" title \"p90\", \\\n"
	    "\t\"\" skip 1 using 1:($5/%g) with %s "
	    "lc rgb \"" COLOUR_DARK_BLUE "\" title \"median\"\n",
	    unit.seconds, unit.seconds, unit.seconds, look, unit.seconds, look);
}

/* ---- errors: reading ---- */

enum { RUNS_ERRORS_BARS = 60 }; /* in the picture; the table has all */
/* The axis ends there at the earliest, so that a small share is small. */
enum { PERCENT_LEAST = 10 };

enum {
	BAR_HEIGHT = 22,
	SLOTS_MIN = 6,
	MARGINS = 150,
	DUMB_MARGINS = 12,
	NAME_COLUMNS = 30,
};

static int
take_group(void *arg, const struct runs_group *group, struct err *err)
{
	struct runs_errors *errors = arg;

	(void)err;
	/* Nobody reported whether runs without a description failed. */
	if (!group->known)
		return 0;
	*MEMORY_ADD(errors->rows, errors->room, errors->count) =
	    (struct runs_error){
		    .group = string_table_keep(&errors->texts, group->name),
		    .runs = group->runs,
		    .ended = group->state[RUN_FINISHED] + group->errors,
		    .errors = group->errors,
		    .of_ended = runs_errors_of_ended(group),
		    .of_all = runs_errors_of_all(group),
	    };
	return 0;
}

static int
by_share(const void *left, const void *right)
{
	const struct runs_error *a = left, *b = right;

	if (a->of_ended != b->of_ended)
		return a->of_ended > b->of_ended ? -1 : 1;
	return text_compare_natural(a->group, b->group);
}

int
runs_errors_read(struct runs_errors *errors, struct runs *runs,
    struct text pattern, struct err *err)
{
	uint32_t count;

	*errors = (struct runs_errors){ .runs = runs };
	string_table_init(&errors->texts);
	if (runs_groups_each(runs, pattern, take_group, errors, &count, err) !=
	    0)
		return -1;
	if (errors->count == 0)
		return err_set(err, "no described runs in a matching group");
	qsort(errors->rows, errors->count, sizeof(*errors->rows), by_share);
	return 0;
}

void
runs_errors_clear(struct runs_errors *errors)
{
	free(errors->rows);
	string_table_clear(&errors->texts);
	*errors = (struct runs_errors){ .rows = NULL };
}

/* ---- errors: the picture ---- */

void
runs_errors_table(const void *what, FILE *file)
{
	const struct runs_errors *errors = what;

	fputs("Group Runs Ended Errors PercentOfEnded PercentOfAll\n", file);
	for (uint32_t i = 0; i < errors->count; i++) {
		const struct runs_error *row = &errors->rows[i];

		if (row->group.bytes > 0)
			gnuplot_put_word(file, row->group);
		else
			putc('-', file);
		fprintf(file,
		    " %" PRId64 " %" PRId64 " %" PRId64 " %.6f %.6f\n",
		    row->runs, row->ended, row->errors, row->of_ended,
		    row->of_all);
	}
}

static uint32_t
bars_of(const struct runs_errors *errors)
{
	return errors->count < RUNS_ERRORS_BARS ? errors->count
						: RUNS_ERRORS_BARS;
}

static struct text
name_of(const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct runs_error *error =
	    &((const struct runs_errors *)arg)->rows[row];

	snprintf(after, LABELS_AFTER_BYTES, "  %" PRId64 " of %" PRId64,
	    error->errors, error->ended);
	return error->group.bytes > 0 ? error->group : text_of("(no group)");
}

static void
put_errors_headings(const struct runs_errors *errors, FILE *file,
    enum gnuplot_terminal terminal, unsigned height, unsigned rows)
{
	char words[WORDS_BYTES];
	size_t used = elide(words, errors->runs->partition, 30);

	gnuplot_put_heading(
	    file, terminal, height, rows, 0, "Runs that ended with an error");
	if (errors->count > RUNS_ERRORS_BARS)
		snprintf(words + used, sizeof(words) - used,
		    ", the first %d of %u groups", RUNS_ERRORS_BARS,
		    errors->count);
	else
		snprintf(words + used, sizeof(words) - used, ", %u group%s",
		    errors->count, errors->count == 1 ? "" : "s");
	gnuplot_put_heading(file, terminal, height, rows, 1, words);
}

void
runs_errors_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct runs_errors *errors = what;
	unsigned slots =
	    bars_of(errors) < SLOTS_MIN ? SLOTS_MIN : bars_of(errors);
	unsigned height = MARGINS + BAR_HEIGHT * slots;
	unsigned rows = DUMB_MARGINS + 2 * slots;
	double greatest = errors->rows[0].of_ended;

	gnuplot_put_terminal(file, terminal, WIDTH, height, rows);
	put_errors_headings(errors, file, terminal, height, rows);
	gnuplot_put_frame(file, terminal);
	fprintf(file,
	    "set xlabel \"percent\"\nset xrange [0:%.9g]\n"
	    "set yrange [%u.5:0.5]\nset grid xtics front\n"
	    "set style fill solid 1.0 noborder\n",
	    fmax(1.02 * greatest, PERCENT_LEAST), slots);
	labels_put_rows(
	    file, bars_of(errors), 1, NAME_COLUMNS, name_of, errors);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	fprintf(file,
	    " skip 1 every ::0::%u using (0):($0+1):(0):5:($0+1-0.38):"
	    "($0+1+0.38) with boxxyerror lc rgb \"" COLOUR_LIGHT_RED "\" "
	    "title \"of the ended runs\", \\\n"
	    "\t\"\" skip 1 every ::0::%u using (0):($0+1):(0):6:($0+1-0.18):"
	    "($0+1+0.18) with boxxyerror lc rgb \"" COLOUR_RED "\" "
	    "title \"of all\"\n",
	    bars_of(errors) - 1, bars_of(errors) - 1);
}
