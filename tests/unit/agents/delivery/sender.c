/*
 * sender - the sender: what goes out, when, and when again.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/delivery/sender_world.h"

/* ---- the plain way ------------------------------------------------------ */

static void
nothing_but_a_hello_goes_out_before_the_welcome(void **state)
{
	w.batches[0] = 3;
	restart(0, 1);
	push();
	assert_int_equal(w.count, 1);
	assert_int_equal(w.sent[0].header.type, WIRE_HELLO);
	assert_int_equal(w.sent[0].header.seq, 1);
	assert_int_equal(w.sent[0].header.generation, 0);
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
	open_with(20, 1);
	assert_int_equal(w.count, 9);
	assert_int_equal(sender_in_flight(w.sender), 8);
	ack(3);
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(last()->header.seq, 11);
	ack(11);
	ack(19);
	ack(20);
	assert_int_equal(w.acked[0], 20);
	assert_int_equal(sender_in_flight(w.sender), 0);
	assert_int_equal(sender_deadline_ns(w.sender), 0);
	assert_int_equal(sender_counters(w.sender)->batches, 20);
	assert_int_equal(sender_counters(w.sender)->resent, 0);
}

static void
the_window_is_512_KiB_or_the_credit(void **state)
{
	struct wire_header h;

	w.body_bytes = 200 << 10;
	open_with(20, 1);
	assert_int_equal(w.count, 3);
	h = answer(WIRE_ACK, last());
	h.seq = 2;
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

	open_with(20, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 8;
	h.credit_bytes = 0;
	give(h);
	assert_int_equal(w.count, 9);
	assert_true(sender_deadline_ns(w.sender) > w.now);
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
	assert_int_equal(sender_in_flight(w.sender), 2);
}

/* ---- lost and late ------------------------------------------------------ */

static void
silence_sends_again_after_growing_pauses(void **state)
{
	int64_t pause_ms = 1000;

	open_with(2, 1);
	assert_int_equal(w.count, 3);
	for (int i = 0; i < 8; i++) {
		uint32_t before = w.count;
		int64_t due = sender_deadline_ns(w.sender);

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
	assert_true(sender_deadline_ns(w.sender) <= w.now + 1250 * MS);
}

static void
a_hole_is_gone_back_to_once(void **state)
{
	open_with(8, 1);
	nack(&w.sent[4], WIRE_NACK_GAP, 3); /* number 4 came after 2 */
	assert_int_equal(w.count, 9 + 6);
	assert_int_equal(w.sent[9].header.seq, 3);
	nack(&w.sent[5], WIRE_NACK_GAP, 3);
	nack(&w.sent[6], WIRE_NACK_GAP, 3);
	assert_int_equal(w.count, 9 + 6);
}

static void
a_hole_that_a_gap_fills_is_gone_back_to(void **state)
{
	put_gap(3, 5);
	open_with(8, 1);
	assert_int_equal(w.count, 1 + 6);
	nack(&w.sent[4], WIRE_NACK_GAP, 3); /* number 6 came after 2 */
	assert_int_equal(w.count, 7 + 4);
	assert_int_equal(w.sent[7].header.type, WIRE_GAP);
	assert_int_equal(w.sent[7].header.seq, 3);
	assert_int_equal(w.sent[8].header.seq, 6);
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
	open_with_a_hole();
	for (int64_t pause_ms = 25; pause_ms < 1000; pause_ms *= 2) {
		uint32_t before = w.count;
		int64_t due = sender_deadline_ns(w.sender);

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
	assert_int_equal(sender_counters(w.sender)->timeouts, 0);
}

static void
an_ack_before_the_hole_does_not_put_it_off(void **state)
{
	int64_t due;

	open_with_a_hole();
	due = sender_deadline_ns(w.sender);
	ack(2);
	assert_int_equal(sender_deadline_ns(w.sender), due);
	w.now = due;
	push();
	assert_int_equal(w.count, 9 + 6 + 6);
	assert_int_equal(w.sent[15].header.seq, 3);
	ack(3);
	assert_true(sender_deadline_ns(w.sender) >= w.now + 1000 * MS);
}

static void
a_filling_that_waits_for_the_line_is_not_gone_back_to(void **state)
{
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
a_aggregator_that_only_says_gap_does_not_set_the_pace(void **state)
{
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

	open_with(8, 1);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_GAP;
	h.expect = 5;
	give(h);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(sender_in_flight(w.sender), 8);
	ack(8);
	assert_int_equal(w.acked[0], 8);
}

static void
a_new_connection_sends_all_again(void **state)
{
	open_with(3, 1);
	sender_reconnected(w.sender);
	push();
	assert_int_equal(w.count, 7);
	assert_int_equal(w.sent[4].header.seq, 1);
	assert_int_equal(sender_counters(w.sender)->resent, 3);
}

static void
a_full_line_is_tried_at_most_once_a_second(void **state)
{
	w.batches[0] = 3;
	w.line_is_full = true;
	restart(0, 1);
	push();
	for (int i = 0; i < 100; i++) {
		assert_true(sender_deadline_ns(w.sender) > w.now);
		w.now = sender_deadline_ns(w.sender);
		push();
	}
	assert_int_equal(w.tries, 101);
	assert_true(w.now > 90 * 1000 * MS);
	w.line_is_full = false;
	w.now = sender_deadline_ns(w.sender);
	push();
	assert_int_equal(w.count, 1);
}

static void
busy_is_waited_for_as_long_as_it_says(void **state)
{
	struct wire_header h;

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
	open_with(3, 1);
	nack(&w.sent[1], WIRE_NACK_OWNER, 0);
	assert_int_equal(w.count, 4);
	wait_ms(1300);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(w.refusals, 0);
}

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
		TEST(silence_sends_again_after_growing_pauses),
		TEST(a_hole_is_gone_back_to_once),
		TEST(a_hole_that_a_gap_fills_is_gone_back_to),
		TEST(a_filling_that_was_lost_too_is_sent_again_soon),
		TEST(an_ack_before_the_hole_does_not_put_it_off),
		TEST(a_filling_that_waits_for_the_line_is_not_gone_back_to),
		TEST(a_aggregator_that_only_says_gap_does_not_set_the_pace),
		TEST(a_nack_is_no_acknowledgement),
		TEST(a_new_connection_sends_all_again),
		TEST(a_full_line_is_tried_at_most_once_a_second),
		TEST(busy_is_waited_for_as_long_as_it_says),
		TEST(another_owner_is_asked_again_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
