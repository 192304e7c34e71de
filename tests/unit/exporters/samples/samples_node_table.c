/*
 * samples_node_table - rows and steps of pictures, and what their tables and
 * scripts say.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot.h"

#include <math.h>

#include "tests/unit/exporters/samples/sampled.h"

static struct samples samples;

static void
define(void)
{
	define_group(
	    "cores", "poolscope.boot cpu.time", "1 cs", "gauge counter");
	define_group("stock", "memory.used", "By", "gauge");
}

/* Read it all in steps of `step` seconds, from RIG_T0 on. */
static int
try_read(int64_t step, uint32_t steps, const char *metric,
    const struct job_intervals *job_intervals, struct err *err)
{
	struct series_query query = { .metric = text_of(metric),
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.step_ns = step * NS_PER_SECOND };
	struct series *series;
	int rc;

	samples = (struct samples){
		.from_ns = RIG_T0, .step_ns = query.step_ns, .steps = steps
	};
	string_table_init(&samples.texts);
	rig_good(
	    series_open(&series, source, text_of(RIG_PARTITION), err), err);
	rc = samples_read(&samples, series, &query, job_intervals, err);
	series_close(&series);
	return rc;
}

static void
read_samples(int64_t step, uint32_t steps, const char *metric)
{
	struct err err = { 0 };

	rig_good(try_read(step, steps, metric, NULL, &err), &err);
	samples_finish(&samples);
}

static char *
printed(struct samples_plot *plot, bool script)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	plot->samples = &samples;
	plot->metric = &samples.metrics[0];
	plot->partition = text_of("pool");
	if (script)
		samples_plot_script(plot, file, "x.dat", GNUPLOT_PNG);
	else
		samples_plot_table(plot, file);
	fclose(file);
	return text;
}

static unsigned
count_of(const char *text, const char *what)
{
	unsigned count = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		count++;
	return count;
}

static void
put_nodes(unsigned nodes)
{
	define();
	for (unsigned i = 0; i < nodes; i++) {
		char node[16];

		snprintf(node, sizeof(node), "node-%02u", i);
		for (int64_t t = 0; t < 60; t += 10)
			put_sample(node, "stock", (double)t, 1,
			    (int64_t[]){ 1000 * i + t });
	}
	read_it();
}

static void
twelve_nodes_are_lines(void **state)
{
	struct samples_plot plot = { .jobs.job = NULL };
	char *text;

	put_nodes(12);
	read_samples(10, 12, "memory.used");
	text = printed(&plot, false);
	assert_int_equal(count_of(text, "# node-"), 12);
	assert_non_null(strstr(text, "# node-11\n# time mean low high\n"
				     "1508000005.00 11000 11000 11000\n"));
	free(text);
	text = printed(&plot, true);
	assert_int_equal(count_of(text, "with steps"), 12);
	assert_non_null(strstr(text, "12 nodes\\073 steps of 10 s from raw"));
	/* 11,050 bytes are 10.8 KiB: a tic each 2048 bytes. */
	assert_non_null(strstr(
	    text, "set ytics (\"0 KiB\" 0, \"2 KiB\" 2048, \"4 KiB\" 4096, "));
	free(text);
	samples_clear(&samples);
}

static void
thirteen_nodes_are_a_band_and_a_map(void **state)
{
	struct samples_plot plot = { .jobs.job = "4711" };
	char *text;

	put_nodes(13);
	read_samples(10, 12, "memory.used");
	text = printed(&plot, false);
	assert_non_null(strstr(text, "# time least median greatest nodes few\n"
				     "1508000005.00 0 6000 12000 13 0\n"));
	assert_non_null(
	    strstr(text, "\n 12000 12010 12020 12030 12040 12050\n"));
	free(text);
	text = printed(&plot, true);
	assert_non_null(strstr(text, "with image"));
	assert_non_null(strstr(text, ", job 4711"));
	assert_null(strstr(text, "fewer than half"));
	free(text);
	samples_clear(&samples);
}

static void
a_step_of_fewer_than_half_of_the_nodes_is_few(void **state)
{
	struct samples_plot plot = { .jobs.job = NULL };
	char *text;

	/* Seven of 13 go on, then six of them. */
	define();
	for (unsigned i = 0; i < 13; i++)
		for (int64_t t = 0; t < (i < 6      ? 80
					    : i < 7 ? 70
						    : 60);
		     t += 10) {
			char node[16];

			snprintf(node, sizeof(node), "node-%02u", i);
			put_sample(node, "stock", (double)t, 1,
			    (int64_t[]){ 1000 * i + t });
		}
	read_it();
	read_samples(10, 12, "memory.used");
	assert_int_equal(samples.steps, 8);
	assert_int_equal(samples.metrics[0].most, 13);
	assert_int_equal(samples.metrics[0].known[6], 7);
	assert_false(samples_step_is_few(samples.metrics, 6));
	assert_int_equal(samples.metrics[0].known[7], 6);
	assert_true(samples_step_is_few(samples.metrics, 7));
	text = printed(&plot, true);
	assert_non_null(strstr(text, "median of fewer than half"));
	free(text);
	samples_clear(&samples);
}

static void
steps_get_as_wide_as_the_samples_are_apart(void **state)
{
	put_nodes(2);
	read_samples(1, 100, "memory.used");
	assert_true(samples.step_ns == 10 * NS_PER_SECOND);
	assert_int_equal(samples.steps, 6);
	for (uint32_t i = 0; i < samples.steps; i++)
		assert_true(samples.metrics[0].rows[1].cells[i].mean ==
			    (float)(1000 + 10 * i));
	samples_clear(&samples);
}

