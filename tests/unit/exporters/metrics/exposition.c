/*
 * exposition - the two text formats, letter by letter, as their pages have
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/metrics/exposition.h"

#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>

static char *text;
static size_t bytes;

static struct exposition
start(enum exposition_format format)
{
	return (struct exposition){ .file = open_memstream(&text, &bytes),
		.format = format };
}

static void
finish(struct exposition *exposition, const char *wanted)
{
	exposition_end(exposition);
	fclose(exposition->file);
	assert_string_equal(text, wanted);
	free(text);
}

static void
put(struct exposition *exposition, const char *suffix, const char *value,
    double number)
{
	const struct exposition_label labels[EXPOSITION_LABELS] = { { "a",
	    text_of(value) } };

	exposition_sample(exposition, suffix, labels, number);
}

static const struct exposition_family families[] = {
	{ "up", EXPOSITION_GAUGE, "", "Is it up?" },
	{ "seen_bytes", EXPOSITION_COUNTER, "bytes", "What was seen." },
	{ "unused", EXPOSITION_GAUGE, "", "Nothing." },
	{ "took_seconds", EXPOSITION_HISTOGRAM, "seconds",
	    "How long it took." },
	{ "build", EXPOSITION_INFO, "", "Which one." },
};

static void
put_all(struct exposition *exposition)
{
	const struct exposition_label none[EXPOSITION_LABELS] = { { NULL,
	    { NULL, 0 } } };
	const struct exposition_label two[EXPOSITION_LABELS] = {
		{ "a", text_of("x") }, { "le", text_of("+Inf") }
	};

	exposition_begin(exposition, &families[0]);
	exposition_sample(exposition, "", none, 1);
	exposition_begin(exposition, &families[1]);
	put(exposition, "_total", "x", 9007199254740991.0);
	put(exposition, "_total", "y", 0.1);
	put(exposition, "_total", "z", -0.0);
	put(exposition, "_total", "n", -9007199254740991.0);
	exposition_begin(exposition, &families[2]);
	exposition_begin(exposition, &families[3]);
	exposition_sample(exposition, "_bucket", two, 3);
	put(exposition, "_sum", "x", 1.5e-7);
	put(exposition, "_count", "x", 3);
	exposition_begin(exposition, &families[4]);
	put(exposition, "_info", "x", 1);
}

static void
open_metrics(void **state)
{
	struct exposition exposition = start(EXPOSITION_OPENMETRICS);

	put_all(&exposition);
	assert_int_equal(exposition.samples, 9);
	finish(&exposition, "# HELP up Is it up?\n"
			    "# TYPE up gauge\n"
			    "up 1\n"
			    "# HELP seen_bytes What was seen.\n"
			    "# TYPE seen_bytes counter\n"
			    "# UNIT seen_bytes bytes\n"
			    "seen_bytes_total{a=\"x\"} 9007199254740991\n"
			    "seen_bytes_total{a=\"y\"} 0.1\n"
			    "seen_bytes_total{a=\"z\"} 0\n"
			    "seen_bytes_total{a=\"n\"} -9007199254740991\n"
			    "# HELP took_seconds How long it took.\n"
			    "# TYPE took_seconds histogram\n"
			    "# UNIT took_seconds seconds\n"
			    "took_seconds_bucket{a=\"x\",le=\"+Inf\"} 3\n"
			    "took_seconds_sum{a=\"x\"} 1.5e-07\n"
			    "took_seconds_count{a=\"x\"} 3\n"
			    "# HELP build Which one.\n"
			    "# TYPE build info\n"
			    "build_info{a=\"x\"} 1\n"
			    "# EOF\n");
}

static void
prometheus_text(void **state)
{
	struct exposition exposition = start(EXPOSITION_PROMETHEUS);

	put_all(&exposition);
	finish(&exposition, "# HELP up Is it up?\n"
			    "# TYPE up gauge\n"
			    "up 1\n"
			    "# HELP seen_bytes_total What was seen.\n"
			    "# TYPE seen_bytes_total counter\n"
			    "seen_bytes_total{a=\"x\"} 9007199254740991\n"
			    "seen_bytes_total{a=\"y\"} 0.1\n"
			    "seen_bytes_total{a=\"z\"} 0\n"
			    "seen_bytes_total{a=\"n\"} -9007199254740991\n"
			    "# HELP took_seconds How long it took.\n"
			    "# TYPE took_seconds histogram\n"
			    "took_seconds_bucket{a=\"x\",le=\"+Inf\"} 3\n"
			    "took_seconds_sum{a=\"x\"} 1.5e-07\n"
			    "took_seconds_count{a=\"x\"} 3\n"
			    "# HELP build_info Which one.\n"
			    "# TYPE build_info gauge\n"
			    "build_info{a=\"x\"} 1\n");
}

static void
numbers_that_are_none(void **state)
{
	struct exposition exposition = start(EXPOSITION_PROMETHEUS);

	exposition_begin(&exposition, &families[0]);
	put(&exposition, "", "x", NAN);
	put(&exposition, "", "y", INFINITY);
	put(&exposition, "", "z", -INFINITY);
	finish(&exposition, "# HELP up Is it up?\n"
			    "# TYPE up gauge\n"
			    "up{a=\"x\"} NaN\n"
			    "up{a=\"y\"} +Inf\n"
			    "up{a=\"z\"} -Inf\n");
}

#define MARK "\xEF\xBF\xBD"

static void
values_of_labels_are_values(void **state)
{
	struct exposition exposition = start(EXPOSITION_PROMETHEUS);

	exposition_begin(&exposition, &families[0]);
	put(&exposition, "", "\"} 1\nup{a=\"", 0);
	put(&exposition, "", "\\n", 0);
	put(&exposition, "", "tab\there", 0);
	put(&exposition, "", "K\xC3\xB6ln \xF0\x9F\x98\x80", 0);
	finish(&exposition, "# HELP up Is it up?\n"
			    "# TYPE up gauge\n"
			    "up{a=\"\\\"} 1\\nup{a=\\\"\"} 0\n"
			    "up{a=\"\\\\n\"} 0\n"
			    "up{a=\"tab\there\"} 0\n"
			    "up{a=\"K\xC3\xB6ln \xF0\x9F\x98\x80\"} 0\n");
}

static void
what_no_label_may_have_stays_apart(void **state)
{
	struct exposition exposition = start(EXPOSITION_PROMETHEUS);

	exposition_begin(&exposition, &families[0]);
	put(&exposition, "", "\x1b[31m", 0);
	put(&exposition, "", "\r", 0);
	put(&exposition, "", "\xC2\x85", 0); /* a control character */
	put(&exposition, "", "\xff\xfe", 0); /* not UTF-8 */
	put(&exposition, "", "\xE2\x82", 0); /* cut */
	put(&exposition, "", MARK "0d", 0);
	finish(&exposition, "# HELP up Is it up?\n"
			    "# TYPE up gauge\n"
			    "up{a=\"" MARK "1b[31m\"} 0\n"
			    "up{a=\"" MARK "0d\"} 0\n"
			    "up{a=\"" MARK "c2" MARK "85\"} 0\n"
			    "up{a=\"" MARK "ff" MARK "fe\"} 0\n"
			    "up{a=\"" MARK "e2" MARK "82\"} 0\n"
			    "up{a=\"" MARK "ef" MARK "bf" MARK "bd0d\"} 0\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_metrics),
		cmocka_unit_test(prometheus_text),
		cmocka_unit_test(numbers_that_are_none),
		cmocka_unit_test(values_of_labels_are_values),
		cmocka_unit_test(what_no_label_may_have_stays_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
