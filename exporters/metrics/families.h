/*
 * metrics_families - the metrics that there are, and their samples.
 *
 * poolscope-stats-metrics(1) describes them for users.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_METRICS_FAMILIES_H
#define EXPORTERS_METRICS_FAMILIES_H

#include "exporters/metrics/exposition.h"
#include "exporters/nodes/now.h"
#include "proto/counter/counter.h"
#include "proto/os/clock.h"

/* Of a partition. */
struct metrics_pool {
	struct now *now;
	const struct node_state **nodes; /* of these the first are shown */
	uint32_t shown;
	bool fits; /* its own numbers are shown */
};

/* Of a store or its aggregator: a number that SOURCE_STATUS gives. */
enum { METRICS_REASONS = 32 };
struct metrics_place {
	const char *name;
	/* Those of counters.def that have a name for Prometheus; NaN:
	 * unknown. */
	double numbers[COUNTERS];
	/* What was refused, by reason. */
	struct {
		char reason[48];
		double count;
	} refused[METRICS_REASONS];
	uint32_t reasons;
};
void metrics_place_init(struct metrics_place *place, const char *name);
/* Take what a record of an answer to SOURCE_STATUS says. */
void metrics_place_take(
    struct metrics_place *place, const struct record *record);

/* Of all. */
struct metrics_left_out {
	uint64_t partitions, nodes, series;
};

/* Write the families of partitions, of those that fit; `count` may be one whose
 * series are to be counted. */
void metrics_families_pools(struct exposition *exposition,
    const struct metrics_pool *pools, uint32_t count);
void metrics_families_nodes(struct exposition *exposition,
    const struct metrics_pool *pools, uint32_t count);
/* How many samples the node of this place in `nodes` has. */
uint32_t metrics_families_count_node(
    const struct metrics_pool *pool, uint32_t place);
void metrics_families_places(struct exposition *exposition,
    const struct metrics_place *places, uint32_t count);
/* First of all: the version, and whether the source answers. */
void metrics_families_program(struct exposition *exposition, bool is_up);
/* Last of all. */
void metrics_families_left_out(
    struct exposition *exposition, const struct metrics_left_out *left_out);

/* One sample, for those who have families. */

static inline struct exposition_label
label(const char *name, struct text value)
{
	return (struct exposition_label){ name, value };
}

static const struct exposition_label none;

/* With up to three labels; the others are `none`. */
static inline void
put(struct exposition *exposition, const char *suffix,
    struct exposition_label first, struct exposition_label second,
    struct exposition_label third, double value)
{
	const struct exposition_label labels[EXPOSITION_LABELS] = { first,
		second, third };

	exposition_sample(exposition, suffix, labels, value);
}

/* To the millisecond. */
static inline double
seconds(int64_t ns)
{
	return (double)(ns / (NS_PER_SECOND / 1000)) / 1e3;
}

#endif
