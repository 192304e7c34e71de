/*
 * receiver - tests of aggregator/ingest/receiver.h: every rule of
 * proto/delivery.md, "Receiver".
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/verify.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum { NUMBERS = 100 };
static const int64_t noon = INT64_C(1700000000) * NS_PER_SECOND;

static char folder[64];
static struct journal *journal;
static struct receiver *receiver;

/* The stream of a sender, with the running hash after each number. */
struct sender {
	struct session_id session;
	uint64_t start_count;
	uint64_t chain[NUMBERS];
	const char *node, *partition;
	unsigned salt;
};

static void
open_keep(uint64_t sessions_per_hour)
{
	const struct journal_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };

	if (journal_open(&journal, folder, &options, &err) != 0)
		fail_msg("%s", err.text);
	receiver = receiver_new(journal, sessions_per_hour);
}

static int
set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/poolscope-keep-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	open_keep(0);
	return 0;
}

static int
tear_down(void **state)
{
	char path[DURABLE_DIR_PATH_BYTES];

	(void)state;
	receiver_free(&receiver);
	journal_close(&journal);
	if (durable_dir_path(path, folder, "journal", NULL) != 0 ||
	    durable_dir_remove(path, NULL) != 0)
		return -1;
	return rmdir(folder);
}

static struct sender
sender_new(uint8_t id)
{
	struct sender sender = {
		.session.bytes = { id, 1 },
		.start_count = 1,
		.node = "node-1",
		.partition = "acct$pool",
	};

	return sender;
}

/* The answer's texts are views into the frame, so it is kept here. */
static unsigned char frame[WIRE_FRAME_BYTES_MAX];

static struct wire_header
ask(const struct wire_header *header, struct text body, enum receiver_room room)
{
	struct wire_header answer = { 0 };
	struct err err = { 0 };
	size_t bytes;

	bytes = wire_frame(frame, sizeof(frame), header, body);
	assert_true(bytes > 0);
	assert_int_equal(journal_begin(journal, &err), 0);
	if (!receiver_take(receiver,
		(struct text){ (const char *)frame, (uint32_t)bytes }, noon,
		room, &answer))
		answer.type = 0;
	assert_int_equal(journal_commit(journal, &err), DB_OK);
	receiver_committed(receiver);
	assert_true(answer.sent_ns == header->sent_ns);
	return answer;
}

static struct wire_header
header_of(const struct sender *sender, enum wire_type type, uint64_t seq)
{
	return (struct wire_header){
		.type = type,
		.partition = text_of(sender->partition),
		.node = text_of(sender->node),
		.session = sender->session,
		.seq = seq,
		.chain = seq > 0 ? sender->chain[seq - 1] : 0,
		.start_count = sender->start_count,
		.sent_ns = 12345,
	};
}

/* Body of batch n: one event whose name has salt and n. */
static struct text
body_of(const struct sender *sender, uint64_t n)
{
	static unsigned char bytes[256];
	struct wire_writer w;
	struct record record = {
		.kind = RECORD_EVENT,
		.time_ns = noon,
		.source = text_of("test"),
	};
	char name[32];

	snprintf(name, sizeof(name), "e%u-%u", sender->salt, (unsigned)n);
	record.name = text_of(name);
	wire_writer_init(&w, bytes, sizeof(bytes));
	assert_true(wire_put_record(&w, &record));
	return (struct text){ (const char *)bytes, (uint32_t)w.bytes };
}

static struct wire_header
send_batch_when(struct sender *sender, uint64_t n, enum receiver_room room)
{
	struct wire_header header = header_of(sender, WIRE_BATCH, n);
	struct text body = body_of(sender, n);

	header.records = 1;
	sender->chain[n] = hash_chain(sender->chain[n - 1],
	    crc32c(0, body.at, body.bytes), body.bytes, 1);
	return ask(&header, body, room);
}

static struct wire_header
send_batch(struct sender *sender, uint64_t n)
{
	return send_batch_when(sender, n, RECEIVER_ROOM);
}

