/*
 * topics - what poolscope-stats prints: one row for each word.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_TOPICS_TOPICS_H
#define EXPORTERS_STATS_TOPICS_TOPICS_H

#include <stdio.h>

#include "exporters/question/question.h"
#include "exporters/source/pool.h"
#include "exporters/source/source.h"

/* The values of the options. */
struct topics_values {
	struct pool_options pool;
	struct source_options source;
	struct question_values of;
	const char *output;
	int *status; /* of the process, after an answer */
	/* What is asked: one of them is NULL. */
	const struct question *question;
	const struct topic *topic;
};

enum { METRICS_OF_POOLS, METRICS_OF_NODES };

/* One of these is NULL: what is printed of a partition, or of all pools, of a
 * source that is open; what opens its source by itself. */
struct topic {
	const char *word;
	int (*print)(const struct topics_values *values, struct source *source,
	    struct text partition, FILE *file, struct err *err);
	int (*print_whole)(
	    const struct topics_values *values, FILE *file, struct err *err);
	/* Bits: 1 << enum stats_format. */
	unsigned formats;
	/* Of the whole source; --partition, if any, is a pattern. */
	bool is_of_all;
};

/* NULL: there is none; the word may be one of questions[]. */
const struct topic *topics_find(const char *word);

/* --partition of a topic of all pools. */
struct text topics_pattern(const struct topics_values *values);
/* --model; NULL: the first one that fits. */
const char *topics_model(const struct topics_values *values);

#endif
