/*
 * usual - how long something usually takes, and from when on it takes longer.
 *
 * Longer than usual is more than three times the median, more than the 99th
 * percentile and more than USUAL_LEAST seconds, which is noise below.  Of fewer
 * than USUAL_VALUES_MIN values nothing can be known: of eleven, the percentile
 * is the greatest of them, and one odd value would decide.  Both quantiles are
 * of the nearest rank (proto/base/quantile.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_USUAL_H
#define EXPORTERS_NODES_USUAL_H

#include "exporters/phases/phase_rows.h"

enum { USUAL_VALUES_MIN = 12, USUAL_MEDIANS = 3, USUAL_LEAST = 30 };

struct usual {
	double count;
	double median, p99; /* seconds; NaN: unknown */
};

struct usual usual_of(const double numbers[static PHASE_NUMBERS]);

/* The seconds above which it takes longer than usual; NaN: that is unknown.
 */
double usual_limit(const struct usual *usual);

#endif
