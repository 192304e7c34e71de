/*
 * block_request - a block on its way to a shard, in a thread of its own.
 *
 * It goes to one replica; if that one does not confirm it, to the next.  The
 * members belong to the thread from block_request_begin until
 * block_request_await returns.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_BLOCKS_BLOCK_REQUEST_H
#define AGGREGATOR_ARCHIVE_BLOCKS_BLOCK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/os/worker.h"

/* All zeros: no thread yet. */
struct block_request {
	struct worker *worker;
	struct clickhouse *client;
	/* Set by the caller. */
	const char *table;
	unsigned shard, replica; /* then the one that took it */
	struct buffer block;
	/* Set by the thread. */
	unsigned resends; /* replicas that did not confirm it */
	bool is_stored;
	struct err err; /* why not */
};

/* Ends when the block was sent; 0 at once if nothing is under way. */
void block_request_await(struct block_request *request);
/* Can it begin at once? */
bool block_request_is_idle(const struct block_request *request);
/* Send `block`.  The first time begins the thread, with a handle like `client`;
 * -1: there is none. */
int block_request_begin(struct block_request *request,
    const struct clickhouse *client, struct err *err);
void block_request_clear(struct block_request *request);

#endif
