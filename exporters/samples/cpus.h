/*
 * cpus - the number of processors of nodes, by time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_CPUS_H
#define EXPORTERS_SAMPLES_CPUS_H

#include "proto/hash/string_table.h"

struct cpus {
	struct string_table nodes; /* -> index into `of` */
	struct cpus_of_node {
		struct cpus_since {
			int64_t time_ns;
			double count;
		} * at; /* only where the number changes */
		uint32_t count, room;
	} * of;
	uint32_t room;
};

void cpus_init(struct cpus *cpus);
void cpus_clear(struct cpus *cpus);

/* The number of a node, which cpus_add takes. */
uint32_t cpus_number(struct cpus *cpus, struct text node);
/* Add what was sampled, in the order of time for each node. */
void cpus_add(
    struct cpus *cpus, uint32_t number, int64_t time_ns, double count);

/* What was added of a node, valid until the next cpus_number; NULL: nothing. */
const struct cpus_of_node *cpus_find(const struct cpus *cpus, struct text node);
/* Of the last sample at or before this time, else of the first one after it;
 * NaN: unknown. */
double cpus_at(const struct cpus_of_node *of, int64_t time_ns);

#endif
