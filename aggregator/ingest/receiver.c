/*
 * receiver - the receiver's half of the delivery protocol.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/receiver.h"

#include <stdlib.h>

#include "aggregator/ingest/ownership.h"
#include "aggregator/ingest/session_quota.h"
#include "aggregator/journal/newest.h"
#include "proto/base/memory.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

/* No honest sender reaches higher numbers, and sums of these cannot
 * overflow. */
#define SEQ_MAX (UINT64_C(1) << 62)

/* A hello to a stream that was idle for so long keeps its row. */
#define TOUCH_NS (24 * 3600 * NS_PER_SECOND)

struct receiver {
	struct journal *journal;
	struct wire_room room;
	bool dirty;
	struct session_quota sessions; /* new sessions */
	const struct opt_list *accept;
	struct pace *pace;
	struct receiver_counters now, committed;
	struct newest newest;
};

/* The frame being processed. */
struct request {
	const struct wire_header *header;
	struct text frame, body;
	uint64_t first, last; /* its numbers */
	uint64_t after;       /* running hash after them; 0: not known */
	uint64_t sender;
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
receiver_set_pace(struct receiver *receiver, struct pace *pace)
{
	receiver->pace = pace;
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

/* `is_proven`: the numbers before these are the sender's, too. */
static bool
ack(const struct request *q, bool is_proven, struct wire_header *answer)
{
	answer->type = WIRE_ACK;
	answer->seq = q->last;
	if (!is_proven)
		answer->flags |= WIRE_FLAG_ALONE;
	return true;
}

/* The numbers of a hello, batch or gap; false: no honest sender sends such
 * numbers. */
static bool
get_numbers(struct request *q)
{
	const struct wire_header *h = q->header;

	q->first = q->last = h->seq;
	if (h->type == WIRE_BATCH && (h->chain != 0 || h->seq == 1))
		q->after =
		    hash_chain(h->chain, crc32c(0, q->body.at, q->body.bytes),
			q->body.bytes, h->records);
	if (h->type == WIRE_GAP) {
		q->last = h->last_seq;
		q->after = h->chain_after;
		if (q->body.bytes > 0 || h->reason == WIRE_GAP_SINCE_BACKUP)
			return false;
	}
	return q->first > 0 && q->first <= q->last && q->last <= SEQ_MAX;
}

/* ---- rules ---- */

/* The message was taken: put the row of its stream. */
static void
put_stream(struct receiver *receiver, struct request *q)
{
	q->stream.last_ns = q->received_ns;
	q->stream.owner = q->sender;
	q->stream.node = q->header->node;
	receiver->dirty = true;
	journal_stream_put(receiver->journal, &q->header->session,
	    q->header->partition, &q->stream);
}

static void
store(struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	struct journal_note note = {
		.seq = s->last_seq + 1,
		.receive_ns = q->received_ns,
		.owner = q->sender,
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
	journal_append(receiver->journal, q->frame, &note);
	newest_touch(&receiver->newest, q->header->partition);
	journal_stream_advance(receiver->journal, &q->header->session,
	    q->header->partition, s, q->last, q->after);
	s->derived = (q->header->flags & WIRE_FLAG_DERIVED) != 0;
	put_stream(receiver, q);
}

/* A session belongs to whoever began it: another sender must learn nothing of
 * it, and change nothing. */
static bool
is_of_another(const struct request *q)
{
	return q->stream.owner != q->sender ||
	       !text_equal(q->stream.node, q->header->node);
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
	if (found == JOURNAL_FOUND && is_of_another(q)) {
		answer->flags |= WIRE_FLAG_TAKEN;
		answer->detail =
		    text_of("another key or node began this session");
		if (q->stream.owner == 0)
			answer->flags |= WIRE_FLAG_DROPPED;
		return nack(receiver, WIRE_NACK_FORBIDDEN, answer);
	}
	*answered = false;
	return found == JOURNAL_FOUND;
}

/* Numbers that the store has.  Content that it does not remember counts as
 * other content: stored twice is better than lost. */
static bool
take_again(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	enum journal_content content = JOURNAL_LOST;
	bool is_batch = q->header->type == WIRE_BATCH;

	/* A gap has no content, but what is behind it is the sender's. */
	if (is_batch || q->after != 0)
		content = journal_stream_compare(receiver->journal,
		    &q->header->session, q->header->partition, &q->stream,
		    q->last, q->after);
	if (content == JOURNAL_OTHER ||
	    (content == JOURNAL_FORGOTTEN && is_batch))
		return nack(receiver, WIRE_NACK_DIVERGED, answer);
	receiver->now.repeated++;
	return ack(q, content == JOURNAL_SAME, answer);
}

/* Does the sender's running hash before the first number differ from ours? */
static bool
diverges(const struct request *q)
{
	uint64_t ours = q->stream.hash, theirs = q->header->chain;

	if (q->first == 1)
		return theirs != 0;
	return q->first == q->stream.last_seq + 1 && ours != 0 && theirs != 0 &&
	       ours != theirs;
}

/* Does it begin with the numbers, or continue the sender's content? */
static bool
continues(const struct request *q)
{
	return q->first == 1 ||
	       (q->first == q->stream.last_seq + 1 && q->stream.hash != 0 &&
		   q->stream.hash == q->header->chain);
}

/* May the stream, which has no row, begin?  Else the answer is made. */
static bool
begin_stream(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	if (!session_quota_take(&receiver->sessions, q->header->partition,
		q->header->node, q->received_ns)) {
		receiver->now.limited++;
		busy(receiver, 60 * RECEIVER_FULL_RETRY_MS, answer);
		return false;
	}
	receiver->now.sessions++;
	q->stream.first_ns = q->received_ns;
	return true;
}

static uint32_t
retry_ms(enum receiver_room room)
{
	return room == RECEIVER_FULL ? RECEIVER_FULL_RETRY_MS
				     : RECEIVER_LAGGING_RETRY_MS;
}

/* How long the batch must wait until it is admitted; 0: not at all. */
static uint32_t
turn_ms(struct receiver *receiver, const struct request *q)
{
	uint64_t stream;

	if (q->room != RECEIVER_ROOM)
		return retry_ms(q->room);
	if (receiver->pace == NULL || q->header->type == WIRE_GAP)
		return 0;
	memcpy(&stream, q->header->session.bytes, sizeof(stream));
	return pace_take(receiver->pace, q->frame.bytes, stream);
}

static uint32_t
credit(const struct receiver *receiver, enum receiver_room room)
{
	if (room != RECEIVER_ROOM)
		return 0;
	return receiver->pace == NULL
		   ? RECEIVER_CREDIT_BYTES
		   : pace_credit(receiver->pace, RECEIVER_CREDIT_BYTES);
}

/* A batch or a gap: the rules of proto/delivery.md, in order. */
static bool
take_numbers(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	const struct journal_stream *s = &q->stream;
	bool answered, known, is_proven;
	uint32_t wait_ms;

	known = find_stream(receiver, q, answer, &answered);
	if (answered)
		return true;
	if (q->last <= s->last_seq)
		return take_again(receiver, q, answer);
	if (q->first > s->last_seq + 1) {
		answer->expect = s->last_seq + 1;
		return nack(receiver, WIRE_NACK_GAP, answer);
	}
	if (diverges(q))
		return nack(receiver, WIRE_NACK_DIVERGED, answer);
	wait_ms = turn_ms(receiver, q);
	if (wait_ms > 0)
		return busy(receiver, wait_ms, answer);
	if (!known && !begin_stream(receiver, q, answer))
		return true;
	is_proven = continues(q);
	store(receiver, q, answer);
	return ack(q, is_proven, answer);
}

/* This store has acknowledged everything before the hello's number, and has
 * removed the row of the stream since.  It continues there. */
static bool
begin_again(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;

	if (q->room != RECEIVER_ROOM)
		return !busy(receiver, retry_ms(q->room), answer);
	if (!begin_stream(receiver, q, answer))
		return false;
	s->last_seq = s->forgotten = q->first - 1;
	s->derived = (q->header->flags & WIRE_FLAG_DERIVED) != 0;
	put_stream(receiver, q);
	return true;
}

static bool
take_hello(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	bool answered, known;

	receiver->now.hellos++;
	known = find_stream(receiver, q, answer, &answered);
	if (answered)
		return true;
	if (!known && q->first > 1 &&
	    q->header->generation == answer->generation &&
	    !begin_again(receiver, q, answer))
		return true;
	/* The sender of an idle stream lives: its row must not be collected
	 * (ended_sessions.h). */
	if (known && q->received_ns - q->stream.last_ns > TOUCH_NS &&
	    q->room == RECEIVER_ROOM)
		put_stream(receiver, q);
	answer->type = WIRE_WELCOME;
	answer->expect = q->stream.last_seq + 1;
	answer->chain = q->stream.hash;
	return true;
}

/* It is kept behind the batches that came before it.  It has no number and
 * belongs to no stream: whoever may publish for the node may send it. */
static bool
take_bye(
    struct receiver *receiver, struct request *q, struct wire_header *answer)
{
	const struct journal_note note = { .receive_ns = q->received_ns,
		.owner = q->sender };

	if (q->room != RECEIVER_ROOM)
		return busy(receiver, retry_ms(q->room), answer);
	receiver->now.byes++;
	journal_append(receiver->journal, q->frame, &note);
	newest_touch(&receiver->newest, q->header->partition);
	receiver->dirty = true;
	answer->type = WIRE_ACK;
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
receiver_take(struct receiver *receiver, struct text frame, uint64_t sender,
    int64_t received_ns, enum receiver_room room, struct wire_header *answer)
{
	struct wire_header header;
	struct request q = {
		.header = &header,
		.frame = frame,
		.sender = sender,
		.received_ns = received_ns,
		.room = room,
	};
	enum wire_fault fault = wire_open(frame, &header, &q.body);

	*answer = (struct wire_header){
		.generation = journal_generation(receiver->journal),
		.credit_bytes = credit(receiver, room),
		.received_ns = received_ns,
	};
	if (fault != WIRE_OK)
		return refuse(receiver, frame, fault, answer);
	address(answer, &header);
	switch (header.type) {
	case WIRE_BATCH:
	case WIRE_GAP:
	case WIRE_HELLO:
	case WIRE_BYE: break;
	default: return nack(receiver, WIRE_NACK_UNSUPPORTED, answer);
	}
	if (header.type != WIRE_BYE ? !get_numbers(&q) : q.body.bytes > 0)
		return nack(receiver, WIRE_NACK_MALFORMED, answer);
	if (!ownership_find(receiver->accept, header.partition))
		return nack(receiver, WIRE_NACK_OWNER, answer);
	if (header.type == WIRE_BYE)
		return take_bye(receiver, &q, answer);
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
