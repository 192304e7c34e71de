/*
 * joined - metrics that are columns of several dynamic groups.
 *
 * A new column or label makes another dynamic group.  So a metric of an origin
 * with its labels, unit and kind is one series, whatever group it is in
 * (proto/wire.md, "Dynamic groups").  It has the name of the first of these
 * groups.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_JOINED_H
#define EXPORTERS_SAMPLES_JOINED_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/samples/columns.h"
#include "proto/hash/string_table.h"

/* Initialize it with joined_init. */
struct joined {
	struct string_table owners; /* an origin with labels */
	bool *several;              /* groups of an owner? */
	uint32_t owner_room;
	uint32_t *owner_of;          /* indexed by the number of the group */
	uint32_t groups;             /* how many of them */
	struct string_table metrics; /* of an owner of several groups */
	struct joined_metric {
		uint32_t first; /* group */
		bool several;
	} * metric;
	uint32_t metric_room;
};

void joined_init(struct joined *joined);
void joined_clear(struct joined *joined);

/* Read what is defined; of a metric in several groups the first one that the
 * pattern selects gives its name.  An empty pattern selects all. */
void joined_read(struct joined *joined, const struct column_groups *groups,
    struct text pattern);

/* Is column `column` of this group in several groups?  `*name` is the group
 * that all of them are shown as. */
bool joined_find(const struct joined *joined,
    const struct column_groups *groups, uint32_t group, uint32_t column,
    struct text *name);

#endif
