/*
 * sender_replies - the half of ship that reads what the keeper says.
 *
 * An acknowledgement counts when it is of our session, partition and
 * generation, of batches that were sent, and the keeper's chain is ours.  All
 * else that is not a plain nack leads to a hello (sender_hello.c).
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
#include "proto/os/clock.h"

#define RETRY_MIN_NS (INT64_C(10) * 1000000)

/* How long to leave a hole that was filled, and doubling: a filling that is
 * there is acknowledged in less, when the keeper has committed it. */
#define FILL_AGAIN_NS (INT64_C(25) * 1000000)

void
ship_advance(
    struct ship *ship, struct ship_stream *s, uint64_t upto, uint64_t chain)
{
	s->first = upto + 1;
	s->chain = chain;
	s->anomalies = s->forks = s->misreads = 0;
	s->refusals = 0;
	ship->owner.acked(ship->owner.arg, s->number, upto);
}

void
ship_fork(struct ship *ship, struct ship_stream *s)
{
	s->state = SHIP_PARKED;
	s->sessions++;
	ship->owner.forked(ship->owner.arg, s->number, s->first);
}

void
ship_ask_again(struct ship *ship, struct ship_stream *s, int64_t now_ns)
{
	int64_t wait_ns = 0;

	if (++s->anomalies > SHIP_ANOMALIES)
		wait_ns = now_ns + ship_back_off(ship, s);
	ship_say_hello(s, wait_ns);
}

int64_t
ship_retry_ns(
    struct ship *ship, struct ship_stream *s, const struct wire_header *h)
{
	int64_t wait_ns = (int64_t)h->retry_ms * 1000000;

	if (wait_ns == 0)
		return ship_back_off(ship, s);
	if (wait_ns < RETRY_MIN_NS)
		wait_ns = RETRY_MIN_NS;
	if (wait_ns > SHIP_TIMEOUT_MAX_NS)
		wait_ns = SHIP_TIMEOUT_MAX_NS;
	return ship_jittered(ship, wait_ns);
}

bool
ship_probe(const struct ship *ship, const struct wire_header *h,
    int64_t sent_ns, int64_t now_ns)
{
	const struct offset_probe probe = { sent_ns, now_ns, h->received_ns,
		h->answered_ns };

	/* An older keeper says nothing of its clock. */
	return ship->owner.probed != NULL && h->received_ns != 0 &&
	       h->answered_ns != 0 &&
	       ship->owner.probed(ship->owner.arg, &probe);
}

/* ---- answers to batches ------------------------------------------------- */

/* The entry that this answer is to, by its stamp; NULL: an older sending. */
static struct ship_entry *
find_entry(struct ship_stream *s, int64_t stamp_ns)
{
	for (uint32_t i = 0; i < s->entries; i++)
		if (s->entry[i].stamp_ns == stamp_ns && stamp_ns != 0)
			return &s->entry[i];
	return NULL;
}

static void
remove_entries(struct ship_stream *s, uint32_t count)
{
	s->entries -= count;
	s->sent = s->sent > count ? s->sent - count : 0;
	memmove(s->entry, s->entry + count, s->entries * sizeof(s->entry[0]));
	s->next_bytes = 0;
}

/* The keeper says that it has all up to `upto` and that `chain` is the chain
 * there.  False: that is not what was sent. */
static bool
take_ack(struct ship *ship, struct ship_stream *s, uint64_t upto,
    uint64_t chain, int64_t now_ns)
{
	struct ship_entry last;
	uint32_t count = 0;

	while (count < s->entries && s->entry[count].last <= upto)
		count++;
	if (count == s->entries &&
	    (count == 0 || s->entry[count - 1].last != upto))
		return false;
	if (count == 0)
		return true; /* the first part of a gap */
	last = s->entry[count - 1];
	if (last.last == upto && chain != 0 && last.after != 0 &&
	    chain != last.after)
		return false;
	remove_entries(s, count);
	s->timeout_ns = SHIP_TIMEOUT_MIN_NS;
	if (s->hole <= upto) {
		s->hole = 0;
		s->unfilled = false;
	}
	if (!s->unfilled)
		s->deadline_ns = now_ns + ship_jittered(ship, s->timeout_ns);
	s->silences = 0;
	s->sessions = 0;
	ship_advance(ship, s, last.last, last.after);
	return true;
}

