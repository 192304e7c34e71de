/*
 * ingest - tests of aggregator/ingest/ingest.h, through a real socket.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/ingest/ingest.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "tests/unit/scratch.h"

enum { BODY_BYTES = 60000, NUMBERS = 4096, PATIENCE_S = 60 };

/* An aggregator without a indexer, and one sender. */
struct test {
	char folder[SCRATCH_BYTES], endpoint[SCRATCH_BYTES + 16];
	struct loop *loop;
	struct journal *journal;
	struct ingest *ingest;
	uint64_t position; /* what the indexer would have reached */
	unsigned wakes;

	struct zsock *line;
	struct session_id session;
	uint64_t chain[NUMBERS];
	uint64_t acked;
	uint32_t acks, busies, nacks, body_bytes;
	uint32_t credit_bytes, retry_ms; /* of the last answer */
	bool not_in_journal;             /* acknowledged before it was there */
	uint64_t quit_at;                /* acknowledged number, or ... */
	uint32_t quit_busies;
	struct loop_timer patience;
	bool late;
};

static void
wake(void *arg)
{
	struct test *test = arg;

	test->wakes++;
}

static uint64_t
position(void *arg)
{
	struct test *test = arg;

	return test->position;
}

static bool
is_in_journal(struct test *test, uint64_t number)
{
	struct journal_walk *walk;
	struct journal_entry entry;
	bool there;

	assert_int_equal(journal_walk_open(test->journal, &walk, NULL), 0);
	assert_int_equal(journal_walk_seek(walk, number, NULL), 0);
	there = journal_walk_next(walk, &entry) == 1;
	journal_walk_close(&walk);
	return there;
}

static void
on_answer(struct test *test, struct text frame)
{
	struct wire_header header;
	struct text body;

	assert_int_equal(wire_open(frame, &header, &body), WIRE_OK);
	test->credit_bytes = header.credit_bytes;
	test->retry_ms = header.retry_ms;
	assert_true(header.answered_ns >= header.received_ns);
	if (header.type == WIRE_ACK) {
		test->acks++;
		if (header.seq > test->acked)
			test->acked = header.seq;
		if (!is_in_journal(test, header.seq))
			test->not_in_journal = true;
	} else if (header.type == WIRE_NACK) {
		test->nacks++;
		test->busies += header.reason == WIRE_NACK_BUSY;
	}
}

static void
on_line(void *arg, struct zsock *zsock)
{
	struct test *test = arg;
	struct zsock_message message;

	zsock_message_init(&message);
	while (zsock_recv(zsock, &message) == ZSOCK_DONE)
		on_answer(test, message.frame);
	zsock_message_clear(&message);
	if ((test->quit_at > 0 && test->acked >= test->quit_at) ||
	    (test->quit_busies > 0 && test->busies >= test->quit_busies))
		loop_quit(test->loop, 0);
}

static void
on_patience(void *arg, struct loop_timer *timer)
{
	struct test *test = arg;

	test->late = true;
	loop_quit(test->loop, 1);
}

static void
start(struct test *test, const struct ingest_options *given, uint64_t map_bytes)
{
	const struct journal_options how = { .map_bytes = map_bytes };
	const struct zsock_options line = {
		.kind = ZSOCK_CONNECTION,
		.queue_messages = 1000,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};
	const struct backpressure_follower follower = { test, wake, position };
	struct opt_list listen = { .at = { test->endpoint }, .count = 1 };
	struct ingest_options options = *given;
	struct err err = { 0 };

	options.listen = &listen;
	options.queue_messages = 1000;
	snprintf(test->endpoint, sizeof(test->endpoint), "ipc://%s/door",
	    test->folder);
	if (loop_new(&test->loop, &err) != 0 ||
	    journal_open(&test->journal, test->folder, &how, &err) != 0 ||
	    ingest_open(&test->ingest, test->loop, test->journal, &options,
		&follower, &err) != 0 ||
	    zsock_open(&test->line, &line, &err) != 0 ||
	    zsock_connect(test->line, test->endpoint, &err) != 0 ||
	    loop_add_zsock(test->loop, test->line, on_line, test, &err) != 0)
		fail_msg("%s", err.text);
}

