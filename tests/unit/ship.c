/*
 * ship - the sender's rules, one by one.  What they add up to is for
 * tests/fault/simulate.c.
 * SPDX-License-Identifier: MIT
 */
#include "agents/ship.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proto/crc32c.h"
#include "proto/hash.h"

#define MS   INT64_C(1000000)
#define WALL INT64_C(1700000000000000000)

enum { BATCHES = 64, SENT = 256, KEEPER_HAS = 20 };

struct sent {
	struct wire_header header;
	char partition[32];
	uint32_t bytes;
};

/* An owner with two streams of batches 1, 2, 3 ... and a line. */
static struct world {
	struct ship *ship;
	struct session_id session;
	int64_t now;
	uint64_t batches[2];       /* there are 1 .. batches */
	uint64_t gap_from, gap_to; /* of stream 0 */
	uint64_t unreadable;       /* stream 0: read says -1 */
	uint32_t body_bytes;
	bool line_is_full;
	uint64_t tries;
	struct sent sent[SENT];
	uint32_t count;
	uint64_t acked[2], refused, rewound, forked;
	enum wire_reason reason;
	uint32_t refusals;
	struct offset_probe probe;
	uint32_t probes;
	bool wants_another;
	unsigned char body[200 << 10];
} w;

static struct text
body_of(uint64_t seq)
{
	memset(w.body, (int)seq, w.body_bytes);
	return (struct text){ (char *)w.body, w.body_bytes };
}

/* The chain after `seq` batches. */
static uint64_t
chain_after(uint64_t seq)
{
	uint64_t chain = 0;

	for (uint64_t n = 1; n <= seq; n++)
		chain = hash_chain(chain,
		    crc32c(0, body_of(n).at, w.body_bytes), w.body_bytes, 3);
	return chain;
}

static bool
on_send(void *arg, struct text frame)
{
	struct sent *sent = &w.sent[w.count];
	struct text body;

	(void)arg;
	w.tries++;
	if (w.line_is_full)
		return false;
	assert_true(w.count < SENT);
	assert_int_equal(wire_open(frame, &sent->header, &body), WIRE_OK);
	memset(sent->partition, 0, sizeof(sent->partition));
	memcpy(sent->partition, sent->header.partition.at,
	    sent->header.partition.bytes);
	sent->bytes = body.bytes;
	w.count++;
	return true;
}

static int
on_read(void *arg, uint32_t stream, uint64_t seq, struct ship_batch *batch)
{
	(void)arg;
	if (seq > w.batches[stream])
		return 0;
	if (stream == 0 && seq == w.unreadable)
		return -1;
	batch->seq = batch->last_seq = seq;
	batch->chain = chain_after(seq - 1);
	batch->records = 3;
	if (stream == 0 && seq >= w.gap_from && seq <= w.gap_to) {
		batch->seq = w.gap_from;
		batch->last_seq = w.gap_to;
		batch->reason = WIRE_GAP_DAMAGED;
		batch->chain = chain_after(w.gap_from - 1);
		return 1;
	}
	batch->body = body_of(seq);
	batch->body_bytes = w.body_bytes;
	return 1;
}

static void
on_acked(void *arg, uint32_t stream, uint64_t upto)
{
	(void)arg;
	assert_true(upto > w.acked[stream]);
	w.acked[stream] = upto;
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	(void)arg;
	(void)stream;
	w.refused = seq;
	w.reason = reason;
	w.refusals++;
	w.gap_from = w.gap_to = seq;
}

static void
on_rewind(void *arg, uint32_t stream, uint64_t seq)
{
	(void)arg;
	(void)stream;
	w.rewound = seq;
}

static void
on_forked(void *arg, uint32_t stream, uint64_t seq)
{
	(void)arg;
	(void)stream;
	w.forked = seq;
}

static bool
on_probed(void *arg, const struct offset_probe *probe)
{
	(void)arg;
	w.probe = *probe;
	w.probes++;
	return w.wants_another;
}

static const char *const partitions[] = { "acct$a", "acct$b" };

static void
restart(uint32_t stream, uint64_t first)
{
	assert_int_equal(
	    ship_restart(w.ship, stream, text_of(partitions[stream]),
		&w.session, first, chain_after(first - 1), w.now),
	    0);
}

static int
begin_as(void **state, bool derived)
{
	struct ship_options options = {
		.node = text_of("n1"), .run = 7, .seed = 1, .derived = derived
	};
	struct ship_owner owner = { NULL, on_send, on_read, on_acked,
		on_refused, on_rewind, on_forked, on_probed, NULL };
	struct err err;

	(void)state;
	memset(&w, 0, sizeof(w));
	memset(w.session.bytes, 9, sizeof(w.session.bytes));
	w.now = 1000 * MS;
	w.body_bytes = 100;
	return ship_new(&w.ship, &options, &owner, &err);
}

