/*
 * source_correction - what was done to the times of a record, to show them on
 * the clock of the aggregator.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CORRECTION_H
#define EXPORTERS_SOURCE_CORRECTION_H

#include <stdbool.h>
#include <stdint.h>

struct source_correction {
	bool corrected;
	int64_t time_ns, end_ns;     /* raw */
	int64_t offset_ns, error_ns; /* the correction, and its error */
};

#endif
