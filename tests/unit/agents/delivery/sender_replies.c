/*
 * sender_replies - what the sender believes of answers.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/delivery/sender_world.h"

/* ---- what is not believed ----------------------------------------------- */

static void
stale_and_repeated_acks_move_nothing(void **state)
{
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
	assert_false(sender_receive(w.sender, text_of("garbage"), w.now));
}

static void
an_ack_of_another_generation_is_a_question(void **state)
{
	struct wire_header h;

	open_with(3, 1);
	h = answer(WIRE_ACK, last());
	h.seq = 3;
	h.generation = 6;
	assert_true(give(h));
	assert_int_equal(w.acked[0], 0);
	assert_int_equal(last()->header.type, WIRE_HELLO);
}

static void
a_welcome_to_an_older_hello_is_ignored(void **state)
{
	ask_with(3, 1);
	wait_ms(1300);
	assert_int_equal(w.count, 2);
	welcome(&w.sent[0], 4);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.acked[0], 0);
	welcome(&w.sent[1], 1);
	assert_int_equal(w.count, 5);
}

/* ---- refused, unreadable ------------------------------------------------ */

static void
three_refusals_of_one_batch_are_final(void **state)
{
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

/* The status counts as forbidden what the key may not do; a session that
 * another key has is not that. */
static void
a_session_that_another_has_is_not_counted_as_forbidden(void **state)
{
	const uint64_t *nacks;
	struct wire_header h;

	open_with(1, 1);
	nacks = sender_counters(w.sender)->nacks;
	h = answer(WIRE_NACK, last());
	h.reason = WIRE_NACK_FORBIDDEN;
	h.flags = WIRE_FLAG_TAKEN;
	assert_true(give(h));
	assert_int_equal(nacks[WIRE_NACK_FORBIDDEN], 0);
	h.flags = 0;
	assert_true(give(h));
	assert_int_equal(nacks[WIRE_NACK_FORBIDDEN], 1);
}

static void
who_may_not_speak_any_more_keeps_what_was_accepted(void **state)
{
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
what_cannot_be_read_three_times_becomes_a_gap(void **state)
{
	w.unreadable = 1;
	open_with(3, 1);
	for (int i = 0; i < 4; i++)
		wait_ms(10000);
	assert_int_equal(w.refused, 1);
	assert_int_equal(w.reason, WIRE_GAP_DAMAGED);
	assert_int_equal(w.sent[1].header.type, WIRE_GAP);
	assert_int_equal(last()->header.seq, 3);
}

/* What was sent before it may still be acknowledged. */
static void
what_cannot_be_read_waits_for_the_answers_before_it(void **state)
{
	w.unreadable = 3;
	open_with(3, 1);
	assert_int_equal(w.count, 3);
	wait_ms(100);
	assert_int_equal(w.refusals, 0);
	ack(2);
	for (int i = 0; i < 4; i++)
		wait_ms(10000);
	assert_int_equal(w.refused, 3);
}

/* ---- round trips -------------------------------------------------------- */

/* An answer of an aggregator whose clock shows these. */
static void
give_at(enum wire_type type, const struct sent *to, uint64_t seq,
    int64_t received, int64_t answered)
{
	struct wire_header h = answer(type, to);

	h.seq = seq;
	h.expect = seq + 1;
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
	/* A complete welcome asks for no other. */
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
	restart(0, 1);
	push();
	welcome(last(), 1);
	assert_int_equal(w.probes, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stale_and_repeated_acks_move_nothing),
		TEST(an_ack_beyond_what_was_sent_is_a_question),
		TEST(an_ack_of_somebody_else_is_not_ours),
		TEST(an_ack_of_another_generation_is_a_question),
		TEST(a_welcome_to_an_older_hello_is_ignored),
		TEST(three_refusals_of_one_batch_are_final),
		TEST(
		    a_batch_that_is_forbidden_to_one_who_is_welcome_is_refused),
		TEST(a_session_that_another_has_is_not_counted_as_forbidden),
		TEST(who_may_not_speak_any_more_keeps_what_was_accepted),
		TEST(a_gap_is_never_refused),
		TEST(what_cannot_be_read_three_times_becomes_a_gap),
		TEST(what_cannot_be_read_waits_for_the_answers_before_it),
		TEST(answers_to_the_last_sending_are_clock_probes),
		TEST(
		    another_probe_is_a_hello_when_there_is_nothing_else_to_say),
		TEST(an_answer_that_says_no_time_is_no_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
