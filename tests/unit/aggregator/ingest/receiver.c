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

enum { NUMBERS = 5000 };
static const int64_t noon = INT64_C(1700000000) * NS_PER_SECOND;

static char folder[64];
static struct journal *journal;
static struct receiver *receiver;
static uint64_t who = 1; /* sends */

/* The stream of a sender, with the running hash after each number. */
struct sender {
	struct session_id session;
	uint64_t generation; /* of the store that acknowledged; for hellos */
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
		(struct text){ (const char *)frame, (uint32_t)bytes }, who,
		noon, room, &answer))
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
		.generation = sender->generation,
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
	assert_int_equal(answer.flags & WIRE_FLAG_ALONE, 0);
	assert_true(answer.generation == journal_generation(journal));
	assert_int_equal(answer.credit_bytes, RECEIVER_CREDIT_BYTES);
}

/* ... of this number, and of none before it. */
static void
is_ack_alone(struct wire_header answer, uint64_t seq)
{
	assert_int_equal(answer.type, WIRE_ACK);
	assert_int_equal(answer.seq, seq);
	assert_int_equal(answer.flags & WIRE_FLAG_ALONE, WIRE_FLAG_ALONE);
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

	is_welcome(send_hello(&s, 1), 1);
	for (uint64_t n = 1; n < 60; n++) {
		answer = send_batch(&s, n);
		is_ack(answer, n);
		assert_true(text_equal(answer.partition, text_of("acct$pool")));
		assert_int_equal(answer.flags, 0);
	}
	assert_true(journal_next(journal) == 60);
	assert_true(receiver_counters(receiver)->records == 59);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 0);
}

static void
a_repetition_is_acknowledged_and_not_stored_again(void **state)
{
	struct sender s = sender_new(1);

	for (uint64_t n = 1; n <= 5; n++)
		send_batch(&s, n);
	/* The acknowledgement is for what was compared. */
	is_ack(send_batch(&s, 3), 3);
	is_ack(send_batch(&s, 1), 1);
	is_ack(send_batch(&s, 5), 5);
	assert_true(journal_next(journal) == 6);
	assert_true(receiver_counters(receiver)->repeated == 3);
}

static void
a_hole_is_answered_with_the_next_expected_seq(void **state)
{
	struct sender s = sender_new(1);

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

	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&one, n);
	two = one;
	two.salt = 1;
	is_ack(send_batch(&one, 3), 3);
	is_nack(send_batch(&two, 4), WIRE_NACK_DIVERGED, 0);
	/* What follows it does not continue what is stored. */
	is_nack(send_batch(&two, 5), WIRE_NACK_DIVERGED, 0);
	is_welcome(send_hello(&two, 5), 5);
	is_ack(send_batch(&one, 5), 5);
	assert_true(journal_next(journal) == 6);
}

/* Stored twice is better than lost. */
static void
what_the_store_no_longer_remembers_is_other_content(void **state)
{
	enum { LAST = JOURNAL_STREAM_REMEMBERED + 200 };
	struct sender s = sender_new(1);

	for (uint64_t n = 1; n <= LAST; n++)
		send_batch(&s, n);
	is_ack(send_batch(&s, 201), 201);
	is_nack(send_batch(&s, 200), WIRE_NACK_DIVERGED, 0);
	is_nack(send_batch(&s, 1), WIRE_NACK_DIVERGED, 0);
	/* A gap has no content to store. */
	is_ack_alone(send_gap(&s, 1, 3), 3);
	s.salt = 9;
	is_nack(send_batch(&s, 300), WIRE_NACK_DIVERGED, 0);
	is_nack(send_batch(&s, LAST), WIRE_NACK_DIVERGED, 0);
}

static void
a_hello_is_welcomed_with_the_next_expected_seq(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header answer;

	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&s, n);
	answer = send_hello(&s, 3);
	is_welcome(answer, 5);
	assert_true(answer.chain == s.chain[4]);
	is_welcome(send_hello(&s, 5), 5);
	is_welcome(send_hello(&s, 50), 5);
	assert_true(journal_next(journal) == 5);
	is_nack(send_hello(&s, 0), WIRE_NACK_MALFORMED, 0);
}

