/*
 * move_private - shared by the files of move.
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
	char path[DURABLE_DIR_PATH_BYTES]; /* without symbolic links */
	struct journal *journal;
	struct db *tables;
	struct lockfile lockfile; /* lock of STORE/MOVE: one move at a time */
	struct owner owner;
};

struct move {
	const struct move_options *options;
	struct text partition;
	struct move_end from, to;
};

/* Open the store of an existing directory for the one move at a time; close it
 * in any case. */
int move_open_end(struct move_end *end, struct err *err);
void move_close_end(struct move_end *end);
int move_find_path(
    struct move_end *end, const char *dir, bool make, struct err *err);
/* Read the assignment of the partition. */
int move_read_owner(
    struct move_end *end, struct text partition, struct err *err);
/* Wait until the batches of the source up to the freeze are indexed. */
int move_await_indexer(struct move *move, struct err *err);
/* The partition stays in the source. */
int move_thaw(struct move *move, struct err *err);

/* Replace the assignment of a partition if it is still end->owner, as read
 * before; ends the transaction. */
int move_put_owner(struct move_end *end, struct db_txn *txn,
    struct text partition, const struct owner *owner, struct err *err);
void move_set_other_store(struct owner *owner, const struct move_end *other);
/* The number of the journal's last entry, as seen in the transaction. */
uint64_t move_last_entry(struct db_txn *txn);
/* Count the streams of the partition, and copy them to `to` unless NULL. */
uint64_t move_each_stream(
    struct db_txn *txn, struct text partition, struct db_txn *to);

/* -1: the move is not allowed. */
int move_check_target(struct move *move, struct err *err);
int move_check_source(struct move *move, struct err *err);
int move_check_cuts(struct move *move, struct err *err);

/* Step 4: copy the rows from a snapshot of the source. */
int move_copy(struct move *move, struct err *err);
/* Delete what an earlier attempt has left in the target. */
int move_delete_copy(struct move *move, struct err *err);
/* Step 8: delete the rows in the source. */
int move_remove_rows(struct move *move, struct err *err);
/* Do the tables of this end have the name, and so perhaps rows, of the
 * partition? */
int move_is_named(
    struct move_end *end, struct text partition, bool *named, struct err *err);

#endif