static int
set_up(void **state)
{
	struct test *test = calloc(1, sizeof(*test));

	scratch_make(test->folder);
	test->body_bytes = 100;
	test->session.bytes[0] = 7;
	test->patience =
	    (struct loop_timer){ .on_timer = on_patience, .arg = test };
	*state = test;
	return 0;
}

static int
tear_down(void **state)
{
	struct test *test = *state;

	if (test->line != NULL)
		loop_remove_zsock(test->loop, test->line);
	zsock_close(&test->line);
	ingest_close(&test->ingest);
	journal_close(&test->journal);
	loop_free(&test->loop);
	scratch_remove(test->folder);
	free(test);
	return 0;
}

static const struct ingest_options usual = {
	.journal_bytes = 1 << 30,
	.journal_keep_ns = 600 * NS_PER_SECOND,
};

static void
send_frame(struct test *test, struct text frame)
{
	static const struct route none;
	int64_t end_ns = clock_monotonic_ns() + PATIENCE_S * NS_PER_SECOND;

	/* A line takes nothing before it is connected. */
	while (zsock_send(test->line, &none, frame) != ZSOCK_DONE)
		assert_true(clock_monotonic_ns() < end_ns);
}

static void
send_batch(struct test *test, uint64_t seq)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX], text[BODY_BYTES];
	static unsigned char pairs_room[BODY_BYTES];
	struct wire_writer w, pairs;
	struct text body, filler = { (const char *)text, 0 };
	struct record record = {
		.kind = RECORD_EVENT,
		.time_ns = NS_PER_SECOND,
		.source = text_of("test"),
		.name = text_of("event"),
		.attributes = 2,
	};
	struct wire_header header = {
		.type = WIRE_BATCH,
		.partition = text_of("acct$pool"),
		.node = text_of("node-1"),
		.session = test->session,
		.seq = seq,
		.chain = test->chain[seq - 1],
		.records = 1,
	};
	static unsigned char body_room[BODY_BYTES + 4096];
	size_t bytes;

	memset(text, 'x', sizeof(text));
	filler.bytes = test->body_bytes / 2;
	wire_writer_init(&pairs, pairs_room, sizeof(pairs_room));
	assert_true(wire_put_text_attribute(&pairs, text_of("a"), filler));
	assert_true(wire_put_text_attribute(&pairs, text_of("b"), filler));
	record.pairs =
	    (struct text){ (const char *)pairs_room, (uint32_t)pairs.bytes };
	wire_writer_init(&w, body_room, sizeof(body_room));
	assert_true(wire_put_record(&w, &record));
	body = (struct text){ (const char *)body_room, (uint32_t)w.bytes };
	test->chain[seq] = hash_chain(
	    header.chain, crc32c(0, body.at, body.bytes), body.bytes, 1);
	bytes = wire_frame(frame, sizeof(frame), &header, body);
	send_frame(test, (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
run(struct test *test)
{
	loop_set_timer(test->loop, &test->patience,
	    clock_monotonic_ns() + PATIENCE_S * NS_PER_SECOND, 0);
	loop_run(test->loop);
	loop_stop_timer(test->loop, &test->patience);
	assert_false(test->late);
}

static void
run_until_acked(struct test *test, uint64_t seq)
{
	test->quit_at = seq;
	test->quit_busies = 0;
	if (test->acked < seq)
		run(test);
	assert_true(test->acked >= seq);
}

static void
run_until_acked_or_busy(struct test *test, uint64_t seq)
{
	test->quit_at = seq;
	test->quit_busies = test->busies + 1;
	run(test);
}

static void
a_burst_costs_few_commits_and_few_answers(void **state)
{
	struct test *test = *state;
	struct ingest_status status;

	start(test, &usual, 64 << 20);
	for (uint64_t n = 1; n <= 200; n++)
		send_batch(test, n);
	run_until_acked(test, 200);
	ingest_status(test->ingest, &status);
	assert_int_equal(status.receiver.batches, 200);
	assert_int_equal(status.receiver.records, 200);
	assert_int_equal(status.next, 201);
	assert_true(status.commits < 50);
	assert_true(test->acks <= status.commits);
	assert_int_equal(test->wakes, status.commits);
	assert_int_equal(test->credit_bytes, RECEIVER_CREDIT_BYTES);
	assert_int_equal(test->nacks, 0);
	assert_false(test->not_in_journal);
}

static void
a_full_map_makes_senders_wait_until_there_is_room(void **state)
{
	struct test *test = *state;
	struct ingest_status status;
	uint64_t kept;

	start(test, &usual, 1 << 20);
	test->body_bytes = 40000;
	for (uint64_t n = 1; test->busies == 0; n++) {
		send_batch(test, n);
		run_until_acked_or_busy(test, n);
	}
	ingest_status(test->ingest, &status);
	assert_true(status.full);
	assert_int_equal(test->credit_bytes, 0);
	assert_int_equal(test->retry_ms, RECEIVER_FULL_RETRY_MS);
	assert_false(test->not_in_journal);
	/* What is kept is acknowledged all the same. */
	kept = test->acked;
	assert_true(kept == journal_next(test->journal) - 1);
	/* The indexer goes on: what it has passed makes room. */
	test->position = kept;
	while (test->acked == kept) {
		send_batch(test, kept + 1);
		run_until_acked_or_busy(test, kept + 1);
	}
	ingest_status(test->ingest, &status);
	assert_false(status.full);
	assert_true(status.purged > 0);
	assert_false(test->not_in_journal);
}

static void
indexing_lag_makes_senders_wait(void **state)
{
	struct ingest_options options = usual;
	struct test *test = *state;
	struct ingest_status status;
	uint64_t kept;

	options.journal_bytes = 200000;
	start(test, &options, 64 << 20);
	test->body_bytes = 40000;
	for (uint64_t n = 1; n <= 4; n++)
		send_batch(test, n);
	run_until_acked(test, 4);
	for (uint64_t n = 5; test->busies == 0; n++) {
		send_batch(test, n);
		run_until_acked_or_busy(test, n);
	}
	kept = test->acked;
	ingest_status(test->ingest, &status);
	/* On a busy machine the pace stops them before the bound does. */
	assert_true(status.paced);
	assert_true(status.lagging ==
		    (status.indexing_lag_bytes > options.journal_bytes));
	test->position = kept;
	send_batch(test, kept + 1);
	run_until_acked(test, kept + 1);
	ingest_status(test->ingest, &status);
	assert_false(status.lagging);
	/* And what was indexed is purged down to the bound. */
	assert_true(journal_bytes_after(
			test->journal, journal_first(test->journal)) <= 200000);
}

static void
garbage_is_counted_and_answered(void **state)
{
	struct test *test = *state;
	struct ingest_status status;

	start(test, &usual, 64 << 20);
	send_frame(test, text_of("this is not a frame at all"));
	send_frame(test, text_of("x"));
	send_frame(test, (struct text){ "", 0 });
	send_batch(test, 1);
	run_until_acked(test, 1);
	ingest_status(test->ingest, &status);
	assert_int_equal(status.receiver.nacks[WIRE_NACK_MALFORMED], 3);
	assert_int_equal(status.receiver.faults[WIRE_TRUNCATED], 2);
	assert_int_equal(status.receiver.faults[WIRE_MAGIC], 1);
	assert_int_equal(test->nacks, 3);
}

static void
stopping_acknowledges_what_was_received(void **state)
{
	struct test *test = *state;
	struct ingest_status status;

	start(test, &usual, 64 << 20);
	send_batch(test, 1);
	run_until_acked(test, 1);
	ingest_stop(test->ingest);
	ingest_stop(test->ingest);
	ingest_status(test->ingest, &status);
	assert_int_equal(status.next, 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_burst_costs_few_commits_and_few_answers),
		CASE(a_full_map_makes_senders_wait_until_there_is_room),
		CASE(indexing_lag_makes_senders_wait),
		CASE(garbage_is_counted_and_answered),
		CASE(stopping_acknowledges_what_was_received),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
