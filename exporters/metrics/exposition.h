/*
 * exposition - write metrics as OpenMetrics 1.0 or as Prometheus text 0.0.4.
 *
 * Family by family: metadata, then all its samples, and "# EOF" in the end of
 * OpenMetrics.  No sample has a time of its own: it is as of the scrape.
 *
 * Values of labels may be any bytes.  '\\', '"' and a line feed are escaped as
 * both formats say; control characters, U+FFFD and bytes that are not UTF-8
 * become U+FFFD and two hexadecimal digits for each byte, so that different
 * values stay different: two samples with the same labels would be refused
 * together with all others.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_METRICS_EXPOSITION_H
#define EXPORTERS_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

enum exposition_format { EXPOSITION_OPENMETRICS, EXPOSITION_PROMETHEUS };

enum exposition_type {
	EXPOSITION_GAUGE,
	EXPOSITION_COUNTER,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_INFO,
};

/* The name is that of OpenMetrics: of a counter without "_total", of an info
 * without "_info".  Units are a part of names. */
struct exposition_family {
	const char *name;
	enum exposition_type type;
	const char *unit; /* "" for none */
	const char *help;
};

enum { EXPOSITION_LABELS = 4 };

/* By enum exposition_type: "gauge". */
extern const char *const exposition_type_words[];

struct exposition_label;
struct exposition {
	FILE *file; /* NULL: count samples, write nothing */
	/* Gets each sample, too; NULL: nobody does. */
	void (*take)(void *arg, const struct exposition_family *family,
	    const char *suffix, const struct exposition_label *labels,
	    double value);
	void *arg;
	enum exposition_format format;
	uint64_t samples;
	const struct exposition_family *family; /* the last one */
	bool family_is_new;                     /* without a sample */
};

/* The samples that follow are of this family.  Its metadata comes with the
 * first of them: a family without samples is left out. */
void exposition_begin(
    struct exposition *exposition, const struct exposition_family *family);

/* The last name is NULL, or there are EXPOSITION_LABELS. */
struct exposition_label {
	const char *name;
	struct text value;
};

/* `suffix` is what the type adds to the name: "_bucket", "_sum", "_count",
 * "_total",
 * "_info", or "".  A value that is not a number is "NaN", unknown. */
void exposition_sample(struct exposition *exposition, const char *suffix,
    const struct exposition_label labels[static EXPOSITION_LABELS],
    double value);

void exposition_end(struct exposition *exposition);

#endif
