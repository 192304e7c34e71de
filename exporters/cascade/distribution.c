/*
 * cascade_distribution - how long the phases of the startup took.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/distribution.h"

#include <stdlib.h>

#include "proto/base/memory.h"

/* The durations of a phase on a node, appended. */
static void
take(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, double *seconds, uint64_t *count)
{
	uint32_t pairs;
	const struct cascade_pair *pair;
	bool absent;

	if (phase < CASCADE_ONCE) {
		if (cascade_once(node, phase, &seconds[*count], &absent) &&
		    !absent)
			++*count;
		return;
	}
	pair = cascade_run(cascade, node, phase, &pairs);
	for (; pairs > 0; pairs--, pair++)
		if (pair->has_begin && pair->has_end && !pair->repeated)
			seconds[(*count)++] = pair->seconds;
}

void
cascade_distribution_init(struct cascade_distribution *distribution,
    const struct cascade *cascade, struct text pool)
{
	double *seconds =
	    memory_zero((size_t)cascade->node_count + cascade->pair_count + 1,
		sizeof(*seconds));
	struct boxes *boxes = &distribution->boxes;

	snprintf(distribution->title, sizeof(distribution->title),
	    "Durations of the startup of pool %.*s",
	    pool.bytes < 200 ? (int)pool.bytes : 200, pool.at);
	*boxes =
	    (struct boxes){ .title = distribution->title, .note = BOXES_NOTE };
	for (int phase = 0; phase < CASCADE_PHASES; phase++) {
		uint64_t count = 0;

		for (uint32_t i = 0; i < cascade->node_count; i++)
			if (cascade->nodes[i].missing == 0)
				take(cascade, &cascade->nodes[i],
				    (enum cascade_phase)phase, seconds, &count);
		boxes_add(
		    boxes, text_of(cascade_names[phase].name), seconds, count);
	}
	free(seconds);
}