/* The store does not know the running hash behind it. */
static void
a_gap_counts_and_hides_what_is_before_it(void **state)
{
	struct sender s = sender_new(1);

	send_batch(&s, 1);
	is_ack(send_gap(&s, 2, 40), 40);
	s.chain[40] = 5;
	is_ack_alone(send_batch(&s, 41), 41);
	is_ack(send_batch(&s, 42), 42);
	is_ack_alone(send_gap(&s, 2, 40), 40);
	s.chain[40] = 5;
	is_ack(send_batch(&s, 41), 41);
	/* Within the gap there is nothing to compare. */
	is_ack_alone(send_batch(&s, 20), 20);
	s.salt = 1;
	is_nack(send_batch(&s, 42), WIRE_NACK_DIVERGED, 0);
	assert_true(receiver_counters(receiver)->gaps == 1);
}

static struct wire_header
send_known_gap(struct sender *s, uint64_t from, uint64_t to, uint64_t after)
{
	struct wire_header gap = header_of(s, WIRE_GAP, from);

	gap.last_seq = to;
	gap.reason = WIRE_GAP_REFUSED;
	gap.chain_after = s->chain[to] = after;
	return ask(&gap, (struct text){ NULL, 0 }, RECEIVER_ROOM);
}

static void
a_gap_with_its_running_hash_is_compared_by_it(void **state)
{
	struct sender s = sender_new(1);

	send_batch(&s, 1);
	is_ack(send_known_gap(&s, 2, 3, 77), 3);
	is_ack(send_batch(&s, 4), 4);
	is_ack(send_known_gap(&s, 2, 3, 77), 3);
	/* Another life lost something else there. */
	is_nack(send_known_gap(&s, 2, 3, 78), WIRE_NACK_DIVERGED, 0);
	is_nack(send_known_gap(&s, 1, 1, 79), WIRE_NACK_DIVERGED, 0);
}

/* Nobody but a restored store says so. */
static void
a_gap_without_a_count_is_malformed(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header gap = header_of(&s, WIRE_GAP, 1);

	gap.last_seq = 1;
	gap.reason = WIRE_GAP_SINCE_BACKUP;
	is_nack(ask(&gap, (struct text){ NULL, 0 }, RECEIVER_ROOM),
	    WIRE_NACK_MALFORMED, 0);
}

static void
a_gap_over_stored_numbers_counts_from_the_first_lost(void **state)
{
	struct sender s = sender_new(1);
	struct journal_walk *walk;
	struct journal_entry entry;
	struct err err;

	for (uint64_t n = 1; n <= 4; n++)
		send_batch(&s, n);
	is_ack_alone(send_gap(&s, 3, 9), 9);
	assert_int_equal(journal_walk_open(journal, &walk, &err), 0);
	assert_int_equal(journal_walk_seek(walk, 5, &err), 0);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_int_equal(entry.header.type, WIRE_GAP);
	assert_true(entry.header.seq == 5 && entry.header.last_seq == 9);
	journal_walk_close(&walk);
}

/* ---- rows that were collected ---- */

static void
forget(const struct sender *s)
{
	unsigned char key[16 + NAME_BYTES_MAX];
	struct text partition = text_of(s->partition);
	struct err err;

	memcpy(key, s->session.bytes, 16);
	memcpy(key + 16, partition.at, partition.bytes);
	assert_int_equal(journal_begin(journal, &err), 0);
	journal_stream_remove(journal_txn(journal),
	    (struct text){ (const char *)key, 16 + partition.bytes });
	assert_int_equal(journal_commit(journal, &err), DB_OK);
}

static void
a_collected_stream_goes_on_where_this_store_acknowledged(void **state)
{
	struct sender s = sender_new(1);

	for (uint64_t n = 1; n <= 200; n++)
		send_batch(&s, n);
	forget(&s);
	s.generation = journal_generation(journal);
	is_welcome(send_hello(&s, 201), 201);
	is_ack_alone(send_batch(&s, 201), 201);
	is_ack(send_batch(&s, 202), 202);
	is_welcome(send_hello(&s, 203), 203);
}

