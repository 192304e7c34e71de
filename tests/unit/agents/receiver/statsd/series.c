/*
 * series - what lines add up to, worked out by hand.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/series.h"

#include <math.h>

#include "agents/receiver/statsd/budget.h"
#include "agents/receiver/statsd/values.h"
#include "proto/record/counter_rate.h"
#include "tests/unit/check.h"

enum { MAX_SEEN = 30000 };
#define NOW_NS (1000 * NS_PER_SECOND)

/* The numbers of the last page, by name and labels, as "name{k=v}". */
static struct {
	char name[300];
	struct value value;
	bool counter;
	int64_t time_ns;
} seen[MAX_SEEN];
static int seen_count;
static struct statsd_series *series;
static int64_t now_ns;

/* Names of groups, in the order of the last look. */
static char group_name[STATSD_COLUMNS_MAX][NAME_BYTES_MAX + 1];
static int groups, group_columns[STATSD_COLUMNS_MAX];
static enum statsd_put answer;

static enum statsd_put
on_group(void *arg, const struct dynamic_group *group)
{
	assert_int_equal(group->boot, group->time_ns < NOW_NS ? 0 : 5);
	group_columns[groups] = (int)group->numbers;
	strcpy(group_name[groups++], group->name);
	for (uint32_t i = 0; i < group->numbers; i++, seen_count++) {
		const struct dynamic_number *number = &group->number[i];
		char *name = seen[seen_count].name;
		int used = sprintf(
		    name, "%.*s", (int)number->name.bytes, number->name.at);

		assert_in_range(seen_count, 0, MAX_SEEN - 1);
		if (number->unit.bytes > 0)
			used += sprintf(name + used, " %.*s",
			    (int)number->unit.bytes, number->unit.at);
		for (uint32_t k = 0; k < group->labels; k++)
			used += sprintf(name + used, " %.*s=%.*s",
			    (int)group->label[k].key.bytes,
			    group->label[k].key.at,
			    (int)group->label[k].value.bytes,
			    group->label[k].value.at);
		seen[seen_count].value = number->value;
		seen[seen_count].counter = number->counter;
		seen[seen_count].time_ns = group->time_ns;
	}
	return answer;
}

/* What is put at this time; `next`: and is on disk. */
static void
look(bool next)
{
	seen_count = groups = 0;
	answer = STATSD_PUT;
	assert_int_equal(
	    statsd_series_put(series, 5, now_ns, 1000 + now_ns, on_group, NULL),
	    0);
	if (next)
		statsd_series_next_period(series, now_ns);
}

static enum statsd_fault
add(const char *text)
{
	struct statsd_line line;
	enum statsd_fault fault = statsd_line_parse(&line, text_of(text));

	return fault != STATSD_OK ? fault
				  : statsd_series_add(series, &line, now_ns);
}

static void
assert_add(const char *text, const char *word)
{
	enum statsd_fault fault = add(text);

	if (strcmp(fault == STATSD_OK ? "" : statsd_fault_word(fault), word) !=
	    0)
		fail_msg("%s: %d, not '%s'", text, (int)fault, word);
}

/* NaN: it is there and has no value; -INFINITY: it is not there. */
static double
number(const char *name)
{
	for (int i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, name) == 0)
			return counter_rate_number(&seen[i].value);
	return -(double)INFINITY;
}

static void
assert_number(const char *name, double value)
{
	double got = number(name);

	if (got != value && !(isnan(got) && isnan(value)))
		fail_msg("%s is %.17g, not %.17g", name, got, value);
}

static bool
is_counter(const char *name)
{
	for (int i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, name) == 0)
			return seen[i].counter;
	return false;
}

static void
a_counter_is_divided_by_its_rate_and_never_starts_again(void **state)
{
	assert_add("done:1|c", "");
	assert_add("done:2|c|@0.1", "");
	assert_add("done:1:2:3|c", "");
	assert_add("done:0.5|c", "");
	assert_add("done:-1|c", "negative");
	assert_add("done:1:-1|c", "negative");
	look(true);
	assert_int_equal(seen_count, 1);
	assert_number("done", 1 + 20 + 6 + 0.5);
	assert_true(is_counter("done"));
	assert_int_equal(seen[0].time_ns, 1000 + now_ns);
	look(true);
	assert_number("done", 27.5);
	assert_add("done:0.5|c", "");
	look(true);
	assert_number("done", 28);
	assert_int_equal(seen[0].value.type, VALUE_INT);
}

