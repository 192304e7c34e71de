/*
 * aggregator - the other side of the protocol, as proto/delivery.md states it.
 *
 * Written to be compared with the rules, not for speed: a list of streams, a
 * list of stored batches, and a second copy of both as the disk.  The
 * aggregator's own aggregator/ingest/receiver.c gets every frame as well, and
 * has to give the same answers (twin.c).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "tests/fault/sim/sim.h"

static struct sim_aggregator_stream *
find_stream(
    struct sim_store *store, const struct session_id *session, int stream)
{
	for (int i = 0; i < store->streams; i++)
		if (store->stream[i].stream == stream &&
		    session_equal(&store->stream[i].session, session))
			return &store->stream[i];
	return NULL;
}

struct sim_aggregator_stream *
sim_aggregator_get(
    struct sim *sim, const struct session_id *session, int stream)
{
	struct sim_store *store = &sim->aggregator.work;
	struct sim_aggregator_stream *s = find_stream(store, session, stream);

	if (s != NULL)
		return s;
	if (store->streams == SIM_AGGREGATOR_STREAMS) {
		sim_wrong(sim, "the aggregator has too many streams");
		return &store->stream[0];
	}
	s = &store->stream[store->streams++];
	memset(s, 0, sizeof(*s));
	s->session = *session;
	s->stream = stream;
	s->ring_from = 1;
	return s;
}

/* ---- answers ------------------------------------------------------------ */

void
sim_aggregator_post(struct sim *sim, const struct sim_answer *answer)
{
	unsigned char frame[SIM_FLIGHT_BYTES];
	struct wire_header h = answer->header;
	size_t bytes;

	h.partition = text_of(answer->partition);
	h.node = text_of("head");
	bytes = wire_frame(frame, sizeof(frame), &h, (struct text){ NULL, 0 });
	sim_broker_answer(
	    sim, answer->to, (struct text){ (char *)frame, (uint32_t)bytes });
}

static struct sim_answer
answer_to(struct sim *sim, int to, const struct wire_header *q)
{
	struct sim_answer a = { .to = to };

	a.header.session = q->session;
	a.header.seq = q->seq;
	a.header.sent_ns = q->sent_ns;
	a.header.generation = sim->aggregator.work.generation;
	a.header.credit_bytes = sim->aggregator.credit;
	memcpy(a.partition, q->partition.at, q->partition.bytes);
	return a;
}

static void
refuse(struct sim_answer *a, enum wire_reason reason)
{
	a->header.type = WIRE_NACK;
	a->header.reason = reason;
}

static void
busy(struct sim *sim, struct sim_answer *a)
{
	refuse(a, WIRE_NACK_BUSY);
	a->header.credit_bytes = 0;
	a->header.retry_ms = 50 + sim_below(sim, 500);
}

/* With the group that is open now. */
static void
answer_later(struct sim *sim, struct sim_answer *a)
{
	struct sim_aggregator *k = &sim->aggregator;

	/* A running hash may always be unknown. */
	if (a->header.type == WIRE_NACK && a->header.reason == WIRE_NACK_GAP &&
	    sim_chance(sim, 50))
		a->header.chain = 0;
	if (sim->mutant == SIM_ACK_BEFORE_COMMIT && a->header.type == WIRE_ACK)
		sim_aggregator_post(sim, a);
	else if (k->answers < SIM_ANSWERS)
		k->answer[k->answers++] = *a;
	if (k->commit_ns == 0)
		k->commit_ns = sim->now_ns + 1 + sim_below(sim, 20000000);
}

/* ---- the rules ---------------------------------------------------------- */

/* The running hash after `seq`; 0: not known. */
static uint64_t
ring_hash(const struct sim_aggregator_stream *s, uint64_t seq)
{
	if (seq == 0 || seq > s->last_seq || seq < s->ring_from)
		return 0;
	return s->ring[seq % SIM_RING];
}

/* Does the ring have another running hash after `seq`? */
static bool
ring_denies(const struct sim_aggregator_stream *s, uint64_t seq, uint64_t chain)
{
	uint64_t ours = ring_hash(s, seq);

	return chain != 0 && ours != 0 && ours != chain;
}

static void
expect(
    struct sim_answer *a, const struct sim_aggregator_stream *s, uint64_t seq)
{
	a->header.expect = seq;
	a->header.chain = ring_hash(s, seq - 1);
	a->header.start_count = s->boundary;
}

/* Another running hash before its first number than ours? */
static bool
hash_differs(const struct sim_aggregator_stream *s, const struct wire_header *q)
{
	return q->seq == 1 ? q->chain != 0
			   : ring_denies(s, q->seq - 1, q->chain);
}

static void
on_hello(struct sim *sim, const struct wire_header *q, int stream,
    struct sim_answer *a)
{
	struct sim_aggregator_stream none = { .last_seq = 0 };
	const struct sim_aggregator_stream *s =
	    find_stream(&sim->aggregator.work, &q->session, stream);

	if (s == NULL)
		s = &none;
	if (sim->mutant == SIM_SUPERSEDE_HELLOS &&
	    q->start_count < s->start_count) {
		refuse(a, WIRE_NACK_SUPERSEDED);
		expect(a, s, s->last_seq + 1);
		return;
	}
	if (sim->mutant != SIM_NO_HASHES && q->seq <= s->last_seq + 1 &&
	    hash_differs(s, q)) {
		refuse(a, WIRE_NACK_DIVERGED);
		expect(a, s, q->seq);
		return;
	}
	a->header.type = WIRE_WELCOME;
	expect(a, s, s->last_seq + 1);
	if (q->chain != 0 && q->chain == ring_hash(s, q->seq - 1))
		a->header.flags = WIRE_FLAG_SAME;
	if (sim->mutant == SIM_NO_HASHES)
		a->header.chain = a->header.flags = 0;
	a->header.last_seq = s->missing;
	a->header.chain_after = s->missing_hash;
}

