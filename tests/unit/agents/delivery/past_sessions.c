/*
 * past_sessions - tests of agents/delivery/past_sessions.h, and of what the
 * spool remembers for it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/past_sessions.h"

#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/agents/spool/spool_help.h"

#define SECOND NS_PER_SECOND

static struct help h;
static struct past_sessions past_sessions;
static struct wire_header sent;
static char sent_partition[NAME_BYTES_MAX + 1];
static uint32_t frames;
static int64_t now_ns, wall_ns;
static uint64_t generation = 5;

static bool
on_send(void *arg, struct text frame)
{
	struct text body;

	(void)arg;
	assert_int_equal(wire_open(frame, &sent, &body), WIRE_OK);
	snprintf(sent_partition, sizeof(sent_partition), "%.*s",
	    (int)sent.partition.bytes, sent.partition.at);
	frames++;
	return true;
}

static void
on_commit(void *arg)
{
	struct err err = { 0 };

	(void)arg;
	assert_int_equal(spool_commit(h.spool, &err), SPOOL_OK);
}

static void
begin_asking(void)
{
	past_sessions = (struct past_sessions){ .options = { .spool = h.spool,
						    .node = text_of("node"),
						    .wait_ns = 60 * SECOND,
						    .send = on_send,
						    .commit = on_commit } };
}

static int
set_up(void **state)
{
	(void)state;
	help_begin(&h);
	help_open(&h);
	frames = 0;
	now_ns = 1000 * SECOND;
	wall_ns = INT64_C(1700000000) * SECOND;
	begin_asking();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	help_end(&h);
	return 0;
}

static void
append(const char *partition, uint32_t batches)
{
	uint32_t stream;
	uint64_t seq;

	assert_int_equal(
	    spool_stream(h.spool, text_of(partition), &stream, &h.err), 0);
	for (uint32_t i = 0; i < batches; i++) {
		const struct spool_batch batch = {
			.records = 1, .body_bytes = 4, .body = { "body", 4 }
		};

		assert_int_equal(
		    spool_append(h.spool, stream, &batch, true, &seq, &h.err),
		    SPOOL_OK);
	}
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_OK);
}

/* A session with `batches`, of which `acked` are kept, is given up. */
static struct session_id
give_up(uint32_t batches, uint64_t acked)
{
	struct session_id session = *spool_session(h.spool);

	append("p$a", batches);
	if (acked > 0)
		spool_acked(h.spool, 0, acked);
	assert_int_equal(spool_new_session(h.spool, 0, acked + 1, &h.err), 0);
	assert_false(session_equal(&session, spool_session(h.spool)));
	return session;
}

static void
push(void)
{
	past_sessions_push(&past_sessions, now_ns, wall_ns);
}

static void
pass(int64_t seconds)
{
	now_ns += seconds * SECOND;
	wall_ns += seconds * SECOND;
	push();
}

/* The store has it up to `has`. */
static void
answer(enum wire_type type, enum wire_reason reason, uint64_t has,
    uint64_t missing)
{
	unsigned char frame[2048];
	struct wire_header a = { .type = type,
		.reason = reason,
		.partition = text_of(sent_partition),
		.node = text_of("head"),
		.session = sent.session,
		.seq = sent.seq,
		.sent_ns = sent.sent_ns,
		.expect = has + 1,
		.last_seq = missing,
		.generation = generation };
	uint32_t bytes = (uint32_t)wire_frame(
	    frame, sizeof(frame), &a, (struct text){ NULL, 0 });

	assert_true(past_sessions_receive(&past_sessions,
	    (struct text){ (const char *)frame, bytes }, now_ns, wall_ns));
}

static uint64_t
next_seq(void)
{
	return spool_next_seq(h.spool, 0);
}

/* ---- */

static void
a_session_that_is_given_up_is_asked_for(void **state)
{
	struct session_id session;

	(void)state;
	push();
	assert_int_equal(frames, 0);
	session = give_up(8, 5);
	push();
	assert_int_equal(frames, 1);
	assert_int_equal(sent.type, WIRE_HELLO);
	assert_true(session_equal(&sent.session, &session));
	assert_string_equal(sent_partition, "p$a");
	assert_int_equal(sent.seq, 6);
	assert_true(sent.chain == 0);
	/* Another life of it had more: known from now on, on disk too. */
	answer(WIRE_WELCOME, 0, 40, 0);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 40);
	help_reopen(&h);
	assert_int_equal(spool_past_sessions(h.spool), 1);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 40);
	assert_int_equal(next_seq(), 4); /* 6 to 8 went on */
}

static void
what_the_store_lost_is_reported_after_a_time(void **state)
{
	(void)state;
	give_up(8, 5);
	push();
	answer(WIRE_WELCOME, 0, 40, 0);
	pass(60);
	answer(WIRE_WELCOME, 0, 10, 0);
	assert_int_equal(next_seq(), 4);
	pass(59);
	pass(1);
	answer(WIRE_WELCOME, 0, 10, 0);
	assert_int_equal(next_seq(), 4 + 30);
	assert_true(past_sessions.reported == 30);
	/* Once: also after a start. */
	help_reopen(&h);
	begin_asking();
	push();
	assert_int_equal(sent.seq, 11);
	answer(WIRE_WELCOME, 0, 10, 0);
	pass(120);
	answer(WIRE_WELCOME, 0, 10, 0);
	assert_int_equal(next_seq(), 4 + 30);
}

