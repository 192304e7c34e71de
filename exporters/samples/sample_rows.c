/*
 * sample_rows - the values of metrics, and their statistics.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/sample_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/unit.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

/* Long steps are read faster, but the samples of one must be known one
 * by one: if they are not, the next shorter step is taken. */
static const int64_t steps_ns[] = { 10 * NS_PER_SECOND, NS_PER_SECOND,
	NS_PER_SECOND / 10 };
enum { STEPS = sizeof(steps_ns) / sizeof(*steps_ns) };

struct reading {
	struct series *series;
	const struct metric_options *options;
	const struct time_window *window;
	struct sample_rows *rows;
	struct cpus cpus;
	unsigned step; /* index into steps_ns */
};

/* Patterns may overlap: a metric is read with the first that matches it. */
static bool
is_read(const struct reading *reading, uint32_t pattern, struct text metric)
{
	const struct opt_list *metrics = &reading->options->metrics;

	for (uint32_t i = 0; i < pattern; i++)
		if (text_match(text_of(metrics->at[i]), metric))
			return true;
	return false;
}

/* Where only rollups are left, no step shows the samples one by one. */
static bool
needs_shorter_step(const struct reading *reading,
    const struct series_point *point, enum sample_rows_part part)
{
	if (reading->step + 1 == STEPS || !sample_rows_is_joined(point, part))
		return false;
	return series_rollup_rank(point->rollup) <= 1;
}

static int
refuse_cut(const struct series_point *point, struct err *err)
{
	char shown[80], from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];

	return err_set(err,
	    "a job began or ended on node %s between %s and %s, of which only "
	    "the samples together are known (%.*s): select a time without it "
	    "with --from and --to, or leave out --job and --user",
	    text_quote(shown, sizeof(shown), point->node),
	    clock_text(from, point->first_ns, 0),
	    clock_text(to, point->last_ns, 0), (int)point->rollup.bytes,
	    point->rollup.at);
}

/* 1: done, 0: a shorter step is needed. */
static int
read_pattern(struct reading *reading, uint32_t pattern, struct err *err)
{
	const struct metric_options *options = reading->options;
	struct series_query query =
	    time_window_query(reading->window, steps_ns[reading->step]);
	struct series_point point;
	int rc;

	query.intervals = query.single = true;
	query.group = text_of(options->group);
	if (options->metrics.count > 0)
		query.metric = text_of(options->metrics.at[pattern]);
	if (unit_read_cpus(&reading->cpus, reading->series, &query, err) != 0 ||
	    series_select(reading->series, &query, err) != 0)
		return -1;
	while ((rc = series_next(reading->series, &point, err)) > 0) {
		enum sample_rows_part part;

		if (is_read(reading, pattern, point.metric))
			continue;
		part = sample_rows_part(reading->rows, &point);
		if (part == SAMPLE_ROWS_NONE)
			continue;
		if (needs_shorter_step(reading, &point, part))
			return 0;
		if (part == SAMPLE_ROWS_SOME &&
		    sample_rows_is_joined(&point, part))
			return refuse_cut(&point, err);
		sample_rows_add(reading->rows, &point);
	}
	return rc < 0 ? -1 : 1;
}

static int
read_all(struct reading *reading, struct err *err)
{
	uint32_t pattern = 0;

	do {
		int rc = read_pattern(reading, pattern, err);

		if (rc <= 0)
			return rc;
	} while (++pattern < reading->options->metrics.count);
	return 1;
}

static int
read_rows(struct reading *reading, bool by_node, struct source *source,
    struct text partition, struct err *err)
{
	char shown[300];
	int rc = 0;