/* A copy of the machine that slept for a week may have other content. */
static void
what_was_collected_is_not_taken_for_stored(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header gap;

	for (uint64_t n = 1; n <= 200; n++)
		send_batch(&s, n);
	forget(&s);
	s.generation = journal_generation(journal);
	is_welcome(send_hello(&s, 201), 201);
	is_nack(send_batch(&s, 150), WIRE_NACK_DIVERGED, 0);
	is_nack(send_batch(&s, 200), WIRE_NACK_DIVERGED, 0);
	gap = header_of(&s, WIRE_GAP, 100);
	gap.last_seq = 120;
	gap.reason = WIRE_GAP_RESTORED;
	is_ack_alone(ask(&gap, (struct text){ NULL, 0 }, RECEIVER_ROOM), 120);
	is_ack_alone(send_batch(&s, 201), 201);
	is_ack(send_batch(&s, 201), 201);
}

static void
what_another_store_acknowledged_is_asked_for(void **state)
{
	struct sender s = sender_new(1);

	is_welcome(send_hello(&s, 201), 1);
	s.generation = journal_generation(journal) + 1;
	is_welcome(send_hello(&s, 201), 1);
	assert_int_equal(receiver_counters(receiver)->sessions, 0);
}

/* A row that is used is not collected. */
static void
a_hello_to_an_idle_stream_keeps_its_row(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_HELLO, 2), answer;
	struct journal_stream stream;
	struct err err;
	size_t bytes;

	send_batch(&s, 1);
	bytes =
	    wire_frame(frame, sizeof(frame), &header, (struct text){ NULL, 0 });
	for (int days = 0; days < 3; days++) {
		int64_t now = noon + days * 25 * 3600 * NS_PER_SECOND;

		assert_int_equal(journal_begin(journal, &err), 0);
		assert_true(receiver_take(receiver,
		    (struct text){ (const char *)frame, (uint32_t)bytes }, who,
		    now, RECEIVER_ROOM, &answer));
		assert_int_equal(receiver_is_dirty(receiver), days > 0);
		assert_int_equal(journal_stream_get(journal, &s.session,
				     text_of(s.partition), &stream),
		    JOURNAL_FOUND);
		assert_true(stream.last_ns == now);
		assert_true(stream.last_seq == 1);
		assert_int_equal(journal_commit(journal, &err), DB_OK);
		receiver_committed(receiver);
	}
}

static void
numbers_that_overflow_are_malformed(void **state)
{
	struct sender s = sender_new(1);

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

	send_batch(&s, 1);
	answer = send_batch_when(&s, 2, RECEIVER_FULL);
	is_nack(answer, WIRE_NACK_BUSY, 0);
	assert_int_equal(answer.credit_bytes, 0);
	assert_int_equal(answer.retry_ms, RECEIVER_FULL_RETRY_MS);
	answer = send_batch_when(&s, 1, RECEIVER_FULL);
	assert_int_equal(answer.type, WIRE_ACK);
	assert_int_equal(answer.credit_bytes, 0);
	answer = send_batch_when(&s, 2, RECEIVER_LAGGING);
	is_nack(answer, WIRE_NACK_BUSY, 0);
	is_ack(send_batch(&s, 2), 2);
}

static void
streams_of_sessions_and_partitions_are_apart(void **state)
{
	struct sender one = sender_new(1), two = sender_new(2), three = one;

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

	receiver_free(&receiver);
	journal_close(&journal);
	open_keep(5);
	for (uint8_t i = 0; i < 5; i++) {
		s = sender_new(i);
		is_ack(send_batch(&s, 1), 1);
	}
	s = sender_new(77);
	is_nack(send_batch(&s, 1), WIRE_NACK_BUSY, 0);
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

	header.records = 1;
	bytes = wire_frame(frame, sizeof(frame), &header, body);
	assert_int_equal(journal_begin(journal, &err), 0);
	assert_true(receiver_take(receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, who, noon,
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
		    (struct text){ (const char *)frame, (uint32_t)bytes }, who,
		    noon, RECEIVER_ROOM, &answer));
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

/* It has no number, and changes nothing of the stream. */
static void
a_bye_is_kept_behind_the_batches(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_BYE, 0);
	const struct text none = { NULL, 0 };
	uint64_t next;

	is_ack(send_batch(&s, 1), 1);
	next = journal_next(journal);
	assert_int_equal(ask(&header, none, RECEIVER_ROOM).type, WIRE_ACK);
	assert_int_equal(journal_next(journal), next + 1);
	assert_true(receiver_newest(receiver, header.partition) >= next);
	assert_int_equal(receiver_counters(receiver)->byes, 1);
	is_ack(send_batch(&s, 2), 2);
	/* Without room, or with a body, nothing is kept. */
	next = journal_next(journal);
	is_nack(ask(&header, none, RECEIVER_FULL), WIRE_NACK_BUSY, 0);
	is_nack(ask(&header, none, RECEIVER_LAGGING), WIRE_NACK_BUSY, 0);
	is_nack(ask(&header, body_of(&s, 1), RECEIVER_ROOM),
	    WIRE_NACK_MALFORMED, 0);
	assert_int_equal(journal_next(journal), next);
}

