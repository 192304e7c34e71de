/*
 * spool_sessions - tests: what earlier sessions left, and failures that end a
 * session.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/wire/wire.h"

enum { SESSIONS = 3 };

/* Three sessions of two partitions with 4 batches each, and a new one. */
static void
begin_sessions(struct help *h, struct session_id sessions[static SESSIONS])
{
	help_begin(h);
	help_open(h);
	for (int i = 0; i < SESSIONS; i++) {
		sessions[i] = *spool_session(h->spool);
		help_fill(h, help_stream(h, "a$a"), 100, 4, 500);
		help_fill(h, help_stream(h, "b$b"), 200, 4, 500);
		help_reopen(h);
	}
}

static void
settle(struct help *h, uint32_t stream, uint64_t generation)
{
	spool_welcomed(h->spool, stream, generation);
	spool_acked(h->spool, stream, spool_next_seq(h->spool, stream) - 1);
	assert_true(spool_is_settled(h->spool, stream));
	spool_release(h->spool, stream);
}

static void
earlier_sessions_are_taken_the_oldest_first(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX];
	struct session_id sessions[SESSIONS];
	struct help h;

	begin_sessions(&h, sessions);
	for (int i = 0; i < SESSIONS; i++) {
		assert_int_equal(
		    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 2);
		for (int j = 0; j < 2; j++) {
			assert_true(
			    session_equal(spool_session_of(h.spool, streams[j]),
				&sessions[i]));
			assert_false(spool_is_settled(h.spool, streams[j]));
			settle(&h, streams[j], 7);
		}
	}
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 0);
	help_end(&h);
}

static void
what_is_held_is_not_taken_twice_and_comes_back_when_released(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX], again[SPOOL_STREAMS_MAX];
	struct session_id sessions[SESSIONS];
	struct help h;

	begin_sessions(&h, sessions);
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 2);
	assert_int_equal(
	    spool_take_session(h.spool, again, SPOOL_STREAMS_MAX), 2);
	assert_true(
	    session_equal(spool_session_of(h.spool, again[0]), &sessions[1]));
	/* Released unsettled. */
	spool_acked(h.spool, streams[0], 4);
	spool_release(h.spool, streams[0]);
	assert_int_equal(
	    spool_take_session(h.spool, again, SPOOL_STREAMS_MAX), 1);
	assert_int_equal(again[0], streams[0]);
	help_end(&h);
}

/* A store that was restored: what its predecessor acknowledged is asked for
 * again, as long as the spool has it. */
static void
another_store_is_asked_about_everything_that_is_left(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX], a;
	struct session_id sessions[SESSIONS];
	struct help h;

	begin_sessions(&h, sessions);
	while (spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX) > 0) {
		settle(&h, streams[0], 7);
		settle(&h, streams[1], 7);
	}
	a = help_stream(&h, "a$a");
	spool_welcomed(h.spool, a, 7);
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 0);
	spool_welcomed(h.spool, a, 8);
	for (int i = 0; i < SESSIONS; i++) {
		assert_int_equal(
		    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 1);
		assert_int_equal(
		    streams[0], help_earlier(&h, &sessions[i], "a$a"));
		settle(&h, streams[0], 8);
	}
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 0);
	help_end(&h);
}

static void
the_generation_that_acknowledged_is_on_disk(void **state)
{
	struct session_id sessions[SESSIONS];
	struct help h;
	uint32_t a, b;

	begin_sessions(&h, sessions);
	a = help_earlier(&h, &sessions[1], "a$a");
	b = help_earlier(&h, &sessions[1], "b$b");
	assert_int_equal(spool_generation(h.spool, a), 0);
	spool_welcomed(h.spool, a, UINT64_MAX);
	spool_acked(h.spool, a, 3);
	spool_acked(h.spool, b, 1);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	a = help_earlier(&h, &sessions[1], "a$a");
	b = help_earlier(&h, &sessions[1], "b$b");
	assert_true(spool_generation(h.spool, a) == UINT64_MAX);
	assert_int_equal(spool_first_unacked(h.spool, a), 4);
	assert_int_equal(spool_generation(h.spool, b), 0);
	assert_int_equal(spool_first_unacked(h.spool, b), 2);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 16 + 1 + 3);
	help_end(&h);
}

static void
a_stream_is_forgotten_with_its_last_segment(void **state)
{
	struct session_id sessions[SESSIONS];
	struct help h;
	uint32_t count;

	begin_sessions(&h, sessions);
	count = spool_streams(h.spool);
	assert_int_equal(count, 2 * SESSIONS);
	for (uint32_t i = 0; i < count; i++)
		spool_acked(h.spool, i, 4);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_null(spool_partition(h.spool, i).at);
	/* Its number is free. */
	assert_true(help_stream(&h, "c$c") < count);
	assert_int_equal(spool_streams(h.spool), count);
	help_end(&h);
}

