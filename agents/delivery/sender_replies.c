/*
 * sender_replies - the half of the sender that reads the aggregator's answers.
 *
 * An acknowledgement counts when it names our session, partition and generation
 * and batches that were sent, and the aggregator's running hash is ours.  Every
 * other answer except a plain nack leads to a hello (sender_hello.c).
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
#include "proto/os/clock.h"

#include <stdio.h>

#define RETRY_MIN_NS (INT64_C(10) * 1000000)

/* How long to wait before a hole is filled again, doubling: if the first
 * filling arrived, its acknowledgement comes sooner, when the aggregator has
 * committed it. */
#define FILL_AGAIN_NS (INT64_C(25) * 1000000)

void
sender_advance(struct sender *sender, struct sender_stream *s, uint64_t upto,
    uint64_t chain)
{
	s->first = upto + 1;
	s->chain = chain;
	s->anomalies = s->diverged_nacks = s->misreads = 0;
	s->refusals = 0;
	sender->owner.acked(sender->owner.arg, s->number, upto);
}

void
sender_diverge(struct sender *sender, struct sender_stream *s)
{
	s->state = SENDER_PARKED;
	s->sessions++;
	sender->owner.diverged(sender->owner.arg, s->number, s->first);
}

void
sender_ask_again(struct sender *sender, struct sender_stream *s, int64_t now_ns)
{
	int64_t wait_ns = 0;

	if (++s->anomalies > SENDER_ANOMALIES)
		wait_ns = now_ns + sender_back_off(sender, s);
	sender_say_hello(s, wait_ns);
}

int64_t
sender_retry_ns(
    struct sender *sender, struct sender_stream *s, const struct wire_header *h)
{
	int64_t wait_ns = (int64_t)h->retry_ms * 1000000;

	if (wait_ns == 0)
		return sender_back_off(sender, s);
	if (wait_ns < RETRY_MIN_NS)
		wait_ns = RETRY_MIN_NS;
	if (wait_ns > SENDER_TIMEOUT_MAX_NS)
		wait_ns = SENDER_TIMEOUT_MAX_NS;
	return sender_jittered(sender, wait_ns);
}

bool
sender_probe(const struct sender *sender, const struct wire_header *h,
    int64_t sent_ns, int64_t now_ns)
{
	const struct clock_offset_probe probe = { sent_ns, now_ns,
		h->received_ns, h->answered_ns };

	/* An older aggregator does not send its clock. */
	return sender->owner.probed != NULL && h->received_ns != 0 &&
	       h->answered_ns != 0 &&
	       sender->owner.probed(sender->owner.arg, &probe);
}

/* ---- answers to batches ---- */

/* The entry that this answer belongs to, by its send time; NULL: it answers an
 * older transmission. */
static struct sender_entry *
find_entry(struct sender_stream *s, int64_t stamp_ns)
{
	for (uint32_t i = 0; i < s->entries; i++)
		if (s->entry[i].stamp_ns == stamp_ns && stamp_ns != 0)
			return &s->entry[i];
	return NULL;
}

static void
remove_entries(struct sender_stream *s, uint32_t count)
{
	s->entries -= count;
	s->sent = s->sent > count ? s->sent - count : 0;
	memmove(s->entry, s->entry + count, s->entries * sizeof(s->entry[0]));
	s->next_bytes = 0;
}

/* The aggregator has all up to `upto`, with this running hash there.  False:
 * that is not what was sent. */
static bool
take_ack(struct sender *sender, struct sender_stream *s, uint64_t upto,
    uint64_t chain, int64_t now_ns)
{
	struct sender_entry last;
	uint32_t count = 0;

	while (count < s->entries && s->entry[count].last <= upto)
		count++;
	if (count == s->entries &&
	    (count == 0 || s->entry[count - 1].last != upto))
		return false;
	if (count == 0)
		return true; /* the first part of a gap */
	last = s->entry[count - 1];
	if (last.last == upto && chain != 0 && last.chain_after != 0 &&
	    chain != last.chain_after)
		return false;
	remove_entries(s, count);
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	if (s->hole <= upto) {
		s->hole = 0;
		s->unfilled = false;
	}
	if (!s->unfilled)
		s->deadline_ns =
		    now_ns + sender_jittered(sender, s->timeout_ns);
	s->silences = 0;
	s->sessions = 0;
	sender_advance(sender, s, last.last, last.chain_after);
	return true;
}

