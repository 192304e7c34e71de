/*
 * sender_hello - where the sender goes on: gaps, other lives.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/delivery/sender_world.h"

/* ---- gaps --------------------------------------------------------------- */

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
a_aggregator_within_a_gap_gets_the_rest_of_it(void **state)
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

/* A copy of the spool has reported a gap there: what we have under that number
 * is not stored, although the aggregator denies no running hash. */
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
	nack(last(), WIRE_NACK_DIVERGED, 4);
	assert_int_equal(w.diverged, 3);
}

/* What is before it is out of the aggregator's memory. */
static void
a_long_gap_says_nothing_of_what_is_before_it(void **state)
{
	(void)state;
	put_gap(6, 50);
	ask_with(50, 1);
	welcome(last(), 51);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(w.diverged, 1);
	/* ... and nothing is before this one. */
	w.diverged = 0;
	restart(0, 6);
	push();
	welcome(last(), 51);
	assert_int_equal(w.acked[0], 50);
	assert_int_equal(w.diverged, 0);
}

/* ---- other lives -------------------------------------------------------- */

static void
a_aggregator_that_has_more_is_believed_when_it_is_ours(void **state)
{
	(void)state;
	ask_with(6, 1);
	welcome(last(), 5);
	assert_int_equal(w.acked[0], 4);
	assert_int_equal(w.sent[1].header.seq, 5);
}

/* Two copies of the spool have sent under one session to a store that had
 * lost all: one its number 1, the other a gap and number 3, which is ours. */
static void
before_a_boundary_each_number_is_asked_about(void **state)
{
	(void)state;
	ask_with(6, 1);
	welcome_boundary(last(), 4, 0, 1);
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, 2);
	nack(last(), WIRE_NACK_DIVERGED, 2);
	assert_int_equal(w.diverged, 1);
}

static void
a_boundary_within_our_own_life_costs_questions_only(void **state)
{
	(void)state;
	ask_with(6, 1);
	welcome_boundary(last(), 4, 0, 1);
	for (uint64_t seq = 2; seq <= 4; seq++) {
		assert_int_equal(last()->header.seq, seq);
		welcome_boundary(last(), 4, WIRE_FLAG_SAME, 1);
		assert_int_equal(w.acked[0], seq - 1);
	}
	assert_int_equal(w.diverged, 0);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_int_equal(last()->header.seq, 6);
}

/* Its store was restored, it reported a gap, and its machine went down before
 * it noted the answers: the boundary is the gap's, and 32 numbers are behind
 * it. */
static void
a_boundary_in_a_gap_of_ours_is_passed_with_it(void **state)
{
	(void)state;
	put_gap(2, 5);
	ask_with(50, 2);
	welcome_boundary(last(), 39, 0, 4);
	assert_int_equal(w.acked[0], 38);
	assert_int_equal(w.diverged, 0);
	assert_int_equal(last()->header.type, WIRE_BATCH);
}

static void
in_front_of_a_boundary_there_is_nothing_to_ask_about(void **state)
{
	(void)state;
	ask_with(50, 42);
	welcome_boundary(last(), 48, 0, 15);
	assert_int_equal(w.rewound, 0);
	assert_int_equal(w.acked[0], 47);
}

/* What was acknowledged to us is gone with a store, and another life's stands
 * in its place: our next number shows nothing of it. */
static void
a_boundary_in_its_own_past_is_gone_back_for(void **state)
{
	(void)state;
	ask_with(50, 40);
	welcome_boundary(last(), 40, 0, 20);
	assert_int_equal(w.rewound, 8);
	restart(0, 8);
	push();
	welcome_boundary(last(), 40, 0, 20);
	for (uint64_t seq = 9; seq < 20; seq++) {
		assert_int_equal(last()->header.seq, seq);
		welcome_boundary(last(), 40, WIRE_FLAG_SAME, 20);
	}
	assert_int_equal(last()->header.seq, 20);
	assert_int_equal(w.acked[0], 18);
	nack(last(), WIRE_NACK_DIVERGED, 20);
	assert_int_equal(w.diverged, 19);
}

static void
each_boundary_of_each_store_is_gone_back_for_once(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 40);
	welcome_boundary(last(), 40, 0, 20);
	assert_int_equal(w.rewound, 8);
	w.rewound = 0;
	restart(0, 40); /* all of it was ours */
	push();
	welcome_boundary(last(), 40, 0, 20);
	assert_int_equal(w.rewound, 0);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	restart(0, 40);
	push();
	welcome_boundary(last(), 40, 0, 30);
	assert_int_equal(w.rewound, 8);
	w.rewound = 0;
	restart(0, 40);
	push();
	h = answer(WIRE_WELCOME, last());
	h.expect = 40;
	h.start_count = 30;
	h.generation = 6;
	assert_true(give(h));
	assert_int_equal(w.rewound, 8);
}

