/*
 * dump_record_csv - one record as a CSV row, with the same columns for every
 * kind.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_RECORD_CSV_H
#define EXPORTERS_DUMP_RECORD_CSV_H

#include "proto/decode/record_json.h"
#include "proto/format/csv.h"

void dump_csv_titles(struct csv *csv, bool corrections);
/* `clock` as for record_json_object. */
void dump_csv(struct csv *csv, struct text partition,
    const struct record *record, const struct record_json_clock *clock);

#endif
