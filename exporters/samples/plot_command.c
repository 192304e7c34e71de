/*
 * samples_plot_command - the pictures of poolscope-plot samples.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot_command.h"

#include <stdio.h>

#include "exporters/samples/plot.h"
#include "exporters/source/pool.h"
#include "proto/os/clock.h"

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
	struct samples_plot plot = { .pool = pool_id(partition),
		.job = time_window->job };

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
			     SAMPLES_STEPS);
	steps = span_ns / *step_ns + 2;
	if (steps > SAMPLES_STEPS_MAX)
		return err_set(err,
		    "more than %d steps: choose a longer --step, or a shorter "
		    "time with --from and --to",
		    SAMPLES_STEPS_MAX);
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
		if (samples_read(samples, series, &query,
			time_window->job != NULL ? &time_window->job_intervals
						 : NULL,
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

int
plot_samples(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, const struct picture *picture,
    struct err *err)
{
	struct samples samples = { .step_ns = 0 };
	struct series *series = NULL;
	struct time_window time_window;
	int64_t step_ns;
	int rc;

	string_table_init(&samples.texts);
	rc = time_window_open(&time_window, window, source, partition, err);
	if (rc == 0)
		rc = make_steps(&samples, &time_window, &step_ns, err);
	if (rc == 0)
		rc = series_open(&series, source, partition, err);
	if (rc == 0)
		rc = read_all(
		    &samples, series, options, &time_window, step_ns, err);
	source_clock_words(samples.clock, source_clock(source));
	if (rc == 0 && samples.count == 0)
		rc = refuse(series, options, err);
	if (rc == 0)
		rc = draw_all(&samples, &time_window, partition, picture, err);
	series_close(&series);
	samples_clear(&samples);
	time_window_close(&time_window);
	return rc;
}
