/*
 * latest - the last record of each node: when it was received, and its time.
 *
 * The last one is the one that was received last, and of those that were
 * received together the one of the latest time.  Events, samples and spans
 * count.  A row of table `names` has 64 nodes, so that a transaction that has
 * records of all nodes of a pool changes few rows.
 * proto/store.md, "Names", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_LATEST_H
#define AGGREGATOR_TABLES_LATEST_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/buffer.h"

enum { LATEST_NODES = 64, LATEST_KEY_BYTES = 9 };

struct latest {
	int64_t receive_ns, time_ns;
};
/* The least of all. */
#define LATEST_NONE ((struct latest){ INT64_MIN, INT64_MIN })

/* Make it the later of both; true: it is `other` now, and was not. */
static inline bool
latest_take(struct latest *latest, struct latest other)
{
	if (other.receive_ns < latest->receive_ns ||
	    (other.receive_ns == latest->receive_ns &&
		other.time_ns <= latest->time_ns))
		return false;
	*latest = other;
	return true;
}

/* A row: of the nodes from 64 * block on. */
struct latest_row {
	uint64_t has; /* bit (1 << node % 64) for each node with a record */
	struct latest at[LATEST_NODES];
};
void latest_encode(const struct latest_row *row, struct buffer *to);
/* False: it is malformed, and `row` has no node. */
bool latest_decode(struct latest_row *row, struct text value);

void latest_put_key(unsigned char key[static LATEST_KEY_BYTES],
    uint32_t partition, uint32_t block);
/* False: it is the key of another row of `names`. */
bool latest_get_key(struct text key, uint32_t *partition, uint32_t *block);

/* The row of a block; without any node when there is none. */
void latest_read(struct db_txn *txn, uint32_t partition, uint32_t block,
    struct latest_row *row);

#endif
