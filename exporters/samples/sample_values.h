/*
 * sample_values - the values of samples as rows of an answer, with the names
 * and units of their metrics: a row for each value (long), or a column for each
 * metric (wide).
 *
 * The definitions of the metric groups are read first.  A value that no
 * definition names is called by its position from 1, such as "#3".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SAMPLE_VALUES_H
#define EXPORTERS_SAMPLES_SAMPLE_VALUES_H

#include <stdbool.h>

#include "exporters/samples/columns.h"
#include "exporters/source/source.h"
#include "proto/answer/answer.h"

extern const struct answer_table sample_values_long[], sample_values_wide[];

enum { SAMPLE_VALUES_COLUMNS_MAX = RECORD_VALUES_MAX };

struct sample_values {
	struct column_groups groups;
	struct string_table metrics; /* the columns of the wide form */
	struct answer_cell *cells;   /* of a row, one for each of them */
	bool wide;
};

/* Read the definitions that `query` (kind, name) selects.  -1: the source
 * failed, or the wide form would have more than SAMPLE_VALUES_COLUMNS_MAX
 * columns.  Call sample_values_clear in either case. */
int sample_values_open(struct sample_values *values, struct source *source,
    struct text partition, struct text name, bool wide, struct err *err);
void sample_values_clear(struct sample_values *values);

/* Add the columns of the wide form, before the first row. */
void sample_values_add_columns(
    const struct sample_values *values, struct answer *answer);
/* The rows of one sample. */
void sample_values_rows(struct sample_values *values, struct answer *answer,
    const struct record *record);

#endif
