/*
 * samples_read - read the values of metrics, and compute their statistics.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/read.h"

#include "exporters/samples/unit.h"
#include "proto/os/clock.h"

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
	if (rc < 0)
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
