/*
 * receiver - the keeper's half of the delivery protocol.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/receiver.h"

#include <stdlib.h>

#include "aggregator/ingest/ownership.h"
#include "aggregator/ingest/sequence.h"
#include "aggregator/ingest/session_quota.h"

struct keep {
	struct journal *journal;
	struct wire_room room;
	bool dirty;
	struct quota sessions; /* new ones */
	const struct opt_list *owns;
	struct keep_counters now, committed;
};

/* One frame under judgement. */
struct question {
	const struct wire_header *header;
	struct text frame, body;
	struct keep_numbers numbers;
	int64_t received_ns;
	enum keep_room room;
	struct journal_stream stream;
	struct owner owner;
};

struct keep *
keep_new(struct journal *journal, uint64_t sessions_per_hour)
{
	struct keep *keep = calloc(1, sizeof(*keep));

	if (keep == NULL)
		abort();
	keep->journal = journal;
	quota_init(&keep->sessions, sessions_per_hour);
	return keep;
}

void
keep_change(struct keep *keep, uint64_t sessions_per_hour)
{
	keep->sessions.per_hour = sessions_per_hour;
}

void
keep_free(struct keep **keep)
{
	if (*keep == NULL)
		return;
	wire_room_clear(&(*keep)->room);
	free(*keep);
	*keep = NULL;
}

void
keep_owns(struct keep *keep, const struct opt_list *patterns)
{
	keep->owns = patterns;
}

/* ---- answers ---- */

/* Who asked, and what it is the answer to. */
static void
address(struct wire_header *answer, const struct wire_header *question)
{
	answer->partition = question->partition;
	answer->node = question->node;
	answer->session = question->session;
	answer->seq = question->seq;
	answer->sent_ns = question->sent_ns;
}

static bool
nack(struct keep *keep, enum wire_reason reason, struct wire_header *answer)
{
	keep->now.nacks[reason]++;
	answer->type = WIRE_NACK;
	answer->reason = reason;
	return true;
}

static bool
busy(struct keep *keep, uint32_t retry_ms, struct wire_header *answer)
{
	answer->credit_bytes = 0;
	answer->retry_ms = retry_ms;
	return nack(keep, WIRE_NACK_BUSY, answer);
}

/* What the keeper wants next, and the chain before it. */
static void
expect(struct wire_header *answer, const struct journal_stream *s, uint64_t seq)
{
	answer->expect = seq;
	answer->chain = journal_chain(s, seq - 1);
	answer->run = s->seam;
}

static bool
forked(struct keep *keep, const struct question *q, uint64_t seq,
    struct wire_header *answer)
{
	expect(answer, &q->stream, seq);
	return nack(keep, WIRE_NACK_FORKED, answer);
}

static bool
ack(const struct question *q, struct wire_header *answer)
{
	answer->type = WIRE_ACK;
	answer->seq = q->stream.hwm;
	expect(answer, &q->stream, q->stream.hwm + 1);
	return true;
}

/* ---- rules ---- */

static void
store(struct keep *keep, struct question *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	struct journal_note note = {
		.seq = s->hwm + 1,
		.receive_ns = q->received_ns,
	};
	struct text plain;

	if (q->header->type == WIRE_BATCH) {
		note.fault = wire_body(q->header, q->body, &keep->room, &plain);
		note.dead = note.fault != WIRE_OK;
		keep->now.batches++;
		keep->now.records += note.dead ? 0 : q->header->records;
		keep->now.dead += note.dead;
		keep->now.faults[note.fault] += note.dead;
	} else {
		keep->now.gaps++;
	}
	if (note.dead)
		answer->flags |= WIRE_FLAG_DEAD;
	keep->now.bytes += q->frame.bytes;
	keep->dirty = true;
	keep_owner_begin(journal_txn(keep->journal), q->header->partition,
	    &q->owner, q->received_ns);
	journal_append(keep->journal, q->frame, &note);
	if (!keep_numbers_follow(&q->numbers, s))
		s->seam = s->hwm;
	if (q->numbers.last - s->hwm > JOURNAL_RING)
		s->hwm = q->numbers.last - JOURNAL_RING;
	while (s->hwm < q->numbers.last)
		s->ring[++s->hwm % JOURNAL_RING] = 0;
	s->ring[q->numbers.last % JOURNAL_RING] = q->numbers.after;
	s->run = q->header->run;
	s->node = q->header->node;
	s->last_ns = q->received_ns;
	journal_stream_put(
	    keep->journal, &q->header->session, q->header->partition, s);
}

/* The stream's state, or an answer in its place. */
static bool
find_stream(struct keep *keep, struct question *q, struct wire_header *answer,
    bool *answered)
{
	enum journal_found found = journal_stream_get(keep->journal,
	    &q->header->session, q->header->partition, &q->stream);

	*answered = true;
	if (found == JOURNAL_DAMAGED) {
		keep->now.damaged++;
		return busy(keep, KEEP_FULL_RETRY_MS, answer);
	}
	*answered = false;
	return found == JOURNAL_FOUND;
}