static struct wire_header
send_gap(struct sender *sender, uint64_t from, uint64_t to)
{
	struct wire_header header = header_of(sender, WIRE_GAP, from);

	header.last_seq = to;
	header.reason = WIRE_GAP_DAMAGED;
	for (uint64_t n = from; n <= to && n < NUMBERS; n++)
		sender->chain[n] = 0;
	return ask(&header, (struct text){ NULL, 0 }, RECEIVER_ROOM);
}

static struct wire_header
send_hello(struct sender *sender, uint64_t seq)
{
	struct wire_header header = header_of(sender, WIRE_HELLO, seq);

	return ask(&header, (struct text){ NULL, 0 }, RECEIVER_ROOM);
}

static void
is_ack(struct wire_header answer, uint64_t seq)
{
	assert_int_equal(answer.type, WIRE_ACK);
	assert_int_equal(answer.seq, seq);
	assert_int_equal(answer.expect, seq + 1);
	assert_true(answer.generation == journal_generation(journal));
	assert_int_equal(answer.credit_bytes, RECEIVER_CREDIT_BYTES);
}

static void
is_nack(struct wire_header answer, enum wire_reason reason, uint64_t expect)
{
	assert_int_equal(answer.type, WIRE_NACK);
	assert_int_equal(answer.reason, reason);
	assert_int_equal(answer.expect, expect);
}

static void
is_welcome(struct wire_header answer, uint64_t expect)
{
	assert_int_equal(answer.type, WIRE_WELCOME);
	assert_int_equal(answer.expect, expect);
}

static void
batches_in_order_are_stored_and_acknowledged(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header answer;
	struct err err;

	(void)state;
	is_welcome(send_hello(&s, 1), 1);
	for (uint64_t n = 1; n < 60; n++) {
		answer = send_batch(&s, n);
		is_ack(answer, n);
		assert_true(answer.chain == s.chain[n]);
		assert_true(text_equal(answer.partition, text_of("acct$pool")));
		assert_int_equal(answer.flags, 0);
	}
	assert_true(journal_next(journal) == 60);
	assert_true(receiver_counters(receiver)->records == 59);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 0);
}

/* A sender welcomed by the store before may be a life of the spool that this
 * one would distinguish. */
static void
a_batch_for_another_generation_is_refused(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_BATCH, 1);

	(void)state;
	header.records = 1;
	header.generation = journal_generation(journal) + 1;
	is_nack(ask(&header, body_of(&s, 1), RECEIVER_ROOM), WIRE_NACK_GAP, 1);
	header.generation--;
	is_ack(ask(&header, body_of(&s, 1), RECEIVER_ROOM), 1);
	header.generation++; /* of what is kept it says so */
	is_ack(ask(&header, body_of(&s, 1), RECEIVER_ROOM), 1);
}

static void
a_repetition_is_acknowledged_and_not_stored_again(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	for (uint64_t n = 1; n <= 5; n++)
		send_batch(&s, n);
	is_ack(send_batch(&s, 3), 5);
	is_ack(send_batch(&s, 1), 5);
	is_ack(send_batch(&s, 5), 5);
	assert_true(journal_next(journal) == 6);
	assert_true(receiver_counters(receiver)->repeated == 3);
}

static void
a_hole_is_answered_with_the_next_expected_seq(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	is_nack(send_batch(&s, 2), WIRE_NACK_GAP, 1);
	send_batch(&s, 1);
	send_batch(&s, 2);
	is_nack(send_batch(&s, 9), WIRE_NACK_GAP, 3);
	is_nack(send_gap(&s, 5, 9), WIRE_NACK_GAP, 3);
	assert_true(journal_next(journal) == 3);
}

static void
other_content_under_a_stored_number_diverges(void **state)
{
	struct sender one = sender_new(1), two;

	(void)state;
	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&one, n);
	two = one;
	two.salt = 1;
	is_nack(send_batch(&two, 4), WIRE_NACK_DIVERGED, 4);
	is_nack(send_batch(&two, 5), WIRE_NACK_DIVERGED, 5);
	is_nack(send_hello(&two, 5), WIRE_NACK_DIVERGED, 5);
	is_ack(send_batch(&one, 5), 5);
	assert_true(journal_next(journal) == 6);
}

