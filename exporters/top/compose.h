/*
 * top_compose - a snapshot of what is now.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_COMPOSE_H
#define EXPORTERS_TOP_COMPOSE_H

#include "exporters/nodes/now.h"
#include "exporters/top/view/snapshot.h"

/* What the next snapshot shares with the last one.  Zero-initialised is
 * empty. */
struct compose {
	struct top_texts *names, *labels;
	uint32_t *order; /* of the nodes: the number in now_nodes by row */
	uint32_t count;
	uint32_t open_labels; /* the first of `labels`, of open_phases */
	struct top_runs *runs;
	struct top_pools *pools;
	struct top_lines *lines;
	uint64_t records; /* of the partition, then: */
	int64_t records_ns;
	double records_second;
};

/* `changed`: that of now_poll. */
struct top_snapshot *compose_snapshot(struct compose *compose,
    const struct now *now, unsigned changed, int64_t now_ns);
void compose_clear(struct compose *compose);

#endif