static void
a_new_session_begins_with_the_next_batch(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = help_filled(&h, 3), t;

	old = *spool_session(h.spool);
	spool_new_session(h.spool);
	assert_false(session_equal(&old, spool_session(h.spool)));
	t = help_stream(&h, "acct$pool");
	assert_int_not_equal(s, t);
	help_fill(&h, t, 50, 2, 100);
	help_is(&h, s, 3, 3);
	help_is(&h, t, 1, 51);
	assert_int_equal(spool_next_seq(h.spool, s), 4);
	assert_int_equal(help_count(&h, "."), 2);
	help_reopen(&h);
	help_is(&h, help_earlier(&h, &old, "acct$pool"), 3, 3);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	help_end(&h);
}

/* ---- failures ---- */

/* Two batches, and one that the disk refuses. */
static uint32_t
fail_once(struct help *h, struct session_id *old)
{
	uint32_t s = help_filled(h, 2);
	uint64_t seq;

	*old = *spool_session(h->spool);
	assert_int_equal(help_put(h, s, 99, 9000, true, &seq), SPOOL_OK);
	assert_int_equal(seq, 3);
	help_limit_files(20 << 10);
	assert_int_equal(spool_commit(h->spool, &h->err), SPOOL_IO);
	help_limit_files(0);
	return s;
}

static void
a_failed_commit_ends_the_session(void **state)
{
	struct session_id old, new;
	struct help h;
	uint32_t s = fail_once(&h, &old), t;
	uint64_t seq;

	assert_false(session_equal(&old, spool_session(h.spool)));
	assert_int_equal(help_put(&h, s, 99, 10, true, &seq), SPOOL_IO);
	assert_int_equal(spool_next_seq(h.spool, s), 3);
	new = *spool_session(h.spool);
	t = help_stream(&h, "acct$pool");
	help_fill(&h, t, 10, 2, 9000);
	assert_int_equal(help_count(&h, "."), 2);
	for (int round = 0; round < 2; round++) {
		/* Number 3 has nothing: it may be half on disk. */
		for (uint64_t i = 1; i <= 2; i++) {
			help_is(&h, s, i, i);
			help_is(&h, t, i, 10 + i);
		}
		assert_int_equal(spool_next_seq(h.spool, s), 3);
		assert_int_equal(spool_counters(h.spool)->gaps, 0);
		assert_int_equal(spool_counters(h.spool)->quarantined, 0);
		help_reopen(&h);
		s = help_earlier(&h, &old, "acct$pool");
		t = help_earlier(&h, &new, "acct$pool");
	}
	help_end(&h);
}

/* The seal in the next segment says that it had more, so this is no torn
 * tail. */
static void
damage_before_a_failed_commit_is_a_gap(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = fail_once(&h, &old), offset;
	struct spool_batch b;

	help_find(&h, s, 2, &offset);
	help_fill(&h, help_stream(&h, "acct$pool"), 10, 2, 9000);
	spool_close(&h.spool);
	help_flip(help_segment(&h, 1, O_RDWR), offset + 500);
	help_open(&h);
	s = help_earlier(&h, &old, "acct$pool");
	help_is(&h, s, 1, 1);
	assert_int_equal(spool_read(h.spool, s, 2, &b, &h.err), 1);
	assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
	assert_int_equal(spool_counters(h.spool)->quarantined, 1);
	help_end(&h);
}

static void
a_second_failure_in_a_row_is_final(void **state)
{
	struct session_id old;
	struct help h;
	uint64_t seq;
	uint32_t s;

	fail_once(&h, &old);
	s = help_stream(&h, "acct$pool");
	assert_int_equal(help_put(&h, s, 99, 40000, true, &seq), SPOOL_OK);
	help_limit_files(20 << 10);
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	help_limit_files(0);
	s = help_stream(&h, "acct$pool");
	assert_int_equal(help_put(&h, s, 99, 10, true, &seq), SPOOL_IO);
	assert_non_null(strstr(h.err.text, "twice"));
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), -1);
	/* The next process begins again. */
	help_reopen(&h);
	help_fill(&h, help_stream(&h, "acct$pool"), 10, 2, 9000);
	help_is(&h, help_earlier(&h, &old, "acct$pool"), 2, 2);
	help_end(&h);
}

/* A success in between forgives the first one. */
static void
failures_that_are_not_in_a_row_go_on(void **state)
{
	struct help h;
	uint64_t seq;

	help_begin(&h);
	help_open(&h);
	for (int i = 0; i < 5; i++) {
		uint32_t s = help_stream(&h, "acct$pool");

		help_fill(&h, s, 0, 2, 9000);
		assert_int_equal(
		    help_put(&h, s, 99, 9000, true, &seq), SPOOL_OK);
		help_limit_files(20 << 10);
		assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
		help_limit_files(0);
	}
	assert_int_equal(spool_counters(h.spool)->io_errors, 5);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(spool_counters(h.spool)->unacked_batches, 10);
		help_reopen(&h);
	}
	help_end(&h);
}

