/*
 * sender_hello - where the sender goes on: gaps, other lives, other stores.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/delivery/sender_world.h"

/* ---- gaps --------------------------------------------------------------- */

static void
a_gap_says_from_where_to_where_and_why(void **state)
{
	const struct wire_header *h;

	put_gap(2, 5);
	open_with(6, 1);
	h = &w.sent[2].header;
	assert_int_equal(h->type, WIRE_GAP);
	assert_int_equal(h->seq, 2);
	assert_int_equal(h->last_seq, 5);
	assert_int_equal(h->reason, WIRE_GAP_DAMAGED);
	assert_true(h->chain == chain_after(1));
	assert_true(h->chain_after == chain_after(5));
	assert_int_equal(w.sent[2].bytes, 0);
	assert_int_equal(w.sent[3].header.seq, 6);
	ack(5);
	assert_int_equal(w.acked[0], 5);
}

static void
an_ack_within_a_gap_waits_for_its_end(void **state)
{
	put_gap(2, 5);
	open_with(6, 1);
	ack(3);
	assert_int_equal(w.acked[0], 1);
	ack(6);
	assert_int_equal(w.acked[0], 6);
}

/* ---- a store that has more, or less ------------------------------------- */

/* What it has may be of another life: it compares each number. */
static void
a_store_that_has_more_gets_all_of_it_once_more(void **state)
{
	ask_with(6, 1);
	welcome(last(), 5);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(w.count, 7);
	assert_int_equal(w.sent[1].header.seq, 1);
	ack(6);
	assert_int_equal(w.acked[0], 6);
}

static void
a_store_that_has_less_is_brought_what_it_lacks(void **state)
{
	struct wire_header h;

	ask_with(6, 5);
	assert_int_equal(last()->header.seq, 5);
	assert_int_equal(last()->header.generation, 5);
	h = answer(WIRE_WELCOME, last());
	h.expect = 3;
	h.chain = chain_after(2);
	assert_true(give(h));
	assert_int_equal(w.rewound, 3);
	assert_int_equal(w.count, 5);
	assert_int_equal(w.sent[1].header.seq, 3);
	assert_true(w.sent[1].header.chain == chain_after(2));
	ack(6);
	assert_int_equal(w.acked[0], 6);
}

/* What it has may be of a copy of this machine. */
static void
a_store_that_has_less_of_unknown_content_gets_all_of_it(void **state)
{
	ask_with(6, 5);
	welcome(last(), 3);
	assert_int_equal(w.rewound, 1);
	assert_int_equal(w.sent[1].header.seq, 1);
	ack(6);
	assert_int_equal(w.acked[0], 6);
}

/* The content of its session is derived from the input: what is stored is what
 * it would send, even if it has not read it yet. */
static void
a_derived_session_takes_the_welcome_for_an_acknowledgement(void **state)
{
	sender_free(&w.sender);
	begin_as(state, true);
	ask_with(6, 1);
	assert_true((last()->header.flags & WIRE_FLAG_DERIVED) != 0);
	welcome(last(), 100);
	assert_int_equal(w.acked[0], 99);
	assert_int_equal(w.count, 1);
	w.batches[0] = 100;
	push();
	assert_int_equal(last()->header.seq, 100);
}

static void
another_store_is_asked_by_every_stream(void **state)
{
	struct wire_header h;
	uint32_t asked = 0;

	w.batches[0] = w.batches[1] = 1;
	restart(0, 2);
	restart(1, 2);
	push();
	welcome(&w.sent[0], 2);
	welcome(&w.sent[1], 2);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.generation, 5);
	w.batches[0] = 2;
	push();
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_GAP;
	h.expect = 1;
	h.generation = 6;
	assert_true(give(h));
	assert_int_equal(last()->header.type, WIRE_HELLO);
	h = answer(WIRE_WELCOME, last());
	h.expect = 1;
	h.generation = 6;
	assert_true(give(h));
	assert_int_equal(w.generation, 6);
	assert_int_equal(w.rewound, 1);
	for (uint32_t i = 4; i < w.count; i++)
		asked += w.sent[i].header.type == WIRE_HELLO &&
			 strcmp(w.sent[i].partition, partitions[1]) == 0;
	assert_int_equal(asked, 1);
}

