/*
 * unacked - packed batches that are not acknowledged yet, in memory.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/unacked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

void
unacked_add(struct unacked *unacked, const struct batch *like, struct text body)
{
	struct batch *batch = memory_alloc(sizeof(*batch) + body.bytes);

	*batch = *like;
	batch->next = NULL;
	batch->bytes = body.bytes;
	memcpy(batch->body, body.at, body.bytes);
	if (unacked->newest != NULL)
		unacked->newest->next = batch;
	else
		unacked->oldest = batch;
	unacked->newest = batch;
	unacked->bytes += body.bytes;
}

void
unacked_drop_oldest(struct unacked *unacked)
{
	struct batch *batch = unacked->oldest;

	unacked->oldest = batch->next;
	if (unacked->oldest == NULL)
		unacked->newest = NULL;
	if (unacked->at == batch)
		unacked->at = NULL;
	unacked->bytes -= batch->bytes;
	free(batch);
}

void
unacked_clear(struct unacked *unacked)
{
	while (unacked->oldest != NULL)
		unacked_drop_oldest(unacked);
}

struct batch *
unacked_find(struct unacked *unacked, uint64_t seq)
{
	struct batch *b = unacked->oldest;

	if (unacked->at != NULL && unacked->at->seq <= seq)
		b = unacked->at;
	while (b != NULL && b->seq < seq)
		b = b->next;
	if (b != NULL)
		unacked->at = b;
	return b;
}

int
unacked_read(struct unacked *unacked, uint64_t first, uint64_t seq,
    struct sender_batch *batch)
{
	const struct batch *b;

	if (seq < first)
		return -1;
	b = unacked_find(unacked, seq);
	if (b == NULL)
		return 0;
	*batch = (struct sender_batch){ .seq = seq,
		.last_seq = seq,
		.records = b->records,
		.codec = b->codec,
		.body_bytes = b->body_bytes,
		.chain = b->chain,
		.body = { (const char *)b->body, b->bytes } };
	return 1;
}