/* 0 is "not known": as the sender of a gap says, or where it is not known
 * before. */
static uint64_t
hash_after(const struct wire_header *q, struct text body, uint64_t known)
{
	uint64_t before = q->chain != 0 ? q->chain : known;

	if (q->type == WIRE_GAP)
		return q->chain_after;
	if (before == 0 && q->seq > 1 && known != 0)
		return 0;
	return hash_chain(
	    before, crc32c(0, body.at, body.bytes), body.bytes, q->records);
}

static void
store_batch(struct sim *sim, struct sim_aggregator_stream *s,
    const struct wire_header *q, struct text body)
{
	struct sim_store *work = &sim->aggregator.work;
	struct sim_entry *entry;
	bool gap = q->type == WIRE_GAP;
	uint64_t last = gap ? q->last_seq : q->seq;

	if (work->entries == SIM_ENTRIES) {
		sim_wrong(sim, "the aggregator is full");
		return;
	}
	entry = &work->entry[work->entries++];
	if (s->last_seq > 0 && (q->seq != s->last_seq + 1 || q->chain == 0 ||
				   q->chain != ring_hash(s, s->last_seq)))
		s->boundary = s->last_seq;
	/* Of a gap the part that is not stored already. */
	*entry = (struct sim_entry){ s->session, s->stream, s->last_seq + 1,
		last, -1, false };
	if (!gap) {
		uint32_t content;

		memcpy(&content, body.at, sizeof(content));
		entry->content = (int)content;
	}
	for (uint64_t n = s->last_seq + 1; gap && n <= last; n++)
		s->ring[n % SIM_RING] = 0;
	s->chain = hash_after(q, body, s->chain);
	s->ring[last % SIM_RING] = s->chain;
	s->last_seq = last;
	if (s->last_seq >= SIM_RING &&
	    s->ring_from < s->last_seq - SIM_RING + 1)
		s->ring_from = s->last_seq - SIM_RING + 1;
	if (s->last_seq >= s->missing)
		s->missing = s->missing_hash = 0;
	if (q->start_count > s->start_count)
		s->start_count = q->start_count;
	if (sim->mutant == SIM_SPLIT_TRANSACTION) {
		struct sim_store *disk = &sim->aggregator.disk;

		disk->entry[disk->entries++] = *entry;
	}
}

static void
on_batch(struct sim *sim, const struct wire_header *q, int stream,
    struct text body, enum receiver_room room, struct sim_answer *a)
{
	struct sim_aggregator_stream *s =
	    sim_aggregator_get(sim, &q->session, stream);
	uint64_t last = q->type == WIRE_GAP ? q->last_seq : q->seq;
	bool hashes = sim->mutant != SIM_NO_HASHES;

	expect(a, s, s->last_seq + 1);
	if (q->start_count < s->start_count) {
		refuse(a, WIRE_NACK_SUPERSEDED);
		return;
	}
	if (last <= s->last_seq) {
		if (hashes && q->type == WIRE_BATCH &&
		    (q->seq == 1 || q->chain != 0) &&
		    ring_denies(s, q->seq, hash_after(q, body, q->chain))) {
			refuse(a, WIRE_NACK_DIVERGED);
			expect(a, s, q->seq);
			return;
		}
	} else if (q->seq > s->last_seq + 1 && sim->mutant != SIM_ACCEPT_GAPS) {
		refuse(a, WIRE_NACK_GAP);
		return;
	} else if (sim->mutant != SIM_OLD_GENERATIONS && q->generation != 0 &&
		   q->generation != sim->aggregator.work.generation) {
		/* Welcomed by another store: it is to ask this one first. */
		refuse(a, WIRE_NACK_GAP);
		return;
	} else if (hashes && hash_differs(s, q)) {
		refuse(a, WIRE_NACK_DIVERGED);
		expect(a, s, q->seq);
		return;
	} else if (room != RECEIVER_ROOM) {
		busy(sim, a);
		return;
	} else {
		store_batch(sim, s, q, body);
		expect(a, s, s->last_seq + 1);
	}
	a->header.type = WIRE_ACK;
	a->header.seq = s->last_seq;
}

static bool
is_quarantine(
    const struct sim *sim, const struct wire_header *q, struct text body)
{
	uint32_t content;

	if (q->type != WIRE_BATCH)
		return false;
	memcpy(&content, body.at, sizeof(content));
	return sim->content[content].quarantine;
}

void
sim_aggregator_receive(struct sim *sim, int from, struct text frame)
{
	struct sim_aggregator *k = &sim->aggregator;
	enum receiver_room room = RECEIVER_ROOM;
	struct sim_answer answer;
	struct wire_header q;
	struct text body;
	int stream;

	if (!k->up)
		return;
	if (wire_open(frame, &q, &body) != WIRE_OK) {
		sim_wrong(sim, "a frame that nobody can read");
		return;
	}
	stream = sim_stream_of(q.partition);
	answer = answer_to(sim, from, &q);
	if (sim_chance(sim, k->busy_percent))
		room = sim_chance(sim, 50) ? RECEIVER_FULL : RECEIVER_LAGGING;
	if (q.type != WIRE_HELLO && (is_quarantine(sim, &q, body) ||
					sim_chance(sim, k->refuse_percent))) {
		refuse(&answer, WIRE_NACK_FORBIDDEN);
	} else {
		if (q.type == WIRE_HELLO)
			on_hello(sim, &q, stream, &answer);
		else
			on_batch(sim, &q, stream, body, room, &answer);
		sim_twin_take(sim, frame, room, &answer.header);
	}
	answer_later(sim, &answer);
}
