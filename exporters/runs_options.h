/*
 * runs_options - which runs, and which of their times: the options that
 * numbers and pictures of runs share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_OPTIONS_H
#define EXPORTERS_RUNS_OPTIONS_H

#include "proto/opt.h"

enum runs_option { RUNS_MODEL, RUNS_TIME, RUNS_GROUP };

/* --model, --time, --group; by enum runs_option. */
extern const struct opt runs_options[];

struct runs_values {
	const char *model, *group; /* group: NULL for all */
	int time;                  /* enum run_clock */
};
extern struct runs_values runs_values;

/* Was it given on the command line? */
bool runs_option_is_given(enum runs_option option);

#endif
