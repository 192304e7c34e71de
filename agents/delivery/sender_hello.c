/*
 * sender_hello - where a stream resumes: the answers to hellos.
 *
 * A welcome counts only when it answers the last hello, so that no late answer
 * to an earlier start can move a stream.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"

/* Our running hash before `seq` (0: not known), and whether a gap is there.
 * Returns 0 if the number before it was never assigned here. */
static int
chain_before(const struct sender *sender, const struct sender_stream *s,
    uint64_t seq, uint64_t *chain, bool *gap)
{
	struct sender_batch batch;
	int before = sender_read(sender, s, seq - 1, &batch);

	*gap = before == 1 && sender_is_gap(&batch);
	*chain = before == 1 && batch.last_seq == seq - 1
		     ? sender_chain_after(&batch)
		     : 0;
	if (*chain == 0 && sender_read(sender, s, seq, &batch) == 1 &&
	    batch.seq == seq) {
		*chain = batch.chain;
		return 1;
	}
	return before != 0;
}

/* The aggregator was restored, and its previous store had more of this
 * session. A spool that has not assigned these numbers, or has assigned
 * others, is another version of the spool; this store must not continue with
 * it, or nobody would notice the missing batches. */
static bool
is_other_version(const struct sender *sender, const struct sender_stream *s)
{
	uint64_t chain = s->chain;
	bool gap;

	if (s->missing == 0 || s->missing + 1 < s->first || sender->derived)
		return false;
	if (s->missing + 1 > s->first &&
	    chain_before(sender, s, s->missing + 1, &chain, &gap) == 0)
		return true;
	return s->missing_chain != 0 && chain != 0 && chain != s->missing_chain;
}

static void
open_stream(struct sender *sender, struct sender_stream *s)
{
	if (s->superseded || is_other_version(sender, s)) {
		sender_diverge(sender, s);
		return;
	}
	s->state = SENDER_OPEN;
	s->wait_ns = 0;
	s->ready = true;
}

/* ---- the last common number ---- */

/* Ask whether the aggregator has the same running hash after `batch`. */
static void
ask_about(struct sender_stream *s, const struct sender_batch *batch, bool tail)
{
	s->state = SENDER_PROBE;
	s->tail = tail;
	s->probe_last = batch->last_seq;
	s->probe_chain = sender_chain_after(batch);
	s->hello_out = false;
	s->hello_stamp_ns = 0;
	s->wait_ns = 0;
}

/* A gap of ours has no content that could differ. */
static void
pass(struct sender *sender, struct sender_stream *s,
    const struct sender_batch *gap)
{
	if (gap->last_seq > s->aggregator_last)
		sender_advance(sender, s, s->aggregator_last, 0);
	else
		sender_advance(
		    sender, s, gap->last_seq, sender_chain_after(gap));
}

static void
pass_gaps(struct sender *sender, struct sender_stream *s)
{
	struct sender_batch batch;

	while (s->first <= s->aggregator_last &&
	       sender_read(sender, s, s->first, &batch) == 1 &&
	       sender_is_gap(&batch))
		pass(sender, s, &batch);
}

/* Both sides agree up to s->first - 1; the aggregator has more, which is not
 * ours.  Ask for the next candidate, or report the first differing number.
 * Ask one by one and not by bisection: an aggregator agrees with every running
 * hash where it has a gap, so that its yes is about one number and not about
 * all before it. */
static void
probe(struct sender *sender, struct sender_stream *s)
{
	struct sender_batch batch;

	while (s->first <= s->aggregator_last) {
		bool there = sender_read(sender, s, s->first, &batch) == 1;

		/* The aggregator no longer remembers these numbers, so they
		 * cannot be compared: sending them again under a new session
		 * is safer than assuming that they were sent. */
		if (!there ||
		    (!sender_is_gap(&batch) &&
			s->aggregator_last - s->first >= SENDER_RING)) {
			sender_diverge(sender, s);
			return;
		}
		if (!sender_is_gap(&batch) && sender_chain_after(&batch) != 0) {
			ask_about(s, &batch, false);
			return;
		}
		pass(sender, s, &batch);
	}
	open_stream(sender, s);
}

/* The aggregator's last number is a gap of ours, where the running hash proves
 * nothing: ask about the batch before it, from `seq` down.  False: there is
 * none to ask about. */