/* Our running hash at the acknowledged number does not prove that what is
 * stored under our first unacknowledged number is ours. */
static bool
crosses_boundary(const struct sender *sender, const struct sender_stream *s,
    const struct wire_header *h)
{
	return !sender->derived && h->start_count >= s->first &&
	       h->start_count < h->seq;
}

static void
on_ack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	const struct sender_entry *entry = find_entry(s, h->sent_ns);
	bool again = false;

	sender->counters.acks++;
	if (entry != NULL && now_ns >= entry->sent_ns) {
		sender->counters.rtt_ns = (uint64_t)(now_ns - entry->sent_ns);
		again = sender_probe(sender, h, entry->sent_ns, now_ns);
	}
	if (h->seq < s->first)
		return;
	s->credit = h->credit_bytes;
	s->wait_ns = 0;
	if (crosses_boundary(sender, s, h) ||
	    !take_ack(sender, s, h->seq, h->chain, now_ns))
		sender_ask_again(sender, s, now_ns);
	else if (s->credit == 0)
		s->wait_ns = now_ns + sender_jittered(sender, s->timeout_ns);
	else if (again && s->entries == 0)
		sender_say_hello(s, 0);
}

/* The deadline comes sooner, and does not count as silence: the peer
 * answers. */
static void
fill_later(struct sender *sender, struct sender_stream *s, int64_t now_ns)
{
	int64_t pause_ns = FILL_AGAIN_NS << s->fillings;
	int64_t at_ns = now_ns + sender_jittered(sender, pause_ns);

	if (s->unfilled || at_ns >= s->deadline_ns)
		return;
	s->unfilled = true;
	s->fillings++;
	s->deadline_ns = at_ns;
}

/* A batch was lost: resend from there.  Batches before it stay in flight: a
 * nack does not promise that they are on the aggregator's disk.
 *
 * The aggregator answers every batch after a hole in this way, but only the
 * last transmission of each counts: after a resend they follow the batch that
 * fills the hole, and such a nack then means that the filling was lost as
 * well, or is late.  It is sent again, but not as fast as the aggregator
 * repeats the nack. */
static void
on_gap(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	const struct sender_entry *entry = find_entry(s, h->sent_ns);
	uint32_t back = 0;

	/* Batches that wait to be sent again were already answered. */
	if (entry == NULL || entry >= s->entry + s->sent)
		return;
	while (back < s->entries && s->entry[back].seq != h->expect)
		back++;
	if (back == s->entries) {
		if (h->expect != s->entry[back - 1].last + 1)
			sender_ask_again(sender, s, now_ns);
	} else if (h->expect <= s->hole) {
		fill_later(sender, s, now_ns);
	} else {
		s->hole = h->expect;
		s->fillings = 0;
		if (back < s->sent)
			s->sent = back;
	}
}

/* The aggregator refuses the batch for good.  A broker in between may report
 * the same by mistake, so the batch is sent again before the owner is
 * informed. */
static void
on_refusal(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	struct sender_entry *entry = find_entry(s, h->sent_ns);
	uint64_t seq = s->first;

	if (entry == NULL || entry->seq != seq)
		return;
	entry->stamp_ns = 0; /* count one answer for each transmission */
	if (s->refused_seq != seq)
		s->refusals = 0;
	s->refused_seq = seq;
	s->sent = 0;
	/* A gap reports a loss: never give it up. */
	if (entry->gap || ++s->refusals < SENDER_REFUSALS) {
		int64_t wait_ns = now_ns + sender_back_off(sender, s);

		/* A hello shows whether the sender is authorized here; until
		 * it is, accepted batches wait. */
		if (h->reason == WIRE_NACK_FORBIDDEN)
			sender_say_hello(s, wait_ns);
		else
			s->wait_ns = wait_ns;
		return;
	}
	s->refusals = 0;
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	s->wait_ns = 0;
	s->entries = 0;
	sender->owner.refused(
	    sender->owner.arg, s->number, seq, (enum wire_reason)h->reason);
}

