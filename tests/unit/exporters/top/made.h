/*
 * made - snapshots for tests of the live view.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_EXPORTERS_TOP_MADE_H
#define TESTS_UNIT_EXPORTERS_TOP_MADE_H

#include <math.h>
#include <stdio.h>

#include "tests/unit/check.h"

#include "exporters/top/view.h"
#include "proto/base/memory.h"

/* A snapshot of live nodes n0, n1 ...; their cpu is unknown. */
static inline struct top_snapshot *
made_snapshot(int64_t taken_ns, uint32_t nodes)
{
	struct top_snapshot *to = top_snapshot_new(taken_ns);
	char name[16];

	to->names = top_texts_new();
	to->labels = top_texts_new();
	to->nodes = memory_zero(nodes + 1, sizeof(*to->nodes));
	to->node_count = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "n%u", (unsigned)i);
		top_texts_add(to->names, text_of(name));
		to->nodes[i] = (struct top_node){ .phase = TOP_NO_PHASE,
			.phase_age = NAN,
			.cpu = NAN,
			.iowait = NAN,
			.pressure = NAN,
			.gpu = NAN,
			.receive = NAN,
			.disk = NAN,
			.memory = NAN,
			.memory_limit = NAN,
			.load = NAN };
	}
	return to;
}

#endif
