/*
 * prometheus - lines of Prometheus' text format, and what they mean by its
 * specification and by that of OpenMetrics.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/prometheus.h"

#include <malloc.h>
#include <math.h>

#include "proto/metric/sample_page.h"
#include "tests/unit/check.h"

static struct prometheus reader;
static struct prometheus_sample sample;
static struct err err;

/* What the last sample of the page is, as "name{k=v} value unit time", with a
 * star behind a counter's name. */
static const char *
last_of(const char *page)
{
	static char said[512];
	size_t used;
	char name[64] = "";
	int rc, last = 0;

	err_clear(&err);
	prometheus_begin(&reader, text_of(page));
	while ((rc = prometheus_next(&reader, &sample, &err)) != 0) {
		if (rc < 0)
			return err.text;
		last = 1;
		used = (size_t)snprintf(said, sizeof(said), "%.*s%s{",
		    (int)sample.number.name.bytes, sample.number.name.at,
		    sample.number.counter ? "*" : "");
		for (uint32_t i = 0; i < sample.labels; i++)
			used += (size_t)snprintf(said + used,
			    sizeof(said) - used, "%s%.*s=%.*s",
			    i > 0 ? "," : "", (int)sample.label[i].key.bytes,
			    sample.label[i].key.at,
			    (int)sample.label[i].value.bytes,
			    sample.label[i].value.at);
		if (sample.number.value.type == VALUE_INT)
			snprintf(name, sizeof(name), "%lld",
			    (long long)sample.number.value.is.i);
		else
			snprintf(
			    name, sizeof(name), "%g", sample.number.value.is.f);
		used += (size_t)snprintf(said + used, sizeof(said) - used,
		    "} %s %.*s", name, (int)sample.number.unit.bytes,
		    sample.number.unit.at);
		if (sample.has_time)
			snprintf(said + used, sizeof(said) - used, " @%lld",
			    (long long)sample.time_ns);
	}
	return last ? said : "nothing";
}

