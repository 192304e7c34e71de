/*
 * dedup_load - loads the uuids and submission numbers of the spool after a
 * start.
 * SPDX-License-Identifier: MIT
 */
#include "agents/dedup/dedup_load.h"

#include <unistd.h>

#include "proto/wire/wire.h"

/* Where to put what was read. */
struct seen {
	struct dedup_uuid *dedup_uuid;
	struct dedup_sequence *dedup_sequence;
};

static bool
follows(const struct record_id *id, const struct record_id *last)
{
	return id->seq == last->seq && id->index == last->index + 1 &&
	       session_equal(&id->session, &last->session);
}

/* Who submitted the event: the agent's own user, unless it says another. */
static uid_t
user_of(const struct record *record)
{
	struct value value;

	return record_find_attribute(
		   record, text_of(RECORD_SUBMITTER_KEY), &value) &&
		       value.type == VALUE_INT
		   ? (uid_t)value.is.i
		   : geteuid();
}

static void
dedup_load_batch(const struct spool_batch *batch, const struct seen *seen,
    struct wire_room *room)
{
	struct wire_header header = {
		.type = WIRE_BATCH,
		.records = batch->records,
		.codec = batch->codec,
		.body_bytes = batch->body_bytes,
	};
	struct wire_cursor cursor;
	struct record record;
	struct record_id last = { .seq = 0 };
	struct text plain;

	if (wire_body(&header, batch->body, room, &plain) != WIRE_OK)
		return;
	wire_cursor_init(&cursor, &header, plain);
	cursor.full_contexts = true; /* the batcher's own */
	while (wire_next(&cursor, &record)) {
		/* The index of the first record of a submission is its user;
		 * those of the others count on. */
		if (dedup_sequence_is_numbered(
			&record.id.session, record.id.seq) &&
		    !follows(&record.id, &last))
			dedup_sequence_take(seen->dedup_sequence,
			    (uid_t)record.id.index, &record.id.session,
			    record.id.seq);
		last = record.id;
		if (record.kind == RECORD_EVENT &&
		    record.key.bytes == RECORD_ID_BYTES)
			dedup_uuid_add(seen->dedup_uuid,
			    dedup_uuid_fingerprint(seen->dedup_uuid,
				user_of(&record), record.key));
	}
}

/* Read the batches [seq, next); returns the number of their records.  `seen`
 * NULL: only count. */
static uint64_t
walk(struct spool *spool, uint32_t stream, uint64_t seq, uint64_t next,
    const struct seen *seen, struct wire_room *room)
{
	struct spool_batch batch;
	uint64_t records = 0;
	struct err err;

	while (seq < next) {
		int there = spool_read(spool, stream, seq, &batch, &err);

		if (there == 0)
			break;
		if (there == 1 && batch.reason == WIRE_REASON_NONE) {
			records += batch.records;
			if (seen != NULL)
				dedup_load_batch(&batch, seen, room);
		}
		seq = there == 1 && batch.last_seq > seq ? batch.last_seq : seq;
		seq++;
	}
	return records;
}

/* Load only the last batches, with the number of records that are remembered:
 * decoding all of a full spool would take seconds. */
static void
dedup_load_stream(struct spool *spool, uint32_t stream, const struct seen *seen,
    struct wire_room *room)
{
	uint64_t oldest = spool_oldest(spool, stream);
	uint64_t next = spool_next_seq(spool, stream);
	uint64_t from = next, batches = 64, records = 0;

	while (from > oldest && records < DEDUP_UUID_MIN) {
		uint64_t upto = from;

		from = from - oldest > batches ? from - batches : oldest;
		records += walk(spool, stream, from, upto, NULL, room);
		batches *= 2;
	}
	walk(spool, stream, from, next, seen, room);
}

void
dedup_load_spool(struct spool *spool, struct dedup_uuid *dedup_uuid,
    struct dedup_sequence *dedup_sequence)
{
	const struct seen seen = { dedup_uuid, dedup_sequence };
	struct wire_room room = { 0 };

	for (uint32_t i = 0; i < spool_streams(spool); i++)
		if (spool_partition(spool, i).at != NULL)
			dedup_load_stream(spool, i, &seen, &room);
	wire_room_clear(&room);
}