	for (; rc == 0 && reading->step < STEPS; reading->step++) {
		sample_rows_clear(reading->rows);
		sample_rows_init(reading->rows, by_node,
		    reading->window->from_ns, reading->window->to_ns,
		    reading->window->of_jobs);
		reading->rows->cpus = &reading->cpus;
		rc = read_all(reading, err);
	}
	if (rc < 0 || (reading->rows->count == 0 &&
			  time_window_find_hours(reading->window,
			      reading->series, reading->options, err) != 0))
		return -1;
	if (reading->rows->count == 0)
		return err_set(err,
		    "no samples of such metrics in that time in partition %s "
		    "of %s; poolscope dump --kind entity --name 'set:*' lists "
		    "the metric groups",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
	sample_rows_finish(reading->rows);
	reading->rows->cpus = NULL;
	return 0;
}

int
sample_rows_read(struct sample_rows *rows, bool by_node, struct source *source,
    struct text partition, const struct metric_options *options,
    const struct time_window_options *window, struct err *err)
{
	struct time_window time_window;
	struct reading reading = {
		.options = options, .window = &time_window, .rows = rows
	};
	int rc;

	cpus_init(&reading.cpus);
	sample_rows_init(rows, by_node, 0, 0, NULL);
	rc = time_window_open(&time_window, window, source, partition, err);
	if (rc == 0)
		rc = time_window_narrow(&time_window, source, partition, err);
	if (rc == 0)
		rc = series_open(&reading.series, source, partition, err);
	if (rc == 0)
		rc = read_rows(&reading, by_node, source, partition, err);
	series_close(&reading.series);
	cpus_clear(&reading.cpus);
	time_window_close(&time_window);
	return rc;
}

/* For how long the values of a gauge count in a mean by time.
 *
 * A value counts until the next one.  If that is more than twice the longer of
 * the gaps before and after, the node was away, and the value counts for that
 * longer gap.  The last value counts as long as the one before it; of a single
 * value nothing is known. */

/* The values whose time is not known yet.  All zero: none. */
struct value_time {
	bool holds;      /* a value counts until the next one, however late */
	uint8_t pending; /* 0 .. 2 */
	int64_t time_ns[2];
	double value[2];
	int64_t before_ns; /* the gap before the first of them; 0: none */
};

/* A value and the time for which it counts. */
struct value_time_part {
	double value;
	uint64_t ns;
};

static int64_t
gap_between(int64_t from_ns, int64_t to_ns)
{
	int64_t gap_ns;

	/* Times may be 299 years apart. */
	if (__builtin_sub_overflow(to_ns, from_ns, &gap_ns))
		gap_ns = to_ns > from_ns ? INT64_MAX : 0;
	return gap_ns > 0 ? gap_ns : 0;
}

/* The time of the first pending value; `after_ns` is the gap behind the second
 * one, 0: none. */
static struct value_time_part
first_part(const struct value_time *value_time, int64_t after_ns)
{
	int64_t gap_ns =
	    gap_between(value_time->time_ns[0], value_time->time_ns[1]);
	int64_t most_ns =
	    value_time->before_ns > after_ns ? value_time->before_ns : after_ns;

	if (!value_time->holds && most_ns > 0 && gap_ns - most_ns > most_ns)
		gap_ns = most_ns;
	return (
	    struct value_time_part){ value_time->value[0], (uint64_t)gap_ns };
}

/* The next value, in the order of time.  True: `part` is set, for an earlier
 * one. */
static bool
value_time_put(struct value_time *value_time, int64_t time_ns, double value,
    struct value_time_part *part)
{
	bool known = value_time->pending == 2;

