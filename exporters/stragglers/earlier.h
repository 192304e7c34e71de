/*
 * stragglers_earlier - what phases took on each node in earlier starts.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_EARLIER_H
#define EXPORTERS_STRAGGLERS_EARLIER_H

#include "exporters/phases/timeline.h"

struct earlier_time {
	uint32_t node, phase, key; /* numbers */
	int64_t begin_ns, end_ns;
};

/* Zeroed nothing is known. */
struct earlier {
	struct string_table nodes, phases, keys;
	struct earlier_time *at;
	uint32_t count, room;
};

void earlier_init(struct earlier *earlier);
void earlier_clear(struct earlier *earlier);

/* The phases that ended in the last starts that began before `before_ns`
 * (usual.h); that there are none is no failure. */
int earlier_read(struct earlier *earlier, struct source *source,
    struct text partition, const char *model, int64_t before_ns,
    struct err *err);
/* Those of a node, a phase and a key: their times, and how many. */
uint32_t earlier_find(const struct earlier *earlier, struct text node,
    struct text phase, struct text key, const struct earlier_time **first);

#endif
