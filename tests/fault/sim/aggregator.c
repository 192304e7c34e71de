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

	if (sim->mutant == SIM_ACK_BEFORE_COMMIT && a->header.type == WIRE_ACK)
		sim_aggregator_post(sim, a);
	else if (k->answers < SIM_ANSWERS)
		k->answer[k->answers++] = *a;
	if (k->commit_ns == 0)
		k->commit_ns = sim->now_ns + 1 + sim_below(sim, 20000000);
}

/* ---- the rules ---------------------------------------------------------- */

/* A stream whose row was collected goes on where its sender is. */
static struct sim_aggregator_stream *
begin_again(struct sim *sim, const struct wire_header *q, int stream)
{
	struct sim_aggregator_stream *s;

	if (q->seq == 1 || q->generation != sim->aggregator.work.generation)
		return NULL;
	s = sim_aggregator_get(sim, &q->session, stream);
	s->last_seq = s->forgotten = q->seq - 1;
	return s;
}

static void
on_hello(struct sim *sim, const struct wire_header *q, int stream,
    enum receiver_room room, struct sim_answer *a)
{
	const struct sim_aggregator_stream *s =
	    find_stream(&sim->aggregator.work, &q->session, stream);

	if (s != NULL && s->last_seq == 0)
		s = NULL; /* nothing was stored: it has no row */
	if (s == NULL && q->seq > 1 &&
	    q->generation == sim->aggregator.work.generation &&
	    room != RECEIVER_ROOM) {
		busy(sim, a);
		return;
	}
	if (s == NULL)
		s = begin_again(sim, q, stream);
	a->header.type = WIRE_WELCOME;
	a->header.expect = s != NULL ? s->last_seq + 1 : 1;
	a->header.chain = s != NULL ? s->hash[s->last_seq] : 0;
}

static uint64_t
hash_after(const struct wire_header *q, struct text body)
{
	if (q->type == WIRE_GAP)
		return q->chain_after;
	if (q->seq > 1 && q->chain == 0)
		return 0;
	return hash_chain(
	    q->chain, crc32c(0, body.at, body.bytes), body.bytes, q->records);
}

static void
store_batch(struct sim *sim, struct sim_aggregator_stream *s,
    const struct wire_header *q, struct text body)
{
	struct sim_store *work = &sim->aggregator.work;
	struct sim_entry *entry;
	bool gap = q->type == WIRE_GAP;
	uint64_t last = gap ? q->last_seq : q->seq;

	if (work->entries == SIM_ENTRIES || last > SIM_ITEMS) {
		sim_wrong(sim, "the aggregator is full");
		return;
	}
	entry = &work->entry[work->entries++];
	/* Of a gap the part that is not stored already. */
	*entry = (struct sim_entry){ s->session, s->stream, s->last_seq + 1,
		last, -1 };
	if (!gap) {
		uint32_t content;

		memcpy(&content, body.at, sizeof(content));
		entry->content = (int)content;
	}
	for (uint64_t n = s->last_seq + 1; n <= last; n++)
		s->hash[n] = 0;
	s->hash[last] = hash_after(q, body);
	s->last_seq = last;
	if (sim->mutant == SIM_SPLIT_TRANSACTION) {
		struct sim_store *disk = &sim->aggregator.disk;

		disk->entry[disk->entries++] = *entry;
	}
}

/* The number is stored: with other content, or nobody knows with which, or,
 * for a gap, with another running hash behind it? */
static bool
is_other(const struct sim *sim, const struct sim_aggregator_stream *s,
    const struct wire_header *q, struct text body)
{
	uint64_t last = q->type == WIRE_GAP ? q->last_seq : q->seq;
	uint64_t theirs = hash_after(q, body);

	if (sim->mutant == SIM_NO_COMPARISON ||
	    (q->type == WIRE_GAP && theirs == 0))
		return false;
	if (last <= s->forgotten)
		return q->type == WIRE_BATCH;
	if (s->hash[last] == 0)
		return false;
	return s->hash[last] != theirs;
}

/* Does it not continue what is stored? */
static bool
breaks_chain(const struct sim *sim, const struct sim_aggregator_stream *s,
    const struct wire_header *q)
{
	uint64_t ours = s->hash[s->last_seq];

	if (sim->mutant == SIM_NO_CHAIN)
		return false;
	if (q->seq == 1)
		return q->chain != 0;
	return q->seq == s->last_seq + 1 && ours != 0 && q->chain != 0 &&
	       ours != q->chain;
}

static void
on_batch(struct sim *sim, const struct wire_header *q, int stream,
    struct text body, enum receiver_room room, struct sim_answer *a)
{
	struct sim_aggregator_stream *s =
	    sim_aggregator_get(sim, &q->session, stream);
	uint64_t last = q->type == WIRE_GAP ? q->last_seq : q->seq;

	if (last <= s->last_seq) {
		if (is_other(sim, s, q, body)) {
			refuse(a, WIRE_NACK_DIVERGED);
			return;
		}
		if (s->hash[last] == 0 || hash_after(q, body) == 0)
			a->header.flags = WIRE_FLAG_ALONE;
	} else if (q->seq > s->last_seq + 1 && sim->mutant != SIM_ACCEPT_GAPS) {
		refuse(a, WIRE_NACK_GAP);
		a->header.expect = s->last_seq + 1;
		return;
	} else if (breaks_chain(sim, s, q)) {
		refuse(a, WIRE_NACK_DIVERGED);
		return;
	} else if (room != RECEIVER_ROOM) {
		busy(sim, a);
		return;
	} else {
		if (q->seq != 1 && (q->seq <= s->last_seq || q->chain == 0 ||
				       q->chain != s->hash[s->last_seq]))
			a->header.flags = WIRE_FLAG_ALONE;
		store_batch(sim, s, q, body);
	}
	a->header.type = WIRE_ACK;
	a->header.seq = last;
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
			on_hello(sim, &q, stream, room, &answer);
		else
			on_batch(sim, &q, stream, body, room, &answer);
		sim_twin_take(sim, frame, room, &answer.header);
	}
	answer_later(sim, &answer);
}
