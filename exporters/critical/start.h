/*
 * critical_start - a start of a pool, ready to be gone through.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_START_H
#define EXPORTERS_CRITICAL_START_H

#include "exporters/critical/run.h"
#include "exporters/source/starts.h"

/* Zeroed it is empty. */
struct critical_start {
	struct phases_names names;
	struct phases_read phases;
	struct text model;
	struct critical_rules rules;
	struct critical_waits waits;
	struct critical_run run; /* as it was recorded */
};

/* The phases of the start that begin before `to_ns`.  -1 also when they are not
 * those that the start was found by, as when some came meanwhile.  Clear it in
 * any case. */
int critical_start_read(struct critical_start *of, struct source *source,
    struct text partition, const struct starts *starts,
    const struct start *start, int64_t to_ns, struct err *err);
void critical_start_clear(struct critical_start *of);

/* How much earlier the pool had been ready if this phase had taken no time. */
int64_t critical_start_drag(const struct critical_start *of, uint32_t item);

#endif
