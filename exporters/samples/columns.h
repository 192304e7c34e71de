/*
 * columns - the columns of samples, from the definitions of metric groups.
 *
 * Built from entities of kind "set" in the order of their arrival, by the rules
 * of the store: a definition only grows (proto/metric/definition.h).  A sample
 * with fewer values than its group has columns lacks the last ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_COLUMNS_H
#define EXPORTERS_SAMPLES_COLUMNS_H

#include "proto/hash/string_table.h"
#include "proto/metric/definition.h"

struct columns {
	struct text *names, *units; /* one unit for each name */
	uint32_t count;
	uint64_t definition; /* grows with every change; the first is 1 */
	char *memory;        /* of the lists of the definition */
	struct definition lists;
};

/* Initialize it with columns_init; all else is zero. */
struct column_groups {
	struct string_table names;
	struct columns *at; /* indexed by the number of the group */
	uint32_t room;
	uint64_t definitions;
	uint32_t last; /* the group of the last lookup */
};

void columns_init(struct column_groups *groups);
void columns_clear(struct column_groups *groups);

/* Add an entity; ignores all kinds but "set". */
void columns_take(struct column_groups *groups, const struct record *record);

/* The columns of a group; an undefined group has no names and definition 0. */
const struct columns *columns_find(
    struct column_groups *groups, struct text group);

#endif
