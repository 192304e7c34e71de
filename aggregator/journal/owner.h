/*
 * owner - who keeps a partition: rows of the journal's meta table.
 *
 * proto/store.md, "Partitions and their stores", has the states and who may
 * go where from which.  They stand beside the streams, so that one
 * transaction takes a batch in and knows that it may.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_OWNER_H
#define AGGREGATOR_JOURNAL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/text.h"

enum { OWNER_MOVE_BYTES = 16, OWNER_PLACE_BYTES = 1024 };

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
	bool tidied;                          /* gone: its rows as well */
	unsigned char move[OWNER_MOVE_BYTES]; /* zeros: it never moved */
	uint64_t number; /* of the journal: proto/store.md */
	int64_t since_ns;
	char place[OWNER_PLACE_BYTES]; /* the other store, or "" */
};

/* "own", "frozen", "coming", "gone"; "" for none. */
const char *owner_word(enum owner_state state);

/* OWNER_NONE when there is no row.  False: there is one, and it cannot be
 * read: nothing may be taken. */
bool owner_get(struct db_txn *txn, struct text partition, struct owner *owner);
void owner_put(
    struct db_txn *txn, struct text partition, const struct owner *owner);

bool owner_same_move(const struct owner *a, const struct owner *b);
bool owner_moved(const struct owner *owner); /* here from elsewhere */

/* All of them, in byte order of the partitions; `on_owner` has a view. */
void owner_each(struct db_txn *txn,
    void (*on_owner)(
	void *arg, struct text partition, const struct owner *owner),
    void *arg);

#endif
