/*
 * sender_replies - the half of the sender that reads the aggregator's answers.
 *
 * An acknowledgement counts when it names our session, partition and generation
 * and batches that were sent.  Every other answer except a plain nack leads to
 * a hello; a welcome counts only when it answers the last hello, so that no
 * late answer to an earlier one can move a stream.
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

/* Ask the aggregator for its position, but not as fast as it repeats answers
 * that do not fit. */
static void
ask_again(struct sender *sender, struct sender_stream *s, int64_t now_ns)
{
	int64_t wait_ns = 0;

	if (++s->anomalies > SENDER_ANOMALIES)
		wait_ns = now_ns + sender_back_off(sender, s);
	sender_say_hello(s, wait_ns);
}

/* The pause that a nack "busy" asks for. */
static int64_t
retry_ns(
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

/* The answer belongs to the frame sent at `sent_ns` (monotonic). */
static bool
probe(const struct sender *sender, const struct wire_header *h, int64_t sent_ns,
    int64_t now_ns)
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

/* The aggregator has all up to `upto`.  False: that is not what was sent. */
static bool
take_ack(struct sender *sender, struct sender_stream *s, uint64_t upto,
    int64_t now_ns)
{
	uint32_t count = 0;
	uint64_t last;

	while (count < s->entries && s->entry[count].last <= upto)
		count++;
	if (count == s->entries &&
	    (count == 0 || s->entry[count - 1].last != upto))
		return false;
	if (count == 0)
		return true; /* the first part of a gap */
	last = s->entry[count - 1].last;
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
	s->anomalies = s->misreads = s->refusals = 0;
	sender->divergences = 0;
	s->pending.acked = last;
	return true;
}

/* The store could not compare what is before these numbers, because it has a
 * gap there. */
static bool
speaks_for_us(const struct sender_stream *s, const struct wire_header *h)
{
	return (h->flags & WIRE_FLAG_ALONE) == 0 || s->entries == 0 ||
	       s->entry[0].last == h->seq;
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
		again = probe(sender, h, entry->sent_ns, now_ns);
	}
	if (h->seq < sender_first(sender, s) || !speaks_for_us(s, h))
		return;
	s->credit = h->credit_bytes;
	s->wait_ns = 0;
	if (!take_ack(sender, s, h->seq, now_ns))
		ask_again(sender, s, now_ns);
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
			ask_again(sender, s, now_ns);
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
	uint64_t seq = sender_first(sender, s);

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
	s->pending.act = (struct sender_step){ .action = SENDER_REFUSED,
		.seq = seq,
		.reason = (enum wire_reason)h->reason };
}

/* Another life of this session has other content under the number.  What was
 * sent before it may be ours: its answers come first. */
static void
on_diverged(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	const struct sender_entry *entry = find_entry(s, h->sent_ns);

	if (entry == NULL || entry >= s->entry + s->sent)
		return;
	if (entry->seq != sender_first(sender, s)) {
		s->diverged_seq = entry->seq;
		s->sent = (uint32_t)(entry - s->entry);
		return;
	}
	s->entries = s->sent = 0;
	s->wait_ns = now_ns + sender_back_off(sender, s);
	sender->divergences++;
	s->pending.act = (struct sender_step){ .action = SENDER_DIVERGED,
		.seq = entry->seq };
}

/* The session is not ours: it goes on under another one, from the first
 * unacknowledged number.  The store was asked, and will not say more. */
static void
on_taken(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	uint64_t first = sender_first(sender, s);

	sender_say_hello(s, now_ns + sender_back_off(sender, s));
	sender->divergences++;
	s->generation = h->generation;
	s->pending.welcomed = true;
	s->pending.act = (struct sender_step){ .action = SENDER_DIVERGED,
		.reason = WIRE_NACK_FORBIDDEN,
		.is_dropped = (h->flags & WIRE_FLAG_DROPPED) != 0,
		.seq = first };
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
		s->wait_ns = now_ns + retry_ns(sender, s, h);
		break;
	case WIRE_NACK_DIVERGED: on_diverged(sender, s, h, now_ns); break;
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
	       h->reason != WIRE_NACK_GAP && h->reason != WIRE_NACK_DIVERGED;
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

	return s != NULL && s->unwanted == WIRE_NACK_FORBIDDEN
		   ? sender->forbidden_why
		   : NULL;
}

bool
sender_is_unwanted(const struct sender *sender, uint32_t stream)
{
	return stream < sender->streams && sender->stream[stream] != NULL &&
	       sender->stream[stream]->unwanted != WIRE_REASON_NONE;
}

/* ---- answers to hellos ---- */

/* This stream has another store than before, and so have others: those of its
 * partition, and those that had the same store.  Idle ones would not notice:
 * they ask as well. */
static void
on_generation(
    struct sender *sender, const struct sender_stream *s, uint64_t before)
{
	struct text partition = { s->partition, s->partition_bytes };

	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *other = sender->stream[i];

