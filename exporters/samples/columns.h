/*
 * columns - what the numbers of samples are called: the definitions of sets.
 *
 * From entities of kind "set", as they come: the last one of a set is in force.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_COLUMNS_H
#define EXPORTERS_SAMPLES_COLUMNS_H

#include "proto/hash/string_table.h"
#include "proto/record/record.h"

struct columns {
	struct text *names, *units; /* as many units as names */
	uint32_t count;
	uint64_t definition; /* another one when anything changed; from 1 on */
	char *memory;        /* of the texts: both lists */
	uint32_t names_bytes, units_bytes;
};

/* All zero but for columns_init. */
struct column_sets {
	struct string_table sets;
	struct columns *at; /* by number of the set */
	uint32_t room;
	uint64_t definitions;
	uint32_t last; /* the set that was found last */
};

void columns_init(struct column_sets *sets);
void columns_clear(struct column_sets *sets);

/* Take in an entity; others than sets are passed over. */
void columns_take(struct column_sets *sets, const struct record *record);

/* Of a set that nobody defined: no names, and definition 0. */
const struct columns *columns_find(struct column_sets *sets, struct text set);

#endif
