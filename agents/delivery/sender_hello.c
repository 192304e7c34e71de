/*
 * sender_hello - where a stream goes on: answers to hellos.
 *
 * A welcome counts only when it answers the last hello, so that no late
 * answer of another life can move a stream.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"

/* Our chain before `seq` (0: not known), and whether a gap is what is there.
 * 0: the number before it was never given out here. */
static int
chain_before(const struct ship *ship, const struct ship_stream *s, uint64_t seq,
    uint64_t *chain, bool *gap)
{
	struct ship_batch batch;
	int before = ship_read(ship, s, seq - 1, &batch);

	*gap = before == 1 && ship_is_gap(&batch);
	*chain = before == 1 && batch.last_seq == seq - 1
		     ? ship_chain_after(&batch)
		     : 0;
	if (*chain == 0 && ship_read(ship, s, seq, &batch) == 1 &&
	    batch.seq == seq) {
		*chain = batch.chain;
		return 1;
	}
	return before != 0;
}

/* The keeper was restored, and its store of before had more of this session.
 * Whoever has not given out these numbers, or others, is a life of the spool
 * that this store must not take for it: what is owed would never be missed. */
static bool
is_other_life(const struct ship *ship, const struct ship_stream *s)
{
	uint64_t chain = s->chain;
	bool gap;

	if (s->owed == 0 || s->owed + 1 < s->first || ship->derived)
		return false;
	if (s->owed + 1 > s->first &&
	    chain_before(ship, s, s->owed + 1, &chain, &gap) == 0)
		return true;
	return s->owed_chain != 0 && chain != 0 && chain != s->owed_chain;
}

static void
open_stream(struct ship *ship, struct ship_stream *s)
{
	if (s->fenced || is_other_life(ship, s)) {
		ship_fork(ship, s);
		return;
	}
	s->state = SHIP_OPEN;
	s->wait_ns = 0;
	s->ready = true;
}

/* ---- the last number in common ------------------------------------------ */

/* Ask whether the chain after `batch` is the keeper's too. */
static void
ask_about(struct ship_stream *s, const struct ship_batch *batch, bool tail)
{
	s->state = SHIP_PROBE;
	s->tail = tail;
	s->probe_last = batch->last_seq;
	s->probe_chain = ship_chain_after(batch);
	s->hello_out = false;
	s->hello_stamp_ns = 0;
	s->wait_ns = 0;
}

/* A gap of ours holds nothing that could be other. */
static void
pass(struct ship *ship, struct ship_stream *s, const struct ship_batch *gap)
{
	if (gap->last_seq > s->hwm)
		ship_advance(ship, s, s->hwm, 0);
	else
		ship_advance(ship, s, gap->last_seq, ship_chain_after(gap));
}

static void
pass_gaps(struct ship *ship, struct ship_stream *s)
{
	struct ship_batch batch;

	while (s->first <= s->hwm &&
	       ship_read(ship, s, s->first, &batch) == 1 && ship_is_gap(&batch))
		pass(ship, s, &batch);
}

/* Up to s->first - 1 we agree; the keeper has more, and it is not ours.  Ask
 * for the next candidate, or say where the ways part.  One after another and
 * not by halves: a keeper agrees with every chain where it has a gap, so that
 * its yes is about one number and not about all before. */
static void
probe(struct ship *ship, struct ship_stream *s)
{
	struct ship_batch batch;

	while (s->first <= s->hwm) {
		bool there = ship_read(ship, s, s->first, &batch) == 1;

		/* What the keeper no longer remembers cannot be compared:
		 * better sent again under a new session than taken for sent. */
		if (!there ||
		    (!ship_is_gap(&batch) && s->hwm - s->first >= SHIP_RING)) {
			ship_fork(ship, s);
			return;
		}
		if (!ship_is_gap(&batch) && ship_chain_after(&batch) != 0) {
			ask_about(s, &batch, false);
			return;
		}
		pass(ship, s, &batch);
	}
	open_stream(ship, s);
}

/* The last that the keeper has is a gap of ours, where chains say nothing:
 * ask about the batch before it, from `seq` down.  False: there is none to ask
 * about. */