static void
a_number_older_than_the_ring_is_a_repetition(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	for (uint64_t n = 1; n <= 80; n++)
		send_batch(&s, n);
	s.salt = 9;
	is_ack(send_batch(&s, 80 - JOURNAL_RING), 80);
	is_nack(send_batch(&s, 80 - JOURNAL_RING + 2), WIRE_NACK_DIVERGED,
	    80 - JOURNAL_RING + 2);
}

static void
an_older_start_count_is_superseded(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	s.start_count = 2;
	send_batch(&s, 1);
	s.start_count = 1;
	is_nack(send_batch(&s, 2), WIRE_NACK_SUPERSEDED, 2);
	s.start_count = 3;
	is_ack(send_batch(&s, 2), 2);
}

/* It looks for the last number in common before it goes its own way. */
static void
a_hello_with_an_older_start_count_is_welcomed(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	s.start_count = 2;
	send_batch(&s, 1);
	send_batch(&s, 2);
	s.start_count = 1;
	is_welcome(send_hello(&s, 2), 3);
	s.chain[2] ^= 1;
	is_nack(send_hello(&s, 3), WIRE_NACK_DIVERGED, 3);
	is_nack(send_batch(&s, 3), WIRE_NACK_SUPERSEDED, 3);
}

static void
a_hello_is_welcomed_with_the_next_expected_seq(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header answer;

	(void)state;
	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&s, n);
	answer = send_hello(&s, 3);
	is_welcome(answer, 5);
	assert_true(answer.chain == s.chain[4]);
	assert_int_equal(answer.flags, WIRE_FLAG_SAME);
	answer = send_hello(&s, 5);
	is_welcome(answer, 5);
	assert_int_equal(answer.flags, WIRE_FLAG_SAME);
	/* Nothing is known, or nothing was sent. */
	assert_int_equal(send_hello(&s, 1).flags, 0);
	answer = send_hello(&s, 50);
	is_welcome(answer, 5);
	assert_int_equal(answer.flags, 0);
	is_nack(send_hello(&s, 0), WIRE_NACK_MALFORMED, 0);
}

static void
a_gap_counts_and_the_next_batch_has_its_running_hash(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	send_batch(&s, 1);
	is_ack(send_gap(&s, 2, 40), 40);
	is_ack(send_batch(&s, 41), 41);
	is_ack(send_batch(&s, 42), 42);
	is_ack(send_gap(&s, 2, 40), 42);
	is_ack(send_batch(&s, 41), 42);
	s.salt = 1;
	is_nack(send_batch(&s, 42), WIRE_NACK_DIVERGED, 42);
	assert_true(receiver_counters(receiver)->gaps == 1);
}

static void
a_gap_over_stored_numbers_counts_from_the_first_lost(void **state)
{
	struct sender s = sender_new(1);
	struct journal_walk *walk;
	struct journal_entry entry;
	struct err err;

	(void)state;
	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&s, n);
	is_ack(send_gap(&s, 3, 9), 9);
	assert_int_equal(journal_walk_open(journal, &walk, &err), 0);
	assert_int_equal(journal_walk_seek(walk, 5, &err), 0);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_int_equal(entry.header.type, WIRE_GAP);
	assert_true(entry.header.seq == 5 && entry.header.last_seq == 9);
	journal_walk_close(&walk);
}

/* One copy of a spool sends number 1; the other, which has lost its first two
 * to a store that is gone, a gap and number 3. */