static void
each_line_means_what_the_specification_says(void **state)
{
	static const struct {
		const char *page, *means;
	} rows[] = {
		{ "", "nothing" },
		{ "\n# a comment\n#\n# EOF\n", "nothing" },
		{ "queue.length 17", "queue.length{} 17 " },
		{ "  a\t 1.5 \r\n", "a{} 1.5 " },
		{ "a -0", "a{} -0 " },
		{ "a +7", "a{} 7 " },
		{ "a 1e3", "a{} 1000 " },
		{ "a NaN", "a{} nan " },
		/* All that an int64 has room for is exact. */
		{ "a 1795970848270069579", "a{} 1795970848270069579 " },
		{ "a -9223372036854775807", "a{} -9223372036854775807 " },
		{ "a 9223372036854775808", "a{} 9.22337e+18 " },
		{ "a +Inf", "a{} inf " },
		{ "a -inf", "a{} -inf " },
		{ "a Infinity", "a{} inf " },
		/* 0.0.4: milliseconds; OpenMetrics: seconds. */
		{ "a 1 1395066363000", "a{} 1  @1395066363000000000" },
		{ "a 1 -3982045", "a{} 1  @-3982045000000" },
		{ "a 1 1520879607.789", "a{} 1  @1520879607789000000" },
		{ "a 1 1520879607", "a{} 1  @1520879607000000000" },
		{ "a 1 1.5e9", "a{} 1  @1500000000000000000" },
		/* Labels. */
		{ "a{} 1", "a{} 1 " },
		{ "a{b=\"c\"} 1", "a{b=c} 1 " },
		{ "a { b = \"c\" , d=\"e\" , } 1", "a{b=c,d=e} 1 " },
		{ "a{b=\"c\"}1", "a{b=c} 1 " },
		{ "a{b=\"\"} 1", "a{} 1 " },
		{ "a{b=\"x\\\\y\\\"z\\nw\"} 1", "a{b=x\\y\"z\nw} 1 " },
		{ "a{b=\"} 1 #\"} 2", "a{b=} 1 #} 2 " },
		{ "a{b=\"\\q\"} 2", "a{b=\\q} 2 " },
		{ "a{b=\"\xc3\xa9\"} 2", "a{b=\xc3\xa9} 2 " },
		/* Prometheus 3: names in quotes. */
		{ "{\"my.name\"} 3", "my.name{} 3 " },
		{ "{\"my.name\",\"l.x\"=\"v\",m=\"w\"} 3",
		    "my.name{l.x=v,m=w} 3 " },
		{ "{l=\"v\",\"n\"} 3", "n{l=v} 3 " },
		/* Types, and the units of names. */
		{ "# TYPE a counter\na 1", "a*{} 1 " },
		{ "# TYPE a counter\na_total 1", "a_total*{} 1 " },
		{ "# TYPE a counter\na_created 1", "a_created{} 1 s" },
		{ "# TYPE a histogram\na_created 1", "a_created{} 1 s" },
		{ "# TYPE a summary\na_created 1", "a_created{} 1 s" },
		/* A number of what was created. */
		{ "jobs_created 1", "jobs_created{} 1 " },
		{ "# TYPE jobs_created gauge\njobs_created 1",
		    "jobs_created{} 1 " },
		{ "# TYPE jobs gauge\njobs_created 1", "jobs_created{} 1 " },
		{ "# TYPE a counter\njobs_created 1", "jobs_created{} 1 " },
		{ "# TYPE jobs_created counter\njobs_created 1",
		    "jobs_created*{} 1 " },
		{ "# TYPE a_count gauge\n# UNIT a_count seconds\na_count 1",
		    "a_count{} 1 s" },
		{ "# TYPE a histogram\n# UNIT a seconds\na_count 1",
		    "a_count*{} 1 " },
		{ "# TYPE a gaugehistogram\n# UNIT a seconds\na_gcount 1",
		    "a_gcount{} 1 " },
		{ "# TYPE a counter\nab 1", "ab{} 1 " },
		{ "# TYPE a counter\n# TYPE b gauge\na 1", "a{} 1 " },
		{ "# TYPE a counter\n# HELP b x\na 1", "a*{} 1 " },
		{ "#  TYPE  a   counter  \na 1", "a*{} 1 " },
		{ "# TYPE a_seconds_total counter\na_seconds_total 1",
		    "a_seconds_total*{} 1 s" },
		{ "a_bytes 1", "a_bytes{} 1 By" },
		{ "a_ratio 1", "a_ratio{} 1 1" },
		{ "a_celsius 1", "a_celsius{} 1 Cel" },
		{ "bytes_a 1", "bytes_a{} 1 " },
		{ "# UNIT a_x seconds\na_x 1", "a_x{} 1 s" },
		{ "# UNIT a_x parsecs\na_x 1", "a_x{} 1 parsecs" },
		/* A family has no other metrics that begin like it. */
		{ "# UNIT a seconds\na_b 1", "a_b{} 1 " },
		{ "# UNIT a seconds\nab_count_total 1", "ab_count_total{} 1 " },
		{ "# UNIT a seconds\na_total 1", "a_total{} 1 s" },
		{ "# TYPE a summary\na{quantile=\"0.5\"} 1",
		    "a{quantile=0.5} 1 " },
		{ "# TYPE a_seconds summary\na_seconds_sum 1",
		    "a_seconds_sum*{} 1 s" },
		{ "# TYPE a_seconds summary\na_seconds_count 1",
		    "a_seconds_count*{} 1 " },
		{ "# TYPE a_seconds histogram\na_seconds_bucket{le=\"1\"} 1",
		    "a_seconds_bucket*{le=1} 1 " },
		{ "# TYPE a gaugehistogram\na_gsum 1", "a_gsum{} 1 " },
		{ "# TYPE \"a.b\" counter\n{\"a.b\"} 1", "a.b*{} 1 " },
		/* An exemplar. */
		{ "# TYPE a counter\na_total 1 # {t=\"x\"} 0.6 1520879607",
		    "a_total*{} 1 " },
		{ "a 1 2.5 # {t=\"x\"} 0.6", "a{} 1  @2500000000" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(last_of(rows[i].page), rows[i].means);
}

static void
each_wrong_line_has_its_sentence(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "1a 5", "the line does not begin with a name" },
		{ "{b=\"c\"} 1", "the line does not begin with a name" },
		{ "a", "the value is missing" },
		{ "a b", "'b' is not a number" },
		{ "a 0x10", "'0x10' is not a number" },
		{ "a 1_000", "'1_000' is not a number" },
		{ "a 1e999", "'1e999' is too large for a number" },
		{ "# UNIT a b c", "unit 'b c' has a blank" },
		{ "a 1 2 3", "there is something behind the time" },
		{ "a 1 x", "'x' is not a number of seconds" },
		{ "a 1 9e99",
		    "time '9e99' is not between the years 1900 and 2200" },
		{ "a 1 99999999999999",
		    "the time is not between the years 1900 and 2200" },
		{ "a{b} 1", "a label has no value in quotes" },
		{ "a{b=c} 1", "a label has no value in quotes" },
		{ "a{b=\"c} 1", "a quote is not closed" },
		{ "a{b=\"c\\\"} 1", "a quote is not closed" },
		{ "a{b=\"c\"", "a comma or a brace is missing" },
		{ "a{", "a brace is not closed" },
		{ "a{b=\"c\" d=\"e\"} 1", "a comma or a brace is missing" },
		{ "a{\"x\"} 1", "a label has no value in quotes" },
		{ "a{,} 1", "a name is missing" },
		{ "{\"a\\nb\"} 1", "the name of the metric has a backslash" },
		{ "# TYPE a nonsense", "'nonsense' is no type of metrics" },
		{ "# TYPE", "a name is missing" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(last_of(rows[i].line), rows[i].says);
}

static void
a_wrong_line_costs_itself(void **state)
{
	int rc[6];

	prometheus_begin(&reader, text_of("a 1\nb\n\n# x\nc 3\nd{e 4\nf 5"));
	for (int i = 0; i < 6; i++)
		rc[i] = prometheus_next(&reader, &sample, &err);
	assert_int_equal(rc[0], 1);
	assert_int_equal(rc[1], -1);
	assert_int_equal(rc[2], 1);
	assert_int_equal(rc[3], -1);
	assert_int_equal(rc[4], 1);
	assert_int_equal(reader.line, 7);
	assert_int_equal(rc[5], 0);
}

/* ---- as groups ---- */

struct got {
	char said[256];
	unsigned groups, columns;
};

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct got *got = arg;
	struct text labels = { "-", 1 }, names = { "", 0 };
	size_t used = strlen(got->said);

	record_find_text(&group->definition, "labels", &labels);
	record_find_text(&group->definition, "names", &names);
	if (names.bytes < 64)
		snprintf(got->said + used, sizeof(got->said) - used,
		    "%.*s %.*s @%lld;", (int)labels.bytes, labels.at,
		    (int)names.bytes, names.at, (long long)group->time_ns);
	got->groups++;
	got->columns += group->numbers;
	assert_true(
	    group->definition.pairs.bytes + group->sample.value_bytes.bytes <
	    60 << 10);
	return 0;
}

static void
on_bad(void *arg, uint64_t line, const struct err *why)
{
	struct got *got = arg;
	size_t used = strlen(got->said);

	snprintf(got->said + used, sizeof(got->said) - used, "%d: %s;",
	    (int)line, why->text);
}

static void
samples_of_one_moment_and_label_set_are_one_group(void **state)
{
	static const char page[] = "b 1\na{x=\"1\",y=\"2\"} 2\n"
				   "c{y=\"2\",x=\"1\"} 3\na 4\nb 5\nb 6 9.0\n";
	struct got got = { "", 0, 0 };
	struct sample_page_calls calls = { &got, on_group, on_bad };
	struct sample_page *groups;

	sample_page_new(&groups);
	prometheus_begin(&reader, text_of(page));
	while (prometheus_next(&reader, &sample, &err) > 0)
		assert_int_equal(
		    sample_page_add(groups, &sample.number, sample.label,
			sample.labels, sample.has_time ? sample.time_ns : 7,
			reader.line, &err),
		    0);
	assert_int_equal(
	    sample_page_groups(groups, text_of("prom"), 0, &calls), 0);
	sample_page_free(&groups);
	assert_string_equal(got.said,
	    "5: metric 'b' is there twice, with the same labels;- a b @7;"
	    "{\"x\":\"1\",\"y\":\"2\"} a c @7;- b @9000000000;");
}

/* 5,000 columns of 200 bytes without labels are groups that fit a submission,
 * and none is lost. */
static void
a_group_that_is_too_wide_is_several(void **state)
{
	static char name[5000][201];
	struct got got = { "", 0, 0 };
	struct sample_page_calls calls = { &got, on_group, on_bad };
	struct sample_page *groups;

	sample_page_new(&groups);
	for (int i = 0; i < 5000; i++) {
		struct dynamic_number number = { .name = { name[i], 200 },
			.value = { .type = VALUE_INT, .is.i = i } };

		snprintf(name[i], sizeof(name[i]), "%0200d", i);
		assert_int_equal(
		    sample_page_add(groups, &number, NULL, 0, 7, 1, &err), 0);
	}
	assert_int_equal(
	    sample_page_groups(groups, text_of("prom"), 0, &calls), 0);
	sample_page_free(&groups);
	assert_int_equal(got.columns, 5000);
	assert_in_range(got.groups, 20, 100);
}

/* 100,000 label sets, one number each: a page of a few MiB, and not a gigabyte
 * of memory. */
static void
a_label_set_costs_little_memory(void **state)
{
	enum { SETS = 100000, SET_BYTES_MAX = 512 };
	struct got got = { "", 0, 0 };
	struct sample_page_calls calls = { &got, on_group, on_bad };
	struct sample_page *groups;
	struct mallinfo2 before = mallinfo2(), after;

	sample_page_new(&groups);
	for (int i = 0; i < SETS; i++) {
		struct dynamic_number number = { .name = { "a", 1 },
			.value = { .type = VALUE_INT, .is.i = i } };
		char value[16];
		struct dynamic_label label = { .key = { "b", 1 },
			.value = { value, (uint32_t)snprintf(value,
					      sizeof(value), "%d", i) } };

		assert_int_equal(
		    sample_page_add(groups, &number, &label, 1, 7, 1, &err), 0);
	}
	after = mallinfo2();
	assert_in_range(after.uordblks + after.hblkhd,
	    before.uordblks + before.hblkhd,
	    before.uordblks + before.hblkhd + (size_t)SETS * SET_BYTES_MAX);
	assert_int_equal(
	    sample_page_groups(groups, text_of("prom"), 0, &calls), 0);
	sample_page_free(&groups);
	assert_int_equal(got.columns, SETS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_means_what_the_specification_says),
		cmocka_unit_test(each_wrong_line_has_its_sentence),
		cmocka_unit_test(a_wrong_line_costs_itself),
		cmocka_unit_test(
		    samples_of_one_moment_and_label_set_are_one_group),
		cmocka_unit_test(a_group_that_is_too_wide_is_several),
		cmocka_unit_test(a_label_set_costs_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
