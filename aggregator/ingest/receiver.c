/*
 * receiver - the receiver's half of the delivery protocol.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/receiver.h"

#include <stdlib.h>

#include "aggregator/ingest/ownership.h"
#include "aggregator/ingest/sequence.h"
#include "aggregator/ingest/session_quota.h"
#include "aggregator/journal/newest.h"
#include "proto/base/memory.h"

struct receiver {
	struct journal *journal;
	struct wire_room room;
	bool dirty;
	struct session_quota sessions; /* new sessions */
	const struct opt_list *accept;
	struct receiver_counters now, committed;
	struct newest newest;
};

/* The frame being processed. */
struct request {
	const struct wire_header *header;
	struct text frame, body;
	struct sequence numbers;
	int64_t received_ns;
	enum receiver_room room;
	struct journal_stream stream;
};

struct receiver *
receiver_new(struct journal *journal, uint64_t sessions_per_hour)
{
	struct receiver *receiver = memory_zero(1, sizeof(*receiver));

	receiver->journal = journal;
	newest_init(&receiver->newest, journal_next(journal) - 1);
	session_quota_init(&receiver->sessions, sessions_per_hour);
	return receiver;
}

void
receiver_change(struct receiver *receiver, uint64_t sessions_per_hour)
{
	receiver->sessions.per_hour = sessions_per_hour;
}

void
receiver_free(struct receiver **receiver)
{
	if (*receiver == NULL)
		return;
	wire_room_clear(&(*receiver)->room);
	free(*receiver);
	*receiver = NULL;
}

void
receiver_accept(struct receiver *receiver, const struct opt_list *patterns)
{
	receiver->accept = patterns;
}

/* ---- answers ---- */

/* Copy the fields that identify the message. */
static void
address(struct wire_header *answer, const struct wire_header *request)
{
	answer->partition = request->partition;
	answer->node = request->node;
	answer->session = request->session;
	answer->seq = request->seq;
	answer->sent_ns = request->sent_ns;
}

static bool
nack(struct receiver *receiver, enum wire_reason reason,
    struct wire_header *answer)
{
	receiver->now.nacks[reason]++;
	answer->type = WIRE_NACK;
	answer->reason = reason;
	return true;
}

static bool
busy(struct receiver *receiver, uint32_t retry_ms, struct wire_header *answer)
{
	answer->credit_bytes = 0;
	answer->retry_ms = retry_ms;
	return nack(receiver, WIRE_NACK_BUSY, answer);
}

/* Add the next expected seq and the running hash before it. */
static void
expect(struct wire_header *answer, const struct journal_stream *s, uint64_t seq)
{
	answer->expect = seq;
	answer->chain = journal_running_hash(s, seq - 1);
	answer->start_count = s->boundary;
}

static bool
diverged(struct receiver *receiver, const struct request *q, uint64_t seq,
    struct wire_header *answer)
{
	expect(answer, &q->stream, seq);
	return nack(receiver, WIRE_NACK_DIVERGED, answer);
}

static bool
ack(const struct request *q, struct wire_header *answer)
{
	answer->type = WIRE_ACK;
	answer->seq = q->stream.last_seq;
	expect(answer, &q->stream, q->stream.last_seq + 1);
	return true;
}

/* ---- rules ---- */

