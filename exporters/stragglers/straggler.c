/*
 * straggler - a phase of a node that took too long, and its causes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/straggler.h"

#include <stddef.h>

const char *const straggler_cause_words[] = {
	[STRAGGLER_CLOCK] = "clock",
	[STRAGGLER_BEGAN] = "began",
	[STRAGGLER_PLACE] = "place",
	[STRAGGLER_BYTES] = "bytes",
	[STRAGGLER_MEMORY] = "memory",
	[STRAGGLER_STOLEN] = "stolen",
	[STRAGGLER_THROTTLED] = "throttled",
	[STRAGGLER_CPU] = "cpu",
	[STRAGGLER_DISK] = "disk",
	[STRAGGLER_ERRORS] = "errors",
	[STRAGGLER_DATA] = "data",
	[STRAGGLER_UNKNOWN] = "unknown",
	[STRAGGLER_UNMEASURED] = "unmeasured",
	NULL,
};