		if (other == NULL || other == s ||
		    other->state != SENDER_OPEN ||
		    other->generation == s->generation)
			continue;
		if (other->generation == before ||
		    text_equal(partition, (struct text){ other->partition,
					      other->partition_bytes }))
			sender_say_hello(other, 0);
	}
}

/* Our running hash before `seq`; 0: not known. */
static uint64_t
hash_before(
    const struct sender *sender, const struct sender_stream *s, uint64_t seq)
{
	struct sender_batch batch;

	if (sender_read(sender, s, seq, &batch) == 1 && batch.seq == seq &&
	    batch.chain != 0)
		return batch.chain;
	if (sender_read(sender, s, seq - 1, &batch) == 1 &&
	    batch.last_seq == seq - 1)
		return sender_hash_after(&batch);
	return 0;
}

/* Does our running hash before `to` cover all batches from `from` on?  A gap
 * begins a new one. */
static bool
is_whole(const struct sender *sender, const struct sender_stream *s,
    uint64_t from, uint64_t to)
{
	struct sender_batch batch;

	for (; from < to; from = batch.last_seq + 1)
		if (sender_read(sender, s, from, &batch) != 1 ||
		    batch.seq != from || sender_is_gap(&batch))
			return false;
	return true;
}

/* From where on the store needs our batches.  If it is another store than that
 * which acknowledged them, or has lost some, another life of this session may
 * have been faster: then it has to compare all that is left, unless its running
 * hash proves that all it has is ours. */
static uint64_t
position(const struct sender *sender, const struct sender_stream *s,
    const struct wire_header *h, uint64_t first)
{
	bool is_same = h->generation == s->generation && h->expect >= first;

	if (is_same)
		return first;
	/* Who does not know another store may be a copy that the first one
	 * has left behind. */
	if (s->generation == 0 && (first == 1 || h->expect > first))
		return 1;
	if (h->chain == 0 || !is_whole(sender, s, first, h->expect) ||
	    hash_before(sender, s, h->expect) != h->chain)
		return 1;
	return h->expect;
}

static bool
answers_hello(const struct sender_stream *s, const struct wire_header *h)
{
	return s->state == SENDER_HELLO && s->hello_stamp_ns != 0 &&
	       h->sent_ns == s->hello_stamp_ns;
}

static void
on_welcome(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	uint64_t first = sender_first(sender, s), before = s->generation;
	uint64_t from = first;

	if (!answers_hello(s, h) || h->expect == 0)
		return;
	if (!sender->derived)
		from = position(sender, s, h, first);
	else if (h->expect < first)
		from = h->expect;
	probe(sender, h, s->hello_sent_ns, now_ns);
	s->hello_stamp_ns = 0;
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	s->silences = 0;
	s->credit = h->credit_bytes;
	s->generation = h->generation;
	s->state = SENDER_OPEN;
	s->wait_ns = 0;
	s->pending.welcomed = true;
	if (from < first)
		s->pending.act = (struct sender_step){ .action = SENDER_REWIND,
			.seq = from };
	else if (h->expect > first && (sender->derived || from > first))
		s->pending.acked = h->expect - 1;
	s->pending.is_claim = sender->derived && s->pending.acked != 0;
	s->pending.chain = h->chain;
	on_generation(sender, s, before);
}

static void
on_hello_nack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	if (!answers_hello(s, h))
		return;
	s->hello_stamp_ns = 0;
	s->hello_out = false;
	s->wait_ns =
	    now_ns + (h->reason == WIRE_NACK_BUSY ? retry_ns(sender, s, h)
						  : sender_back_off(sender, s));
}

static void
on_answer(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	bool nack = h->type == WIRE_NACK;
	bool forbidden = nack && h->reason == WIRE_NACK_FORBIDDEN;
	bool taken = forbidden && h->generation != 0 &&
		     (h->flags & WIRE_FLAG_TAKEN) != 0;

	/* What is forbidden is this session, not what the key may do. */
	if (nack && h->reason < WIRE_REASONS && !taken)
		sender->counters.nacks[h->reason]++;
	s->unwanted = WIRE_REASON_NONE;
	if (nack && !taken && (forbidden || h->reason == WIRE_NACK_OWNER))
		s->unwanted = h->reason;
	if (s->unwanted == WIRE_NACK_FORBIDDEN)
		note_forbidden(sender, h);
	if (sender_is_held(s))
		return;
	if (taken) {
		if (answers_hello(s, h) || find_entry(s, h->sent_ns) != NULL)
			on_taken(sender, s, h, now_ns);
	} else if (h->type == WIRE_WELCOME) {
		on_welcome(sender, s, h, now_ns);
	} else if (s->state != SENDER_OPEN) {
		if (nack)
			on_hello_nack(sender, s, h, now_ns);
	} else if (h->generation != s->generation && !is_from_between(h)) {
		ask_again(sender, s, now_ns); /* another store */
	} else if (nack) {
		on_batch_nack(sender, s, h, now_ns);
	} else {
		on_ack(sender, s, h, now_ns);
	}
	s->ready = true;
}

bool
sender_receive(struct sender *sender, struct text frame, int64_t now_ns)
{
	struct wire_header h;
	struct text body;

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
