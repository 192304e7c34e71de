/*
 * run_tally - how many events of each name a run has.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUN_TALLY_H
#define EXPORTERS_RUNS_RUN_TALLY_H

#include "exporters/runs/runs.h"

struct run_tally {
	struct text name;
	uint64_t count;
};

/* Of each role, then of the other names. */
struct run_tallies {
	struct run_tally at[RUN_ROLES_MAX + RUN_NAMES_MAX + 1];
	uint32_t roles, count;
	uint64_t events; /* of all names */
};

void run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run);

#endif
