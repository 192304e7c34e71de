/*
 * move_private - what the parts of move share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_MOVE_PRIVATE_H
#define AGGREGATOR_MOVE_MOVE_PRIVATE_H

#include "aggregator/db/durable_dir.h"
#include "aggregator/journal/journal.h"
#include "aggregator/journal/owner.h"
#include "aggregator/move/move.h"
#include "aggregator/tables/tables.h"
#include "proto/os/lockfile.h"

/* A store at one end of the move. */
struct move_end {
	char path[DURABLE_DIR_PATH_BYTES]; /* without links */
	struct journal *journal;
	struct db *tables;
	struct lockfile lockfile; /* STORE/MOVE: one move at a time */
	struct owner owner;
};

struct move {
	const struct move_options *options;
	struct text partition;
	struct move_end from, to;
};

/* Write the row of an owner, only in the place of the one that we know; ends
 * the transaction. */
int move_put_owner(struct move_end *end, struct db_txn *txn,
    struct text partition, const struct owner *owner, struct err *err);
void move_set_place(struct owner *owner, const struct move_end *other);
/* The number of the journal's last entry, in the transaction's eyes. */
uint64_t move_last_entry(struct db_txn *txn);
/* Streams of the partition, each copied to `to` (may be NULL); their count. */
uint64_t move_each_stream(
    struct db_txn *txn, struct text partition, struct db_txn *to);

/* May it be? */
int move_check_target(struct move *move, struct err *err);
int move_check_source(struct move *move, struct err *err);
int move_check_cuts(struct move *move, struct err *err);

/* Step 4: the rows, from a snapshot of the source. */
int move_copy(struct move *move, struct err *err);
/* What an attempt at it has left in the target. */
int move_forget_copy(struct move *move, struct err *err);
/* Step 8: no rows of it in the source any more. */
int move_remove_rows(struct move *move, struct err *err);
/* Has this end a name for it in its tables, and so maybe rows? */
int move_is_named(
    struct move_end *end, struct text partition, bool *named, struct err *err);

#endif
