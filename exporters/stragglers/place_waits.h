/*
 * stragglers_place_waits - how long nodes waited for places that others had.
 *
 * What else a phase waits for had ended, and it had no place of those that the
 * model gives to a key (exporters/critical/run.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_PLACE_WAITS_H
#define EXPORTERS_STRAGGLERS_PLACE_WAITS_H

#include "exporters/critical/run.h"

struct place_wait {
	uint32_t node, holder; /* numbers; the holder had the place */
	int64_t from_ns, to_ns;
};

/* By node and begin. */
struct place_waits {
	struct place_wait *at;
	uint32_t count, room;
};

void place_waits_find(struct place_waits *places,
    const struct critical_waits *waits, const struct critical_run *run);
void place_waits_clear(struct place_waits *places);

/* How long the node waited between two times, for one place or several at
 * once; `holder`: who had the one that it got last, unchanged if it is 0. */
int64_t place_waits_length(const struct place_waits *places, uint32_t node,
    int64_t begin_ns, int64_t end_ns, uint32_t *holder);

#endif