static void
a_batch_without_a_running_hash_leaves_a_boundary(void **state)
{
	struct sender s = sender_new(1), other = sender_new(1);
	struct wire_header gap;

	(void)state;
	other.salt = 1;
	assert_int_equal(send_batch(&other, 1).start_count, 0);
	for (uint64_t n = 1; n <= 2; n++)
		send_batch(
		    &s, n); /* diverged, and its running hashes are known */
	gap = header_of(&s, WIRE_GAP, 2);
	gap.last_seq = 2;
	gap.reason = WIRE_GAP_RESTORED;
	gap.chain = 0;
	gap.chain_after = s.chain[2];
	is_ack(ask(&gap, (struct text){ NULL, 0 }, RECEIVER_ROOM), 2);
	assert_int_equal(send_batch(&s, 3).start_count, 1);
	assert_int_equal(send_hello(&s, 1).start_count, 1);
	is_nack(send_hello(&s, 2), WIRE_NACK_DIVERGED, 2);
	assert_int_equal(send_hello(&s, 2).start_count, 1);
	assert_int_equal(send_hello(&s, 3).flags, WIRE_FLAG_SAME);
	/* One that has the running hash before it leaves none. */
	gap = header_of(&s, WIRE_GAP, 4);
	gap.last_seq = 4;
	gap.chain_after = s.chain[4] = 7;
	assert_int_equal(
	    ask(&gap, (struct text){ NULL, 0 }, RECEIVER_ROOM).start_count, 1);
	assert_int_equal(send_batch(&s, 5).start_count, 1);
}

static void
numbers_that_overflow_are_malformed(void **state)
{
	struct sender s = sender_new(1);

	(void)state;
	is_nack(send_gap(&s, 1, UINT64_MAX), WIRE_NACK_MALFORMED, 0);
	is_nack(send_gap(&s, 5, 4), WIRE_NACK_MALFORMED, 0);
	is_ack(send_batch(&s, 1), 1);
}

static void
a_bad_body_is_stored_as_a_rejected_batch(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_BATCH, 1), answer;
	struct text body = { "\xc1junk", 5 };
	struct journal_walk *walk;
	struct journal_entry entry;
	struct err err;

	(void)state;
	header.records = 1;
	s.chain[1] = hash_chain(0, crc32c(0, body.at, body.bytes), 5, 1);
	answer = ask(&header, body, RECEIVER_ROOM);
	is_ack(answer, 1);
	assert_int_equal(answer.flags, WIRE_FLAG_REJECTED);
	is_ack(send_batch(&s, 2), 2);
	assert_int_equal(journal_walk_open(journal, &walk, &err), 0);
	assert_int_equal(journal_walk_seek(walk, 1, &err), 0);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.rejected);
	assert_int_not_equal(entry.fault, WIRE_OK);
	assert_true(text_equal(entry.body, body));
	journal_walk_close(&walk);
	assert_true(receiver_counters(receiver)->rejected == 1);
	assert_true(receiver_counters(receiver)->records == 1);
}

static void
without_room_repetitions_are_acknowledged_and_new_batches_wait(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header answer;

	(void)state;
	send_batch(&s, 1);
	answer = send_batch_when(&s, 2, RECEIVER_FULL);
	is_nack(answer, WIRE_NACK_BUSY, 2);
	assert_int_equal(answer.credit_bytes, 0);
	assert_int_equal(answer.retry_ms, RECEIVER_FULL_RETRY_MS);
	answer = send_batch_when(&s, 1, RECEIVER_FULL);
	assert_int_equal(answer.type, WIRE_ACK);
	assert_int_equal(answer.credit_bytes, 0);
	answer = send_batch_when(&s, 2, RECEIVER_LAGGING);
	is_nack(answer, WIRE_NACK_BUSY, 2);
	is_ack(send_batch(&s, 2), 2);
}

static void
streams_of_sessions_and_partitions_are_apart(void **state)
{
	struct sender one = sender_new(1), two = sender_new(2), three = one;

	(void)state;
	three.partition = "acct$other";
	is_ack(send_batch(&one, 1), 1);
	is_ack(send_batch(&two, 1), 1);
	is_ack(send_batch(&three, 1), 1);
	is_ack(send_batch(&one, 2), 2);
	is_welcome(send_hello(&two, 2), 2);
	assert_true(receiver_counters(receiver)->sessions == 3);
}