static int
begin(void **state)
{
	return begin_as(state, false);
}

static int
end(void **state)
{
	(void)state;
	ship_free(&w.ship);
	return 0;
}

/* ---- talking ------------------------------------------------------------ */

static void
push(void)
{
	ship_push(w.ship, w.now, WALL + w.now);
}

static void
wait_ms(int64_t ms)
{
	w.now += ms * MS;
	push();
}

static const struct sent *
last(void)
{
	assert_true(w.count > 0);
	return &w.sent[w.count - 1];
}

/* An answer to the frame `to`, as this keeper (generation 5) gives it. */
static struct wire_header
answer(enum wire_type type, const struct sent *to)
{
	return (struct wire_header){ .type = type,
		.partition = text_of(to->partition),
		.node = text_of("head"),
		.session = w.session,
		.seq = to->header.seq,
		.sent_ns = to->header.sent_ns,
		.generation = 5,
		.credit_bytes = 512 << 10 };
}

static bool
give(struct wire_header h)
{
	unsigned char frame[2048];
	size_t bytes =
	    wire_frame(frame, sizeof(frame), &h, (struct text){ NULL, 0 });
	bool taken;

	assert_true(bytes > 0);
	taken = ship_receive(w.ship,
	    (struct text){ (char *)frame, (uint32_t)bytes }, w.now,
	    WALL + w.now);
	push();
	return taken;
}

static void
welcome_with(const struct sent *to, uint64_t expect_seq, uint16_t flags)
{
	struct wire_header h = answer(WIRE_WELCOME, to);

	h.expect = expect_seq;
	h.chain = chain_after(expect_seq - 1);
	h.flags = flags;
	assert_true(give(h));
}

static void
welcome(const struct sent *to, uint64_t expect_seq)
{
	welcome_with(to, expect_seq, 0);
}

static void
ack(uint64_t seq)
{
	struct wire_header h = answer(WIRE_ACK, last());

	h.seq = seq;
	h.chain = chain_after(seq);
	assert_true(give(h));
}

static void
nack(const struct sent *to, enum wire_reason reason, uint64_t expect_seq)
{
	struct wire_header h = answer(WIRE_NACK, to);

	h.reason = reason;
	h.expect = expect_seq;
	assert_true(give(h));
}

/* Stream 0 with so many batches says hello at `first`. */
static void
ask_with(uint64_t batches, uint64_t first)
{
	w.batches[0] = batches;
	restart(0, first);
	push();
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, first);
}

/* ... and is welcomed there. */
static void
open_with(uint64_t batches, uint64_t first)
{
	ask_with(batches, first);
	welcome(last(), first);
}

static void
put_gap(uint64_t from, uint64_t to)
{
	w.gap_from = from;
	w.gap_to = to;
}

/* ---- the plain way ------------------------------------------------------ */

static void
nothing_but_a_hello_goes_out_before_the_welcome(void **state)
{
	(void)state;
	w.batches[0] = 3;
	restart(0, 1);
	push();
	assert_int_equal(w.count, 1);
	assert_int_equal(w.sent[0].header.type, WIRE_HELLO);
	assert_int_equal(w.sent[0].header.seq, 1);
	assert_int_equal(w.sent[0].header.run, 7);
	assert_string_equal(w.sent[0].partition, "acct$a");
	welcome(&w.sent[0], 1);
	assert_int_equal(w.count, 4);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(w.sent[i].header.type, WIRE_BATCH);
		assert_int_equal(w.sent[i].header.seq, i);
		assert_int_equal(w.sent[i].header.records, 3);
		assert_true(w.sent[i].header.chain == chain_after(i - 1));
	}
}

static void
at_most_eight_batches_are_under_way(void **state)
{
	(void)state;
	open_with(20, 1);
	assert_int_equal(w.count, 9);
	assert_int_equal(ship_in_flight(w.ship), 8);
	ack(3);
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(last()->header.seq, 11);
	ack(11);
	ack(19);
	ack(20);
	assert_int_equal(w.acked[0], 20);
	assert_int_equal(ship_in_flight(w.ship), 0);
	assert_int_equal(ship_deadline_ns(w.ship), 0);
	assert_int_equal(ship_counters(w.ship)->batches, 20);
	assert_int_equal(ship_counters(w.ship)->resent, 0);
}

static void
the_window_is_512_KiB_or_the_credit(void **state)
{
	struct wire_header h;

	(void)state;
	w.body_bytes = 200 << 10;
	open_with(20, 1);
	assert_int_equal(w.count, 3);
	h = answer(WIRE_ACK, last());
	h.seq = 2;
	h.chain = chain_after(2);
	h.credit_bytes = 300 << 10;
	give(h);
	assert_int_equal(w.count, 4);
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.credit_bytes = 1;
	give(h);
	assert_int_equal(w.count, 5); /* one always may go */
}