static void
a_gauge_is_its_last_value_and_a_sign_makes_a_delta(void **state)
{
	assert_add("queue:-3|g", "");
	look(true);
	assert_number("queue", -3);
	assert_add("queue:10|g", "");
	assert_add("queue:+4|g", "");
	assert_add("queue:-1.5|g", "");
	look(true);
	assert_number("queue", 12.5);
	assert_false(is_counter("queue"));
	look(true);
	assert_number("queue", 12.5);
	assert_add("queue:7|g|@0.5", "");
	look(true);
	assert_number("queue", 7);
}

static void
a_gauge_with_a_time_is_a_sample_of_that_time(void **state)
{
	assert_add("g:1|g|T100", "");
	assert_add("g:2|g|T110", "");
	look(true);
	assert_int_equal(seen_count, 2);
	assert_int_equal(seen[0].time_ns, 100 * NS_PER_SECOND);
	assert_int_equal(seen[1].time_ns, 110 * NS_PER_SECOND);
	assert_number("g", 1);
	look(true);
	assert_int_equal(seen_count, 0);
	for (int i = 0; i < STATSD_TIMES_MAX; i++)
		assert_int_equal(add("g:1|g|T100"), STATSD_OK);
	assert_add("g:1|g|T100", "times");
	statsd_series_next_period(series, now_ns);
	assert_add("g:1|g|T100", "");
}

static void
timers_have_five_columns(void **state)
{
	char text[32];

	/* 1 to 200, the 99 % of which is 198. */
	for (int i = 200; i > 0; i--) {
		sprintf(text, "load:%d|ms", i);
		assert_add(text, "");
	}
	assert_add("size:2:4:6|h|@0.5", "");
	look(true);
	assert_int_equal(seen_count, 10);
	assert_number("load.count", 200);
	assert_number("load.sum ms", 20100);
	assert_number("load.min ms", 1);
	assert_number("load.max ms", 200);
	assert_number("load.p99 ms", 198);
	assert_number("size.count", 6);
	assert_number("size.sum", 24);
	assert_number("size.p99", 6);
	assert_true(is_counter("load.count") && is_counter("load.sum ms"));
	assert_false(is_counter("load.min ms") || is_counter("load.max ms") ||
		     is_counter("load.p99 ms"));
	/* No value in this period; count and sum go on. */
	assert_add("size:5|d", "");
	look(true);
	assert_number("load.count", 200);
	assert_number("load.min ms", (double)NAN);
	assert_number("load.p99 ms", (double)NAN);
	assert_number("size.count", 7);
	assert_number("size.sum", 29);
	assert_number("size.min", 5);
	/* A sum that falls is no counter. */
	assert_add("size:-50|h", "");
	look(true);
	assert_number("size.sum", -21);
	assert_false(is_counter("size.sum"));
	assert_true(is_counter("size.count"));
}

/* Of values drawn from 0 to 1 the 99 % of 1,024 is within 0.99 +- 0.02 (more
 * than six standard deviations of 0.0031). */
static void
a_reservoir_has_a_share_of_all_values(void **state)
{
	uint64_t random = check_seed();
	char text[64];

	for (int i = 0; i < 50000; i++) {
		sprintf(text, "x:%.9f|h",
		    (double)(check_random(&random) >> 11) / 9007199254740992.0);
		assert_int_equal(add(text), STATSD_OK);
	}
	look(true);
	assert_number("x.count", 50000);
	assert_true(fabs(number("x.p99") - 0.99) < 0.02);
	assert_true(fabs(number("x.sum") / 50000 - 0.5) < 0.01);
}

static void
a_set_counts_what_differs(void **state)
{
	char text[32];

	assert_add("u:x y|s", "");
	assert_add("u:a:b|s", "");
	assert_add("u:a:b|s", "");
	assert_add("u:|s", "");
	look(true);
	assert_number("u", 3);
	look(true);
	assert_number("u", 0);
	for (int i = 0; i < 5000; i++) {
		sprintf(text, "u:%d|s", i % 4000);
		assert_add(text, "");
	}
	look(false);
	assert_number("u", 4000);
	for (int i = 0; i < 5000; i++) {
		sprintf(text, "u:%d|s", i);
		assert_add(text, "");
	}
	look(true);
	assert_number("u", STATSD_DISTINCT_MAX);
}

static void
tags_are_labels_in_whatever_order(void **state)
{
	assert_add("a:1|c|#x:1,y:2", "");
	assert_add("a:1|c|#y:2,x:1", "");
	assert_add("a:1|c|#y:2", "");
	assert_add("a:1|c|#y:2,x:", "");
	assert_add("a:1|c|#y:\xff", "tags");
	look(true);
	assert_int_equal(seen_count, 2);
	assert_number("a x=1 y=2", 2);
	assert_number("a y=2", 2);
}

