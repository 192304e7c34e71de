/*
 * typed_pass - what a pass sends to the typed tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_TYPED_PASS_H
#define AGGREGATOR_ARCHIVE_TYPED_PASS_H

#include "aggregator/archive/blocks/block_sender.h"
#include "aggregator/archive/commits.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/db/db.h"
#include "aggregator/phases/part_list.h"
#include "aggregator/phases/part_row.h"
#include "aggregator/phases/run_row.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/tables/lookup.h"
#include "proto/hash/string_table.h"

struct typed_pass {
	struct block_sender *sender; /* not owned */
	struct commits *commits;     /* not owned */
	struct db_txn *txn;
	uint64_t pos;       /* of its rows */
	uint32_t partition; /* the last one that was asked for */
	uint64_t part;
	bool is_again;    /* records that may have been sent before */
	uint64_t damaged; /* rows that cannot be read, not sent */
	struct lookup lookup;
	struct part_list list; /* of the last phase */
	struct part_row part_row;
	struct run_row run_row;
	struct rollup_row *rollup; /* NULL: not in use yet */
	struct packed *packed;     /* NULL: not in use yet */
	/* Starts and ends of phases sent since the last commit: parts that grow
	 * or are merged have them again. */
	struct string_table sent_events;
};
/* It does not know all events that were sent: a pass has none twice, but
 * another one must wait for a commit. */
bool typed_pass_is_full(const struct typed_pass *pass);
void typed_pass_forget(struct typed_pass *pass);
void typed_pass_clear(struct typed_pass *pass);

/* A record of a row block, or of a compacted row. */
int typed_pass_record(struct typed_pass *pass, const struct archive_row_id *id,
    uint8_t kind, const struct row_block_item *item, struct err *err);
/* A row of another table that was marked; it is of pass->partition.
 */
int typed_pass_row(struct typed_pass *pass, unsigned table, struct text key,
    struct text value, struct err *err);
/* Such a row cannot be read. */
void typed_pass_damaged(
    struct typed_pass *pass, unsigned table, struct text key);
/* A fact that all partitions share: a model, or the key of the hashes. */
int typed_pass_common(struct typed_pass *pass, struct text key,
    struct text value, struct err *err);

#endif