static void
a_aggregator_that_is_behind_makes_the_owner_go_back(void **state)
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

/* An aggregator that was restored says how far the store before it had come. */
static void
welcome_missing(uint64_t expect_seq, uint64_t missing, uint64_t chain)
{
	struct wire_header h = answer(WIRE_WELCOME, last());

	h.expect = expect_seq;
	h.chain = chain_after(expect_seq - 1);
	h.last_seq = missing;
	h.chain_after = chain;
	assert_true(give(h));
}

static void
who_has_what_is_missing_brings_it(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_missing(4, 6, chain_after(6));
	assert_int_equal(w.diverged, 0);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_true(last()->header.generation == 5);
	restart(0, 4);
	push();
	welcome_missing(4, 6, 0); /* not known what it was */
	assert_int_equal(w.diverged, 0);
}

static void
who_never_had_what_is_missing_is_another_life(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_missing(4, 10, chain_after(10));
	assert_int_equal(w.diverged, 4);
}

static void
who_has_other_content_there_is_another_life(void **state)
{
	(void)state;
	ask_with(9, 4);
	welcome_missing(4, 9, 12345);
	assert_int_equal(w.diverged, 4);
	/* It resends first: what it has of the others' past comes along. */
	w.diverged = 0;
	restart(0, 8);
	push();
	welcome_missing(4, 9, 12345);
	assert_int_equal(w.diverged, 0);
	assert_int_equal(w.rewound, 4);
	restart(0, 4);
	push();
	welcome_missing(4, 9, 12345);
	assert_int_equal(w.diverged, 4);
}

/* What it has there is not ours: the ways part further back. */
static void
who_goes_back_to_others_content_looks_for_the_last_in_common(void **state)
{
	struct wire_header h;

	(void)state;
	/* Or to what a gap of ours says nothing of. */
	for (int gap = 0; gap < 2; gap++) {
		if (gap == 1)
			put_gap(39, 47);
		ask_with(50, 48);
		h = answer(WIRE_WELCOME, last());
		h.expect = 40 + gap;
		h.chain = 12345;
		give(h);
		assert_int_equal(w.rewound, 40 + gap - 32);
	}
}

/* Its store was lost, and a copy of us was there first: others' content stands
 * under numbers that were acknowledged to us. */
static void
who_finds_others_content_in_its_own_past_goes_back(void **state)
{
	(void)state;
	ask_with(50, 40);
	nack(last(), WIRE_NACK_DIVERGED, 40);
	assert_int_equal(w.diverged, 0);
	assert_int_equal(w.rewound, 40 - 32);
	restart(0, 8);
	push();
	assert_int_equal(last()->header.seq, 8);
	welcome(last(), 8);
	assert_int_equal(last()->header.type, WIRE_BATCH);
	assert_int_equal(w.diverged, 0);
}

static void
a_gap_of_ours_that_hides_the_parting_goes_along(void **state)
{
	(void)state;
	ask_with(50, 40);
	nack(last(), WIRE_NACK_DIVERGED, 40);
	assert_int_equal(w.rewound, 8);
	put_gap(8, 39);
	restart(0, 8);
	push();
	welcome(last(), 40); /* it has something there */
	assert_int_equal(w.acked[0], 39);
	for (int i = 0; i < 10 && w.diverged == 0; i++) {
		nack(last(), WIRE_NACK_DIVERGED, 40);
		wait_ms(2000);
	}
	assert_int_equal(w.rewound, 8);
	assert_int_equal(w.diverged, 8);
}

static void
every_store_that_denies_is_gone_back_for(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 40);
	nack(last(), WIRE_NACK_DIVERGED, 40);
	assert_int_equal(w.rewound, 8);
	w.rewound = 0;
	restart(0, 40); /* all of it was brought meanwhile, and lost again */
	wait_ms(2000);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_DIVERGED;
	h.generation = 6;
	give(h);
	assert_int_equal(w.rewound, 8);
	assert_int_equal(w.diverged, 0);
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
	assert_int_equal(sender_in_flight(w.sender), 0);
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

