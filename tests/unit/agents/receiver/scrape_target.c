/*
 * scrape_target - addresses, patterns, times and starts of exporters.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/scrape_target.h"

#include <string.h>

#include "tests/unit/check.h"

/* "" or what the sentence contains. */
static void
assert_parse(struct scrape_target *target, const char *word, bool remote,
    const char *says)
{
	struct err err = { 0 };
	int rc = scrape_target_parse(target, word, remote, &err);

	if ((rc == 0) != (says[0] == '\0') || strstr(err.text, says) == NULL)
		fail_msg("%s: '%s', not '%s'", word, err.text, says);
}

static void
assert_refused(const char *word, bool remote, const char *says)
{
	struct scrape_target target;

	assert_parse(&target, word, remote, says);
	scrape_target_clear(&target);
}

static void
a_target_is_of_this_host(void **state)
{
	assert_refused("a url=http://127.0.0.1:9100/metrics", false, "");
	assert_refused("a url=http://127.8.9.1:9100/metrics", false, "");
	assert_refused("a url=http://[::1]:9100/metrics", false, "");
	assert_refused("a url=http://localhost:9100/metrics", false, "");
	assert_refused("a url=http://10.0.0.1:9100/metrics", true, "");
	assert_refused("a url=http://10.0.0.1:9100/metrics", false,
	    "a: http://10.0.0.1:9100/metrics is not of this host");
	assert_refused(
	    "a url=http://localhost.example/", false, "is not of this host");
	assert_refused(
	    "a url=http://127.0.0.1@10.0.0.1/", false, "a user or a password");
	assert_refused("a url=http://0.0.0.0:1/", false, "not of this host");
}

static void
wrong_sections_are_refused(void **state)
{
	assert_refused("a", false, "a: has no url");
	assert_refused("a url=", false, "a: has no url");
	assert_refused(
	    "a url=file:///etc/passwd", false, "does not begin with");
	assert_refused(
	    "a url=gopher://127.0.0.1", false, "does not begin with");
	assert_refused(
	    "a period=1x url=http://localhost", false, "a: period: ");
	assert_refused(
	    "a period=1ms url=http://localhost", false, "at least 100ms");
	assert_refused("a buckets=maybe url=http://localhost", false,
	    "a: buckets is yes or no");
	assert_refused("a every=1s url=http://localhost", false,
	    "a: 'every=1s' is not KEY=VALUE");
	assert_refused(
	    "a url=unix:run/x.sock", false, "a Unix socket is unix:");
	assert_refused("a url=unix:/run/x.sock:metrics", false, "unix:/PATH");
}

static void
a_socket_has_a_path_and_a_page(void **state)
{
	struct scrape_target target;

	assert_parse(&target, "a url=unix:/run/x.sock", false, "");
	assert_string_equal(target.socket, "/run/x.sock");
	assert_string_equal(target.url, "http://localhost/metrics");
	scrape_target_clear(&target);
	assert_parse(&target, "a url=unix:/run/x.sock:/a?b=c", false, "");
	assert_string_equal(target.socket, "/run/x.sock");
	assert_string_equal(target.url, "http://localhost/a?b=c");
	scrape_target_clear(&target);
}

static bool
takes(const struct scrape_target *target, const char *name)
{
	return scrape_target_wants(target, text_of(name));
}

static void
names_are_kept_and_dropped_by_patterns(void **state)
{
	struct scrape_target target;

	assert_parse(&target,
	    "a keep=node_*,up drop=*_info,node_cpu? "
	    "buckets=yes url=http://localhost",
	    false, "");
	assert_true(target.buckets);
	assert_true(takes(&target, "node_load1"));
	assert_true(takes(&target, "up"));
	assert_true(takes(&target, "node_cpu"));
	assert_false(takes(&target, "upper"));
	assert_false(takes(&target, "go_info"));
	assert_false(takes(&target, "node_info"));
	assert_false(takes(&target, "node_cpus"));
	scrape_target_clear(&target);
	assert_parse(&target, "a url=http://localhost", false, "");
	assert_true(takes(&target, "anything"));
	assert_false(target.buckets);
	assert_int_equal(target.period_ns, 15000000000);
	scrape_target_clear(&target);
}

/* 100 targets of one period: each quarter of it has some, and each begins
 * within it. */
static void
targets_are_asked_at_different_times(void **state)
{
	struct scrape_target target;
	int quarter[4] = { 0 };
	char word[64];

	for (int i = 0; i < 100; i++) {
		int64_t ns;

		snprintf(word, sizeof(word),
		    "t%d period=8s url=http://localhost", i);
		assert_parse(&target, word, false, "");
		ns = scrape_target_offset_ns(&target);
		assert_true(ns >= 0 && ns < 8000000000);
		assert_int_equal(ns, scrape_target_offset_ns(&target));
		quarter[ns / 2000000000]++;
		scrape_target_clear(&target);
	}
	for (int i = 0; i < 4; i++)
		assert_true(quarter[i] >= 10);
}

static void
counters_begin_with_the_exporter(void **state)
{
	assert_int_equal(
	    scrape_target_boot(text_of("# TYPE process_start_time_seconds "
				       "gauge\nprocess_start_time_seconds "
				       "1.75e+09\na 1\n")),
	    1750000000000000000);
	assert_int_equal(
	    scrape_target_boot(text_of("a 1\nprocess_start_time_seconds 2.5")),
	    2500000000);
	assert_int_equal(scrape_target_boot(text_of("a 1\n")), 0);
	assert_int_equal(scrape_target_boot(text_of("")), 0);
	assert_int_equal(
	    scrape_target_boot(text_of("a 1\nprocess_start_time_seconds x\n")),
	    0);
	assert_int_equal(
	    scrape_target_boot(text_of("a\nprocess_start_time_seconds NaN\n")),
	    0);
	assert_int_equal(scrape_target_boot(
			     text_of("a\nprocess_start_time_seconds 1e300\n")),
	    0);
	assert_int_equal(
	    scrape_target_boot(text_of("a\nprocess_start_time_seconds ")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_target_is_of_this_host),
		cmocka_unit_test(wrong_sections_are_refused),
		cmocka_unit_test(a_socket_has_a_path_and_a_page),
		cmocka_unit_test(names_are_kept_and_dropped_by_patterns),
		cmocka_unit_test(targets_are_asked_at_different_times),
		cmocka_unit_test(counters_begin_with_the_exporter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