static void
without_credit_one_batch_goes_per_time_out(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(20, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 8;
	h.credit_bytes = 0;
	give(h);
	assert_int_equal(w.count, 9);
	assert_true(ship_deadline_ns(w.ship) > w.now);
	wait_ms(1300);
	assert_int_equal(w.count, 10);
	wait_ms(100);
	assert_int_equal(w.count, 10);
	ack(9);
	assert_int_equal(w.count, 18);
}

static void
what_comes_later_goes_out_when_pushed(void **state)
{
	(void)state;
	open_with(0, 1);
	assert_int_equal(w.count, 1);
	w.batches[0] = 1;
	push();
	assert_int_equal(w.count, 2);
	ack(1);
	assert_int_equal(w.acked[0], 1);
}

static void
streams_do_not_disturb_each_other(void **state)
{
	(void)state;
	w.batches[0] = w.batches[1] = 2;
	restart(0, 1);
	restart(1, 1);
	push();
	assert_int_equal(w.count, 2);
	welcome(&w.sent[0], 1);
	welcome(&w.sent[1], 1);
	assert_int_equal(w.count, 6);
	ack(2); /* of the one that sent last */
	assert_int_equal(w.acked[0] + w.acked[1], 2);
	assert_int_equal(ship_in_flight(w.ship), 2);
}

/* ---- what is not believed ----------------------------------------------- */

static void
stale_and_repeated_acks_move_nothing(void **state)
{
	(void)state;
	open_with(8, 1);
	ack(5);
	ack(5); /* on_acked asserts that it moves */
	ack(2);
	assert_int_equal(w.acked[0], 5);
	assert_int_equal(w.count, 9);
}

static void
an_ack_beyond_what_was_sent_is_a_question(void **state)
{
	(void)state;
	open_with(3, 1);
	w.batches[0] = 20;
	ack(15);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
}

static void
an_ack_of_somebody_else_is_not_ours(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(3, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.partition = text_of("acct$b");
	assert_false(give(h));
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.session.bytes[0] ^= 1;
	assert_false(give(h));
	assert_int_equal(w.acked[0], 0);
	assert_false(ship_receive(w.ship, text_of("garbage"), w.now, WALL));
}

static void
an_ack_of_another_generation_is_a_question(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(3, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.generation = 6;
	assert_true(give(h));
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
}

static void
an_ack_with_another_chain_is_a_question(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(3, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.chain = chain_after(3) ^ 1;
	give(h);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
}

static void
a_welcome_to_an_older_hello_is_ignored(void **state)
{
	(void)state;
	ask_with(3, 1);
	wait_ms(1300);
	assert_int_equal(w.count, 2);
	welcome(&w.sent[0], 4);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.acked[0], 0);
	welcome(&w.sent[1], 1);
	assert_int_equal(w.count, 5);
}

/* ---- lost and late ------------------------------------------------------ */

static void
silence_sends_again_after_growing_pauses(void **state)
{
	int64_t pause_ms = 1000;

	(void)state;
	open_with(2, 1);
	assert_int_equal(w.count, 3);
	for (int i = 0; i < 8; i++) {
		uint32_t before = w.count;
		int64_t due = ship_deadline_ns(w.ship);

		assert_true(due >= w.now + pause_ms * MS);
		assert_true(due <= w.now + pause_ms * MS * 5 / 4);
		w.now = due - 1;
		push();
		assert_int_equal(w.count, before);
		w.now = due;
		push();
		/* From the second silence on one batch asks. */
		assert_int_equal(w.count, before + (i == 0 ? 2 : 1));
		assert_int_equal(w.sent[before].header.seq, 1);
		pause_ms = pause_ms * 2 > 60000 ? 60000 : pause_ms * 2;
	}
	ack(1);
	assert_int_equal(last()->header.seq, 2);
	assert_true(ship_deadline_ns(w.ship) <= w.now + 1250 * MS);
}

static void
a_hole_is_gone_back_to_once(void **state)
{
	(void)state;
	open_with(8, 1);
	nack(&w.sent[4], WIRE_NACK_GAP, 3); /* number 4 came after 2 */
	assert_int_equal(w.count, 9 + 6);
	assert_int_equal(w.sent[9].header.seq, 3);
	nack(&w.sent[5], WIRE_NACK_GAP, 3);
	nack(&w.sent[6], WIRE_NACK_GAP, 3);
	assert_int_equal(w.count, 9 + 6);
}

/* Stream 0 with number 3 missing, sent again, and missing again. */
static void
open_with_a_hole(void)
{
	open_with(8, 1);
	nack(&w.sent[4], WIRE_NACK_GAP, 3);
	assert_int_equal(w.count, 9 + 6);
	nack(&w.sent[10], WIRE_NACK_GAP, 3); /* 4, sent behind the filling */
	assert_int_equal(w.count, 9 + 6);
}

static void
a_filling_that_was_lost_too_is_sent_again_soon(void **state)
{
	(void)state;
	open_with_a_hole();
	for (int64_t pause_ms = 25; pause_ms < 1000; pause_ms *= 2) {
		uint32_t before = w.count;
		int64_t due = ship_deadline_ns(w.ship);

		assert_true(due >= w.now + pause_ms * MS);
		assert_true(due <= w.now + pause_ms * MS * 5 / 4);
		w.now = due;
		push();
		assert_int_equal(w.count, before + 8);
		assert_int_equal(w.sent[before].header.seq, 1);
		nack(last(), WIRE_NACK_GAP, 3);
		nack(last(), WIRE_NACK_GAP, 3);
		assert_int_equal(w.count, before + 8);
	}
	/* All this was no silence. */
	assert_int_equal(ship_counters(w.ship)->timeouts, 0);
}

static void
an_ack_before_the_hole_does_not_put_it_off(void **state)
{
	int64_t due;

	(void)state;
	open_with_a_hole();
	due = ship_deadline_ns(w.ship);
	ack(2);
	assert_int_equal(ship_deadline_ns(w.ship), due);
	w.now = due;
	push();
	assert_int_equal(w.count, 9 + 6 + 6);
	assert_int_equal(w.sent[15].header.seq, 3);
	ack(3);
	assert_true(ship_deadline_ns(w.ship) >= w.now + 1000 * MS);
}

static void
a_filling_that_waits_for_the_line_is_not_gone_back_to(void **state)
{
	(void)state;
	open_with(8, 1);
	w.line_is_full = true;
	nack(&w.sent[4], WIRE_NACK_GAP, 3);
	nack(&w.sent[5], WIRE_NACK_GAP, 3);
	w.line_is_full = false;
	wait_ms(10);
	assert_int_equal(w.count, 9 + 6);
	nack(&w.sent[6], WIRE_NACK_GAP, 3);
	assert_int_equal(w.count, 9 + 6);
}

/* One that says "gap" to everything, and names two holes in turn. */
static void
a_keeper_that_only_says_gap_does_not_set_the_pace(void **state)
{
	(void)state;
	open_with(8, 1);
	for (int i = 0; i < 1000; i++) {
		w.now += MS;
		nack(last(), WIRE_NACK_GAP, 3 + (uint64_t)(i % 2));
	}
	assert_in_range(w.count, 9 + 8, 9 + 8 * 8);
}

static void
a_nack_is_no_acknowledgement(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(8, 1);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_GAP;
	h.expect = 5;
	h.chain = chain_after(4);
	give(h);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(ship_in_flight(w.ship), 8);
	ack(8);
	assert_int_equal(w.acked[0], 8);
}

static void
a_new_connection_sends_all_again(void **state)
{
	(void)state;
	open_with(3, 1);
	ship_reconnected(w.ship, w.now);
	push();
	assert_int_equal(w.count, 7);
	assert_int_equal(w.sent[4].header.seq, 1);
	assert_int_equal(ship_counters(w.ship)->resent, 3);
}

static void
a_full_line_is_tried_at_most_once_a_second(void **state)
{
	(void)state;
	w.batches[0] = 3;
	w.line_is_full = true;
	restart(0, 1);
	push();
	for (int i = 0; i < 100; i++) {
		assert_true(ship_deadline_ns(w.ship) > w.now);
		w.now = ship_deadline_ns(w.ship);
		push();
	}
	assert_int_equal(w.tries, 101);
	assert_true(w.now > 90 * 1000 * MS);
	w.line_is_full = false;
	w.now = ship_deadline_ns(w.ship);
	push();
	assert_int_equal(w.count, 1);
}

static void
busy_is_waited_for_as_long_as_it_says(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(3, 1);
	h = answer(WIRE_NACK, &w.sent[1]);
	h.reason = WIRE_NACK_BUSY;
	h.retry_ms = 300;
	h.credit_bytes = 0;
	h.generation = 0; /* it was a broker */
	give(h);
	assert_int_equal(w.count, 4);
	wait_ms(299);
	assert_int_equal(w.count, 4);
	wait_ms(80);
	assert_int_equal(w.count, 5); /* one asks */
	assert_int_equal(last()->header.seq, 1);
	ack(1);
	assert_int_equal(w.count, 7);
}

static void
another_owner_is_asked_again_later(void **state)
{
	(void)state;
	open_with(3, 1);
	nack(&w.sent[1], WIRE_NACK_OWNER, 0);
	assert_int_equal(w.count, 4);
	wait_ms(1300);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(w.refusals, 0);
}

/* ---- refused, lost ------------------------------------------------------ */

static void
three_refusals_of_one_batch_are_final(void **state)
{
	(void)state;
	open_with(3, 1);
	for (int i = 0; i < 3; i++) {
		const struct sent *first = &w.sent[w.count - 3];

		assert_int_equal(first->header.seq, 1);
		assert_int_equal(w.refusals, 0);
		nack(first, WIRE_NACK_MALFORMED, 0);
		nack(first, WIRE_NACK_MALFORMED, 0); /* repeated: counts not */
		if (i < 2)
			wait_ms(6000);
	}
	assert_int_equal(w.refusals, 1);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.reason, WIRE_NACK_MALFORMED);
	/* The owner put a gap there, which goes out instead. */
	assert_int_equal(w.sent[w.count - 3].header.type, WIRE_GAP);
	assert_int_equal(last()->header.seq, 3);
}

static void
a_batch_that_is_forbidden_to_one_who_is_welcome_is_refused(void **state)
{
	(void)state;
	open_with(1, 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(w.refusals, 0);
		assert_int_equal(last()->header.type, WIRE_BATCH);
		nack(last(), WIRE_NACK_FORBIDDEN, 0);
		if (i == 2)
			break;
		wait_ms(6000);
		assert_int_equal(last()->header.type, WIRE_HELLO);
		welcome(last(), 1);
	}
	assert_int_equal(w.refusals, 1);
	assert_int_equal(w.reason, WIRE_NACK_FORBIDDEN);
}

static void
who_may_not_speak_any_more_keeps_what_was_accepted(void **state)
{
	(void)state;
	open_with(1, 1);
	nack(last(), WIRE_NACK_FORBIDDEN, 0);
	for (int i = 0; i < 10; i++) {
		wait_ms(80000);
		assert_int_equal(last()->header.type, WIRE_HELLO);
		nack(last(), WIRE_NACK_FORBIDDEN, 0);
	}
	assert_int_equal(w.refusals, 0);
	wait_ms(80000);
	welcome(last(), 1);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	ack(1);
	assert_int_equal(w.acked[0], 1);
}

static void
a_gap_is_never_refused(void **state)
{
	(void)state;
	w.gap_from = w.gap_to = 1;
	open_with(1, 1);
	for (int i = 0; i < 6; i++) {
		nack(last(), WIRE_NACK_MALFORMED, 0);
		wait_ms(80000);
	}
	assert_int_equal(w.refusals, 0);
	assert_int_equal(last()->header.type, WIRE_GAP);
}

static void
a_gap_says_from_where_to_where_and_why(void **state)
{
	const struct wire_header *h;

	(void)state;
	put_gap(2, 5);
	open_with(6, 1);
	h = &w.sent[2].header;
	assert_int_equal(h->type, WIRE_GAP);
	assert_int_equal(h->seq, 2);
	assert_int_equal(h->last_seq, 5);
	assert_int_equal(h->reason, WIRE_GAP_DAMAGED);
	assert_int_equal(w.sent[2].bytes, 0);
	assert_int_equal(w.sent[3].header.seq, 6);
	ack(5);
	assert_int_equal(w.acked[0], 5);
}

static void
a_keeper_within_a_gap_gets_the_rest_of_it(void **state)
{
	(void)state;
	put_gap(2, 5);
	ask_with(6, 1);
	welcome(last(), 4);
	/* Before it decides it asks about number 1. */
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, 2);
	welcome_with(last(), 4, WIRE_FLAG_SAME);
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(w.sent[w.count - 2].header.type, WIRE_GAP);
	assert_int_equal(w.sent[w.count - 2].header.seq, 4);
	assert_int_equal(w.sent[w.count - 2].header.last_seq, 5);
}

/* A copy of the spool has told a gap there: what we have under that number is
 * not kept, although the keeper denies no chain. */
static void
a_yes_that_may_be_about_a_gap_counts_for_nothing(void **state)
{
	(void)state;
	put_gap(5, 6);
	ask_with(6, 1);
	welcome(last(), 7);
	assert_int_equal(last()->header.seq, 5);
	welcome(last(), 7);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.seq, 4);
	welcome(last(), 7);
	assert_int_equal(last()->header.seq, 3);
	welcome_with(last(), 7, WIRE_FLAG_SAME);
	assert_int_equal(w.acked[0], 2);
	assert_int_equal(last()->header.seq, 4);
	nack(last(), WIRE_NACK_FORKED, 4);
	assert_int_equal(w.forked, 3);
}

