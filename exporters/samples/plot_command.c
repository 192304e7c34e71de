/*
 * samples_plot_command - the pictures of what poolscope-plot samples is asked
 * for. SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot_command.h"

#include <stdio.h>

#include "exporters/samples/plot.h"
#include "exporters/source/pool.h"
#include "proto/os/clock.h"

enum { BASE_BYTES = INSTANCE_PATH_BYTES + 2 * NAME_BYTES_MAX + 16 };

static struct {
	struct opt_list metrics;
	const char *set;
} values;

const struct opt plot_samples_options[] = {
	{ "metric", 'm', OPT_LIST, &values.metrics, "PATTERN",
	    "samples: draw metrics like this; may be repeated", NULL, false },
	{ "set", 0, OPT_TEXT, &values.set, "PATTERN",
	    "samples: only of sets like this, such as disk/*", NULL, false },
	{ .name = NULL },
};

static int
draw(const struct samples_plot *plot, const struct picture *how,
    struct text partition, struct err *err)
{
	const struct samples_metric *metric = plot->metric;
	char base[BASE_BYTES], pool[INSTANCE_PATH_BYTES];
	struct text name = pool_base(pool, partition);
	struct picture picture = *how;

	snprintf(base, sizeof(base), "%.*s-%.*s-%.*s", (int)name.bytes, name.at,
	    (int)metric->name.bytes, metric->name.at, (int)metric->set.bytes,
	    metric->set.at);
	picture.base = text_of(base);
	picture.what = plot;
	picture.put_table = samples_plot_table;
	picture.put_script = samples_plot_script;
	return picture_make(&picture, err);
}

static int
draw_all(struct samples *samples, const struct window *window,
    struct text partition, const struct picture *how, struct err *err)
{
	struct samples_plot plot = { .pool = pool_id(partition),
		.job = window->job };

	if (samples->count == 0)
		return err_set(err,
		    "no samples of these metrics (poolscope dump --kind entity "
		    "--name 'set:*' lists what there is)");
	if (picture_make_dir(how->dir, err) != 0)
		return -1;
	for (uint32_t i = 0; i < samples->count; i++) {
		struct samples one = *samples;

		/* Sets have periods of their own. */
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

/* A step that divides an hour, and the steps that it makes of the window. */
static int
make_steps(struct samples *samples, const struct window *window,
    int64_t *step_ns, struct err *err)
{
	int64_t span_ns = window->to_ns - window->from_ns;
	int64_t steps, past_ns;

	*step_ns = window->step_ns > 0 ? series_fit_step(window->step_ns)
				       : series_step(window->from_ns,
					     window->to_ns, SAMPLES_STEPS);
	steps = span_ns / *step_ns + 2;
	if (steps > SAMPLES_STEPS_MAX)
		return err_set(err,
		    "more than %d steps: choose a longer --step, or a shorter "
		    "time with --from and --to",
		    SAMPLES_STEPS_MAX);
	samples->step_ns = *step_ns;
	samples->steps = (uint32_t)steps;
	past_ns = window->from_ns % *step_ns;
	samples->from_ns = window->from_ns - past_ns;
	if (past_ns < 0)
		samples->from_ns -= *step_ns;
	return 0;
}

static int
read_all(struct samples *samples, struct series *series,
    const struct window *window, int64_t step_ns, struct err *err)
{
	struct series_query query = window_query(window, step_ns);

	query.set = text_of(values.set);
	for (uint32_t i = 0; i < values.metrics.count; i++) {
		query.metric = text_of(values.metrics.at[i]);
		if (samples_read(samples, series, &query,
			window->job != NULL ? &window->jobs : NULL, err) != 0)
			return -1;
	}
	return 0;
}

void
plot_samples_check(void)
{
	if (values.metrics.count == 0)
		opt_usage("samples needs --metric PATTERN, such as "
			  "'system.cpu.*'");
}

int
plot_samples(struct source *source, struct text partition,
    const struct picture *picture, struct err *err)
{
	struct samples samples = { .step_ns = 0 };
	struct series *series = NULL;
	struct window window;
	int64_t step_ns;
	int rc;

	intern_init(&samples.texts);
	rc = window_open(&window, source, partition, err);
	if (rc == 0)
		rc = make_steps(&samples, &window, &step_ns, err);
	if (rc == 0)
		rc = series_open(&series, source, partition, err);
	if (rc == 0)
		rc = read_all(&samples, series, &window, step_ns, err);
	source_clock_words(samples.clock, source_clock(source));
	if (rc == 0)
		rc = draw_all(&samples, &window, partition, picture, err);
	series_close(&series);
	samples_clear(&samples);
	window_close(&window);
	return rc;
}