static bool
probe_tail(struct ship *ship, struct ship_stream *s, uint64_t seq)
{
	struct ship_batch batch;

	while (seq >= s->first && s->hwm - seq < SHIP_RING &&
	       ship_read(ship, s, seq, &batch) == 1) {
		if (!ship_is_gap(&batch) && ship_chain_after(&batch) != 0) {
			ask_about(s, &batch, true);
			return true;
		}
		seq = batch.seq - 1;
	}
	return false;
}

static void
accept_all(struct ship *ship, struct ship_stream *s, uint64_t chain)
{
	ship_advance(ship, s, s->hwm, chain);
	open_stream(ship, s);
}

static void
on_probe_welcome(struct ship *ship, struct ship_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool common;

	if (s->tail && h->expect != s->hwm + 1) {
		ship_ask_again(ship, s, now_ns);
		return;
	}
	/* No yes: it may have a gap there, of another life. */
	if (s->tail && (h->flags & WIRE_FLAG_SAME) == 0) {
		if (!probe_tail(ship, s, s->probe_last - 1))
			probe(ship, s);
		return;
	}
	s->hwm = h->expect - 1;
	common =
	    h->expect > s->probe_last && s->hwm - s->probe_last < SHIP_RING;
	if (h->expect == s->probe_last + 1 && h->chain != 0)
		common = h->chain == s->probe_chain;
	if (common || s->tail) {
		if (common)
			ship_advance(ship, s, s->probe_last, s->probe_chain);
		probe(ship, s);
	} else {
		ship_fork(ship, s);
	}
}

/* The store of this stream is another one than before.  Streams that say
 * nothing would not notice: they ask as well. */
static void
on_generation(
    struct ship *ship, const struct ship_stream *s, uint64_t generation)
{
	uint64_t before = s->generation;

	if (before == 0 || before == generation)
		return;
	for (uint32_t i = 0; i < ship->streams; i++) {
		struct ship_stream *other = ship->stream[i];

		if (other != NULL && other != s && other->state == SHIP_OPEN &&
		    other->generation == before)
			ship_say_hello(other, 0);
	}
}

/* ---- answers to a hello ------------------------------------------------- */

/* So far back from `seq` that the last number in common can be found. */
static uint64_t
ring_before(uint64_t seq)
{
	return seq > SHIP_RING ? seq - SHIP_RING : 1;
}

static void
go_back(struct ship *ship, struct ship_stream *s, uint64_t seq)
{
	s->state = SHIP_PARKED;
	ship->owner.rewind(ship->owner.arg, s->number, seq);
}

/* Where to go back to: where the keeper is, or, if what it has there is not
 * ours or cannot be told from ours because of a gap, before the last number in
 * common. */
static uint64_t
back_to(const struct ship *ship, const struct ship_stream *s,
    const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->chain == 0 || ship->derived ||
	    chain_before(ship, s, h->expect, &chain, &gap) != 1)
		return h->expect;
	if (chain == 0 ? !gap : chain == h->chain)
		return h->expect;
	return ring_before(h->expect);
}

/* Behind what we acknowledged to be ours there may be another life's batches:
 * once for each seam all is compared that its store remembers. */
static bool
is_to_compare(const struct ship *ship, const struct ship_stream *s,
    const struct wire_header *h)
{
	uint64_t from = ring_before(h->expect);

	return !ship->derived && h->run >= from && from < s->first &&
	       (s->seam.seq != h->run || s->seam.by != h->generation);
}

static void
on_hello_welcome(
    struct ship *ship, struct ship_stream *s, const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->expect < s->first) {
		go_back(ship, s, back_to(ship, s, h));
		return;
	}
	if (is_to_compare(ship, s, h)) {
		s->seam = (struct ship_said){ h->run, h->generation };
		go_back(ship, s, ring_before(h->expect));
		return;
	}
	if (h->expect == s->first) {
		if (h->chain != 0 && s->chain != 0 && h->chain != s->chain)
			ship_fork(ship, s);
		else
			open_stream(ship, s);
		return;
	}
	s->hwm = h->expect - 1;
	if (!ship->derived && h->run >= s->first)
		pass_gaps(ship, s); /* the seam may be in one of them */
	if (ship->derived)
		accept_all(ship, s, h->chain);
	else if (h->run >= s->first || s->first > s->hwm)
		probe(ship, s); /* each, for the last does not speak for all */
	else if (chain_before(ship, s, h->expect, &chain, &gap) == 0)
		probe(ship, s);
	else if (h->chain != 0 && chain != 0 && h->chain == chain)
		accept_all(ship, s, chain);
	else if (!gap || (h->chain != 0 && chain != 0))
		probe(ship, s);
	else if (!probe_tail(ship, s, s->hwm))
		probe(ship, s);
}