/* What is before it is out of the keeper's memory. */
static void
a_long_gap_says_nothing_of_what_is_before_it(void **state)
{
	(void)state;
	put_gap(6, 50);
	ask_with(50, 1);
	welcome(last(), 51);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(w.forked, 1);
	/* ... and nothing is before this one. */
	w.forked = 0;
	restart(0, 6);
	push();
	welcome(last(), 51);
	assert_int_equal(w.acked[0], 50);
	assert_int_equal(w.forked, 0);
}

static void
what_cannot_be_read_three_times_is_gone_back_to(void **state)
{
	(void)state;
	w.unreadable = 1;
	open_with(3, 1);
	for (int i = 0; i < 4; i++)
		wait_ms(10000);
	assert_int_equal(w.rewound, 1);
	assert_int_equal(w.count, 1);
}

/* ---- other lives -------------------------------------------------------- */

static void
a_keeper_that_has_more_is_believed_when_it_is_ours(void **state)
{
	(void)state;
	ask_with(6, 1);
	welcome(last(), 5);
	assert_int_equal(w.acked[0], 4);
	assert_int_equal(w.sent[1].header.seq, 5);
}

static void
a_keeper_that_is_behind_makes_the_owner_go_back(void **state)
{
	(void)state;
	ask_with(9, 8);
	welcome(last(), 4);
	assert_int_equal(w.rewound, 4);
	assert_int_equal(w.count, 1);
	restart(0, 4);
	push();
	welcome(last(), 4);
	assert_int_equal(w.sent[2].header.seq, 4);
}