/* Texts that would be the same one after the other. */
static void
names_and_tags_are_never_mixed_up(void **state)
{
	assert_add("a:1|c|#bc:d", "");
	assert_add("ab:1|c|#c:d", "");
	assert_add("a:1|c|#b:cd", "");
	look(true);
	assert_int_equal(seen_count, 3);
}

static void
what_no_metric_can_be_is_refused(void **state)
{
	char text[400];

	assert_add("a b:1|c", "name");
	assert_add("a\tb:1|c", "name");
	assert_add("\xff:1|c", "name");
	assert_add("poolscope.boot:1|c", "name");
	assert_add("a:x|c", "value");
	assert_add("a:1:x|ms", "value");
	sprintf(text, "%0249d:1|h", 1);
	assert_add(text, "");
	sprintf(text, "%0250d:1|h", 1);
	assert_add(text, "name");
	assert_add("t:1|ms", "");
	assert_add("t:1|h", ""); /* the same columns */
	assert_add("t:1|c", "other-type");
	assert_add("t:1|g|T5", "other-type");
	/* Its column is there already. */
	assert_add("t.count:1|c", "other-type");
	assert_add("t.p99:1|g", "other-type");
	assert_add("t.count:1|c|#a:b", "");
	assert_add("t.count:1|h", "");
	assert_add("v.sum:1|s", "");
	assert_add("v:1|ms", "other-type");
	look(true);
	assert_int_equal(seen_count, 17);
	assert_number("t.count", 2);
	assert_number("t.count.count", 1);
}

static void
the_columns_are_bounded(void **state)
{
	char text[64];

	for (int i = 0; i < STATSD_COLUMNS_MAX - 1000; i++) {
		sprintf(text, "tag:1|c|#i:%d", i);
		assert_int_equal(add(text), STATSD_OK);
	}
	/* With that of before, four groups of 256. */
	for (int i = 0; i < 1000; i++) {
		sprintf(text, "n%d:1|c|#i:7", i);
		assert_int_equal(add(text), STATSD_OK);
	}
	assert_add("more:1|c|#i:7", "series");
	assert_add("tag:1|c|#i:x", "series");
	assert_add("tag:1|c|#i:7", "");
	look(true);
	assert_int_equal(seen_count, STATSD_COLUMNS_MAX);
	assert_number("tag i=7", 2);
	/* Those that have ended count for an hour: the agent counts so. */
	now_ns += STATSD_SILENT_NS + 1;
	assert_add("tag:1|c|#i:7", "");
	assert_add("more:1|c|#i:7", "series");
	look(true);
	assert_int_equal(groups, 1);
	assert_int_equal(seen_count, 256);
	assert_int_equal(statsd_series_count(series), 256);
	now_ns += STATSD_DEFINED_NS;
	assert_add("tag:1|c|#i:7", "");
	assert_add("more:1|c|#i:x", "series");
	look(true);
	assert_add("more:1|c|#i:x", "series");
	now_ns += 1;
	assert_add("tag:1|c|#i:7", "");
	look(true);
	assert_add("more:1|c|#i:x", "");
	look(true);
	assert_int_equal(seen_count, 257);
	assert_number("tag i=7", 5);
	assert_number("n254 i=7", 1);
	assert_number("more i=x", 1);
}

/* As the agent counts: each definition of the last hour, with all its columns.
 */
static void
what_is_put_is_no_more_than_an_agent_takes(void **state)
{
	static char known[STATSD_COLUMNS_MAX][NAME_BYTES_MAX + 1];
	uint64_t random = check_seed();
	int count = 0, columns = 0, refused = 0;
	char text[64];

	for (int period = 0; period < 300; period++) {
		for (int i = 0; i < 40; i++) {
			unsigned n = (unsigned)check_random(&random);

			sprintf(text, "n%u:1|%s|#i:%u%s", n / 64 % 1000,
			    n % 2    ? "c"
			    : n % 16 ? "g"
				     : "ms",
			    n / 64000 % 30, n % 6 == 4 ? "|T5" : "");
			refused += add(text) == STATSD_SERIES;
		}
		look(true);
		for (int i = 0; i < groups; i++) {
			int k = 0;

			while (
			    k < count && strcmp(known[k], group_name[i]) != 0)
				k++;
			if (k < count)
				continue;
			assert_in_range(count, 0, STATSD_COLUMNS_MAX - 1);
			strcpy(known[count++], group_name[i]);
			columns += group_columns[i];
		}
		now_ns += 10 * NS_PER_SECOND;
	}
	printf("%d groups, %d columns, %d refused\n", count, columns, refused);
	assert_true(columns <= STATSD_COLUMNS_MAX);
	assert_true(refused > 0);
}

/* An agent counts each definition: 100 columns of which one comes in each
 * period are 7 groups, not 100 definitions of up to 100 columns. */
