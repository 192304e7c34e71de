/*
 * block_sender - rows on their way to the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/blocks/block_sender.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/rows/record_columns.h"
#include "proto/base/memory.h"

enum {
	/* A block takes long to merge into a table if it is small, and much
	 * memory here and there if it is large. */
	BLOCK_ROWS = 250000,
	BLOCK_BYTES = 16 << 20,
	/* The archive splits records by day, and takes a block of at most 100
	 * of them. */
	BLOCK_HOURS = 24 * 90,
};

void
block_sender_open(struct block_sender *sender, struct clickhouse *client,
    const struct clickhouse_cluster *cluster)
{
	*sender = (struct block_sender){
		.client = client, .cluster = cluster, .shards = cluster->shards
	};
	sender->shard = memory_zero(cluster->shards, sizeof(*sender->shard));
	block_sender_forget(sender);
}

void
block_sender_close(struct block_sender *sender)
{
	for (unsigned s = 0; sender->shard != NULL && s < sender->shards; s++)
		for (unsigned t = 0; t < SCHEMA_TYPED; t++)
			native_block_close(&sender->shard[s].block[t].block);
	free(sender->shard);
	for (unsigned i = 0; i < BLOCK_SENDER_REQUESTS; i++)
		block_request_clear(&sender->request[i].request);
	*sender = (struct block_sender){ .client = NULL };
}

unsigned
block_sender_home(const struct block_sender *sender, uint64_t part)
{
	return (unsigned)(part % sender->shards);
}

static const struct block_sender_total no_rows = { .first_hour = INT32_MAX,
	.last_hour = INT32_MIN };

struct native_block *
block_sender_block(struct block_sender *sender, unsigned shard, unsigned table)
{
	struct block_sender_block *block = &sender->shard[shard].block[table];

	if (block->block == NULL) {
		struct native_column *columns = sender->typed[table];
		unsigned count = typed_columns(&schema_tables[table], columns);

		block->block = native_block_open(columns, count);
		block->total = no_rows;
	}
	return block->block;
}

static void
add(struct block_sender_total *to, const struct block_sender_total *more)
{
	to->rows += more->rows;
	to->hash += more->hash;
	if (more->first_hour < to->first_hour)
		to->first_hour = more->first_hour;
	if (more->last_hour > to->last_hour)
		to->last_hour = more->last_hour;
}

/* Wait for a request, and note what was stored. */
static int
finish(struct block_sender *sender, struct block_sender_request *of,
    struct err *err)
{
	struct block_request *request = &of->request;
	struct block_sender_shard *shard = &sender->shard[request->shard];
	const struct block_sender_total sent = of->total;

	if (sent.rows == 0)
		return 0;
	block_request_await(request);
	of->total = no_rows;
	sender->resends += request->resends;
	if (!request->is_stored) {
		*err = request->err;
		return -1;
	}
	shard->replica = request->replica;
	add(&shard->sent[of->table], &sent);
	sender->bytes += request->block.bytes;
	sender->rows += sent.rows;
	return 0;
}

/* One that is idle, otherwise the one that began first. */
static struct block_sender_request *
choose(struct block_sender *sender)
{
	for (unsigned i = 0; i < BLOCK_SENDER_REQUESTS; i++)
		if (block_request_is_idle(&sender->request[i].request)) {
			sender->last = i;
			return &sender->request[i];
		}
	sender->last = (sender->last + 1) % BLOCK_SENDER_REQUESTS;
	return &sender->request[sender->last];
}

static int
send_block(struct block_sender *sender, unsigned shard, unsigned table,
    struct err *err)
{
	struct block_sender_block *block = &sender->shard[shard].block[table];
	struct block_sender_request *next;

	if (block->block == NULL || native_rows(block->block) == 0)
		return 0;
	next = choose(sender);
	if (finish(sender, next, err) != 0)
		return -1;
	next->request.block.bytes = 0;
	native_encode(block->block, &next->request.block);
	native_reset(block->block);
	next->request.table = schema_tables[table].name;
	next->request.shard = shard;
	next->request.replica = sender->shard[shard].replica;
	next->table = table;
	if (block_request_begin(&next->request, sender->client, err) != 0)
		return -1;
	next->total = block->total;
	block->total = no_rows;
	return 0;
}

int
block_sender_added(struct block_sender *sender, unsigned shard, unsigned table,
    uint64_t hash, int32_t hour, struct err *err)
{
	struct block_sender_block *block = &sender->shard[shard].block[table];
	const struct block_sender_total row = { 1, hash, hour, hour };

	add(&block->total, &row);
	if (native_rows(block->block) < BLOCK_ROWS &&
	    native_bytes(block->block) < BLOCK_BYTES &&
	    (int64_t)block->total.last_hour - block->total.first_hour <
		BLOCK_HOURS)
		return 0;
	return send_block(sender, shard, table, err);
}

int
block_sender_flush(struct block_sender *sender,
    const struct schema_stage *stage, struct err *err)
{
	for (unsigned s = 0; s < sender->shards; s++)
		for (unsigned t = stage->from; t < stage->to; t++)
			if (send_block(sender, s, t, err) != 0)
				return -1;
	for (unsigned i = 0; i < BLOCK_SENDER_REQUESTS; i++)
		if (finish(sender, &sender->request[i], err) != 0)
			return -1;
	return 0;
}

/* Of the blocks that were not sent. */
static void
drop_rows(struct block_sender *sender)
{
	for (unsigned s = 0; s < sender->shards; s++)
		for (unsigned t = 0; t < SCHEMA_TYPED; t++) {
			struct block_sender_block *block =
			    &sender->shard[s].block[t];

			if (block->block != NULL)
				native_reset(block->block);
			block->total = no_rows;
		}
}

void
block_sender_undo(
    struct block_sender *sender, const struct block_sender_shard *before)
{
	struct err ignored = { .text = "" };

	for (unsigned i = 0; i < BLOCK_SENDER_REQUESTS; i++)
		(void)finish(sender, &sender->request[i], &ignored);
	drop_rows(sender);
	for (unsigned s = 0; s < sender->shards; s++)
		memcpy(sender->shard[s].sent, before[s].sent,
		    sizeof(before[s].sent));
}

void
block_sender_forget(struct block_sender *sender)
{
	drop_rows(sender);
	for (unsigned s = 0; s < sender->shards; s++)
		for (unsigned t = 0; t < SCHEMA_TYPED; t++)
			sender->shard[s].sent[t] = no_rows;
}