/* A keeper that was restored says how far the store before it had come. */
static void
welcome_owed(uint64_t expect_seq, uint64_t owed, uint64_t chain)
{
	struct wire_header h = answer(WIRE_WELCOME, last());

	h.expect = expect_seq;
	h.chain = chain_after(expect_seq - 1);
	h.last_seq = owed;
	h.after = chain;
	assert_true(give(h));
}

static void
who_has_what_is_owed_brings_it(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_owed(4, 6, chain_after(6));
	assert_int_equal(w.forked, 0);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_true(last()->header.generation == 5);
	restart(0, 4);
	push();
	welcome_owed(4, 6, 0); /* not known what it was */
	assert_int_equal(w.forked, 0);
}

static void
who_never_had_what_is_owed_is_another_life(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_owed(4, 10, chain_after(10));
	assert_int_equal(w.forked, 4);
}

static void
who_has_other_content_there_is_another_life(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_owed(4, 9, 12345);
	assert_int_equal(w.forked, 4);
	/* It goes back first: what it has of the others' past comes along. */
	w.forked = 0;
	restart(0, 8);
	push();
	welcome_owed(4, 9, 12345);
	assert_int_equal(w.forked, 0);
	assert_int_equal(w.rewound, 4);
	restart(0, 4);
	push();
	welcome_owed(4, 9, 12345);
	assert_int_equal(w.forked, 4);
}

