/*
 * prometheus - what a page of 10,000 series costs: its lines (goal 100 ns
 * each), and lines and groups (goal 2 ms).
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/prometheus.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/metric/sample_page.h"

enum { SERIES = 10000, ROUNDS = 40 };

static double
cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* 100 metrics of 100 label sets, a counter and a gauge in turns, in the order
 * of their names, as exporters write them. */
static char *
make_page(void)
{
	char *page = malloc(SERIES * 128), *at = page;

	for (int m = 0; page != NULL && m < 100; m++) {
		at += sprintf(at, "# TYPE node_metric_%03d_bytes %s\n", m,
		    m % 2 ? "gauge" : "counter");
		for (int i = 0; i < 100; i++)
			at += sprintf(at,
			    "node_metric_%03d_bytes{cpu=\"%d\",mode=\"idle\"} "
			    "%d.%d\n",
			    m, i, m * 1000 + i, i);
	}
	return page;
}

static int
on_group(void *arg, const struct dynamic_group *group)
{
	*(uint64_t *)arg += group->numbers;
	return 0;
}

static void
on_bad(void *arg, uint64_t line, const struct err *err)
{
	(void)arg;
	fprintf(stderr, "%d: %s\n", (int)line, err->text);
	exit(1);
}

/* Milliseconds of one reading, with groups or without. */
static double
read_page(const char *text, int with_groups)
{
	static struct prometheus reader;
	struct prometheus_sample sample;
	struct sample_page *page;
	uint64_t lines = 0, numbers = 0;
	const struct sample_page_calls calls = { &numbers, on_group, on_bad };
	struct err err;
	double began = cpu_ms();

	sample_page_new(&page);
	prometheus_begin(&reader, text_of(text));
	while (prometheus_next(&reader, &sample, &err) > 0) {
		lines++;
		if (with_groups &&
		    sample_page_add(page, &sample.number, sample.label,
			sample.labels, 7, reader.line, &err) != 0)
			on_bad(NULL, reader.line, &err);
	}
	if (with_groups)
		sample_page_groups(page, text_of("prom"), 0, &calls);
	sample_page_free(&page);
	if (lines != SERIES || (with_groups && numbers != SERIES))
		exit(1);
	return cpu_ms() - began;
}

int
main(void)
{
	char *page = make_page();
	double least[2] = { 1e9, 1e9 };

	for (int i = 0; page != NULL && i < 2 * ROUNDS; i++) {
		double ms = read_page(page, i % 2);

		if (ms < least[i % 2])
			least[i % 2] = ms;
	}
	printf("prometheus: a line %.0f ns (goal 100)%s; a page of %d series "
	       "as groups %.2f ms of CPU (goal 2)%s\n",
	    least[0] * 1e6 / SERIES,
	    least[0] * 1e6 / SERIES > 100 ? " MISSED" : "", SERIES, least[1],
	    least[1] > 2 ? " MISSED" : "");
	free(page);
	return 0;
}
