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
pending_batch_write(
    struct batcher *batcher, struct pending_batch *batch, struct err *err)
{
	struct text plain = { (const char *)batch->writer.at,
		(uint32_t)batch->writer.bytes };
	struct spool_batch content = {
		.records = batch->writer.records,
		.codec = WIRE_NONE,
		.body_bytes = plain.bytes,
		.body = plain,
	};
	enum batcher_result result;
	uint64_t seq = 0;
	size_t packed = 0;

	batch->open = false;
	if (content.records == 0)
		return;
	if (batcher->packed != NULL)
		packed =
		    wire_compress(batcher->packed, PENDING_BATCH_BYTES, plain);
	if (packed > 0) {
		content.codec = WIRE_ZSTD;
		content.body = (struct text){ (const char *)batcher->packed,
			(uint32_t)packed };
	}
	result = result_of(spool_append(batcher->options.spool, batch->stream,
	    &content, batch->urgent, &seq, err));
	if (result == BATCHER_OK) {
		batcher->appended = true;
		batcher->round_bytes += content.body.bytes;
	}
	batcher_mark(batcher, batch, result, seq);
	/* Now, not at the commit: the spool uses its numbers again. */
	if (result == BATCHER_IO)
		batcher_take_back(batcher);
}

/* The partition and node of the next record, unless a context record changes
 * them. */
static void
note_node(struct pending_batch *batch, struct text node)
{
	batch->node_bytes = node.bytes;
	memcpy(batch->node, node.at, node.bytes);
}

struct pending_batch *
pending_batch_for(struct batcher *batcher, uint32_t stream, bool urgent,
    uint32_t bytes, struct err *err)
{
	struct pending_batch *batch = NULL, *unused = NULL, *stale = NULL;

	for (int i = 0; i < PENDING_BATCHES_MAX; i++) {
		struct pending_batch *at = &batcher->batches[i];

		if (!at->open)
			unused = at;
		else if (at->stream == stream)
			batch = at;
		else if (stale == NULL || at->used_at < stale->used_at)
			stale = at;
	}
	if (batch != NULL && (batch->urgent != urgent ||
				 batch->writer.room - batch->writer.bytes <
				     bytes + CONTEXT_BYTES)) {
		pending_batch_write(batcher, batch, err);
		unused = batch;
		batch = NULL;
	}
	if (batch == NULL) {
		batch = unused != NULL ? unused : stale;
		if (batch->open)
			pending_batch_write(batcher, batch, err);
		if (batch->buffer == NULL)
			batch->buffer = memory_alloc(PENDING_BATCH_BYTES);
		wire_writer_init(
		    &batch->writer, batch->buffer, PENDING_BATCH_BYTES);
		batch->open = true;
		batch->urgent = urgent;
		batch->stream = stream;
		batch->serial = ++batcher->serials;
		/* Without a context record readers assume this node. */
		note_node(batch, batcher->options.node);
	}
	batch->used_at = ++batcher->turn;
	return batch;
}

static bool
has_uuid(const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       record->key.bytes == RECORD_ID_BYTES;
}

/* Was this event seen before?  If not, remember it. */
static bool
is_repeated(struct batcher *batcher, struct pending_batch *batch, uid_t uid,
    const struct record *record)
{
	uint64_t fingerprint;

	if (!has_uuid(record))
		return false;
	fingerprint =
	    dedup_uuid_fingerprint(batcher->dedup_uuid, uid, record->key);
	if (!dedup_uuid_add(batcher->dedup_uuid, fingerprint))
		return true;
	batcher->fingerprints[batcher->fingerprints_used++] =
	    (struct batcher_fingerprint){ .fingerprint = fingerprint,
		    .serial = batch->serial };
	return false;
}

/* Store the submission's session, number and user (as the index) with its
 * records. */
static bool
put_submission_id(
    struct pending_batch *batch, uid_t uid, const struct wire_header *header)
{
	struct record record = { .node = header->node };

	record.id.session = header->session;
	record.id.seq = header->seq;
	record.id.index = (uint32_t)uid;
	note_node(batch, header->node);
	return wire_put_context_full(&batch->writer, &record);
}

uint32_t
pending_batch_copy(struct batcher *batcher, struct pending_batch *batch,
    uid_t uid, const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t copied = 0;
	bool fits = true;

	if (dedup_sequence_is_numbered(&header->session, header->seq))
		fits = put_submission_id(batch, uid, header);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (is_repeated(batcher, batch, uid, &record)) {
			batcher->counters.repeated++;
			continue;
		}
		if (record.node.bytes != batch->node_bytes ||
		    memcmp(record.node.at, batch->node, batch->node_bytes) !=
			0) {
			fits &= wire_put_context(&batch->writer, record.node);
			note_node(batch, record.node);
		}
		fits &= wire_put_record(&batch->writer, &record);
		copied++;
	}
	/* A copied record is not larger, and the room was checked. */
	assert(fits);
	batcher->counters.records += copied;
	return copied;
}