static void
a_flood_of_sessions_has_to_wait(void **state)
{
	struct sender s;

	(void)state;
	receiver_free(&receiver);
	journal_close(&journal);
	open_keep(5);
	for (uint8_t i = 0; i < 5; i++) {
		s = sender_new(i);
		is_ack(send_batch(&s, 1), 1);
	}
	s = sender_new(77);
	is_nack(send_batch(&s, 1), WIRE_NACK_BUSY, 1);
	s = sender_new(4);
	s.chain[1] = 0;
	is_ack(send_batch(&s, 1), 1);
	s = sender_new(78);
	s.node = "node-2";
	is_ack(send_batch(&s, 1), 1);
	assert_true(receiver_counters(receiver)->limited == 1);
}

static void
a_failed_commit_undoes_everything(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_BATCH, 1), answer;
	struct text body = body_of(&s, 1);
	struct err err;
	size_t bytes;

	(void)state;
	header.records = 1;
	bytes = wire_frame(frame, sizeof(frame), &header, body);
	assert_int_equal(journal_begin(journal, &err), 0);
	assert_true(receiver_take(receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, noon,
	    RECEIVER_ROOM, &answer));
	assert_int_equal(answer.type, WIRE_ACK);
	assert_true(receiver_is_dirty(receiver));
	journal_abort(journal);
	receiver_failed(receiver);
	receiver_withdraw(receiver, &answer);
	is_nack(answer, WIRE_NACK_BUSY, 0);
	assert_true(receiver_counters(receiver)->batches == 0);
	assert_false(receiver_is_dirty(receiver));
	is_welcome(send_hello(&s, 1), 1);
	is_ack(send_batch(&s, 1), 1);
}

static void
sessions_not_stored_do_not_count(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_BATCH, 1), answer;
	struct err err;
	size_t bytes;

	(void)state;
	receiver_free(&receiver);
	journal_close(&journal);
	open_keep(5);
	header.records = 1;
	/* Each second of a full disk is a try of the same session. */
	for (int i = 0; i < 10; i++) {
		bytes =
		    wire_frame(frame, sizeof(frame), &header, body_of(&s, 1));
		assert_int_equal(journal_begin(journal, &err), 0);
		assert_true(receiver_take(receiver,
		    (struct text){ (const char *)frame, (uint32_t)bytes }, noon,
		    RECEIVER_ROOM, &answer));
		journal_abort(journal);
		receiver_failed(receiver);
	}
	is_ack(send_batch(&s, 1), 1);
	assert_true(receiver_counters(receiver)->limited == 0);
}

/* What the way has changed is not refused for good: it is there, where it came
 * from. */
static void
is_for_another_try(const struct wire_header *answer)
{
	assert_int_equal(answer->reason, WIRE_NACK_BUSY);
	assert_int_equal(answer->retry_ms, RECEIVER_DAMAGED_RETRY_MS);
	assert_true(answer->credit_bytes == RECEIVER_CREDIT_BYTES);
}

static void
messages_not_for_an_aggregator_are_unsupported(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_SELECT, 1), answer;
	struct err err;
	size_t bytes;

	(void)state;
	is_nack(ask(&header, (struct text){ NULL, 0 }, RECEIVER_ROOM),
	    WIRE_NACK_UNSUPPORTED, 0);
	header.type = WIRE_BYE;
	bytes =
	    wire_frame(frame, sizeof(frame), &header, (struct text){ NULL, 0 });
	assert_int_equal(journal_begin(journal, &err), 0);
	assert_false(receiver_take(receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, noon,
	    RECEIVER_ROOM, &answer));
	/* Any damage: refused, counted, and nothing is kept. */
	header.type = WIRE_BATCH;
	header.records = 1;
	bytes = wire_frame(frame, sizeof(frame), &header, body_of(&s, 1));
	for (size_t i = 0; i < bytes; i++) {
		frame[i] ^= 0x10;
		assert_true(receiver_take(receiver,
		    (struct text){ (const char *)frame, (uint32_t)bytes }, noon,
		    RECEIVER_ROOM, &answer));
		assert_int_equal(answer.type, WIRE_NACK);
		if (i == 4)
			assert_int_equal(answer.reason, WIRE_NACK_UNSUPPORTED);
		else if (i < 4 || (i >= 8 && i < 12))
			assert_int_equal(answer.reason, WIRE_NACK_MALFORMED);
		else
			is_for_another_try(&answer);
		frame[i] ^= 0x10;
	}
	assert_int_equal(journal_commit(journal, &err), DB_OK);
	assert_true(journal_next(journal) == 1);
}