static void
store(struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	struct journal_note note = {
		.seq = s->last_seq + 1,
		.receive_ns = q->received_ns,
	};
	struct text plain;

	if (q->header->type == WIRE_BATCH) {
		note.fault =
		    wire_body(q->header, q->body, &receiver->room, &plain);
		note.rejected = note.fault != WIRE_OK;
		receiver->now.batches++;
		receiver->now.records += note.rejected ? 0 : q->header->records;
		receiver->now.rejected += note.rejected;
		receiver->now.faults[note.fault] += note.rejected;
	} else {
		receiver->now.gaps++;
	}
	if (note.rejected)
		answer->flags |= WIRE_FLAG_REJECTED;
	receiver->now.bytes += q->frame.bytes;
	receiver->dirty = true;
	journal_append(receiver->journal, q->frame, &note);
	newest_touch(&receiver->newest, q->header->partition);
	if (!sequence_continues(&q->numbers, s))
		s->boundary = s->last_seq;
	if (q->numbers.last - s->last_seq > JOURNAL_RING)
		s->last_seq = q->numbers.last - JOURNAL_RING;
	while (s->last_seq < q->numbers.last)
		s->ring[++s->last_seq % JOURNAL_RING] = 0;
	s->ring[q->numbers.last % JOURNAL_RING] = q->numbers.after;
	s->start_count = q->header->start_count;
	s->node = q->header->node;
	s->last_ns = q->received_ns;
	journal_stream_put(
	    receiver->journal, &q->header->session, q->header->partition, s);
}

/* Get the state of the stream, or make an answer instead. */
static bool
find_stream(struct receiver *receiver, struct request *q,
    struct wire_header *answer, bool *answered)
{
	enum journal_found found = journal_stream_get(receiver->journal,
	    &q->header->session, q->header->partition, &q->stream);

	*answered = true;
	if (found == JOURNAL_DAMAGED) {
		receiver->now.damaged++;
		return busy(receiver, RECEIVER_FULL_RETRY_MS, answer);
	}
	*answered = false;
	return found == JOURNAL_FOUND;
}

/* A batch or a gap: the rules of proto/delivery.md, in order. */
static bool
take_numbers(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	bool answered, known;

	known = find_stream(receiver, q, answer, &answered);
	if (answered)
		return true;
	if (q->header->start_count < s->start_count) {
		expect(answer, s, s->last_seq + 1);
		return nack(receiver, WIRE_NACK_SUPERSEDED, answer);
	}
	if (q->numbers.last <= s->last_seq) {
		if (q->header->type == WIRE_BATCH &&
		    sequence_differs(&q->numbers, s))
			return diverged(receiver, q, q->numbers.first, answer);
		receiver->now.repeated++;
		return ack(q, answer);
	}
	/* With a stale generation the sender must begin with a hello. */
	if (q->numbers.first > s->last_seq + 1 ||
	    (q->header->generation != 0 &&
		q->header->generation != answer->generation)) {
		expect(answer, s, s->last_seq + 1);
		return nack(receiver, WIRE_NACK_GAP, answer);
	}
	if (sequence_diverges(&q->numbers, s))
		return diverged(receiver, q, q->numbers.first, answer);
	expect(answer, s, s->last_seq + 1);
	if (q->room != RECEIVER_ROOM)
		return busy(receiver,
		    q->room == RECEIVER_FULL ? RECEIVER_FULL_RETRY_MS
					     : RECEIVER_LAGGING_RETRY_MS,
		    answer);
	if (!known) {
		if (!session_quota_take(&receiver->sessions,
			q->header->partition, q->header->node,
			q->received_ns)) {
			receiver->now.limited++;
			return busy(
			    receiver, 60 * RECEIVER_FULL_RETRY_MS, answer);
		}
		receiver->now.sessions++;
		s->first_ns = q->received_ns;
	}
	store(receiver, q, answer);
	return ack(q, answer);
}

/* Any start count is accepted: from the answer a cloned spool learns what the
 * store has, so that its new session repeats no more than necessary. */
static bool
take_hello(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	bool answered;

	receiver->now.hellos++;
	find_stream(receiver, q, answer, &answered);
	if (answered)
		return true;
	if (q->numbers.first <= s->last_seq + 1 &&
	    sequence_diverges(&q->numbers, s))
		return diverged(receiver, q, q->numbers.first, answer);
	if (sequence_agrees(&q->numbers, s))
		answer->flags |= WIRE_FLAG_SAME;
	answer->type = WIRE_WELCOME;
	expect(answer, s, s->last_seq + 1);
	answer->last_seq = s->missing;
	answer->chain_after = s->missing_hash;
	return true;
}

