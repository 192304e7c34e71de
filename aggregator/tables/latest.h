/*
 * latest - what was last heard of each node.
 *
 * Its last record, which is the one that was received last, and of those that
 * were received together the one of the latest time.  Events, samples and spans
 * count.  Then the time of its newest sample, and the newest values of the two
 * metrics that say what to make of it: how far its clock is off, and how much
 * its agent has not sent.  And whether it has stopped in order since then.
 *
 * A row of table `names` has 32 nodes, so that a transaction that has records
 * of all nodes of a pool changes few rows, which fit in pages.
 * proto/store.md, "Names", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_LATEST_H
#define AGGREGATOR_TABLES_LATEST_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/buffer.h"

enum { LATEST_NODES = 32, LATEST_KEY_BYTES = 9 };

#define LATEST_CLOCK_GROUP  "clock"
#define LATEST_CLOCK_METRIC "poolscope.clock.offset"
#define LATEST_SPOOL_GROUP  "self"
#define LATEST_SPOOL_METRIC "poolscope.agent.spool.unacked"

/* A value of the newest sample that has one; of life: the time of arrival. */
struct latest_value {
	int64_t time_ns, value; /* time INT64_MIN: there is none */
};

struct latest {
	int64_t receive_ns, time_ns;      /* of the last record */
	int64_t sample_ns;                /* of the newest sample */
	struct latest_value clock, spool; /* ns, bytes */
	/* What came last: a record, other than of an import, or a bye.  None:
	 * only imports brought records of it. */
	struct latest_value life;
};
enum { LATEST_ALIVE, LATEST_STOPPED }; /* values of `life` */
/* The least of all. */
#define LATEST_NONE                                                            \
	((struct latest){ INT64_MIN, INT64_MIN, INT64_MIN, { INT64_MIN, 0 },   \
	    { INT64_MIN, 0 }, { INT64_MIN, 0 } })

/* Make it the later of both, each for itself; true: it has changed.  Of life
 * that of `other` is the later one. */
bool latest_take(struct latest *latest, const struct latest *other);
/* Take a sample of this time. */
static inline void
latest_take_value(struct latest_value *latest, struct latest_value other)
{
	if (other.time_ns > latest->time_ns)
		*latest = other;
}

/* A row: of the nodes from LATEST_NODES * block on. */
struct latest_row {
	uint64_t has; /* bit (1 << node % LATEST_NODES): it has a record */
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
