/*
 * compare_read - the runs of a source that can be compared.
 *
 * What a run is, the numbers that decide about it, those that explain, and what
 * makes runs alike:
 *
 *	start	of a pool: when it was ready; the median of each phase of its
 *		nodes; the number of nodes and the keys of their phases (images)
 *	run	of a test: the step "testrun", else from its first to its last
 *		event; its steps; its group and configuration
 *	result	of a benchmark: the timings of its entries; none: a test is one
 *	job	how long it ran; none; the number of its nodes
 *
 * Those that failed or have not ended are counted, not compared.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_READ_H
#define EXPORTERS_COMPARE_READ_H

#include "exporters/compare/set.h"
#include "exporters/runs/runs.h"
#include "exporters/source/source.h"

enum compare_unit {
	COMPARE_STARTS,
	COMPARE_TEST_RUNS,
	COMPARE_RESULTS,
	COMPARE_JOBS
};

struct compare_query {
	enum compare_unit unit;
	struct text partition;
	const char *model;        /* of starts; NULL: the first that fits */
	const char *test, *entry; /* of results; entry NULL: all */
	const char *pattern;      /* of jobs; NULL: all */
	const struct runs_options *runs;
	int64_t from_ns, to_ns, gap_ns;
};

/* Offer them to the set, the newest first, as long as it wants more. */
int compare_read(struct compare_set *set, const struct compare_query *query,
    struct source *source, struct err *err);

#endif