/* What it has there is not ours: the ways part further back. */
static void
who_goes_back_to_others_content_looks_for_the_last_in_common(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 48);
	h = answer(WIRE_WELCOME, last());
	h.expect = 40;
	h.chain = 12345;
	give(h);
	assert_int_equal(w.rewound, 40 - 32);
}

/* Its store was lost, and a copy of us was there first: others' content stands
 * under numbers that were acknowledged to us. */
static void
who_finds_others_content_in_its_own_past_goes_back(void **state)
{
	(void)state;
	ask_with(50, 40);
	nack(last(), WIRE_NACK_FORKED, 40);
	assert_int_equal(w.forked, 0);
	assert_int_equal(w.rewound, 40 - 32);
	restart(0, 8);
	push();
	assert_int_equal(last()->header.seq, 8);
	welcome(last(), 8);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_int_equal(w.forked, 0);
}

static void
a_gap_of_ours_that_hides_the_parting_goes_along(void **state)
{
	(void)state;
	ask_with(50, 40);
	nack(last(), WIRE_NACK_FORKED, 40);
	assert_int_equal(w.rewound, 8);
	put_gap(8, 39);
	restart(0, 8);
	push();
	welcome(last(), 40); /* it has something there */
	assert_int_equal(w.acked[0], 39);
	for (int i = 0; i < 10 && w.forked == 0; i++) {
		nack(last(), WIRE_NACK_FORKED, 40);
		wait_ms(2000);
	}
	assert_int_equal(w.rewound, 8);
	assert_int_equal(w.forked, 8);
}

static void
all_streams_ask_when_the_store_is_another(void **state)
{
	struct wire_header h;

	(void)state;
	w.batches[0] = w.batches[1] = 1;
	restart(0, 1);
	restart(1, 1);
	push();
	welcome(&w.sent[0], 1);
	welcome(&w.sent[1], 1);
	ack(1);
	h = answer(WIRE_ACK, &w.sent[2]);
	h.seq = 1;
	h.chain = chain_after(1);
	give(h);
	assert_int_equal(ship_in_flight(w.ship), 0);
	/* One stream speaks, and hears that the generation is 6. */
	w.batches[0] = 2;
	push();
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_GAP;
	h.expect = 1;
	h.generation = 6;
	give(h);
	h = answer(WIRE_WELCOME, last());
	h.expect = 2;
	h.chain = chain_after(1);
	h.generation = 6;
	give(h);
	for (uint32_t i = w.count - 2; i < w.count; i++)
		if (w.sent[i].header.type == WIRE_HELLO)
			assert_string_equal(w.sent[i].partition, "acct$b");
	assert_int_not_equal(
	    w.sent[w.count - 1].header.type, w.sent[w.count - 2].header.type);
}

