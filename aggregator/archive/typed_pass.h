/*
 * typed_pass - what a pass sends to the typed tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_TYPED_PASS_H
#define AGGREGATOR_ARCHIVE_TYPED_PASS_H

#include "aggregator/archive/pass.h"
#include "aggregator/archive/rows/record_columns.h"

/* A record of a row block, or of a compacted row. */
int typed_pass_record(struct pass *pass, const struct archive_row_id *id,
    uint8_t kind, const struct row_block_item *item, struct err *err);
/* A row of another table that was marked; pass->partition is that of the key.
 */
int typed_pass_row(struct pass *pass, unsigned table, struct text key,
    struct text value, struct err *err);
/* A fact that all partitions share: a model, or the key of the hashes. */
int typed_pass_common(
    struct pass *pass, struct text key, struct text value, struct err *err);

#endif
