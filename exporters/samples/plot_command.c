/*
 * samples_plot_command - the pictures of poolscope-plot samples.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exporters/samples/plot.h"
#include "exporters/source/pool.h"
#include "proto/os/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)
enum { BASE_BYTES = INSTANCE_PATH_BYTES + 2 * NAME_BYTES_MAX + 16 };

static int
draw(const struct samples_plot *plot, const struct picture *how,
    struct text partition, struct err *err)
{
	const struct samples_metric *metric = plot->metric;
	char base[BASE_BYTES], pool[INSTANCE_PATH_BYTES];
	struct text name = pool_base(pool, partition);
	struct picture picture = *how;

	snprintf(base, sizeof(base), "%.*s-%.*s-%.*s", (int)name.bytes, name.at,
	    (int)metric->name.bytes, metric->name.at, (int)metric->group.bytes,
	    metric->group.at);
	picture.base = text_of(base);
	picture.what = plot;
	picture.put_table = samples_plot_table;
	picture.put_script = samples_plot_script;
	return picture_make(&picture, err);
}

static int
draw_all(struct samples *samples, const struct time_window *time_window,
    struct text partition, const struct picture *how, struct err *err)
{
	struct samples_plot plot = { .partition = partition,
		.jobs = time_window->jobs };

	if (picture_make_dir(how->dir, err) != 0)
		return -1;
	for (uint32_t i = 0; i < samples->count; i++) {
		struct samples one = *samples;

		/* Each metric group has its own period. */
		one.metrics = &samples->metrics[i];
		one.count = 1;
		samples_finish(&one);
		plot.samples = &one;
		plot.metric = one.metrics;
		if (draw(&plot, how, partition, err) != 0)
			return -1;
	}
	return 0;
}

/* No sample: were the metrics, or was the group mistyped? */
static int
refuse(const struct series *series, const struct metric_options *options,
    struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32];
	struct nearest nearest = { .count = 0 };

	for (uint32_t i = 0; i < options->metrics.count && nearest.count == 0;
	     i++) {
		nearest_begin(&nearest, options->metrics.at[i]);
		series_offer(series, false, &nearest);
		if (nearest.count > 0 && nearest.at[0].distance == 0)
			nearest.count = 0; /* it exists, and has no samples */
	}
	if (nearest.count == 0 && options->group != NULL) {
		nearest_begin(&nearest, options->group);
		series_offer(series, true, &nearest);
	}
	return err_set(err,
	    "no samples of these metrics (run poolscope dump --kind entity "
	    "--name 'set:*' to list the metric groups)%s",
	    nearest_question(&nearest, "", question, sizeof(question)));
}

static uint32_t
steps_of(const struct time_window *time_window)
{
	int64_t each = time_window->is_of_two ? 2 : 1;
	int64_t fit = time_window->nodes > 0
			  ? SAMPLES_CELLS / each / time_window->nodes
			  : SAMPLES_STEPS;

	if (fit < SAMPLES_STEPS_FEW / each)
		return (uint32_t)(SAMPLES_STEPS_FEW / each);
	return fit < SAMPLES_STEPS ? (uint32_t)fit : SAMPLES_STEPS;
}

/* Choose a step that divides an hour, and the number of steps in the window. */
static int
make_steps(struct samples *samples, const struct time_window *time_window,
    int64_t *step_ns, struct err *err)
{
	int64_t span_ns = time_window->to_ns - time_window->from_ns;
	int64_t steps, past_ns;

	*step_ns = time_window->step_ns > 0
		       ? series_fit_step(time_window->step_ns)
		       : series_step(time_window->from_ns, time_window->to_ns,
			     steps_of(time_window));
	steps = span_ns / *step_ns + 2;
	if (steps > SAMPLES_STEPS_MAX && time_window->step_ns > 0)
		return err_set_option(err, "step",
		    "makes %" PRId64 " steps of this time, and %d is the most: "
		    "choose a longer one, or a shorter time with --from and "
		    "--to",
		    steps, SAMPLES_STEPS_MAX);
	if (steps > SAMPLES_STEPS_MAX)
		return err_set_option(err, "from",
		    "and --to are %" PRId64 " hours apart, and %d is the most: "
		    "choose a shorter time",
		    steps, SAMPLES_STEPS_MAX);
	samples->step_ns = *step_ns;
	samples->steps = (uint32_t)steps;
	past_ns = time_window->from_ns % *step_ns;
	samples->from_ns = time_window->from_ns - past_ns;
	if (past_ns < 0)
		samples->from_ns -= *step_ns;
	return 0;
}

static int
read_all(struct samples *samples, struct series *series,
    const struct metric_options *options, const struct time_window *time_window,
    int64_t step_ns, struct err *err)
{
	struct series_query query = time_window_query(time_window, step_ns);

	query.group = text_of(options->group);
	for (uint32_t i = 0; i < options->metrics.count; i++) {
		query.metric = text_of(options->metrics.at[i]);
		if (samples_read(samples, series, &query, time_window->of_jobs,
			err) != 0)
			return -1;
	}
	return 0;
}

