/*
 * dump_rows - records as rows of an answer, with the same columns for every
 * kind.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_ROWS_H
#define EXPORTERS_DUMP_ROWS_H

#include "proto/answer/answer.h"
#include "proto/decode/record_json.h"

extern const struct answer_table dump_tables[];

/* Add the columns about clocks: before the first row, if its `clock` is not
 * NULL. */
void dump_rows_add_clock(struct answer *answer);
/* `clock` as for record_json_object. */
void dump_row(struct answer *answer, struct text partition,
    const struct record *record, const struct record_json_clock *clock);

#endif