/* The keeper has 1 .. 4 as we do, and then something else: we are a copy. */
static void
a_copy_goes_on_behind_the_last_number_in_common(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(8, 3);
	h = answer(WIRE_WELCOME, last());
	h.expect = 7;
	h.chain = 12345;
	give(h);
	while (w.forked == 0) {
		uint64_t asked = last()->header.seq - 1;

		assert_int_equal(last()->header.type, WIRE_HELLO);
		assert_true(last()->header.chain == chain_after(asked));
		h = answer(asked <= 4 ? WIRE_WELCOME : WIRE_NACK, last());
		h.reason = asked <= 4 ? 0 : WIRE_NACK_FORKED;
		h.expect = asked <= 4 ? 7 : asked;
		h.chain = asked <= 4 ? 12345 : 0;
		give(h);
	}
	assert_int_equal(w.acked[0], 4);
	assert_int_equal(w.forked, 5);
}

static void
what_the_keeper_forgot_is_sent_again_rather_than_lost(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 3);
	h = answer(WIRE_WELCOME, last());
	h.expect = 45;
	h.chain = 12345;
	give(h);
	assert_int_equal(w.forked, 3);
}

static void
a_fenced_run_takes_a_new_session(void **state)
{
	(void)state;
	open_with(4, 3);
	nack(&w.sent[1], WIRE_NACK_FENCED, 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(w.forked, 0);
	welcome(last(), 4); /* it has our number 3 */
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(w.forked, 4);
}

static void
a_late_fence_of_an_earlier_run_is_ignored(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(4, 1);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_FENCED;
	h.sent_ns -= 1000000;
	give(h);
	assert_int_equal(w.count, 5);
	assert_int_equal(last()->header.type, WIRE_BATCH);
}

static void
a_keeper_that_always_forks_is_not_fed_sessions(void **state)
{
	int64_t began;
	int sessions = 0;

	(void)state;
	w.batches[0] = 4;
	restart(0, 1);
	began = w.now;
	while (w.now < began + 100 * 1000 * MS) {
		push();
		if (w.count > 0) {
			nack(last(), WIRE_NACK_FORKED, 1);
			w.count = 0;
		}
		if (w.forked != 0) {
			w.forked = 0;
			w.session.bytes[0]++;
			sessions++;
			restart(0, 1);
		}
		w.now += 10 * MS;
	}
	assert_in_range(sessions, 2, 12);
}

static void
a_derived_session_is_taken_on_trust(void **state)
{
	struct wire_header h;

	(void)state;
	w.batches[0] = 2; /* the rest is not packed yet */
	restart(0, 1);
	push();
	h = answer(WIRE_WELCOME, last());
	h.expect = KEEPER_HAS + 1;
	h.chain = 777;
	give(h);
	assert_int_equal(w.acked[0], KEEPER_HAS);
	assert_int_equal(w.forked, 0);
}

/* An answer of a keeper whose clock shows these. */
static void
give_at(enum wire_type type, const struct sent *to, uint64_t seq,
    int64_t received, int64_t answered)
{
	struct wire_header h = answer(type, to);

	h.seq = seq;
	h.expect = seq + 1;
	h.chain = chain_after(seq);
	h.received_ns = received;
	h.answered_ns = answered;
	assert_true(give(h));
}

static void
expect_probe(int64_t sent, int64_t arrived, int64_t received, int64_t answered)
{
	assert_true(w.probe.sent_ns == sent);
	assert_true(w.probe.arrived_ns == arrived);
	assert_true(w.probe.received_ns == received);
	assert_true(w.probe.answered_ns == answered);
}

static void
answers_to_the_last_sending_are_clock_probes(void **state)
{
	struct sent first;

	(void)state;
	ask_with(1, 1);
	w.now += 3 * MS;
	give_at(WIRE_WELCOME, last(), 0, 500, 600);
	assert_int_equal(w.probes, 1);
	expect_probe(1000 * MS, 1003 * MS, 500, 600);

	/* Lost, and sent again: the answer to the first comes all the same. */
	first = *last();
	assert_int_equal(first.header.type, WIRE_BATCH);
	wait_ms(2000);
	assert_true(last()->header.sent_ns != first.header.sent_ns);
	w.now += MS;
	w.batches[0] = 2;
	give_at(WIRE_ACK, &first, 0, 700, 800);
	assert_int_equal(w.probes, 1);
	w.now += MS;
	give_at(WIRE_ACK, &w.sent[2], 1, 900, 950);
	assert_int_equal(w.probes, 2);
	expect_probe(3003 * MS, 3005 * MS, 900, 950);
}

static void
another_probe_is_a_hello_when_there_is_nothing_else_to_say(void **state)
{
	(void)state;
	w.wants_another = true;
	ask_with(2, 1);
	give_at(WIRE_WELCOME, last(), 0, 500, 600);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	/* The second is still under way. */
	give_at(WIRE_ACK, &w.sent[1], 1, 700, 800);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	give_at(WIRE_ACK, last(), 2, 900, 950);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, 3);
	/* What a welcome tells asks for no other. */
	w.now += MS;
	give_at(WIRE_WELCOME, last(), 2, 1000, 1050);
	assert_int_equal(w.probes, 4);
	w.batches[0] = 3;
	push();
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_int_equal(last()->header.seq, 3);
}

