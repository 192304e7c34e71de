/*
 * samples - submits the numbers of a command: those of its options, or of a
 * page in Prometheus' text format.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_SAMPLES_H
#define AGENTS_SUBMIT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/submit/prometheus_page.h"
#include "agents/submit/submit.h"
#include "proto/base/err.h"
#include "proto/config/opt_table.h"
#include "proto/metric/dynamic_group.h"

/* As the options have them. */
struct samples_options {
	struct opt_list samples;  /* NAME=VALUE */
	struct opt_list units;    /* NAME=UNIT */
	struct opt_list counters; /* NAME */
	struct opt_list labels;   /* KEY=VALUE */
	const char *ts;           /* seconds; NULL: now */
	const char *page;         /* file, or "-"; NULL: the samples above */
	bool buckets;             /* of a page's histograms, too */
};

/* What the options say. */
struct samples {
	struct dynamic_number number[OPT_LIST_MAX];
	struct dynamic_label label[OPT_LIST_MAX];
	uint32_t numbers, labels;
	int64_t time_ns;
};

/* Read and check the options.  -1: a sentence about one of them. */
int samples_take(struct samples *samples, const struct samples_options *options,
    struct err *err);

/* Submit the samples of the options, which are sorted.  -1: wrong usage, `err`
 * has a sentence, and `*result` is not set. */
int samples_submit(struct samples *samples, struct submit *submit,
    struct compose *compose, enum submit_result *result, struct err *err);

/* Submit the numbers of the page, all with the labels of the options.  Wrong
 * lines are reported on stderr, and counted in the page. */
enum submit_result samples_submit_page(struct samples *samples,
    const struct samples_options *options, struct submit *submit,
    struct compose *compose, struct prometheus_page *page, struct err *err);

#endif