static bool
probe_tail(struct sender *sender, struct sender_stream *s, uint64_t seq)
{
	struct sender_batch batch;

	while (seq >= s->first && s->aggregator_last - seq < SENDER_RING &&
	       sender_read(sender, s, seq, &batch) == 1) {
		if (!sender_is_gap(&batch) && sender_chain_after(&batch) != 0) {
			ask_about(s, &batch, true);
			return true;
		}
		seq = batch.seq - 1;
	}
	return false;
}

static void
accept_all(struct sender *sender, struct sender_stream *s, uint64_t chain)
{
	sender_advance(sender, s, s->aggregator_last, chain);
	open_stream(sender, s);
}

static void
on_probe_welcome(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool common;

	if (s->tail && h->expect != s->aggregator_last + 1) {
		sender_ask_again(sender, s, now_ns);
		return;
	}
	/* This does not prove that the content is the same: the aggregator may
	 * have a gap there, of another version of the spool. */
	if (s->tail && (h->flags & WIRE_FLAG_SAME) == 0) {
		if (!probe_tail(sender, s, s->probe_last - 1))
			probe(sender, s);
		return;
	}
	s->aggregator_last = h->expect - 1;
	common = h->expect > s->probe_last &&
		 s->aggregator_last - s->probe_last < SENDER_RING;
	if (h->expect == s->probe_last + 1 && h->chain != 0)
		common = h->chain == s->probe_chain;
	if (common || s->tail) {
		if (common)
			sender_advance(
			    sender, s, s->probe_last, s->probe_chain);
		probe(sender, s);
	} else {
		sender_diverge(sender, s);
	}
}

/* This stream has another store than before.  Idle streams would not notice:
 * they ask as well. */
static void
on_generation(
    struct sender *sender, const struct sender_stream *s, uint64_t generation)
{
	uint64_t before = s->generation;

	if (before == 0 || before == generation)
		return;
	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *other = sender->stream[i];

		if (other != NULL && other != s &&
		    other->state == SENDER_OPEN && other->generation == before)
			sender_say_hello(other, 0);
	}
}

/* ---- answers to a hello ---- */

/* A number far enough before `seq` that the last common number can be found. */
static uint64_t
ring_before(uint64_t seq)
{
	return seq > SENDER_RING ? seq - SENDER_RING : 1;
}

static void
resend_from(struct sender *sender, struct sender_stream *s, uint64_t seq)
{
	s->state = SENDER_PARKED;
	sender->owner.resend_from(sender->owner.arg, s->number, seq);
}

/* The number to resend from: the aggregator's, or, if its content there is not
 * ours or a gap of ours prevents the comparison, one before the last common
 * number. */
static uint64_t
resend_position(const struct sender *sender, const struct sender_stream *s,
    const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->chain == 0 || sender->derived ||
	    chain_before(sender, s, h->expect, &chain, &gap) != 1)
		return h->expect;
	if (chain == 0 ? !gap : chain == h->chain)
		return h->expect;
	return ring_before(h->expect);
}

/* Before the number that was acknowledged there may be batches of another
 * version of the spool: for each boundary compare, once, all that its store
 * remembers. */
static bool
is_to_compare(const struct sender *sender, const struct sender_stream *s,
    const struct wire_header *h)
{
	uint64_t from = ring_before(h->expect);

	return !sender->derived && h->start_count >= from && from < s->first &&
	       (s->boundary.seq != h->start_count ||
		   s->boundary.by != h->generation);
}

static void
on_hello_welcome(
    struct sender *sender, struct sender_stream *s, const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->expect < s->first) {
		resend_from(sender, s, resend_position(sender, s, h));
		return;
	}
	if (is_to_compare(sender, s, h)) {
		s->boundary =
		    (struct sender_report){ h->start_count, h->generation };
		resend_from(sender, s, ring_before(h->expect));
		return;
	}
	if (h->expect == s->first) {
		if (h->chain != 0 && s->chain != 0 && h->chain != s->chain)
			sender_diverge(sender, s);
		else
			open_stream(sender, s);
		return;
	}
	s->aggregator_last = h->expect - 1;
	if (!sender->derived && h->start_count >= s->first)
		pass_gaps(sender, s); /* the boundary may be in any of them */
	if (sender->derived)
		accept_all(sender, s, h->chain);
	else if (h->start_count >= s->first || s->first > s->aggregator_last)
		probe(sender, s); /* each of them: the last one does not prove
				     the others */
	else if (chain_before(sender, s, h->expect, &chain, &gap) == 0)
		probe(sender, s);
	else if (h->chain != 0 && chain != 0 && h->chain == chain)
		accept_all(sender, s, chain);
	else if (!gap || (h->chain != 0 && chain != 0))
		probe(sender, s);
	else if (!probe_tail(sender, s, s->aggregator_last))
		probe(sender, s);
}