static void
an_answer_that_says_no_time_is_no_probe(void **state)
{
	(void)state;
	restart(0, 1);
	push();
	welcome(last(), 1);
	assert_int_equal(w.probes, 0);
}

static int
begin_derived(void **state)
{
	return begin_as(state, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_but_a_hello_goes_out_before_the_welcome),
		TEST(at_most_eight_batches_are_under_way),
		TEST(the_window_is_512_KiB_or_the_credit),
		TEST(without_credit_one_batch_goes_per_time_out),
		TEST(what_comes_later_goes_out_when_pushed),
		TEST(streams_do_not_disturb_each_other),
		TEST(stale_and_repeated_acks_move_nothing),
		TEST(answers_to_the_last_sending_are_clock_probes),
		TEST(
		    another_probe_is_a_hello_when_there_is_nothing_else_to_say),
		TEST(an_answer_that_says_no_time_is_no_probe),
		TEST(an_ack_beyond_what_was_sent_is_a_question),
		TEST(an_ack_of_somebody_else_is_not_ours),
		TEST(an_ack_of_another_generation_is_a_question),
		TEST(an_ack_with_another_chain_is_a_question),
		TEST(a_welcome_to_an_older_hello_is_ignored),
		TEST(silence_sends_again_after_growing_pauses),
		TEST(a_hole_is_gone_back_to_once),
		TEST(a_filling_that_was_lost_too_is_sent_again_soon),
		TEST(an_ack_before_the_hole_does_not_put_it_off),
		TEST(a_filling_that_waits_for_the_line_is_not_gone_back_to),
		TEST(a_keeper_that_only_says_gap_does_not_set_the_pace),
		TEST(a_nack_is_no_acknowledgement),
		TEST(a_new_connection_sends_all_again),
		TEST(a_full_line_is_tried_at_most_once_a_second),
		TEST(busy_is_waited_for_as_long_as_it_says),
		TEST(another_owner_is_asked_again_later),
		TEST(three_refusals_of_one_batch_are_final),
		TEST(
		    a_batch_that_is_forbidden_to_one_who_is_welcome_is_refused),
		TEST(who_may_not_speak_any_more_keeps_what_was_accepted),
		TEST(a_gap_is_never_refused),
		TEST(a_gap_says_from_where_to_where_and_why),
		TEST(a_keeper_within_a_gap_gets_the_rest_of_it),
		TEST(a_yes_that_may_be_about_a_gap_counts_for_nothing),
		TEST(a_long_gap_says_nothing_of_what_is_before_it),
		TEST(what_cannot_be_read_three_times_is_gone_back_to),
		TEST(a_keeper_that_has_more_is_believed_when_it_is_ours),
		TEST(a_keeper_that_is_behind_makes_the_owner_go_back),
		TEST(who_has_what_is_owed_brings_it),
		TEST(who_never_had_what_is_owed_is_another_life),
		TEST(who_has_other_content_there_is_another_life),
		TEST(
		    who_goes_back_to_others_content_looks_for_the_last_in_common),
		TEST(who_finds_others_content_in_its_own_past_goes_back),
		TEST(a_gap_of_ours_that_hides_the_parting_goes_along),
		TEST(all_streams_ask_when_the_store_is_another),
		TEST(a_copy_goes_on_behind_the_last_number_in_common),
		TEST(what_the_keeper_forgot_is_sent_again_rather_than_lost),
		TEST(a_fenced_run_takes_a_new_session),
		TEST(a_late_fence_of_an_earlier_run_is_ignored),
		TEST(a_keeper_that_always_forks_is_not_fed_sessions),
		cmocka_unit_test_setup_teardown(
		    a_derived_session_is_taken_on_trust, begin_derived, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