void
plot_samples_check(const struct metric_options *options)
{
	if (options->metrics.count == 0)
		opt_usage("samples needs --metric PATTERN, such as "
			  "'system.cpu.*'");
}

/* The time from the first to the last step that has a value, if it is less than
 * half of the window: a pool has events, and other metrics, that reach further
 * than its samples.  Only where the window has no end of its own. */
static bool
narrow(const struct samples *samples, const struct time_window_options *given,
    struct time_window *time_window)
{
	uint32_t first = samples->steps, last = 0;
	int64_t from_ns = time_window->from_ns, to_ns = time_window->to_ns, at;

	if (given->step_ns > 0)
		return false;
	for (uint32_t m = 0; m < samples->count; m++)
		for (uint32_t r = 0; r < samples->metrics[m].count; r++)
			for (uint32_t i = 0; i < samples->steps; i++)
				if (!isnan(samples->metrics[m]
					       .rows[r]
					       .cells[i]
					       .mean)) {
					first = i < first ? i : first;
					last = i > last ? i : last;
				}
	if (first > last)
		return false;
	/* A rate may begin in the step before. */
	at = samples->from_ns + ((int64_t)first - 1) * samples->step_ns;
	if (given->from_ns == TIME_MIN_NS && at > from_ns)
		from_ns = at;
	at = samples->from_ns + ((int64_t)last + 2) * samples->step_ns;
	if (given->to_ns == TIME_MAX_NS && at < to_ns)
		to_ns = at;
	if (to_ns - from_ns >= (time_window->to_ns - time_window->from_ns) / 2)
		return false;
	time_window->from_ns = from_ns;
	time_window->to_ns = to_ns;
	return true;
}

/* Of a window with too many steps of an hour: the time that has samples. */
static int
find_extent(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *given, struct time_window *time_window,
    struct err *err)
{
	int64_t first_ns = TIME_MAX_NS, last_ns = TIME_MIN_NS;
	struct series_query query = time_window_query(time_window, HOUR_NS);
	struct series *series = NULL;
	struct series_point point;
	int rc = series_open(&series, source, partition, err);

	query.group = text_of(options->group);
	for (uint32_t i = 0; rc == 0 && i < options->metrics.count; i++) {
		query.metric = text_of(options->metrics.at[i]);
		rc = series_select(series, &query, err);
		while (rc == 0 && (rc = series_next(series, &point, err)) > 0) {
			rc = 0;
			if (point.begin_ns < first_ns)
				first_ns = point.begin_ns;
			if (point.end_ns > last_ns)
				last_ns = point.end_ns;
		}
	}
	if (rc == 0 && first_ns > last_ns)
		rc = refuse(series, options, err);
	series_close(&series);
	if (rc != 0)
		return rc;
	if (given->from_ns == TIME_MIN_NS && first_ns > time_window->from_ns)
		time_window->from_ns = first_ns;
	if (given->to_ns == TIME_MAX_NS && last_ns < time_window->to_ns)
		time_window->to_ns = last_ns;
	return 0;
}

/* Read what the window has, in steps that fit; again if that is only a small
 * part of it. */
int
plot_samples_read(struct samples *samples, struct source *source,
    struct text partition, const struct metric_options *options,
    const struct time_window_options *given, struct time_window *time_window,
    struct err *err)
{
	struct series *series = NULL;
	bool again = true;
	int64_t step_ns;
	int rc = 0;

	if (given->step_ns == 0 &&
	    (time_window->to_ns - time_window->from_ns) / HOUR_NS >=
		SAMPLES_STEPS_MAX - 2)
		rc = find_extent(
		    source, partition, options, given, time_window, err);
	while (rc == 0 && again) {
		samples_clear(samples);
		*samples = (struct samples){ .step_ns = 0 };
		string_table_init(&samples->texts);
		rc = make_steps(samples, time_window, &step_ns, err);
		if (rc == 0)
			rc = series_open(&series, source, partition, err);
		if (rc == 0)
			rc = read_all(samples, series, options, time_window,
			    step_ns, err);
		if (rc == 0 && samples->count == 0)
			rc = time_window_find_hours(
				 time_window, series, options, err) != 0
				 ? -1
				 : refuse(series, options, err);
		series_close(&series);
		again = rc == 0 && narrow(samples, given, time_window);
	}
	return rc;
}

int
plot_samples(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, const struct picture *picture,
    struct err *err)
{
	struct samples samples = { .step_ns = 0 };
	struct time_window time_window;
	int rc;

	string_table_init(&samples.texts);
	rc = time_window_open(&time_window, window, source, partition, err);
	if (rc == 0)
		rc = time_window_narrow(&time_window, source, partition, err);
	if (rc == 0)
		rc = plot_samples_read(&samples, source, partition, options,
		    window, &time_window, err);
	source_clock_words(samples.clock, source_clock(source));
	if (rc == 0)
		rc = draw_all(&samples, &time_window, partition, picture, err);
	samples_clear(&samples);
	time_window_close(&time_window);
	return rc;
}
