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

#include <stdbool.h>

#include "exporters/source/source.h"
#include "proto/answer/answer.h"
#include "proto/hash/string_table.h"
#include "proto/metric/definition.h"

struct columns {
	struct text *names, *units; /* one unit for each name; NULL: unknown */
	bool *counters;
	uint32_t count;
	uint64_t definition; /* grows with every change; the first is 1 */
	char *memory;        /* of the lists of the definition */
	struct definition lists;
	/* JSON, as the property has it; empty: none.  Valid as long as the
	 * groups. */
	struct text labels;
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

/* The number of a group. */
uint32_t columns_group(struct column_groups *groups, struct text group);
/* The columns of a group; an undefined group has no names and definition 0. */
const struct columns *columns_find(
    struct column_groups *groups, struct text group);

/* The values of samples as rows of an answer, with the names
 * and units of their metrics: a row for each value (long), or a column for each
 * metric (wide).
 *
 * The definitions of the metric groups are read first.  A value that no
 * definition names is called by its position from 1, such as "#3". */
extern const struct answer_table sample_values_long[], sample_values_wide[],
    sample_values_typed[];

/* Typed is long with times and numbers instead of texts and values. */
enum sample_values_form {
	SAMPLE_VALUES_LONG,
	SAMPLE_VALUES_WIDE,
	SAMPLE_VALUES_TYPED,
};

enum { SAMPLE_VALUES_COLUMNS_MAX = RECORD_VALUES_MAX };

struct sample_values {
	struct column_groups groups;
	struct string_table metrics; /* the columns of the wide form */
	struct answer_cell *cells;   /* of a row, one for each of them */
	enum sample_values_form form;
};

/* Read the definitions that `query` (kind, name) selects.  -1: the source
 * failed, or the wide form would have more than SAMPLE_VALUES_COLUMNS_MAX
 * columns.  Call sample_values_clear in either case. */
int sample_values_open(struct sample_values *values, struct source *source,
    struct text partition, struct text name, enum sample_values_form form,
    struct err *err);
void sample_values_clear(struct sample_values *values);

/* Add the columns of the wide form, before the first row. */
void sample_values_add_columns(
    const struct sample_values *values, struct answer *answer);
/* The rows of one sample. */
void sample_values_rows(struct sample_values *values, struct answer *answer,
    const struct record *record);

#endif
