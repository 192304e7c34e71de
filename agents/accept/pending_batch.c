/*
 * pending_batch - batches under construction: filled with the new records of
 * submissions, and written to the spool.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agents/accept/batcher_private.h"
#include "proto/base/memory.h"

enum {
	CONTEXT_BYTES = NAME_BYTES_MAX + 64, /* the longest context record */
};

static enum batcher_result
result_of(enum spool_result result)
{
	return result == SPOOL_OK     ? BATCHER_OK
	       : result == SPOOL_FULL ? BATCHER_FULL
				      : BATCHER_IO;
}

void
pending_batch_seal(
    struct batcher *batcher, struct pending_batch *lot, struct err *err)
{
	struct text plain = { (const char *)lot->writer.at,
		(uint32_t)lot->writer.bytes };
	struct spool_batch batch = {
		.records = lot->writer.records,
		.codec = WIRE_NONE,
		.body_bytes = plain.bytes,
		.body = plain,
	};
	enum batcher_result result;
	uint64_t seq = 0;
	size_t packed = 0;

	lot->open = false;
	if (batch.records == 0)
		return;
	if (batcher->packed != NULL)
		packed =
		    wire_compress(batcher->packed, PENDING_BATCH_BYTES, plain);
	if (packed > 0) {
		batch.codec = WIRE_ZSTD;
		batch.body = (struct text){ (const char *)batcher->packed,
			(uint32_t)packed };
	}
	result = result_of(spool_append(batcher->options.spool, lot->stream,
	    &batch, lot->urgent, &seq, err));
	if (result == BATCHER_OK) {
		batcher->appended = true;
		batcher->round_bytes += batch.body.bytes;
	}
	batcher_mark(batcher, lot, result, seq);
	/* At once: its numbers will be used again. */
	if (result == BATCHER_IO)
		batcher_take_back(batcher);
}

/* The partition and node of the next record, unless a context record changes
 * them. */
static void
note_node(struct pending_batch *lot, struct text node)
{
	lot->node_bytes = node.bytes;
	memcpy(lot->node, node.at, node.bytes);
}

struct pending_batch *
pending_batch_for(struct batcher *batcher, uint32_t stream, bool urgent,
    uint32_t bytes, struct err *err)
{
	struct pending_batch *lot = NULL, *free_lot = NULL, *stale = NULL;

	for (int i = 0; i < PENDING_BATCHES_MAX; i++) {
		struct pending_batch *at = &batcher->lots[i];

		if (!at->open)
			free_lot = at;
		else if (at->stream == stream)
			lot = at;
		else if (stale == NULL || at->used_at < stale->used_at)
			stale = at;
	}
	if (lot != NULL &&
	    (lot->urgent != urgent ||
		lot->writer.room - lot->writer.bytes < bytes + CONTEXT_BYTES)) {
		pending_batch_seal(batcher, lot, err);
		free_lot = lot;
		lot = NULL;
	}
	if (lot == NULL) {
		lot = free_lot != NULL ? free_lot : stale;
		if (lot->open)
			pending_batch_seal(batcher, lot, err);
		if (lot->buffer == NULL)
			lot->buffer = memory_alloc(PENDING_BATCH_BYTES);
		wire_writer_init(
		    &lot->writer, lot->buffer, PENDING_BATCH_BYTES);
		lot->open = true;
		lot->urgent = urgent;
		lot->stream = stream;
		lot->serial = ++batcher->serials;
		/* What readers assume without a context record. */
		note_node(lot, batcher->options.node);
	}
	lot->used_at = ++batcher->turn;
	return lot;
}

static bool
has_uuid(const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       record->key.bytes == RECORD_ID_BYTES;
}

/* Was this event seen before?  If not, remember it. */
static bool
is_repeated(struct batcher *batcher, struct pending_batch *lot,
    const struct record *record)
{
	uint64_t fingerprint;

	if (!has_uuid(record))
		return false;
	fingerprint = dedup_uuid_fingerprint(batcher->dedup_uuid, record->key);
	if (!dedup_uuid_add(batcher->dedup_uuid, fingerprint))
		return true;
	batcher->prints[batcher->prints_used++] =
	    (struct batcher_print){ .fingerprint = fingerprint,
		    .serial = lot->serial };
	return false;
}

/* Store the submission's session and number with its records. */
static bool
name_put(struct pending_batch *lot, const struct wire_header *header)
{
	struct record record = { .node = header->node };

	record.id.session = header->session;
	record.id.seq = header->seq;
	note_node(lot, header->node);
	return wire_put_context_full(&lot->writer, &record);
}

uint32_t
pending_batch_copy(struct batcher *batcher, struct pending_batch *lot,
    const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t copied = 0;
	bool fits = true;

	if (dedup_sequence_is_numbered(&header->session, header->seq))
		fits = name_put(lot, header);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (is_repeated(batcher, lot, &record)) {
			batcher->counters.repeated++;
			continue;
		}
		if (record.node.bytes != lot->node_bytes ||
		    memcmp(record.node.at, lot->node, lot->node_bytes) != 0) {
			fits &= wire_put_context(&lot->writer, record.node);
			note_node(lot, record.node);
		}
		fits &= wire_put_record(&lot->writer, &record);
		copied++;
	}
	/* A copied record is not larger, and the room was checked. */
	assert(fits);
	batcher->counters.records += copied;
	return copied;
}
