/*
 * time_option - the options --from and --to: records from one time on, before
 * another.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_TIME_OPTION_H
#define EXPORTERS_SOURCE_TIME_OPTION_H

#include "proto/config/opt.h"
#include "proto/os/clock.h"

/* Two rows of a table of options, bound to two members int64_t that begin as
 * TIME_MIN_NS and TIME_MAX_NS: not given.  `what` begins their help: "show only
 * records". */
#define TIME_OPTIONS(type, from, to, what)                                     \
	{ "from", 0, OPT_TIME, OPT_TO(type, from), "TIME",                     \
		what " from this time on: -1h, yesterday, 04:00, "             \
		     "2026-11-20T10:00:00Z, epoch seconds",                    \
		NULL, false },                                                 \
	{                                                                      \
		"to", 0, OPT_TIME, OPT_TO(type, to), "TIME",                   \
		    what " before this time", NULL, false                      \
	}

/* A time that is empty is a mistake: ends the program as opt_usage. */
static inline void
time_options_check(int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		opt_usage("--from: the time is not before that of --to");
}

#endif