/* Our chain at the number that is acknowledged does not say that what is kept
 * under our first unacknowledged one is ours. */
static bool
is_behind_seam(const struct ship *ship, const struct ship_stream *s,
    const struct wire_header *h)
{
	return !ship->derived && h->run >= s->first && h->run < h->seq;
}

static void
on_ack(struct ship *ship, struct ship_stream *s, const struct wire_header *h,
    int64_t now_ns)
{
	const struct ship_entry *entry = find_entry(s, h->sent_ns);
	bool again = false;

	ship->counters.acks++;
	if (entry != NULL && now_ns >= entry->sent_ns) {
		ship->counters.rtt_ns = (uint64_t)(now_ns - entry->sent_ns);
		again = ship_probe(ship, h, entry->sent_ns, now_ns);
	}
	if (h->seq < s->first)
		return;
	s->credit = h->credit_bytes;
	s->wait_ns = 0;
	if (is_behind_seam(ship, s, h) ||
	    !take_ack(ship, s, h->seq, h->chain, now_ns))
		ship_ask_again(ship, s, now_ns);
	else if (s->credit == 0)
		s->wait_ns = now_ns + ship_jittered(ship, s->timeout_ns);
	else if (again && s->entries == 0)
		ship_say_hello(s, 0);
}

/* The deadline comes sooner, and is no silence then: somebody answers. */
static void
fill_later(struct ship *ship, struct ship_stream *s, int64_t now_ns)
{
	int64_t pause_ns = FILL_AGAIN_NS << s->fillings;
	int64_t at_ns = now_ns + ship_jittered(ship, pause_ns);

	if (s->unfilled || at_ns >= s->deadline_ns)
		return;
	s->unfilled = true;
	s->fillings++;
	s->deadline_ns = at_ns;
}

/* Something between was lost: send again from there.  What is before it stays
 * under way: a nack is no promise that it is on the keeper's disk.
 *
 * Every batch behind a hole is answered so, but only the last sending of each
 * counts: what is sent after a go-back comes behind the filling of the hole,
 * and when that is answered so, the filling was lost as well, or is late.  It
 * is sent again, but not at the speed of a keeper that keeps saying so. */
static void
on_gap(struct ship *ship, struct ship_stream *s, const struct wire_header *h,
    int64_t now_ns)
{
	const struct ship_entry *entry = find_entry(s, h->sent_ns);
	uint32_t back = 0;

	/* What waits to be sent again was answered before. */
	if (entry == NULL || entry >= s->entry + s->sent)
		return;
	while (back < s->entries && s->entry[back].seq != h->expect)
		back++;
	if (back == s->entries) {
		if (h->expect != s->entry[back - 1].last + 1)
			ship_ask_again(ship, s, now_ns);
	} else if (h->expect <= s->hole) {
		fill_later(ship, s, now_ns);
	} else {
		s->hole = h->expect;
		s->fillings = 0;
		if (back < s->sent)
			s->sent = back;
	}
}

/* Refused for good, says the keeper; a confused one in between may say so
 * too, so it is asked again before the owner hears of it. */