/* ---- many ---- */

static void
an_agent_that_dies_again_and_again_stays_within_the_bound(void **state)
{
	uint64_t accepted = 0, seq;
	struct help h;

	help_begin(&h);
	h.options.bytes_max = 64 << 10;
	h.options.segment_bytes = 16 << 10;
	help_open(&h);
	for (int i = 0; i < 50; i++) {
		uint32_t s = help_stream(&h, "acct$pool");

		if (help_put(&h, s, accepted + 1, 1000, true, &seq) ==
		    SPOOL_OK) {
			help_commit(&h);
			accepted++;
		}
		assert_true(spool_counters(h.spool)->bytes <= 64 << 10);
		help_reopen(&h);
	}
	/* A session with one batch takes no whole segment: 576 + 72 +
	 * 2 * 88 + 1056 bytes. */
	assert_true(accepted > 25 && accepted < 35);
	assert_int_equal(spool_start_count(h.spool), 51);
	assert_int_equal(spool_streams(h.spool), accepted);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, accepted);
	help_end(&h);
}

/* The frames of a stream of acct$pool that has one batch. */
enum { STREAM_BYTES = 72 + 160 };

static void
put_stream(unsigned char at[static STREAM_BYTES], uint64_t salt,
    uint32_t number, uint64_t id)
{
	struct spool_frame name = {
		.type = SPOOL_STREAM, .bytes = 9, .stream = number
	};
	struct spool_frame batch = { .type = SPOOL_BATCH,
		.bytes = 100,
		.seq = 1,
		.last_seq = 1,
		.stream = number,
		.records = 3,
		.codec = 1,
		.body_bytes = 200,
		.back = 72 };

	spool_put_frame(at, salt, &name, "acct$pool");
	spool_put_frame(at + 72, salt, &batch, help_body(id, 100).at);
}

/* The segment that a session with one batch leaves. */
static void
leave_session(struct help *h, uint64_t number)
{
	struct spool_head head = { .number = number, .salt = number };
	unsigned char at[SPOOL_HEAD_BYTES + STREAM_BYTES];
	int fd = help_segment(h, number, O_RDWR | O_CREAT);

	memcpy(head.session.bytes, &number, sizeof(number));
	spool_put_head(at, &head);
	put_stream(at + SPOOL_HEAD_BYTES, head.salt, 0, number);
	assert_int_equal(write(fd, at, sizeof(at)), sizeof(at));
	close(fd);
}

/* No honest writer gives a partition two numbers in one session. */
static void
of_two_streams_that_name_one_partition_the_first_is_sent(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX], to;
	unsigned char at[STREAM_BYTES];
	struct err err = { 0 };
	struct help h;
	int fd;

	help_begin(&h);
	leave_session(&h, 1);
	put_stream(at, 1, 7, 2);
	fd = help_segment(&h, 1, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, at, sizeof(at)), sizeof(at));
	close(fd);
	help_open(&h);
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 1);
	help_is(&h, streams[0], 1, 1);
	assert_int_equal(spool_move(h.spool, streams[0], &to, &err), SPOOL_OK);
	help_is(&h, to, 1, 1);
	help_end(&h);
}

static void
a_thousand_sessions_are_sent_in_their_order(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX];
	struct help h;

	help_begin(&h);
	for (uint64_t i = 1; i <= 1000; i++)
		leave_session(&h, i);
	help_open(&h);
	assert_int_equal(spool_streams(h.spool), 1000);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 1000);
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_int_equal(
		    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 1);
		help_is(&h, streams[0], 1, i);
		settle(&h, streams[0], 7);
	}
	assert_int_equal(
	    spool_take_session(h.spool, streams, SPOOL_STREAMS_MAX), 0);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 0);
	assert_int_equal(spool_counters(h.spool)->bytes, 0);
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(earlier_sessions_are_taken_the_oldest_first),
		cmocka_unit_test(
		    what_is_held_is_not_taken_twice_and_comes_back_when_released),
		cmocka_unit_test(
		    another_store_is_asked_about_everything_that_is_left),
		cmocka_unit_test(the_generation_that_acknowledged_is_on_disk),
		cmocka_unit_test(a_stream_is_forgotten_with_its_last_segment),
		cmocka_unit_test(a_new_session_begins_with_the_next_batch),
		cmocka_unit_test(a_failed_commit_ends_the_session),
		cmocka_unit_test(damage_before_a_failed_commit_is_a_gap),
		cmocka_unit_test(a_second_failure_in_a_row_is_final),
		cmocka_unit_test(failures_that_are_not_in_a_row_go_on),
		cmocka_unit_test(
		    an_agent_that_dies_again_and_again_stays_within_the_bound),
		cmocka_unit_test(
		    of_two_streams_that_name_one_partition_the_first_is_sent),
		cmocka_unit_test(a_thousand_sessions_are_sent_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
