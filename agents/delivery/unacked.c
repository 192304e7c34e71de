/*
 * unacked - what was packed and is not acknowledged yet, in memory.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/unacked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void
batches_add(struct batches *batches, const struct batch *like, struct text body)
{
	struct batch *batch = malloc(sizeof(*batch) + body.bytes);

	assert(batch != NULL);
	*batch = *like;
	batch->next = NULL;
	batch->bytes = body.bytes;
	memcpy(batch->body, body.at, body.bytes);
	if (batches->newest != NULL)
		batches->newest->next = batch;
	else
		batches->oldest = batch;
	batches->newest = batch;
	batches->bytes += body.bytes;
}

void
batches_drop_oldest(struct batches *batches)
{
	struct batch *batch = batches->oldest;

	batches->oldest = batch->next;
	if (batches->oldest == NULL)
		batches->newest = NULL;
	if (batches->at == batch)
		batches->at = NULL;
	batches->bytes -= batch->bytes;
	free(batch);
}

void
batches_clear(struct batches *batches)
{
	while (batches->oldest != NULL)
		batches_drop_oldest(batches);
}

struct batch *
batches_find(struct batches *batches, uint64_t seq)
{
	struct batch *b = batches->oldest;

	if (batches->at != NULL && batches->at->seq <= seq)
		b = batches->at;
	while (b != NULL && b->seq < seq)
		b = b->next;
	if (b != NULL)
		batches->at = b;
	return b;
}

int
batches_read(struct batches *batches, uint64_t first, uint64_t seq,
    struct ship_batch *batch)
{
	const struct batch *b;

	if (seq < first)
		return -1;
	b = batches_find(batches, seq);
	if (b == NULL)
		return 0;
	*batch = (struct ship_batch){ .seq = seq,
		.last_seq = seq,
		.records = b->records,
		.codec = b->codec,
		.body_bytes = b->body_bytes,
		.chain = b->chain,
		.body = { (const char *)b->body, b->bytes } };
	return 1;
}
