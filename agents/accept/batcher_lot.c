/*
 * batcher_lot - batches under construction: filled with the records of puts
 * that are new, and sealed into the spool.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agents/accept/batcher_private.h"

enum {
	CONTEXT_BYTES = NAME_BYTES_MAX + 64, /* a full one at its longest */
};

static enum gather_result
result_of(enum spool_result result)
{
	return result == SPOOL_OK     ? GATHER_OK
	       : result == SPOOL_FULL ? GATHER_FULL
				      : GATHER_IO;
}

void
gather_lot_seal(struct gather *gather, struct gather_lot *lot, struct err *err)
{
	struct text plain = { (const char *)lot->writer.at,
		(uint32_t)lot->writer.bytes };
	struct spool_batch batch = {
		.records = lot->writer.records,
		.codec = WIRE_NONE,
		.body_bytes = plain.bytes,
		.body = plain,
	};
	enum gather_result result;
	uint64_t seq = 0;
	size_t packed = 0;

	lot->open = false;
	if (batch.records == 0)
		return;
	if (gather->packed != NULL)
		packed = wire_compress(gather->packed, GATHER_LOT_BYTES, plain);
	if (packed > 0) {
		batch.codec = WIRE_ZSTD;
		batch.body = (struct text){ (const char *)gather->packed,
			(uint32_t)packed };
	}
	result = result_of(spool_append(gather->options.spool, lot->stream,
	    &batch, lot->urgent, &seq, err));
	if (result == GATHER_OK) {
		gather->appended = true;
		gather->round_bytes += batch.body.bytes;
	}
	gather_mark(gather, lot, result, seq);
	/* At once: its numbers are given again. */
	if (result == GATHER_IO)
		gather_take_back(gather);
}

/* What the next record is of, unless a context says otherwise. */
static void
note_node(struct gather_lot *lot, struct text node)
{
	lot->node_bytes = node.bytes;
	memcpy(lot->node, node.at, node.bytes);
}

struct gather_lot *
gather_lot_for(struct gather *gather, uint32_t stream, bool urgent,
    uint32_t bytes, struct err *err)
{
	struct gather_lot *lot = NULL, *free_lot = NULL, *stale = NULL;

	for (int i = 0; i < GATHER_LOTS_MAX; i++) {
		struct gather_lot *at = &gather->lots[i];

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
		gather_lot_seal(gather, lot, err);
		free_lot = lot;
		lot = NULL;
	}
	if (lot == NULL) {
		lot = free_lot != NULL ? free_lot : stale;
		if (lot->open)
			gather_lot_seal(gather, lot, err);
		if (lot->buffer == NULL &&
		    (lot->buffer = malloc(GATHER_LOT_BYTES)) == NULL)
			abort();
		wire_writer_init(&lot->writer, lot->buffer, GATHER_LOT_BYTES);
		lot->open = true;
		lot->urgent = urgent;
		lot->stream = stream;
		lot->serial = ++gather->serials;
		/* What readers assume without a context record. */
		note_node(lot, gather->options.node);
	}
	lot->used_at = ++gather->turn;
	return lot;
}

static bool
has_uuid(const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       record->key.bytes == RECORD_ID_BYTES;
}

/* Was this event seen?  If not, it is now. */
static bool
is_repeated(
    struct gather *gather, struct gather_lot *lot, const struct record *record)
{
	uint64_t fingerprint;

	if (!has_uuid(record))
		return false;
	fingerprint = ids_fingerprint(gather->ids, record->key);
	if (!ids_add(gather->ids, fingerprint))
		return true;
	gather->prints[gather->prints_used++] =
	    (struct gather_print){ .fingerprint = fingerprint,
		    .serial = lot->serial };
	return false;
}

/* Have it on disk with the records which put they came in. */
static bool
name_put(struct gather_lot *lot, const struct wire_header *header)
{
	struct record record = { .node = header->node };

	record.id.session = header->session;
	record.id.seq = header->seq;
	note_node(lot, header->node);
	return wire_put_context_full(&lot->writer, &record);
}

uint32_t
gather_lot_copy(struct gather *gather, struct gather_lot *lot,
    const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t copied = 0;
	bool fits = true;

	if (puts_is_numbered(&header->session, header->seq))
		fits = name_put(lot, header);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (is_repeated(gather, lot, &record)) {
			gather->counters.repeated++;
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
	/* No record grows by being copied, and the room was measured. */
	assert(fits);
	gather->counters.records += copied;
	return copied;
}