	if (known) {
		*part = first_part(
		    value_time, gap_between(value_time->time_ns[1], time_ns));
		value_time->before_ns =
		    gap_between(value_time->time_ns[0], value_time->time_ns[1]);
		value_time->time_ns[0] = value_time->time_ns[1];
		value_time->value[0] = value_time->value[1];
		value_time->pending = 1;
	}
	value_time->time_ns[value_time->pending] = time_ns;
	value_time->value[value_time->pending++] = value;
	return known;
}

/* What is left at the end; returns how many: 0 or 2.  A single value remains
 * pending. */
static unsigned
value_time_end(
    struct value_time *value_time, struct value_time_part parts[static 2])
{
	if (value_time->pending != 2)
		return 0;
	parts[0] = first_part(value_time, 0);
	parts[1] = parts[0];
	parts[1].value = value_time->value[1];
	value_time->pending = 0;
	return 2;
}

/* One metric of one node. */
struct sample_series {
	bool known;         /* all else is set */
	bool scale_changes; /* with time */
	double scale;       /* of its unit, if it does not change */
	uint32_t row, node;
	struct value_time time; /* of a gauge */
};

enum { KEY_BYTES = 3 * (NAME_BYTES_MAX + 1) + 1 };

void
sample_rows_init(struct sample_rows *rows, bool by_node, int64_t from_ns,
    int64_t to_ns, const struct job_intervals *jobs)
{
	*rows = (struct sample_rows){ .by_node = by_node,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.jobs = jobs,
		.values_max = SAMPLE_ROWS_VALUES_MAX };
	string_table_init(&rows->texts);
	string_table_init(&rows->keys);
	string_table_init(&rows->nodes);
}

static void
clear_row(struct sample_row *row)
{
	free(row->values);
	exact_sum_clear(&row->weighted);
	exact_sum_clear(&row->singles);
	exact_sum_clear(&row->plain);
}

void
sample_rows_clear(struct sample_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		clear_row(&rows->at[i]);
	free(rows->at);
	free(rows->series);
	string_table_clear(&rows->texts);
	string_table_clear(&rows->keys);
	string_table_clear(&rows->nodes);
}

/* ---- the row of a point ---- */

static size_t
put_part(char *to, size_t at, struct text part)
{
	memcpy(to + at, part.at, part.bytes);
	to[at + part.bytes] = '\0';
	return at + part.bytes + 1;
}

static struct text
unit_of(struct sample_rows *rows, const struct series_point *point)
{
	char shown[UNIT_SHOWN_BYTES];

	(void)unit_of_point(point, rows->cpus, shown);
	return shown[0] == '\0'
		   ? (struct text){ NULL, 0 }
		   : string_table_text(&rows->texts, text_of(shown));
}

static uint32_t
find_row(struct sample_rows *rows, const struct series_point *point)
{
	struct text node = rows->by_node ? point->node : text_of("");
	char key[KEY_BYTES];
	uint32_t number;
	size_t bytes;

	bytes = put_part(key, 0, point->group);
	bytes = put_part(key, bytes, point->metric);
	bytes = put_part(key, bytes, node);
	key[bytes++] = point->counter ? 'c' : 'g';
	number = string_table_add(
	    &rows->keys, (struct text){ key, (uint32_t)bytes });
	if (number < rows->count)
		return number;
	*MEMORY_ADD(rows->at, rows->room, rows->count) = (struct sample_row){
		.group = string_table_text(&rows->texts, point->group),
		.metric = string_table_text(&rows->texts, point->metric),
		.node = string_table_text(&rows->texts, node),
		.unit = unit_of(rows, point),
		.counter = point->counter,
		.low = NAN,
		.high = NAN,
		.last = NAN,
	};
	if (point->labels.bytes > 0)
		rows->at[number].labels =
		    string_table_text(&rows->texts, point->labels);
	return number;
}

static struct sample_series *
find_series(struct sample_rows *rows, const struct series_point *point)
{
	static const char program[] = "app/";
	struct sample_series *series;

	MEMORY_GROW_ZERO(rows->series, rows->series_room, point->number);
	if (rows->series_count <= point->number)
		rows->series_count = point->number + 1;
	series = &rows->series[point->number];
	if (series->known)
		return series;
	series->node = string_table_add(&rows->nodes, point->node);
	series->known = true;
	series->row = find_row(rows, point);
	series->scale_changes = cpus_change(rows->cpus, point->node);
	series->scale = unit_of_point(point, rows->cpus, NULL);
	series->time.holds =
	    point->group.bytes >= sizeof(program) - 1 &&
	    memcmp(point->group.at, program, sizeof(program) - 1) == 0;
	rows->at[series->row].series++;
	return series;
}

/* ---- values ---- */

static void
lose_values(
    struct sample_rows *rows, struct sample_row *row, enum sample_row_lack lack)
{
	rows->kept -= row->kept;
	free(row->values);
	row->values = NULL;
	row->kept = row->room = 0;
	row->lack = lack;
}

/* The row with the most values makes room for the others. */
static void
make_room(struct sample_rows *rows)
{
	struct sample_row *most = &rows->at[0];

	for (uint32_t i = 1; i < rows->count; i++)
		if (rows->at[i].kept > most->kept)
			most = &rows->at[i];
	lose_values(rows, most, SAMPLE_ROW_TOO_MANY);
}

static void
keep_value(struct sample_rows *rows, struct sample_row *row, double value)
{
	if (row->lack == SAMPLE_ROW_EXACT && rows->kept >= rows->values_max)
		make_room(rows);
	if (row->lack != SAMPLE_ROW_EXACT)
		return;
	*MEMORY_ADD(row->values, row->room, row->kept) = value;
	rows->kept++;
}

static void
extend(struct sample_row *row, double low, double high, uint64_t count)
{
	row->low = fmin(row->low, low);
	row->high = fmax(row->high, high);
	row->count += count;
}

/* A value that counts for this time. */
static void
weigh(struct sample_row *row, double value, uint64_t ns)
{
	exact_sum_add(&row->weighted, value, ns);
	row->ns += ns;
}

static void
set_last(struct sample_row *row, int64_t time_ns, double value)
{
	if (isnan(row->last) || time_ns >= row->last_ns) {
		row->last = value;
		row->last_ns = time_ns;
	}
}

/* ---- points ---- */

/* A rate of two samples is cut by the window, and by the jobs.  All else is
 * where its samples are. */
static bool
is_rate(const struct series_point *point)
{
	return point->counter && point->count == 1;
}

enum sample_rows_part
sample_rows_part(
    const struct sample_rows *rows, const struct series_point *point)
{
	int64_t begin_ns = is_rate(point) ? point->begin_ns : point->first_ns;
	int64_t end_ns = is_rate(point) ? point->end_ns
			 : point->count > 1 && point->counter
			     ? point->last_ns
			     : point->last_ns + 1;
	int64_t ns;

	if (rows->jobs == NULL)
		return SAMPLE_ROWS_ALL;
	ns =
	    job_intervals_covered_ns(rows->jobs, point->node, begin_ns, end_ns);
	return ns == 0                  ? SAMPLE_ROWS_NONE
	       : ns < end_ns - begin_ns ? SAMPLE_ROWS_SOME
					: SAMPLE_ROWS_ALL;
}

bool
sample_rows_is_joined(
    const struct series_point *point, enum sample_rows_part part)
{
	if (point->counter)
		return point->count > 1;
	/* Of equal values, too, it must be known which ones belong. */
	return point->count > 2 &&
	       (part == SAMPLE_ROWS_SOME || !(point->low >= point->high));
}

static void
put_rest(struct sample_rows *rows, struct sample_series *series)
{
	struct sample_row *row = &rows->at[series->row];
	struct value_time_part parts[2];
	unsigned count = value_time_end(&series->time, parts);

	for (unsigned i = 0; i < count; i++)
		weigh(row, parts[i].value, parts[i].ns);
	if (series->time.pending == 1) {
		exact_sum_add(&row->singles, series->time.value[0], 1);
		row->single_count++;
	}
}

static void
put_time(struct sample_rows *rows, struct sample_series *series,
    int64_t time_ns, double value)
{
	struct value_time *time = &series->time;
	struct value_time_part part;

	/* No value counts for the time between two jobs. */
	if (rows->jobs != NULL && time->pending > 0) {
		struct text node = rows->nodes.names[series->node];
		int64_t last_ns = time->time_ns[time->pending - 1];

		if (job_intervals_covered_ns(rows->jobs, node, last_ns,
			time_ns) < time_ns - last_ns) {
			put_rest(rows, series);
			*time = (struct value_time){ .holds = time->holds };
		}
	}
	if (value_time_put(&series->time, time_ns, value, &part))
		weigh(&rows->at[series->row], part.value, part.ns);
}

static void
put_value(struct sample_rows *rows, struct sample_series *series,
    int64_t time_ns, double value)
{
	struct sample_row *row = &rows->at[series->row];

	/* The other sample of its step is in the window, or of a job. */
	if (time_ns < rows->from_ns || time_ns >= rows->to_ns ||
	    (rows->jobs != NULL &&
		!job_intervals_cover(rows->jobs,
		    rows->nodes.names[series->node], time_ns, time_ns + 1)))
		return;
	if (!isfinite(value)) {
		row->unknown++;
		return;
	}
	extend(row, value, value, 1);
	exact_sum_add(&row->plain, value, 1);
	set_last(row, time_ns, value);
	keep_value(rows, row, value);
	put_time(rows, series, time_ns, value);
}

static void
lose_quantiles(struct sample_rows *rows, struct sample_row *row,
    const struct series_point *point)
{
	if (row->lack == SAMPLE_ROW_EXACT)
		lose_values(rows, row,
		    series_rollup_rank(point->rollup) > 1 ? SAMPLE_ROW_ROLLED_UP
							  : SAMPLE_ROW_DENSE);
}

/* Many samples, of which only the extremes and the mean are known. */
static void
put_summary(struct sample_rows *rows, struct sample_series *series,
    const struct series_point *point, double factor)
{
	struct sample_row *row = &rows->at[series->row];
	double low = point->low * factor, high = point->high * factor;
	/* The sum of equal values may be rounded. */
	double mean = low >= high ? low : point->mean * factor;

	if (!isfinite(low) || !isfinite(high) || !isfinite(mean)) {
		row->unknown += point->count;
		return;
	}
	extend(row, low, high, point->count);
	exact_sum_add(&row->plain, mean, point->count);
	set_last(
	    row, point->last_ns, counter_rate_number(&point->last) * factor);
	if (low >= high)
		for (uint64_t i = 0;
		     i < point->count && row->lack == SAMPLE_ROW_EXACT; i++)
			keep_value(rows, row, mean);
	else
		lose_quantiles(rows, row, point);
	put_time(rows, series, point->first_ns, mean);
}

static void
put_gauge(struct sample_rows *rows, struct sample_series *series,
    const struct series_point *point, double factor)
{
	double last = counter_rate_number(&point->last);

	if (point->count > 2) {
		put_summary(rows, series, point, factor);
		return;
	}
	if (point->count == 2)
		put_value(rows, series, point->first_ns,
		    (last == point->low ? point->high : point->low) * factor);
	put_value(rows, series, point->last_ns, last * factor);
}

static void
put_rate(struct sample_rows *rows, struct sample_row *row,
    const struct series_point *point, double factor)
{
	double rate = point->mean * factor;
	uint64_t ns = series_point_ns(point);

	if (rows->jobs != NULL && is_rate(point))
		ns = (uint64_t)((double)ns *
				    (double)job_intervals_covered_ns(rows->jobs,
					point->node, point->begin_ns,
					point->end_ns) /
				    (double)(point->end_ns - point->begin_ns) +
				0.5);
	if (!(point->seconds > 0) || !isfinite(rate)) {
		row->unknown += point->count;
		return;
	}
	extend(row, point->low * factor, point->high * factor, point->count);
	weigh(row, rate, ns);
	if (point->count > 1) {
		lose_quantiles(rows, row, point);
	} else {
		keep_value(rows, row, rate);
		set_last(row, point->last_ns, rate);
	}
}

void
sample_rows_add(struct sample_rows *rows, const struct series_point *point)
{
	struct sample_series *series = find_series(rows, point);
	double factor = series->scale_changes
			    ? unit_of_point(point, rows->cpus, NULL)
			    : series->scale;

	if (!text_equal(point->rollup, rows->rollup_name) &&
	    series_rollup_rank(point->rollup) > rows->rollup) {
		rows->rollup = series_rollup_rank(point->rollup);
		rows->rollup_name =
		    string_table_text(&rows->texts, point->rollup);
	}
	if (point->counter)
		put_rate(rows, &rows->at[series->row], point, factor);
	else
		put_gauge(rows, series, point, factor);
}

/* ---- statistics ---- */

static double
mean_of(const struct sample_row *row)
{
	uint64_t others = row->count - row->single_count;
	long double ns = row->ns, single_ns;

	if (row->count == 0)
		return NAN;
	if (row->ns == 0)
		return (double)(exact_sum_get(&row->plain) / row->count);
	if (row->single_count == 0 || others == 0)
		return (double)(exact_sum_get(&row->weighted) / ns);
	single_ns = ns / others;
	return (double)((exact_sum_get(&row->weighted) +
			    exact_sum_get(&row->singles) * single_ns) /
			(ns + row->single_count * single_ns));
}

static void
finish_row(struct sample_row *row)
{
	row->mean = mean_of(row);
	row->p50 = row->p99 = NAN;
	if (row->kept > 0) {
		row->p50 = quantile_select(row->values, row->kept, 50);
		row->p99 = quantile_select(row->values, row->kept, 99);
	}
	if (row->series > 1)
		row->last = NAN;
	free(row->values);
	row->values = NULL;
}

static int
by_name(const void *left, const void *right)
{
	const struct sample_row *a = left, *b = right;
	int order = text_compare_natural(a->group, b->group);

	if (order == 0)
		order = text_compare_natural(a->metric, b->metric);
	return order != 0 ? order : text_compare_natural(a->node, b->node);
}

void
sample_rows_finish(struct sample_rows *rows)
{
	for (uint32_t i = 0; i < rows->series_count; i++)
		if (rows->series[i].known)
			put_rest(rows, &rows->series[i]);
	for (uint32_t i = 0; i < rows->count; i++)
		finish_row(&rows->at[i]);
	if (rows->count > 1)
		qsort(rows->at, rows->count, sizeof(*rows->at), by_name);
}
