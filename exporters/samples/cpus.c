/*
 * cpus - the number of processors of nodes, by time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/cpus.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"

void
cpus_init(struct cpus *cpus)
{
	*cpus = (struct cpus){ .of = NULL };
	string_table_init(&cpus->nodes);
}

void
cpus_clear(struct cpus *cpus)
{
	for (uint32_t i = 0; i < cpus->nodes.count; i++)
		free(cpus->of[i].at);
	free(cpus->of);
	string_table_clear(&cpus->nodes);
}

uint32_t
cpus_number(struct cpus *cpus, struct text node)
{
	uint32_t number = string_table_add(&cpus->nodes, node);

	cpus->of =
	    memory_grow_zero(cpus->of, &cpus->room, number, sizeof(*cpus->of));
	return number;
}

void
cpus_add(struct cpus *cpus, uint32_t number, int64_t time_ns, double count)
{
	struct cpus_of_node *of = &cpus->of[number];

	if (of->count > 0 && of->at[of->count - 1].count == count)
		return;
	of->at = memory_grow(of->at, &of->room, of->count, sizeof(*of->at));
	of->at[of->count++] = (struct cpus_since){ time_ns, count };
}

const struct cpus_of_node *
cpus_find(const struct cpus *cpus, struct text node)
{
	uint32_t number;

	return string_table_find(&cpus->nodes, node, &number) &&
		       cpus->of[number].count > 0
		   ? &cpus->of[number]
		   : NULL;
}

double
cpus_at(const struct cpus_of_node *of, int64_t time_ns)
{
	uint32_t low = 0, high;

	if (of == NULL)
		return NAN;
	for (high = of->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (of->at[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return of->at[low > 0 ? low - 1 : 0].count;
}
