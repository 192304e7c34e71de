/*
 * usual - how long something usually takes, and from when on it takes longer.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/usual.h"

#include <math.h>

struct usual
usual_of(const double numbers[static PHASE_NUMBERS])
{
	return (struct usual){ .count = numbers[PHASE_COUNT],
		.median = numbers[PHASE_P50],
		.p99 = numbers[PHASE_P99] };
}

double
usual_limit(const struct usual *usual)
{
	/* A count that is unknown is not enough, either. */
	if (!(usual->count >= USUAL_VALUES_MIN) || isnan(usual->median) ||
	    isnan(usual->p99))
		return NAN;
	return fmax(
	    fmax(USUAL_MEDIANS * usual->median, usual->p99), USUAL_LEAST);
}
