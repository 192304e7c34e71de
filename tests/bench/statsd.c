/*
 * statsd - what a line costs: read and added up; and what 10,000 series cost
 * that are published.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/budget.h"
#include "agents/receiver/statsd/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINES = 100000, ROUNDS = 20 };

static double
cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static enum statsd_put
on_group(void *arg, const struct dynamic_group *group)
{
	*(uint32_t *)arg += group->numbers;
	return STATSD_PUT;
}

static void
add(struct statsd_series *series, struct text text)
{
	struct statsd_line line;
	enum statsd_fault fault = statsd_line_parse(&line, text);

	if (fault == STATSD_OK)
		fault = statsd_series_add(series, &line, 1);
	if (fault != STATSD_OK) {
		fprintf(stderr, "%.*s: %s\n", (int)text.bytes, text.at,
		    statsd_fault_word(fault));
		exit(1);
	}
}

/* Lines of 100 series, with what is behind their value. */
static void
measure(const char *what, const char *rest)
{
	static char lines[LINES][64];
	struct statsd_series *series;
	double least = 1e9;

	for (int i = 0; i < LINES; i++)
		snprintf(lines[i], sizeof(lines[i]), "app.latency%d:%d.5%s",
		    i % 100, i % 977, rest);
	statsd_series_new(&series);
	for (int k = 0; k < ROUNDS; k++) {
		double began = cpu_ms(), ms;

		for (int i = 0; i < LINES; i++)
			add(series, text_of(lines[i]));
		ms = cpu_ms() - began;
		least = ms < least ? ms : least;
	}
	statsd_series_free(&series);
	printf("statsd: %s %.0f ns a line\n", what, least * 1e6 / LINES);
}

static void
measure_series(void)
{
	struct statsd_series *series;
	double least = 1e9;
	char text[64];
	uint32_t numbers = 0;

	statsd_series_new(&series);
	for (int i = 0; i < STATSD_COLUMNS_MAX; i++) {
		snprintf(text, sizeof(text), "requests%d:1|c|#host:h%d",
		    i / 100, i % 100);
		add(series, text_of(text));
	}
	for (int k = 0; k < ROUNDS; k++) {
		double began = cpu_ms(), ms;

		numbers = 0;
		statsd_series_put(series, 1, 2, 3, on_group, &numbers);
		statsd_series_next_period(series, 2);
		ms = cpu_ms() - began;
		least = ms < least ? ms : least;
	}
	statsd_series_free(&series);
	printf("statsd: %u series as groups %.2f ms of CPU\n", numbers, least);
}

int
main(void)
{
	measure("a counter", "|c");
	measure(
	    "a counter with three tags", "|c|#route:start,method:get,code:200");
	measure("a timer", "|ms");
	measure("a timer with a tag and a rate", "|d|@0.5|#route:start");
	measure_series();
	return 0;
}