/* A batch or a gap: the rules of the README, in their order. */
static bool
take_numbers(struct keep *keep, struct question *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	bool answered, known;

	known = find_stream(keep, q, answer, &answered);
	if (answered)
		return true;
	if (q->header->run < s->run) {
		expect(answer, s, s->hwm + 1);
		return nack(keep, WIRE_NACK_FENCED, answer);
	}
	if (q->numbers.last <= s->hwm) {
		if (q->header->type == WIRE_BATCH &&
		    keep_numbers_differ(&q->numbers, s))
			return forked(keep, q, q->numbers.first, answer);
		keep->now.repeated++;
		return ack(q, answer);
	}
	/* One that another store has welcomed asks this one first. */
	if (q->numbers.first > s->hwm + 1 ||
	    (q->header->generation != 0 &&
		q->header->generation != answer->generation)) {
		expect(answer, s, s->hwm + 1);
		return nack(keep, WIRE_NACK_GAP, answer);
	}
	if (keep_numbers_fork(&q->numbers, s))
		return forked(keep, q, q->numbers.first, answer);
	expect(answer, s, s->hwm + 1);
	if (q->room != KEEP_ROOM)
		return busy(keep,
		    q->room == KEEP_FULL ? KEEP_FULL_RETRY_MS
					 : KEEP_BEHIND_RETRY_MS,
		    answer);
	if (!known) {
		if (!quota_take(&keep->sessions, q->header->partition,
			q->header->node, q->received_ns)) {
			keep->now.limited++;
			return busy(keep, 60 * KEEP_FULL_RETRY_MS, answer);
		}
		keep->now.sessions++;
		s->first_ns = q->received_ns;
	}
	store(keep, q, answer);
	return ack(q, answer);
}

/* Of an older run, too: a copy of a spool finds out here what is kept, so that
 * it takes no more into a session of its own than it must. */
static bool
take_hello(struct keep *keep, struct question *q, struct wire_header *answer)
{
	struct journal_stream *s = &q->stream;
	bool answered;

	keep->now.hellos++;
	find_stream(keep, q, answer, &answered);
	if (answered)
		return true;
	if (q->numbers.first <= s->hwm + 1 && keep_numbers_fork(&q->numbers, s))
		return forked(keep, q, q->numbers.first, answer);
	if (keep_numbers_agree(&q->numbers, s))
		answer->flags |= WIRE_FLAG_SAME;
	answer->type = WIRE_WELCOME;
	expect(answer, s, s->hwm + 1);
	answer->last_seq = s->owed;
	answer->after = s->owed_chain;
	return true;
}

/* A frame that cannot be read: tell the peer as much as it let us know. */
static bool
refuse(struct keep *keep, struct text frame, enum wire_fault fault,
    struct wire_header *answer)
{
	struct wire_header header;
	enum wire_reason reason;

	keep->now.faults[fault]++;
	if (wire_peek(frame, &header) == WIRE_OK)
		address(answer, &header);
	switch (fault) {
	case WIRE_OTHER_VERSION:
	case WIRE_TYPE: reason = WIRE_NACK_UNSUPPORTED; break;
	/* The way has changed it, not the sender: malformed would be for good,
	 * and what the sender has is not lost. */
	case WIRE_CHECKSUM:
		reason = WIRE_NACK_BUSY;
		answer->retry_ms = KEEP_DAMAGED_RETRY_MS;
		break;
	default: reason = WIRE_NACK_MALFORMED; break;
	}
	return nack(keep, reason, answer);
}

bool
keep_take(struct keep *keep, struct text frame, int64_t received_ns,
    enum keep_room room, struct wire_header *answer)
{
	struct wire_header header;
	struct question q = {
		.header = &header,
		.frame = frame,
		.received_ns = received_ns,
		.room = room,
	};
	enum wire_fault fault = wire_open(frame, &header, &q.body);

	*answer = (struct wire_header){
		.generation = journal_generation(keep->journal),
		.credit_bytes = room == KEEP_ROOM ? KEEP_CREDIT_BYTES : 0,
		.received_ns = received_ns,
	};
	if (fault != WIRE_OK)
		return refuse(keep, frame, fault, answer);
	address(answer, &header);
	switch (header.type) {
	case WIRE_BYE: return false;
	case WIRE_BATCH:
	case WIRE_GAP:
	case WIRE_HELLO: break;
	default: return nack(keep, WIRE_NACK_UNSUPPORTED, answer);
	}
	if (!keep_numbers_get(&q.numbers, &header, q.body))
		return nack(keep, WIRE_NACK_MALFORMED, answer);
	switch (keep_owner_find(journal_txn(keep->journal), header.partition,
	    keep->owns, &q.owner)) {
	case KEEP_OURS: break;
	case KEEP_LATER: return busy(keep, KEEP_FULL_RETRY_MS, answer);
	case KEEP_ELSEWHERE: return nack(keep, WIRE_NACK_OWNER, answer);
	}
	return header.type == WIRE_HELLO ? take_hello(keep, &q, answer)
					 : take_numbers(keep, &q, answer);
}

/* ---- transactions ---- */

bool
keep_is_dirty(const struct keep *keep)
{
	return keep->dirty;
}

void
keep_committed(struct keep *keep)
{
	keep->committed = keep->now;
	keep->dirty = false;
}

void
keep_failed(struct keep *keep)
{
	keep->now = keep->committed;
	keep->dirty = false;
	/* New sessions were counted that are not there: on a full disk the
	 * same ones again and again.  Who they were is not known any more. */
	quota_forget(&keep->sessions);
}

void
keep_take_back(struct keep *keep, struct wire_header *answer)
{
	/* Refusals of what could not be read hold without a store, too. */
	if (answer->type == WIRE_NACK &&
	    (answer->reason == WIRE_NACK_UNSUPPORTED ||
		answer->reason == WIRE_NACK_MALFORMED))
		return;
	answer->flags = 0;
	answer->expect = answer->chain = 0;
	busy(keep, KEEP_FULL_RETRY_MS, answer);
}

const struct keep_counters *
keep_counters(const struct keep *keep)
{
	return &keep->committed;
}