static void
on_batch_nack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	switch (h->reason) {
	case WIRE_NACK_GAP: on_gap(sender, s, h, now_ns); break;
	case WIRE_NACK_BUSY:
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		s->sent = 0;
		s->credit = h->credit_bytes;
		s->wait_ns = now_ns + sender_retry_ns(sender, s, h);
		break;
	case WIRE_NACK_SUPERSEDED:
		/* Late answers to an earlier start of ours report this as
		 * well. */
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		s->superseded = true;
		sender_ask_again(sender, s, now_ns);
		break;
	case WIRE_NACK_DIVERGED:
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		if (++s->diverged_nacks > SENDER_DIVERGED_NACKS)
			sender_diverge(sender, s);
		else
			sender_ask_again(sender, s, now_ns);
		break;
	case WIRE_NACK_FORBIDDEN:
	case WIRE_NACK_MALFORMED:
	case WIRE_NACK_TOO_BIG: on_refusal(sender, s, h, now_ns); break;
	case WIRE_NACK_OWNER:
	case WIRE_NACK_UNSUPPORTED:
		if (find_entry(s, h->sent_ns) != NULL)
			sender_say_hello(
			    s, now_ns + sender_back_off(sender, s));
		break;
	default: break;
	}
}

/* A broker answers for itself and knows no generation. */
static bool
is_from_between(const struct wire_header *h)
{
	return h->type == WIRE_NACK && h->generation == 0 &&
	       h->reason != WIRE_NACK_GAP &&
	       h->reason != WIRE_NACK_SUPERSEDED &&
	       h->reason != WIRE_NACK_DIVERGED;
}

static void
note_forbidden(struct sender *sender, const struct wire_header *h)
{
	struct text why = h->detail.bytes > 0
			      ? h->detail
			      : text_of("its keys do not allow it");
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];

	snprintf(sender->forbidden_why, sizeof(sender->forbidden_why), "%.*s",
	    (int)why.bytes, why.at);
	snprintf(sender->forbidden, sizeof(sender->forbidden),
	    "partition '%s', node '%s' is forbidden: %s",
	    text_quote(partition, sizeof(partition), h->partition),
	    text_quote(node, sizeof(node), h->node), sender->forbidden_why);
}

const char *
sender_forbidden(const struct sender *sender)
{
	return sender->forbidden;
}

const char *
sender_forbids(const struct sender *sender, uint32_t stream)
{
	const struct sender_stream *s =
	    stream < sender->streams ? sender->stream[stream] : NULL;

	return s != NULL && s->forbidden ? sender->forbidden_why : NULL;
}

static void
on_answer(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool nack = h->type == WIRE_NACK;

	if (nack && h->reason < WIRE_REASONS)
		sender->counters.nacks[h->reason]++;
	if (nack && h->reason == WIRE_NACK_FORBIDDEN)
		note_forbidden(sender, h);
	s->forbidden = nack && h->reason == WIRE_NACK_FORBIDDEN;
	if (s->state == SENDER_PARKED)
		return;
	if (h->type == WIRE_WELCOME) {
		sender_on_welcome(sender, s, h, now_ns);
	} else if (s->state != SENDER_OPEN) {
		if (nack)
			sender_on_hello_nack(sender, s, h, now_ns);
	} else if (h->generation != s->generation && !is_from_between(h)) {
		sender_ask_again(sender, s, now_ns); /* another store */
	} else if (nack) {
		on_batch_nack(sender, s, h, now_ns);
	} else {
		on_ack(sender, s, h, now_ns);
	}
	s->ready = true;
}

bool
sender_receive(
    struct sender *sender, struct text frame, int64_t now_ns, int64_t wall_ns)
{
	struct wire_header h;
	struct text body;

	(void)wall_ns;
	if (wire_open(frame, &h, &body) != WIRE_OK)
		return false;
	if (h.type != WIRE_WELCOME && h.type != WIRE_ACK && h.type != WIRE_NACK)
		return false;
	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *s = sender->stream[i];

		if (s != NULL && session_equal(&s->session, &h.session) &&
		    text_equal(h.partition,
			(struct text){ s->partition, s->partition_bytes })) {
			on_answer(sender, s, &h, now_ns);
			return true;
		}
	}
	return false;
}