static void
a_group_that_is_published_keeps_its_columns(void **state)
{
	char text[64], first[NAME_BYTES_MAX + 1];
	int columns = 0;

	for (int i = 0; i < 50; i++) {
		sprintf(text, "a%d:1|c", i);
		assert_add(text, "");
	}
	look(true);
	assert_int_equal(groups, 1);
	strcpy(first, group_name[0]);
	for (int i = 0; i < 100; i++) {
		char before[32][NAME_BYTES_MAX + 1];
		int count = groups;

		memcpy(before, group_name, sizeof(before));
		sprintf(text, "b%d:1|c", i);
		assert_add(text, "");
		look(true);
		assert_string_equal(group_name[0], first);
		/* One definition is new: the last. */
		for (int k = 0; k < groups - 1; k++)
			assert_string_equal(group_name[k], before[k]);
		columns += (seen_count - 50 - 1) % STATSD_SMALL_GROUP + 1;
		assert_in_range(groups - count, 0, 1);
	}
	assert_int_equal(groups, 1 + 7);
	assert_true(columns <= 100 * STATSD_SMALL_GROUP);
	/* Those that are silent keep their place. */
	now_ns += STATSD_SILENT_NS + 1;
	assert_add("a7:1|c", "");
	look(true);
	assert_int_equal(groups, 1);
	assert_string_equal(group_name[0], first);
	assert_number("a7", 2);
	assert_number("a8", 1);
}

static void
a_group_that_the_agent_refuses_is_left_out_for_a_while(void **state)
{
	assert_add("a:1|c|#x:1", "");
	assert_add("a:1|c|#x:2", "");
	groups = seen_count = 0;
	answer = STATSD_PUT_REFUSED;
	assert_int_equal(
	    statsd_series_put(series, 5, now_ns, now_ns, on_group, NULL), 0);
	assert_int_equal(groups, 2);
	look(true);
	assert_int_equal(groups, 0);
	now_ns += STATSD_REFUSED_NS;
	assert_add("a:1|c|#x:1", "");
	look(true);
	assert_int_equal(groups, 1);
	assert_number("a x=1", 2);
	groups = 0;
	answer = STATSD_PUT_END;
	assert_add("a:1|c|#x:2", "");
	assert_int_equal(
	    statsd_series_put(series, 5, now_ns, now_ns, on_group, NULL), -1);
	assert_int_equal(groups, 1);
}

static void
a_gauge_ends_after_five_minutes_and_a_counter_keeps_its_sum(void **state)
{
	assert_add("done:5|c", "");
	assert_add("level:5|g", "");
	assert_add("t:5|ms", "");
	assert_add("u:5|s", "");
	now_ns += STATSD_SILENT_NS;
	look(true);
	assert_int_equal(seen_count, 8);
	assert_number("level", 5);
	assert_number("u", 1);
	now_ns += 1;
	look(true);
	assert_int_equal(seen_count, 0);
	assert_add("done:1|c", "");
	look(true);
	assert_int_equal(seen_count, 8);
	assert_number("done", 6);
	assert_number("level", (double)NAN);
	assert_number("u", (double)NAN);
	assert_number("t.count", 1);
	assert_number("t.max ms", (double)NAN);
}

static void
a_period_lasts_until_its_numbers_are_on_disk(void **state)
{
	assert_add("t:1|ms", "");
	assert_add("u:1|s", "");
	look(false);
	assert_add("t:3|ms", "");
	assert_add("u:2|s", "");
	look(true);
	assert_number("t.min ms", 1);
	assert_number("t.max ms", 3);
	assert_number("u", 2);
}

static int
begin(void **state)
{
	now_ns = NOW_NS;
	statsd_series_new(&series);
	return 0;
}

static int
end(void **state)
{
	statsd_series_free(&series);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_counter_is_divided_by_its_rate_and_never_starts_again),
		CASE(a_gauge_is_its_last_value_and_a_sign_makes_a_delta),
		CASE(a_gauge_with_a_time_is_a_sample_of_that_time),
		CASE(timers_have_five_columns),
		CASE(a_reservoir_has_a_share_of_all_values),
		CASE(a_set_counts_what_differs),
		CASE(tags_are_labels_in_whatever_order),
		CASE(names_and_tags_are_never_mixed_up),
		CASE(what_no_metric_can_be_is_refused),
		CASE(the_columns_are_bounded),
		CASE(what_is_put_is_no_more_than_an_agent_takes),
		CASE(a_group_that_is_published_keeps_its_columns),
		CASE(a_group_that_the_agent_refuses_is_left_out_for_a_while),
		CASE(
		    a_gauge_ends_after_five_minutes_and_a_counter_keeps_its_sum),
		CASE(a_period_lasts_until_its_numbers_are_on_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