/* The aggregator has 1 .. 4 as we do, and then something else: we are a copy.
 */
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
	while (w.diverged == 0) {
		uint64_t asked = last()->header.seq - 1;

		assert_int_equal(last()->header.type, WIRE_HELLO);
		assert_true(last()->header.chain == chain_after(asked));
		h = answer(asked <= 4 ? WIRE_WELCOME : WIRE_NACK, last());
		h.reason = asked <= 4 ? 0 : WIRE_NACK_DIVERGED;
		h.expect = asked <= 4 ? 7 : asked;
		h.chain = asked <= 4 ? 12345 : 0;
		give(h);
	}
	assert_int_equal(w.acked[0], 4);
	assert_int_equal(w.diverged, 5);
}

/* What it acknowledged may be others' now, before what is compared, too. */
static void
a_store_that_is_another_meanwhile_is_asked_from_the_beginning(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 40);
	h = answer(WIRE_WELCOME, last());
	h.expect = 46;
	h.chain = 12345;
	give(h);
	assert_int_equal(last()->header.seq, 41);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_DIVERGED;
	h.expect = 41;
	h.generation = 6;
	give(h);
	assert_int_equal(w.diverged, 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, 40);
	nack(last(), WIRE_NACK_DIVERGED, 40);
	assert_int_equal(w.diverged, 0);
	assert_int_equal(w.rewound, 8);
}

static void
what_the_aggregator_forgot_is_sent_again_rather_than_lost(void **state)
{
	struct wire_header h;

	(void)state;
	ask_with(50, 3);
	h = answer(WIRE_WELCOME, last());
	h.expect = 45;
	h.chain = 12345;
	give(h);
	assert_int_equal(w.diverged, 3);
}

static void
a_superseded_run_takes_a_new_session(void **state)
{
	(void)state;
	open_with(4, 3);
	nack(&w.sent[1], WIRE_NACK_SUPERSEDED, 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(w.diverged, 0);
	welcome(last(), 4); /* it has our number 3 */
	assert_int_equal(w.acked[0], 3);
	assert_int_equal(w.diverged, 4);
}

static void
a_late_fence_of_an_earlier_run_is_ignored(void **state)
{
	struct wire_header h;

	(void)state;
	open_with(4, 1);
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_SUPERSEDED;
	h.sent_ns -= 1000000;
	give(h);
	assert_int_equal(w.count, 5);
	assert_int_equal(last()->header.type, WIRE_BATCH);
}

static void
a_aggregator_that_always_forks_is_not_fed_sessions(void **state)
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
			nack(last(), WIRE_NACK_DIVERGED, 1);
			w.count = 0;
		}
		if (w.diverged != 0) {
			w.diverged = 0;
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
	h.expect = AGGREGATOR_HAS + 1;
	h.chain = 777;
	give(h);
	assert_int_equal(w.acked[0], AGGREGATOR_HAS);
	assert_int_equal(w.diverged, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_gap_says_from_where_to_where_and_why),
		TEST(a_aggregator_within_a_gap_gets_the_rest_of_it),
		TEST(a_yes_that_may_be_about_a_gap_counts_for_nothing),
		TEST(a_long_gap_says_nothing_of_what_is_before_it),
		TEST(a_aggregator_that_has_more_is_believed_when_it_is_ours),
		TEST(before_a_boundary_each_number_is_asked_about),
		TEST(a_boundary_within_our_own_life_costs_questions_only),
		TEST(a_boundary_in_a_gap_of_ours_is_passed_with_it),
		TEST(in_front_of_a_boundary_there_is_nothing_to_ask_about),
		TEST(a_boundary_in_its_own_past_is_gone_back_for),
		TEST(each_boundary_of_each_store_is_gone_back_for_once),
		TEST(a_aggregator_that_is_behind_makes_the_owner_go_back),
		TEST(who_has_what_is_missing_brings_it),
		TEST(who_never_had_what_is_missing_is_another_life),
		TEST(who_has_other_content_there_is_another_life),
		TEST(
		    who_goes_back_to_others_content_looks_for_the_last_in_common),
		TEST(who_finds_others_content_in_its_own_past_goes_back),
		TEST(a_gap_of_ours_that_hides_the_parting_goes_along),
		TEST(every_store_that_denies_is_gone_back_for),
		TEST(all_streams_ask_when_the_store_is_another),
		TEST(a_copy_goes_on_behind_the_last_number_in_common),
		TEST(
		    a_store_that_is_another_meanwhile_is_asked_from_the_beginning),
		TEST(what_the_aggregator_forgot_is_sent_again_rather_than_lost),
		TEST(a_superseded_run_takes_a_new_session),
		TEST(a_late_fence_of_an_earlier_run_is_ignored),
		TEST(a_aggregator_that_always_forks_is_not_fed_sessions),
		cmocka_unit_test_setup_teardown(
		    a_derived_session_is_taken_on_trust, begin_derived, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