/* Two honest senders over a channel that loses, repeats and reorders: every
 * number is kept once. */
static void
random_schedules_store_every_number_once(void **state)
{
	uint64_t random = check_seed();
	struct sender senders[2] = { sender_new(1), sender_new(2) };
	uint64_t acked[2] = { 0, 0 };
	struct wire_header answer;
	struct err err;

	(void)state;
	for (unsigned i = 0; i < 4000; i++) {
		unsigned which = check_random(&random) % 2;
		struct sender *s = &senders[which];
		uint64_t n = acked[which] + check_random(&random) % 5;

		n = n > 2 ? n - 2 : 1;
		if (n >= NUMBERS)
			n = NUMBERS - 1;
		for (uint64_t k = acked[which] + 1; k < n; k++) {
			struct text body = body_of(s, k);

			s->chain[k] = hash_chain(s->chain[k - 1],
			    crc32c(0, body.at, body.bytes), body.bytes, 1);
		}
		answer = send_batch(s, n);
		if (n <= acked[which] + 1) {
			if (n == acked[which] + 1)
				acked[which] = n;
			is_ack(answer, acked[which]);
		} else {
			is_nack(answer, WIRE_NACK_GAP, acked[which] + 1);
		}
	}
	assert_true(journal_next(journal) == acked[0] + acked[1] + 1);
	assert_true(
	    receiver_counters(receiver)->records == acked[0] + acked[1]);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 0);
}

static void
only_partitions_that_match_are_accepted(void **state)
{
	static const struct opt_list ours = { { "acct$p*", "x" }, 2 };
	struct sender s = sender_new(1), other = sender_new(2);

	(void)state;
	other.partition = "acct$other";
	receiver_accept(receiver, &ours);
	is_ack(send_batch(&s, 1), 1);
	is_nack(send_batch(&other, 1), WIRE_NACK_OWNER, 0);
	is_nack(send_hello(&other, 1), WIRE_NACK_OWNER, 0);
	receiver_accept(receiver, NULL);
	is_ack(send_batch(&other, 1), 1);
	/* Also one of which the store has records. */
	receiver_accept(receiver, &ours);
	is_nack(send_batch(&other, 2), WIRE_NACK_OWNER, 0);
	assert_int_equal(
	    receiver_counters(receiver)->nacks[WIRE_NACK_OWNER], 3);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(batches_in_order_are_stored_and_acknowledged),
		CASE(a_batch_for_another_generation_is_refused),
		CASE(a_repetition_is_acknowledged_and_not_stored_again),
		CASE(a_hole_is_answered_with_the_next_expected_seq),
		CASE(other_content_under_a_stored_number_diverges),
		CASE(a_number_older_than_the_ring_is_a_repetition),
		CASE(an_older_start_count_is_superseded),
		CASE(a_hello_with_an_older_start_count_is_welcomed),
		CASE(a_hello_is_welcomed_with_the_next_expected_seq),
		CASE(a_gap_counts_and_the_next_batch_has_its_running_hash),
		CASE(a_gap_over_stored_numbers_counts_from_the_first_lost),
		CASE(a_batch_without_a_running_hash_leaves_a_boundary),
		CASE(numbers_that_overflow_are_malformed),
		CASE(a_bad_body_is_stored_as_a_rejected_batch),
		CASE(
		    without_room_repetitions_are_acknowledged_and_new_batches_wait),
		CASE(streams_of_sessions_and_partitions_are_apart),
		CASE(a_flood_of_sessions_has_to_wait),
		CASE(a_failed_commit_undoes_everything),
		CASE(sessions_not_stored_do_not_count),
		CASE(messages_not_for_an_aggregator_are_unsupported),
		CASE(random_schedules_store_every_number_once),
		CASE(only_partitions_that_match_are_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
