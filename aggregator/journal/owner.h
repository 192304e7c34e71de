/*
 * owner - the store to which a partition is assigned: rows of the journal's
 * meta table.
 *
 * proto/store.md, "Partitions and their stores", defines the states and their
 * transitions.  The rows are in the same environment as the streams, so that
 * one transaction accepts a batch and checks the assignment.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_OWNER_H
#define AGGREGATOR_JOURNAL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/text.h"

enum { OWNER_MOVE_BYTES = 16, OWNER_STORE_BYTES = 1024 };

enum owner_state {
	OWNER_NONE,
	OWNER_OWN,
	OWNER_FROZEN,
	OWNER_COMING,
	OWNER_GONE,
	OWNER_STATES
};

struct owner {
	enum owner_state state;
	bool cleaned;                         /* gone: its rows were deleted */
	unsigned char move[OWNER_MOVE_BYTES]; /* zeros: it was never moved */
	uint64_t number; /* of a journal entry: proto/store.md */
	int64_t since_ns;
	char other_store[OWNER_STORE_BYTES]; /* the other end of the move, or ""
					      */
};

/* "own", "frozen", "coming", "gone"; "" for none. */
const char *owner_state_name(enum owner_state state);

/* OWNER_NONE when there is no row.  False: the row cannot be read, and nothing
 * may be accepted. */
bool owner_get(struct db_txn *txn, struct text partition, struct owner *owner);
void owner_put(
    struct db_txn *txn, struct text partition, const struct owner *owner);

bool owner_same_move(const struct owner *a, const struct owner *b);
/* Was the partition moved here from another store? */
bool owner_was_moved(const struct owner *owner);

/* Call `on_owner` for each row, sorted by the name of the partition;
 * `partition` and `owner` are valid during the call. */
void owner_each(struct db_txn *txn,
    void (*on_owner)(
	void *arg, struct text partition, const struct owner *owner),
    void *arg);

#endif
