/*
 * dump_record_json - one record as a line of JSON, or as a row of CSV.
 *
 * Every line has kind, partition, node, session, seq and index (who the record
 * is), receive_ns, and its own fields; each time as integer nanoseconds (_ns)
 * and as text.  JSON is strict: a sample that is not a number is null.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_RECORD_JSON_H
#define EXPORTERS_DUMP_RECORD_JSON_H

#include <stdio.h>

#include "exporters/source/clock_view.h"
#include "proto/format/csv.h"
#include "proto/record/record.h"

/* With `correction` (NULL: times are raw) each line says on which clock its
 * times are, and the raw ones with what was added and its error. */
void dump_json(FILE *file, struct text partition, const struct record *record,
    const struct source_correction *correction);

void dump_csv_titles(struct csv *csv, bool corrections);
void dump_csv(struct csv *csv, struct text partition,
    const struct record *record, const struct source_correction *correction);

#endif
