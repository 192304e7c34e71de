/*
 * metrics_family_samples - one sample, for those who have families.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_METRICS_FAMILY_SAMPLES_H
#define EXPORTERS_METRICS_FAMILY_SAMPLES_H

#include "exporters/metrics/exposition.h"
#include "proto/os/clock.h"

static inline struct exposition_label
label(const char *name, struct text value)
{
	return (struct exposition_label){ name, value };
}

static const struct exposition_label none;

/* With up to three labels; the others are `none`. */
static inline void
put(struct exposition *exposition, const char *suffix,
    struct exposition_label first, struct exposition_label second,
    struct exposition_label third, double value)
{
	const struct exposition_label labels[EXPOSITION_LABELS] = { first,
		second, third };

	exposition_sample(exposition, suffix, labels, value);
}

/* To the millisecond. */
static inline double
seconds(int64_t ns)
{
	return (double)(ns / (NS_PER_SECOND / 1000)) / 1e3;
}

#endif