void
sender_on_welcome(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool probing = s->state == SENDER_PROBE;

	if ((!probing && s->state != SENDER_HELLO) ||
	    h->sent_ns != s->hello_stamp_ns || s->hello_stamp_ns == 0 ||
	    h->expect == 0)
		return;
	sender_probe(sender, h, s->hello_sent_ns, now_ns);
	s->hello_stamp_ns = 0;
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	s->silences = 0;
	s->credit = h->credit_bytes;
	s->missing = h->last_seq;
	s->missing_chain = h->chain_after;
	if (probing && h->generation != s->generation) {
		sender_ask_again(sender, s, now_ns);
		return;
	}
	on_generation(sender, s, h->generation);
	s->generation = h->generation;
	if (probing)
		on_probe_welcome(sender, s, h, now_ns);
	else
		on_hello_welcome(sender, s, h);
}

/* A newer start of our session exists: this spool is a copy.  What the
 * aggregator has and is ours need not be sent in the new session. */
static void
on_hello_superseded(
    struct sender *sender, struct sender_stream *s, const struct wire_header *h)
{
	uint64_t chain;
	bool gap;

	if (h->expect > s->first && h->chain != 0 &&
	    chain_before(sender, s, h->expect, &chain, &gap) == 1 &&
	    chain == h->chain)
		sender_advance(sender, s, h->expect - 1, chain);
	sender_diverge(sender, s);
}

/* The first number of the gaps before `first`: these batches are only known to
 * be gone. */
static uint64_t
before_gaps(const struct sender *sender, const struct sender_stream *s)
{
	struct sender_batch batch;
	uint64_t seq = s->first;

	while (seq > 1 && sender_read(sender, s, seq - 1, &batch) == 1 &&
	       sender_is_gap(&batch))
		seq = batch.seq;
	return seq;
}

/* The aggregator has another running hash before our first number.  In answer
 * to a hello that only asks, this concerns acknowledged numbers: the store was
 * lost and now has another sender's batches there.  Batches of ours that it
 * does not have are sent again, or reported as a gap. */
static void
on_hello_diverged(
    struct sender *sender, struct sender_stream *s, const struct wire_header *h)
{
	if (s->state == SENDER_PROBE && s->tail) {
		probe(sender, s);
		return;
	}
	if (s->state != SENDER_PROBE && s->first > 1 && !sender->derived) {
		if (s->denied.seq != s->first ||
		    s->denied.by != h->generation) {
			s->denied.seq = s->first;
			s->denied.by = h->generation;
			s->sessions++; /* limits the rate: the aggregator
					  answers fast */
			resend_from(sender, s, ring_before(s->first));
			return;
		}
		/* All numbers that can be compared agree. */
		s->first = before_gaps(sender, s);
	}
	sender_diverge(sender, s);
}

void
sender_on_hello_nack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	if (h->sent_ns != s->hello_stamp_ns || s->hello_stamp_ns == 0)
		return;
	s->hello_stamp_ns = 0;
	switch (h->reason) {
	case WIRE_NACK_DIVERGED:
		/* Is this from another store than the one compared with? */
		if (s->state == SENDER_PROBE && h->generation != s->generation)
			sender_ask_again(sender, s, now_ns);
		else
			on_hello_diverged(sender, s, h);
		return;
	case WIRE_NACK_SUPERSEDED: on_hello_superseded(sender, s, h); return;
	case WIRE_NACK_BUSY:
		s->wait_ns = now_ns + sender_retry_ns(sender, s, h);
		break;
	default: s->wait_ns = now_ns + sender_back_off(sender, s);
	}
	s->hello_out = false;
}
