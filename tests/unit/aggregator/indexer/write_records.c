/*
 * write_records - tests of the statistics that the indexer maintains, against
 * a slow pass over the events.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

/* All events of one phase, scope and key, computed the slow way. */
struct slow {
	int64_t durations[EVENTS_MAX];
	unsigned pairs, starts, ends;
};

static bool
plays(const struct event *event, const char *source, const char *name)
{
	return strcmp(event->source, source) == 0 &&
	       strcmp(event->name, name) == 0;
}

static int64_t
length_of(const struct event *start, const struct event *end)
{
	const char *diff = strstr(end->message, "diff=");

	return diff ? 1000000000 + atoll(diff + 7) * 10000
		    : end->time_ns - start->time_ns;
}

static void
slow_pull(struct slow *slow)
{
	unsigned node, img, i;

	memset(slow, 0, sizeof(*slow));
	for (node = 0; node < 100; node++) {
		for (img = 0; img < 3; img++) {
			const struct event *open = NULL;
			char name[16], key[16];

			snprintf(name, sizeof(name), "node-%u", node);
			snprintf(key, sizeof(key), "img=i%u,", img);
			for (i = 0; i < count; i++) {
				if (strcmp(events[i].node, name) != 0 ||
				    strncmp(events[i].message, key, 7) != 0)
					continue;
				if (plays(&events[i], "pool", "pull-start")) {
					slow->starts += open != NULL;
					open = &events[i];
				}
				if (!plays(&events[i], "pool", "pull-end"))
					continue;
				if (open == NULL)
					slow->ends++;
				else
					slow->durations[slow->pairs++] =
					    length_of(open, &events[i]);
				open = NULL;
			}
			slow->starts += open != NULL;
		}
	}
}

static int
by_length(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void
assert_near(double got, double want, double relative)
{
	double error = got - want, bound = relative * (want < 0 ? -want : want);

	if (error > bound || error < -bound)
		fail_msg("%.17g is not %.17g", got, want);
}

static void
statistics_equal_a_pass_over_all_events(void **state)
{
	static struct slow slow;
	uint64_t random = check_seed();
	long double sum = 0, squares = 0, mean;
	char *stats;
	unsigned i;

	make_pool(&random, 12, 50);
	shuffle(&random);
	take_in(&random, true);
	qsort(events, count, sizeof(*events), by_time);
	slow_pull(&slow);
	stats = read_stats();
	qsort(slow.durations, slow.pairs, sizeof(int64_t), by_length);
	for (i = 0; i < slow.pairs; i++)
		sum += slow.durations[i];
	mean = sum / slow.pairs;
	for (i = 0; i < slow.pairs; i++)
		squares +=
		    (slow.durations[i] - mean) * (slow.durations[i] - mean);
#define GOT(name) property(stats, "m:pull", name)
	assert_true(GOT("count") == slow.pairs);
	assert_true(GOT("open_starts") == slow.starts);
	assert_true(GOT("open_ends") == slow.ends);
	assert_near(GOT("sum"), (double)(sum / 1e9L), 1e-15);
	assert_near(GOT("mean"), (double)(mean / 1e9L), 1e-15);
	assert_near(GOT("min"), (double)slow.durations[0] / 1e9, 1e-15);
	assert_near(
	    GOT("max"), (double)slow.durations[slow.pairs - 1] / 1e9, 1e-15);
	assert_near(GOT("p50"),
	    (double)slow.durations[(slow.pairs - 1) / 2] / 1e9, 0.0101);
	assert_near(GOT("p99"),
	    (double)slow.durations[(99 * slow.pairs + 99) / 100 - 1] / 1e9,
	    0.0101);
	{
		/* Independent of the integer sums: two passes in floating
		 * point. */
		long double variance = squares / slow.pairs / 1e18L;
		double got = GOT("std_population");

		assert_near(got * got, (double)variance, 1e-12);
		got = GOT("std_sample");
		assert_near(got * got,
		    (double)(squares / (slow.pairs - 1) / 1e18L), 1e-12);
	}
#undef GOT
	free(stats);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(statistics_equal_a_pass_over_all_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