static void
messages_not_for_an_aggregator_are_unsupported(void **state)
{
	struct sender s = sender_new(1);
	struct wire_header header = header_of(&s, WIRE_SELECT, 1), answer;
	struct err err;
	size_t bytes;

	is_nack(ask(&header, (struct text){ NULL, 0 }, RECEIVER_ROOM),
	    WIRE_NACK_UNSUPPORTED, 0);
	assert_int_equal(journal_begin(journal, &err), 0);
	/* Any damage: refused, counted, and nothing is kept. */
	header.type = WIRE_BATCH;
	header.records = 1;
	bytes = wire_frame(frame, sizeof(frame), &header, body_of(&s, 1));
	for (size_t i = 0; i < bytes; i++) {
		frame[i] ^= 0x10;
		assert_true(receiver_take(receiver,
		    (struct text){ (const char *)frame, (uint32_t)bytes }, who,
		    noon, RECEIVER_ROOM, &answer));
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

	for (unsigned i = 0; i < 4000; i++) {
		unsigned which = check_random(&random) % 2;
		struct sender *s = &senders[which];
		uint64_t n = acked[which] + check_random(&random) % 5;

		n = n > 2 ? n - 2 : 1;
		if (n >= 100)
			n = 99;
		for (uint64_t k = acked[which] + 1; k < n; k++) {
			struct text body = body_of(s, k);

			s->chain[k] = hash_chain(s->chain[k - 1],
			    crc32c(0, body.at, body.bytes), body.bytes, 1);
		}
		answer = send_batch(s, n);
		if (n <= acked[which] + 1) {
			if (n == acked[which] + 1)
				acked[which] = n;
			is_ack(answer, n);
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

/* Rule 12: half of the journal waits, and nothing was indexed lately. */
static void
while_indexing_is_behind_batches_have_turns(void **state)
{
	struct sender s = sender_new(1), other = sender_new(2);
	struct pace pace = { .paced = false };
	struct wire_header answer;
	int64_t now_ns = 5 * NS_PER_SECOND;
	uint32_t first_ms;

	receiver_set_pace(receiver, &pace);
	pace_step(&pace, now_ns, 0, 64 << 20);
	answer = send_batch(&s, 1);
	is_ack(answer, 1);
	assert_int_equal(answer.credit_bytes, RECEIVER_CREDIT_BYTES);

	pace_step(&pace, now_ns, 32 << 20, 64 << 20);
	/* The pace has admitted a second's worth already. */
	pace.free_ns = now_ns + NS_PER_SECOND;
	answer = send_batch(&s, 2);
	is_nack(answer, WIRE_NACK_BUSY, 0);
	assert_int_equal(answer.credit_bytes, 0);
	assert_in_range(answer.retry_ms, 1000, 1001);
	first_ms = answer.retry_ms;
	/* Who is not stored yet waits behind it. */
	answer = send_batch(&other, 1);
	is_nack(answer, WIRE_NACK_BUSY, 0);
	assert_true(answer.retry_ms >= first_ms);
	/* What is stored is acknowledged, and a hello is answered. */
	assert_int_equal(send_batch(&s, 1).type, WIRE_ACK);
	answer = send_hello(&s, 2);
	assert_int_equal(answer.type, WIRE_WELCOME);
	assert_in_range(answer.credit_bytes, 1, RECEIVER_CREDIT_BYTES - 1);

	pace_step(&pace, now_ns + NS_PER_SECOND, 32 << 20, 64 << 20);
	answer = send_batch(&s, 2);
	assert_int_equal(answer.type, WIRE_ACK);
	assert_in_range(answer.credit_bytes, 1, RECEIVER_CREDIT_BYTES - 1);
	assert_int_equal(receiver_counters(receiver)->batches, 2);
}

static void
is_taken(struct wire_header answer)
{
	is_nack(answer, WIRE_NACK_FORBIDDEN, 0);
	assert_int_equal(answer.flags, WIRE_FLAG_TAKEN);
	assert_true(answer.detail.bytes > 0);
	assert_true(answer.chain == 0);
}

/* Rule 8: every message of every stranger, before the aggregator is restarted
 * and after.  The owner's numbers, running hash and answers are as if there had
 * been none. */
static void
a_session_belongs_to_whoever_began_it(void **state)
{
	static const struct {
		uint64_t who;
		const char *node;
	} strangers[] = { { 2, "node-1" }, { 1, "node-2" }, { 2, "node-2" },
		{ 0, "node-1" } };
	struct sender owner = sender_new(1), other;

	for (uint64_t n = 1; n <= 2; n++)
		is_ack(send_batch(&owner, n), n);
	for (unsigned i = 0; i < 8; i++) {
		other = owner;
		other.node = strangers[i % 4].node;
		other.generation = journal_generation(journal);
		who = strangers[i % 4].who;
		/* The same content, other content, the next number, one
		 * beyond. */
		is_taken(send_batch(&other, 2));
		other.salt = 7;
		is_taken(send_batch(&other, 2));
		is_taken(send_batch(&other, 3));
		is_taken(send_batch(&other, 9));
		is_taken(send_gap(&other, 3, 20));
		is_taken(send_gap(&other, 1, 2));
		is_taken(send_hello(&other, 1));
		is_taken(send_hello(&other, 20));
		who = 1;
		if (i != 3)
			continue;
		receiver_free(&receiver);
		journal_close(&journal);
		open_keep(0);
	}
	assert_int_equal(send_hello(&owner, 3).expect, 3);
	assert_true(send_hello(&owner, 3).chain == owner.chain[2]);
	is_ack(send_batch(&owner, 3), 3);
	assert_int_equal(receiver_counters(receiver)->batches, 1);
	/* Another partition is another stream. */
	other = owner;
	other.partition = "acct$other";
	who = 2;
	is_ack(send_batch(&other, 1), 1);
	who = 1;
	is_taken(send_batch(&other, 1));
}

/* A row that was made by a hello has an owner, too. */
static void
a_stream_that_begins_again_belongs_to_its_sender(void **state)
{
	struct sender owner = sender_new(1);

	owner.generation = journal_generation(journal);
	assert_int_equal(send_hello(&owner, 5).expect, 5);
	who = 2;
	is_taken(send_hello(&owner, 5));
	is_taken(send_batch(&owner, 5));
	who = 1;
	assert_int_equal(send_batch(&owner, 5).type, WIRE_ACK);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(batches_in_order_are_stored_and_acknowledged),
		CASE(a_repetition_is_acknowledged_and_not_stored_again),
		CASE(a_hole_is_answered_with_the_next_expected_seq),
		CASE(other_content_under_a_stored_number_diverges),
		CASE(what_the_store_no_longer_remembers_is_other_content),
		CASE(a_hello_is_welcomed_with_the_next_expected_seq),
		CASE(a_gap_counts_and_hides_what_is_before_it),
		CASE(a_gap_with_its_running_hash_is_compared_by_it),
		CASE(a_gap_without_a_count_is_malformed),
		CASE(a_gap_over_stored_numbers_counts_from_the_first_lost),
		CASE(a_collected_stream_goes_on_where_this_store_acknowledged),
		CASE(what_was_collected_is_not_taken_for_stored),
		CASE(what_another_store_acknowledged_is_asked_for),
		CASE(a_hello_to_an_idle_stream_keeps_its_row),
		CASE(numbers_that_overflow_are_malformed),
		CASE(a_bad_body_is_stored_as_a_rejected_batch),
		CASE(
		    without_room_repetitions_are_acknowledged_and_new_batches_wait),
		CASE(streams_of_sessions_and_partitions_are_apart),
		CASE(a_session_belongs_to_whoever_began_it),
		CASE(a_stream_that_begins_again_belongs_to_its_sender),
		CASE(a_flood_of_sessions_has_to_wait),
		CASE(a_failed_commit_undoes_everything),
		CASE(sessions_not_stored_do_not_count),
		CASE(a_bye_is_kept_behind_the_batches),
		CASE(messages_not_for_an_aggregator_are_unsupported),
		CASE(random_schedules_store_every_number_once),
		CASE(only_partitions_that_match_are_accepted),
		CASE(while_indexing_is_behind_batches_have_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
