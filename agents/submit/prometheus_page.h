/*
 * prometheus_page - the numbers of a page in Prometheus' text format, as metric
 * groups that can be submitted.
 *
 * For all that get such pages: from a command, a file, a script, an exporter.
 * A line that is wrong costs itself alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_PROMETHEUS_PAGE_H
#define AGENTS_SUBMIT_PROMETHEUS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/submit/submit.h"
#include "proto/base/err.h"
#include "proto/metric/dynamic_group.h"

/* All that a page may have. */
enum { PROMETHEUS_PAGE_BYTES_MAX = 16 << 20, PROMETHEUS_PAGE_LABELS_MAX = 64 };

struct prometheus_page {
	struct text text;
	struct text origin; /* of its groups: "prom/JOB" */
	/* Labels that all its samples get besides their own, at most
	 * PROMETHEUS_PAGE_LABELS_MAX. */
	const struct dynamic_label *label;
	uint32_t labels;
	bool own_first;  /* a label that a sample has itself is that one */
	int64_t time_ns; /* of samples that have none */
	uint64_t boot;   /* of counters: dynamic_group.boot */
	bool buckets;    /* those of histograms, too */

	void *arg;
	/* A group, valid during the call; any other value than 0 ends the page.
	 */
	int (*on_group)(void *arg, const struct dynamic_group *group);
	/* A line was left out: for a word ("syntax", "name", "twice"), with a
	 * sentence.  Its text is a view of the page.  NULL: it is counted only.
	 */
	void (*on_bad)(void *arg, uint64_t line, struct text text,
	    const char *reason, const struct err *err);
	/* False: leave out the samples of this name.  NULL: none. */
	bool (*wants)(void *arg, struct text name);

	/* Counted here: numbers of groups, lines left out. */
	uint64_t numbers, bad;
};

/* Are there samples with a time of their own? */
bool prometheus_page_has_times(struct text text);

/* Read the page; returns what on_group did. */
int prometheus_page_read(struct prometheus_page *page);

/* Add the records of a group to a submission. */
enum submit_result prometheus_page_add(struct submit *submit,
    struct compose *compose, const struct dynamic_group *group,
    struct err *err);

#endif