void
ship_on_welcome(struct ship *ship, struct ship_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool probing = s->state == SHIP_PROBE;

	if ((!probing && s->state != SHIP_HELLO) ||
	    h->sent_ns != s->hello_stamp_ns || s->hello_stamp_ns == 0 ||
	    h->expect == 0)
		return;
	ship_probe(ship, h, s->hello_sent_ns, now_ns);
	s->hello_stamp_ns = 0;
	s->timeout_ns = SHIP_TIMEOUT_MIN_NS;
	s->silences = 0;
	s->credit = h->credit_bytes;
	s->owed = h->last_seq;
	s->owed_chain = h->after;
	if (probing && h->generation != s->generation) {
		ship_ask_again(ship, s, now_ns);
		return;
	}
	on_generation(ship, s, h->generation);
	s->generation = h->generation;
	if (probing)
		on_probe_welcome(ship, s, h, now_ns);
	else
		on_hello_welcome(ship, s, h);
}

/* A newer run of our session exists: we are a copy.  What the keeper has and
 * is ours need not go with us into the next session. */
static void
on_hello_fenced(
    struct ship *ship, struct ship_stream *s, const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->expect > s->first && h->chain != 0 &&
	    chain_before(ship, s, h->expect, &chain, &gap) == 1 &&
	    chain == h->chain)
		ship_advance(ship, s, h->expect - 1, chain);
	ship_fork(ship, s);
}

/* Where the batches begin of which nothing is known but that they are gone. */
static uint64_t
before_gaps(const struct ship *ship, const struct ship_stream *s)
{
	struct ship_batch batch;
	uint64_t seq = s->first;

	while (seq > 1 && ship_read(ship, s, seq - 1, &batch) == 1 &&
	       ship_is_gap(&batch))
		seq = batch.seq;
	return seq;
}

/* Its chain before our first number is another one.  Of a hello that asks
 * where we stand this is about numbers that were acknowledged: its store was
 * lost, and somebody else's batches are there now.  What of ours is not there
 * goes again, or is told as a gap. */
static void
on_hello_forked(
    struct ship *ship, struct ship_stream *s, const struct wire_header *h)
{
	if (s->state == SHIP_PROBE && s->tail) {
		probe(ship, s);
		return;
	}
	if (s->state != SHIP_PROBE && s->first > 1 && !ship->derived) {
		if (s->denied.seq != s->first ||
		    s->denied.by != h->generation) {
			s->denied.seq = s->first;
			s->denied.by = h->generation;
			s->sessions++; /* not as fast as it says so */
			go_back(ship, s, ring_before(s->first));
			return;
		}
		/* All that can be compared is the same. */
		s->first = before_gaps(ship, s);
	}
	ship_fork(ship, s);
}

void
ship_on_hello_nack(struct ship *ship, struct ship_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	if (h->sent_ns != s->hello_stamp_ns || s->hello_stamp_ns == 0)
		return;
	s->hello_stamp_ns = 0;
	switch (h->reason) {
	case WIRE_NACK_FORKED:
		/* Of another store than the one that is compared with? */
		if (s->state == SHIP_PROBE && h->generation != s->generation)
			ship_ask_again(ship, s, now_ns);
		else
			on_hello_forked(ship, s, h);
		return;
	case WIRE_NACK_FENCED: on_hello_fenced(ship, s, h); return;
	case WIRE_NACK_BUSY:
		s->wait_ns = now_ns + ship_retry_ns(ship, s, h);
		break;
	default: s->wait_ns = now_ns + ship_back_off(ship, s);
	}
	s->hello_out = false;
}
