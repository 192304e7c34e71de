/*
 * prometheus - read Prometheus' text format.
 *
 * Version 0.0.4, of OpenMetrics 1.0 what real pages have (# UNIT, # EOF,
 * _created, exemplars, which are dropped, times in seconds), the quoted names
 * of Prometheus 3, and dots in names, as "queue.length 17" of a script.  A
 * line that is wrong costs itself only.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_PROMETHEUS_H
#define PROTO_METRIC_PROMETHEUS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/metric/dynamic_group.h"

enum { PROMETHEUS_LINE_BYTES_MAX = 1 << 20 };

struct prometheus_sample {
	/* Views of the page and the reader, valid until the next line; the
	 * number's name and unit until the page ends. */
	struct dynamic_number number;
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	uint32_t labels;
	bool has_time;
	int64_t time_ns;
	bool is_bucket; /* of a histogram */
};

struct prometheus {
	struct text rest;
	uint64_t line; /* that was read last, from 1 */
	/* The family whose lines are read, as the page describes it. */
	struct text family, unit;
	int type;
	/* The last number, for the next one of its name. */
	struct dynamic_number described;
	bool is_bucket;
	/* Values of labels without their escapes. */
	char room[DYNAMIC_LABELS_MAX * 2 * DYNAMIC_LABEL_BYTES_MAX];
	uint32_t used;
};

void prometheus_begin(struct prometheus *reader, struct text page);
/* 1: a sample, of which dynamic_group_make may refuse a name or label; 0: the
 * page has ended; -1: the line is wrong, go on. */
int prometheus_next(struct prometheus *reader, struct prometheus_sample *sample,
    struct err *err);

/* A number as pages have it, also NaN and +Inf; a whole one is VALUE_INT. */
int prometheus_value(struct text word, struct value *value, struct err *err);

#endif