static void
on_refusal(struct ship *ship, struct ship_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	struct ship_entry *entry = find_entry(s, h->sent_ns);
	uint64_t seq = s->first;

	if (entry == NULL || entry->seq != seq)
		return;
	entry->stamp_ns = 0; /* one answer to one sending */
	if (s->refused_seq != seq)
		s->refusals = 0;
	s->refused_seq = seq;
	s->sent = 0;
	/* A gap says that something is lost: that is never given up. */
	if (entry->gap || ++s->refusals < SHIP_REFUSALS) {
		int64_t wait_ns = now_ns + ship_back_off(ship, s);

		/* Who may not speak here at all is told so at a hello, and
		 * what was accepted waits until he may. */
		if (h->reason == WIRE_NACK_FORBIDDEN)
			ship_say_hello(s, wait_ns);
		else
			s->wait_ns = wait_ns;
		return;
	}
	s->refusals = 0;
	s->timeout_ns = SHIP_TIMEOUT_MIN_NS;
	s->wait_ns = 0;
	s->entries = 0;
	ship->owner.refused(
	    ship->owner.arg, s->number, seq, (enum wire_reason)h->reason);
}

static void
on_batch_nack(struct ship *ship, struct ship_stream *s,
    const struct wire_header *h, int64_t now_ns)
{
	switch (h->reason) {
	case WIRE_NACK_GAP: on_gap(ship, s, h, now_ns); break;
	case WIRE_NACK_BUSY:
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		s->sent = 0;
		s->credit = h->credit_bytes;
		s->wait_ns = now_ns + ship_retry_ns(ship, s, h);
		break;
	case WIRE_NACK_FENCED:
		/* Late answers to an earlier run of ours say this as well. */
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		s->fenced = true;
		ship_ask_again(ship, s, now_ns);
		break;
	case WIRE_NACK_FORKED:
		if (find_entry(s, h->sent_ns) == NULL)
			break;
		if (++s->forks > SHIP_FORKS)
			ship_fork(ship, s);
		else
			ship_ask_again(ship, s, now_ns);
		break;
	case WIRE_NACK_FORBIDDEN:
	case WIRE_NACK_MALFORMED:
	case WIRE_NACK_TOO_BIG: on_refusal(ship, s, h, now_ns); break;
	case WIRE_NACK_OWNER:
	case WIRE_NACK_UNSUPPORTED:
		if (find_entry(s, h->sent_ns) != NULL)
			ship_say_hello(s, now_ns + ship_back_off(ship, s));
		break;
	default: break;
	}
}

/* A broker answers for itself, and knows no generation. */
static bool
is_from_between(const struct wire_header *h)
{
	return h->type == WIRE_NACK && h->generation == 0 &&
	       h->reason != WIRE_NACK_GAP && h->reason != WIRE_NACK_FENCED &&
	       h->reason != WIRE_NACK_FORKED;
}

static void
on_answer(struct ship *ship, struct ship_stream *s, const struct wire_header *h,
    int64_t now_ns)
{
	bool nack = h->type == WIRE_NACK;

	if (nack && h->reason < WIRE_REASONS)
		ship->counters.nacks[h->reason]++;
	if (s->state == SHIP_PARKED)
		return;
	if (h->type == WIRE_WELCOME) {
		ship_on_welcome(ship, s, h, now_ns);
	} else if (s->state != SHIP_OPEN) {
		if (nack)
			ship_on_hello_nack(ship, s, h, now_ns);
	} else if (h->generation != s->generation && !is_from_between(h)) {
		ship_ask_again(ship, s, now_ns); /* the store is another one */
	} else if (nack) {
		on_batch_nack(ship, s, h, now_ns);
	} else {
		on_ack(ship, s, h, now_ns);
	}
	s->ready = true;
}

bool
ship_receive(
    struct ship *ship, struct text frame, int64_t now_ns, int64_t wall_ns)
{
	struct wire_header h;
	struct text body;

	(void)wall_ns;
	if (wire_open(frame, &h, &body) != WIRE_OK)
		return false;
	if (h.type != WIRE_WELCOME && h.type != WIRE_ACK && h.type != WIRE_NACK)
		return false;
	for (uint32_t i = 0; i < ship->streams; i++) {
		struct ship_stream *s = ship->stream[i];

		if (s != NULL && session_equal(&s->session, &h.session) &&
		    text_equal(h.partition,
			(struct text){ s->partition, s->partition_bytes })) {
			on_answer(ship, s, &h, now_ns);
			return true;
		}
	}
	return false;
}