/* A frame that cannot be read: address the answer as far as the frame
 * allows. */
static bool
refuse(struct receiver *receiver, struct text frame, enum wire_fault fault,
    struct wire_header *answer)
{
	struct wire_header header;
	enum wire_reason reason;

	receiver->now.faults[fault]++;
	if (wire_peek(frame, &header) == WIRE_OK)
		address(answer, &header);
	switch (fault) {
	case WIRE_OTHER_VERSION:
	case WIRE_TYPE: reason = WIRE_NACK_UNSUPPORTED; break;
	/* The frame was damaged on its way.  The sender still has it, but
	 * would give it up after `malformed`. */
	case WIRE_CHECKSUM:
		reason = WIRE_NACK_BUSY;
		answer->retry_ms = RECEIVER_DAMAGED_RETRY_MS;
		break;
	default: reason = WIRE_NACK_MALFORMED; break;
	}
	return nack(receiver, reason, answer);
}

bool
receiver_take(struct receiver *receiver, struct text frame, int64_t received_ns,
    enum receiver_room room, struct wire_header *answer)
{
	struct wire_header header;
	struct request q = {
		.header = &header,
		.frame = frame,
		.received_ns = received_ns,
		.room = room,
	};
	enum wire_fault fault = wire_open(frame, &header, &q.body);

	*answer = (struct wire_header){
		.generation = journal_generation(receiver->journal),
		.credit_bytes =
		    room == RECEIVER_ROOM ? RECEIVER_CREDIT_BYTES : 0,
		.received_ns = received_ns,
	};
	if (fault != WIRE_OK)
		return refuse(receiver, frame, fault, answer);
	address(answer, &header);
	switch (header.type) {
	case WIRE_BYE: return false;
	case WIRE_BATCH:
	case WIRE_GAP:
	case WIRE_HELLO: break;
	default: return nack(receiver, WIRE_NACK_UNSUPPORTED, answer);
	}
	if (!sequence_get(&q.numbers, &header, q.body))
		return nack(receiver, WIRE_NACK_MALFORMED, answer);
	if (!ownership_find(receiver->accept, header.partition))
		return nack(receiver, WIRE_NACK_OWNER, answer);
	return header.type == WIRE_HELLO ? take_hello(receiver, &q, answer)
					 : take_numbers(receiver, &q, answer);
}

/* ---- transactions ---- */

bool
receiver_is_dirty(const struct receiver *receiver)
{
	return receiver->dirty;
}

void
receiver_committed(struct receiver *receiver)
{
	receiver->committed = receiver->now;
	if (receiver->dirty)
		newest_committed(
		    &receiver->newest, journal_next(receiver->journal) - 1);
	receiver->dirty = false;
}

void
receiver_failed(struct receiver *receiver)
{
	receiver->now = receiver->committed;
	newest_failed(&receiver->newest);
	receiver->dirty = false;
	/* Sessions were counted that are not stored, on a full disk the same
	 * ones repeatedly.  Reset all counts, because the nodes of the failed
	 * transaction are no longer known. */
	session_quota_forget(&receiver->sessions);
}

void
receiver_withdraw(struct receiver *receiver, struct wire_header *answer)
{
	/* Refusals of unreadable frames are valid without a store, too. */
	if (answer->type == WIRE_NACK &&
	    (answer->reason == WIRE_NACK_UNSUPPORTED ||
		answer->reason == WIRE_NACK_MALFORMED))
		return;
	answer->flags = 0;
	answer->expect = answer->chain = 0;
	busy(receiver, RECEIVER_FULL_RETRY_MS, answer);
}

uint64_t
receiver_newest(const struct receiver *receiver, struct text partition)
{
	return newest_get(&receiver->newest, partition);
}

const struct receiver_counters *
receiver_counters(const struct receiver *receiver)
{
	return &receiver->committed;
}