static void
what_somebody_brings_is_not_reported(void **state)
{
	(void)state;
	give_up(8, 5);
	push();
	answer(WIRE_WELCOME, 0, 3, 0);
	pass(60);
	/* It is superseded when a newer start of that session has it. */
	answer(WIRE_NACK, WIRE_NACK_SUPERSEDED, 7, 0);
	pass(60);
	answer(WIRE_WELCOME, 0, 7, 0);
	assert_int_equal(next_seq(), 4);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 7);
	assert_true(spool_past_session(h.spool, 0)->since_ns == 0);
}

static void
what_the_store_knows_to_be_missing_it_tells_itself(void **state)
{
	(void)state;
	give_up(8, 5);
	push();
	answer(WIRE_WELCOME, 0, 3, 5);
	pass(60);
	answer(WIRE_WELCOME, 0, 3, 5);
	assert_int_equal(next_seq(), 4);
	pass(60);
	answer(WIRE_WELCOME, 0, 3, 0);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 3);
	pass(60);
	answer(WIRE_WELCOME, 0, 3, 0);
	assert_int_equal(next_seq(), 4);
}

static void
what_was_missing_to_a_store_that_is_lost_too_is_reported(void **state)
{
	(void)state;
	give_up(8, 5);
	push();
	answer(WIRE_WELCOME, 0, 3, 5);
	generation++;
	for (int i = 0; i < 2; i++) {
		pass(60);
		answer(WIRE_WELCOME, 0, 1, 0);
	}
	assert_int_equal(next_seq(), 4 + 4);
	assert_true(past_sessions.reported == 4);
}

static void
what_has_come_of_what_is_missing_is_known(void **state)
{
	(void)state;
	give_up(8, 5);
	push();
	answer(WIRE_WELCOME, 0, 7, 40);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 7);
}

static void
a_session_that_no_store_ever_had_is_forgotten(void **state)
{
	(void)state;
	give_up(3, 0);
	push();
	assert_int_equal(sent.seq, 1);
	answer(WIRE_WELCOME, 0, 0, 0);
	assert_int_equal(spool_past_sessions(h.spool), 0);
	pass(3600);
	assert_int_equal(frames, 1);
	help_reopen(&h);
	assert_int_equal(spool_past_sessions(h.spool), 0);
}

static void
an_answer_that_does_not_come_is_asked_for_again(void **state)
{
	(void)state;
	give_up(3, 2);
	push();
	push();
	assert_int_equal(frames, 1);
	pass(10);
	assert_int_equal(frames, 2);
	answer(WIRE_NACK, WIRE_NACK_BUSY, 0, 0);
	assert_int_equal(spool_past_session(h.spool, 0)->known, 2);
	pass(10);
	assert_int_equal(frames, 3);
}

static void
only_so_many_are_remembered_and_the_rest_counted(void **state)
{
	(void)state;
	for (int i = 0; i < SPOOL_PAST_SESSIONS_MAX + 3; i++)
		give_up(1, 1);
	assert_int_equal(spool_past_sessions(h.spool), SPOOL_PAST_SESSIONS_MAX);
	assert_true(spool_counters(h.spool)->past_sessions_dropped == 3);
	push();
	assert_int_equal(frames, SPOOL_PAST_SESSIONS_MAX);
	help_reopen(&h);
	assert_int_equal(spool_past_sessions(h.spool), SPOOL_PAST_SESSIONS_MAX);
}

/* Every byte of the file wrong once, and every length of it. */
static void
a_file_that_cannot_be_read_is_as_good_as_none(void **state)
{
	char path[96];
	unsigned char bytes[512];
	ssize_t length;
	size_t whole;
	int fd;

	(void)state;
	give_up(3, 2);
	give_up(3, 2);
	snprintf(path, sizeof(path), "%s/FORMER", h.dir);
	fd = open(path, O_RDWR);
	length = read(fd, bytes, sizeof(bytes));
	assert_in_range(length, 60, 500);
	whole = (size_t)length & 511;
	for (ssize_t i = 0; i < length; i++) {
		bytes[i] ^= 0x40;
		assert_int_equal(pwrite(fd, bytes, whole, 0), length);
		help_reopen(&h);
		assert_int_equal(spool_past_sessions(h.spool), 0);
		bytes[i] ^= 0x40;
	}
	assert_int_equal(pwrite(fd, bytes, whole, 0), length);
	help_reopen(&h);
	assert_int_equal(spool_past_sessions(h.spool), 2);
	while (length-- > 0) {
		assert_int_equal(ftruncate(fd, length), 0);
		help_reopen(&h);
		assert_int_equal(spool_past_sessions(h.spool), 0);
	}
	close(fd);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_session_that_is_given_up_is_asked_for),
		CASE(what_the_store_lost_is_reported_after_a_time),
		CASE(what_somebody_brings_is_not_reported),
		CASE(what_the_store_knows_to_be_missing_it_tells_itself),
		CASE(what_was_missing_to_a_store_that_is_lost_too_is_reported),
		CASE(what_has_come_of_what_is_missing_is_known),
		CASE(a_session_that_no_store_ever_had_is_forgotten),
		CASE(an_answer_that_does_not_come_is_asked_for_again),
		CASE(only_so_many_are_remembered_and_the_rest_counted),
		CASE(a_file_that_cannot_be_read_is_as_good_as_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
