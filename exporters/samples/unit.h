/*
 * unit - readable units: seconds and bytes, whatever unit was counted, and what
 * the rate of a counter is.
 *
 * A rate of seconds is no unit for people.  Of the processors of a node it is
 * per cent of them, of jobs and processes a number of processors, of pressure
 * and of disks per cent of the time, else a number.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_UNIT_H
#define EXPORTERS_SAMPLES_UNIT_H

#include "exporters/samples/series.h"
#include "proto/base/text.h"
#include "proto/hash/string_table.h"
#include "proto/record/record.h"

/* The number of processors of nodes, by time. */
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

/* Did it change on this node?  `cpus` may be NULL. */
bool cpus_change(const struct cpus *cpus, struct text node);

/* Returns the factor that converts a number from `unit`, and the readable unit
 * (1 and the same unit where there is nothing to convert).  `shown` may be the
 * buffer of `unit`. */
double unit_scale(struct text unit, struct text *shown);

enum { UNIT_SHOWN_BYTES = NAME_BYTES_MAX + 8 };

/* Read how many processors the nodes of the query have, if it asks for the
 * times of processors; `cpus` is initialized, and read once. */
int unit_read_cpus(struct cpus *cpus, struct series *series,
    const struct series_query *query, struct err *err);

/* Returns the factor for the numbers of a point, which for a counter are its
 * rates, and writes their unit into `shown` of UNIT_SHOWN_BYTES, unless it is
 * NULL, whole: "By/s", "%", "{cpu}"; empty: unknown.
 * `cpus` may be NULL, or have no node: then times of processors are processors,
 * too. NaN: the node's number of processors is not known. */
double unit_of_point(
    const struct series_point *point, const struct cpus *cpus, char *shown);

#endif