/* ---- another life ------------------------------------------------------- */

static void
other_content_under_the_first_number_needs_another_session(void **state)
{
	open_with(6, 1);
	ack(2);
	nack(&w.sent[3], WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.diverged, 3);
	assert_int_equal(w.divergences, 1);
}

/* The ones before it may be ours. */
static void
other_content_under_a_later_number_waits_for_those_before_it(void **state)
{
	uint32_t before;

	open_with(6, 1);
	nack(&w.sent[4], WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.divergences, 0);
	before = w.count;
	ack(3);
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(w.count, before + 3);
	assert_int_equal(w.sent[before].header.seq, 4);
	nack(&w.sent[before], WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.diverged, 4);
}

static void
a_late_answer_to_an_older_sending_is_no_divergence(void **state)
{
	struct sent old;

	open_with(1, 1);
	old = *last();
	wait_ms(2000);
	assert_int_equal(last()->header.seq, 1);
	nack(&old, WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.divergences, 0);
	ack(1);
	assert_int_equal(w.acked[0], 1);
}

/* The spool had no room to move them: the same answer comes again, later. */
static void
who_cannot_change_the_session_now_is_told_again(void **state)
{
	open_with(2, 1);
	nack(&w.sent[1], WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.divergences, 1);
	assert_int_equal(w.count, 3);
	wait_ms(3000);
	assert_true(w.count > 3);
	assert_int_equal(w.sent[3].header.seq, 1);
	nack(&w.sent[3], WIRE_NACK_DIVERGED, 0);
	assert_int_equal(w.divergences, 2);
}

/* A store that calls every session diverged does not set the pace. */
static void
sessions_that_diverge_one_after_the_other_begin_ever_later(void **state)
{
	int64_t from = 0;

	w.batches[0] = 1;
	for (int i = 0; i < 5; i++) {
		w.session.bytes[0]++;
		restart(0, 1);
		from = w.now;
		if (sender_deadline_ns(w.sender) > w.now)
			w.now = sender_deadline_ns(w.sender);
		push();
		welcome(last(), 1);
		nack(last(), WIRE_NACK_DIVERGED, 0);
		assert_int_equal(w.divergences, i + 1);
	}
	assert_true(w.now - from >= 4000 * MS);
	/* An acknowledgement ends it. */
	w.session.bytes[0]++;
	restart(0, 1);
	w.now = sender_deadline_ns(w.sender);
	push();
	welcome(last(), 1);
	ack(1);
	w.session.bytes[0]++;
	restart(0, 1);
	assert_true(sender_deadline_ns(w.sender) <= w.now);
}

static void
a_closed_stream_hears_nothing(void **state)
{
	struct wire_header h;

	open_with(1, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 1;
	sender_close(w.sender, 0);
	assert_false(sender_is_open(w.sender, 0));
	assert_false(give(h));
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(sender_in_flight(w.sender), 0);
	assert_int_equal(sender_deadline_ns(w.sender), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gap_says_from_where_to_where_and_why),
		TEST(an_ack_within_a_gap_waits_for_its_end),
		TEST(a_store_that_has_more_gets_all_of_it_once_more),
		TEST(a_store_that_has_less_is_brought_what_it_lacks),
		TEST(a_store_that_has_less_of_unknown_content_gets_all_of_it),
		TEST(
		    a_derived_session_takes_the_welcome_for_an_acknowledgement),
		TEST(another_store_is_asked_by_every_stream),
		TEST(
		    other_content_under_the_first_number_needs_another_session),
		TEST(
		    other_content_under_a_later_number_waits_for_those_before_it),
		TEST(a_late_answer_to_an_older_sending_is_no_divergence),
		TEST(who_cannot_change_the_session_now_is_told_again),
		TEST(
		    sessions_that_diverge_one_after_the_other_begin_ever_later),
		TEST(a_closed_stream_hears_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
