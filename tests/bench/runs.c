/*
 * runs - what it takes a process that has the store open to read the newest
 * test runs of a partition, next to reading all of them.
 *
 *     runs STORE PARTITION [NEWEST]
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "exporters/runs/runs.h"
#include "proto/base/err.h"
#include "proto/base/sort.h"
#include "proto/os/clock.h"

enum { ROUNDS = 201 };

static struct runs runs;

static void
good(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "runs: %s\n", err->text);
	exit(1);
}

/* Milliseconds. */
static double
read_runs(uint64_t newest, uint64_t *count)
{
	static struct runs_run run;
	int64_t start_ns = clock_monotonic_ns();
	struct err err = { 0 };
	int rc;

	*count = 0;
	runs.newest = newest;
	good(runs_select(&runs, text_of(""), text_of(""), &err), &err);
	while ((rc = runs_next(&runs, &run, &err)) > 0)
		++*count;
	good(rc, &err);
	return (double)(clock_monotonic_ns() - start_ns) / 1e6;
}

int
main(int argc, char **argv)
{
	struct source_options at = { .store = argc > 1 ? argv[1] : NULL };
	struct runs_options options = RUNS_DEFAULT;
	uint64_t newest = argc > 3 ? strtoull(argv[3], NULL, 10) : 20, count;
	struct source *source;
	struct err err = { 0 };
	double took[ROUNDS], all;

	if (argc < 3) {
		fputs("runs STORE PARTITION [NEWEST]\n", stderr);
		return 2;
	}
	good(source_open(&source, &at, &err), &err);
	good(runs_open(&runs, source, text_of(argv[2]), &options, &err), &err);
	for (unsigned i = 0; i < ROUNDS; i++)
		took[i] = read_runs(newest, &count);
	sort_doubles(took, ROUNDS);
	printf("the newest %llu runs: median %.3f ms, most %.3f ms",
	    (unsigned long long)count, took[ROUNDS / 2], took[ROUNDS - 1]);
	all = read_runs(0, &count);
	printf("; all %llu: %.0f ms\n", (unsigned long long)count, all);
	runs_clear(&runs);
	source_close(&source);
	return 0;
}