/* A node that was away for long. */
static void
a_long_gap_does_not_make_steps_wider(void **state)
{
	define();
	for (int64_t t = 0; t < 10; t++)
		put_sample("n", "stock", (double)t, 1, (int64_t[]){ t });
	for (int64_t t = 990; t < 1000; t++)
		put_sample("n", "stock", (double)t, 1, (int64_t[]){ t });
	read_it();
	read_samples(1, 1000, "memory.used");
	assert_true(samples.step_ns == NS_PER_SECOND);
	assert_int_equal(samples.steps, 1000);
	samples_clear(&samples);
}

/* An agent samples every second while its node starts, then every ten; from
 * 400 s to 550 s the node was away. */
static void
a_period_that_changes_leaves_no_hole_where_the_node_was_there(void **state)
{
	uint32_t empty = 0;

	define();
	for (int64_t t = 0; t < 900; t += t < 300 ? 1 : t == 400 ? 150 : 10)
		put_sample("n", "stock", (double)t, 1, (int64_t[]){ t });
	read_it();
	read_samples(1, 900, "memory.used");
	assert_true(samples.step_ns == NS_PER_SECOND);
	assert_int_equal(samples.steps, 891);
	for (uint32_t i = 0; i < samples.steps; i++) {
		float mean = samples.metrics[0].rows[0].cells[i].mean;

		if (isnan(mean)) {
			empty++;
			if (i < 410 || i >= 550)
				fail_msg("%u", i);
		} else {
			assert_true(mean == (float)(i < 300 ? i : i - i % 10));
		}
	}
	assert_int_equal(empty, 140);
	samples_clear(&samples);
}

static void
a_counter_of_time_is_a_number(void **state)
{
	const struct samples_metric *metric;

	define();
	for (int64_t t = 0; t < 100; t++)
		put_sample(
		    "n", "cores", (double)t, 2, (int64_t[]){ 7, 50 * t });
	read_it();
	read_samples(10, 12, "cpu.time");
	metric = &samples.metrics[0];
	assert_true(metric->counter);
	assert_true(text_equal(metric->unit, text_of("1")));
	assert_int_equal(samples.steps, 10);
	for (uint32_t i = 0; i < samples.steps; i++)
		assert_true(fabs(metric->rows[0].cells[i].mean - 0.5) < 1e-9);
	samples_clear(&samples);
}

static void
of_a_job_only_its_nodes_and_times_are_shown(void **state)
{
	const struct job_options j = { .job = "j" }, k = { .job = "k" };
	struct job_intervals job_intervals;
	struct err err = { 0 };

	put_job("node-01", 20, "start", "j");
	put_job("node-01", 40, "stop", "j");
	put_nodes(3);
	rig_good(job_intervals_read(
		     &job_intervals, source, text_of(RIG_PARTITION), &j, &err),
	    &err);
	assert_int_equal(job_intervals.count, 1);
	job_intervals_clear(&job_intervals);
	assert_int_equal(job_intervals_read(&job_intervals, source,
			     text_of(RIG_PARTITION), &k, &err),
	    -1);
	assert_string_equal(err.text, "no job 'k' in partition " RIG_PARTITION);
	job_intervals_clear(&job_intervals);
	rig_good(job_intervals_read(
		     &job_intervals, source, text_of(RIG_PARTITION), &j, &err),
	    &err);
	rig_good(try_read(10, 12, "memory.used", &job_intervals, &err), &err);
	samples_finish(&samples);
	assert_int_equal(samples.metrics[0].count, 1);
	assert_int_equal(samples.steps, 2);
	assert_true(samples.metrics[0].rows[0].cells[0].mean == 1020);
	samples_clear(&samples);
	job_intervals_clear(&job_intervals);
}

static void
what_would_be_too_much_is_refused(void **state)
{
	struct err err = { 0 };

	define();
	for (unsigned i = 0; i < SAMPLES_PICTURES_MAX + 1; i++) {
		char set[32];

		snprintf(set, sizeof(set), "stock/%u", i);
		define_group(set, "memory.used", "By", "gauge");
		put_sample("n", set, 1, 1, (int64_t[]){ 5 });
	}
	read_it();
	assert_int_equal(try_read(10, 12, "memory.*", NULL, &err), -1);
	assert_non_null(strstr(err.text, "more than 24 pictures"));
	samples_clear(&samples);
	assert_int_equal(
	    try_read(10, SAMPLES_CELLS_MAX / 2, "memory.*", NULL, &err), -1);
	assert_non_null(strstr(err.text, "longer --step"));
	samples_clear(&samples);
}

static void
names_of_nodes_cannot_end_a_string(void **state)
{
	struct samples_plot plot = { .jobs.job = "`x`\"" };
	char *text;

	define();
	put_sample("`touch HIT`\"", "stock", 1, 1, (int64_t[]){ 5 });
	put_sample("`touch HIT`\"", "stock", 2, 1, (int64_t[]){ 5 });
	read_it();
	read_samples(1, 12, "memory.used");
	text = printed(&plot, true);
	assert_null(strchr(text, '`'));
	free(text);
	samples_clear(&samples);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(twelve_nodes_are_lines),
		CASE(thirteen_nodes_are_a_band_and_a_map),
		CASE(a_step_of_fewer_than_half_of_the_nodes_is_few),
		CASE(steps_get_as_wide_as_the_samples_are_apart),
		CASE(a_long_gap_does_not_make_steps_wider),
		CASE(
		    a_period_that_changes_leaves_no_hole_where_the_node_was_there),
		CASE(a_counter_of_time_is_a_number),
		CASE(of_a_job_only_its_nodes_and_times_are_shown),
		CASE(what_would_be_too_much_is_refused),
		CASE(names_of_nodes_cannot_end_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
