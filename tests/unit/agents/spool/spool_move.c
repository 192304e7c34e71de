/*
 * spool_move - tests: batches that continue under another session.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/wire/wire.h"

enum { BYTES = 9000 };

/* `count` batches of an earlier session, of which `acked` are acknowledged. */
static uint32_t
begin_earlier(
    struct help *h, int count, uint64_t acked, struct session_id *session)
{
	uint32_t s = help_filled(h, count);

	*session = *spool_session(h->spool);
	spool_acked(h->spool, s, acked);
	assert_int_equal(spool_tidy(h->spool, 1, &h->err), 0);
	help_reopen(h);
	s = help_earlier(h, session, "acct$pool");
	assert_int_equal(spool_first_unacked(h->spool, s), acked + 1);
	return s;
}

static uint32_t
move_all(struct help *h, uint32_t from)
{
	uint32_t to = 0;

	do
		assert_int_equal(
		    spool_move(h->spool, from, &to, &h->err), SPOOL_OK);
	while (spool_is_to_move(h->spool, from));
	return to;
}

/* Each of the batches first .. last is unacknowledged in one place, and
 * nothing else is. */
static void
are_there_once(struct help *h, uint64_t first, uint64_t last)
{
	uint32_t copies[256] = { 0 };

	assert_true(last < 256);
	for (uint32_t s = 0; s < spool_streams(h->spool); s++) {
		uint64_t seq, id = 0;
		struct spool_batch b;

		if (spool_partition(h->spool, s).at == NULL)
			continue;
		seq = spool_first_unacked(h->spool, s);
		while (spool_read(h->spool, s, seq, &b, &h->err) == 1) {
			assert_int_equal(b.reason, 0);
			memcpy(&id, b.body.at, 8);
			assert_true(id >= first && id <= last);
			copies[id]++;
			seq = b.last_seq + 1;
		}
		assert_int_equal(seq, spool_next_seq(h->spool, s));
	}
	for (uint64_t id = first; id <= last; id++)
		assert_int_equal(copies[id], 1);
	assert_int_equal(
	    spool_counters(h->spool)->unacked_batches, last - first + 1);
}

static void
the_old_stream_ends_before_what_was_moved(void **state)
{
	struct session_id old, new;
	struct spool_batch b;
	struct help h;
	uint32_t s = begin_earlier(&h, 10, 4, &old), t, to;

	t = help_stream(&h, "acct$pool");
	new = *spool_session(h.spool);
	help_fill(&h, t, 10, 2, BYTES);
	to = move_all(&h, s);
	assert_int_equal(to, t);
	assert_int_equal(spool_counters(h.spool)->moved, 6);
	spool_welcomed(h.spool, s, 7);
	assert_true(spool_is_settled(h.spool, s));
	for (int round = 0; round < 3; round++) {
		assert_int_equal(spool_next_seq(h.spool, s), 5);
		assert_int_equal(spool_read(h.spool, s, 5, &b, &h.err), 0);
		assert_false(spool_is_to_move(h.spool, s));
		for (uint64_t i = 1; i <= 2; i++)
			help_is(&h, t, i, 10 + i);
		for (uint64_t i = 5; i <= 10; i++)
			help_is(&h, t, i - 2, i);
		are_there_once(&h, 5, 12);
		help_reopen(&h);
		s = help_earlier(&h, &old, "acct$pool");
		t = help_earlier(&h, &new, "acct$pool");
	}
	help_end(&h);
}

static void
one_call_moves_256_kib(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 70, 0, &old), to;

	assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_OK);
	assert_int_equal(
	    spool_counters(h.spool)->moved, (256 << 10) / BYTES + 1);
	assert_true(spool_is_to_move(h.spool, s));
	assert_false(spool_is_settled(h.spool, s));
	move_all(&h, s);
	for (uint64_t i = 1; i <= 70; i++)
		help_is(&h, to, i, i);
	are_there_once(&h, 1, 70);
	help_end(&h);
}

/* It is killed after each step; what is left goes into the next session. */
static void
after_a_crash_the_rest_is_moved(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 100, 3, &old), to;
	int rounds = 0;

	/* The first thing it hears is that they are still to be moved. */
	for (assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_OK);
	     spool_is_to_move(h.spool, s); rounds++) {
		help_reopen(&h);
		s = help_earlier(&h, &old, "acct$pool");
		assert_true(spool_is_to_move(h.spool, s));
		assert_int_equal(spool_next_seq(h.spool, s), 4);
		assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_OK);
	}
	assert_int_equal(rounds, 3);
	are_there_once(&h, 4, 100);
	help_reopen(&h);
	are_there_once(&h, 4, 100);
	help_end(&h);
}

static void
a_torn_move_is_done_again(void **state)
{
	struct session_id old, new;
	struct help h;
	uint32_t s = begin_earlier(&h, 6, 0, &old), to, offset;
	uint64_t number;

	to = move_all(&h, s);
	new = *spool_session(h.spool);
	number = help_find(&h, to, 4, &offset);
	spool_close(&h.spool);
	help_flip(help_segment(&h, number, O_RDWR), offset + 500);
	help_open(&h);
	s = help_earlier(&h, &old, "acct$pool");
	assert_true(spool_is_to_move(h.spool, s));
	assert_int_equal(
	    spool_next_seq(h.spool, help_earlier(&h, &new, "acct$pool")), 4);
	to = move_all(&h, s);
	for (uint64_t i = 4; i <= 6; i++)
		help_is(&h, to, i - 3, i);
	are_there_once(&h, 1, 6);
	help_end(&h);
}

static void
gaps_are_moved_too(void **state)
{
	struct session_id old;
	struct spool_batch b;
	struct help h;
	uint32_t s = begin_earlier(&h, 8, 2, &old), to;

	assert_int_equal(
	    spool_refuse(h.spool, s, 5, WIRE_GAP_REFUSED, &h.err), 0);
	assert_int_equal(
	    spool_refuse(h.spool, s, 8, WIRE_GAP_REFUSED, &h.err), 0);
	to = move_all(&h, s);
	help_is(&h, to, 2, 4);
	help_is_gap(&h, to, 3, 3, WIRE_GAP_REFUSED);
	help_is(&h, to, 4, 6);
	help_is(&h, to, 5, 7);
	/* The last one waits for no batch. */
	help_is_gap(&h, to, 6, 6, WIRE_GAP_REFUSED);
	assert_int_equal(spool_next_seq(h.spool, to), 7);
	assert_int_equal(spool_counters(h.spool)->unacked_batches, 6);
	/* What follows a gap says so by its running hash. */
	assert_int_equal(spool_read(h.spool, to, 4, &b, &h.err), 1);
	assert_true(b.chain != 0);
	assert_int_equal(spool_read(h.spool, to, 3, &b, &h.err), 1);
	assert_true(b.chain_after != 0);
	help_end(&h);
}

/* A part of one call is committed when a segment is full; then the disk
 * fails. */
static void
a_failure_in_the_middle_moves_nothing_twice(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 20, 0, &old), to;
	char path[160], name[SPOOL_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", h.dir,
	    spool_segment_name(name, h.spool->next_number + 1));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_IO);
	assert_int_equal(rmdir(path), 0);
	assert_true(spool_is_to_move(h.spool, s));
	move_all(&h, s);
	are_there_once(&h, 1, 20);
	help_reopen(&h);
	are_there_once(&h, 1, 20);
	help_end(&h);
}

static void
without_room_the_rest_waits(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 20, 0, &old), to;

	h.options.bytes_max = spool_counters(h.spool)->bytes + (20 << 10);
	spool_change(h.spool, &h.options);
	assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "full"));
	assert_true(spool_is_to_move(h.spool, s));
	/* With room for one segment: what was moved makes room for the rest. */
	h.options.bytes_max = spool_counters(h.spool)->bytes + (90 << 10);
	spool_change(h.spool, &h.options);
	move_all(&h, s);
	are_there_once(&h, 1, 20);
	help_reopen(&h);
	are_there_once(&h, 1, 20);
	help_end(&h);
}

/* The store is put back to 3; then it turns out that the copy of the machine
 * was faster with 4 as well. */
static void
what_is_below_a_moved_number_can_be_moved_later(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 10, 6, &old), to;

	to = move_all(&h, s);
	assert_int_equal(spool_next_seq(h.spool, to), 5);
	spool_rewind(h.spool, s, 4);
	spool_welcomed(h.spool, s, 8);
	assert_false(spool_is_settled(h.spool, s));
	help_is(&h, s, 4, 4);
	help_is(&h, s, 6, 6);
	are_there_once(&h, 4, 10);
	to = move_all(&h, s);
	assert_true(spool_is_settled(h.spool, s));
	for (int round = 0; round < 2; round++) {
		s = help_earlier(&h, &old, "acct$pool");
		assert_int_equal(spool_next_seq(h.spool, s), 4);
		are_there_once(&h, 4, 10);
		help_reopen(&h);
	}
	help_end(&h);
}

/* ACKED lags behind a crash: the store has the three, and only the store can
 * say that it has other content there. */
static void
a_move_that_goes_on_leaves_what_is_below_it(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = begin_earlier(&h, 70, 0, &old), to;

	spool_acked(h.spool, s, 3);
	assert_int_equal(spool_move(h.spool, s, &to, &h.err), SPOOL_OK);
	assert_true(spool_is_to_move(h.spool, s));
	help_reopen(&h);
	s = help_earlier(&h, &old, "acct$pool");
	move_all(&h, s);
	assert_int_equal(spool_first_unacked(h.spool, s), 1);
	assert_int_equal(spool_next_seq(h.spool, s), 4);
	for (uint64_t i = 1; i <= 3; i++)
		help_is(&h, s, i, i);
	are_there_once(&h, 1, 70);
	/* It has: they are moved now. */
	move_all(&h, s);
	assert_int_equal(spool_next_seq(h.spool, s), 1);
	are_there_once(&h, 1, 70);
	help_end(&h);
}

static void
lost_moved_batches_are_still_where_they_came_from(void **state)
{
	struct session_id old, new;
	struct help h;
	struct spool_batch b;
	uint32_t s = begin_earlier(&h, 20, 0, &old), to, offset;
	uint64_t number, end;

	to = move_all(&h, s);
	new = *spool_session(h.spool);
	number = help_find(&h, to, 1, &offset);
	spool_close(&h.spool);
	help_lose_head(&h, number);
	help_open(&h);
	s = help_earlier(&h, &old, "acct$pool");
	to = help_earlier(&h, &new, "acct$pool");
	assert_int_equal(spool_read(h.spool, to, 1, &b, &h.err), 1);
	assert_int_equal(b.reason, WIRE_GAP_DAMAGED);
	end = b.last_seq;
	assert_true(end > 3 && end < 15);
	help_is(&h, to, end + 1, end + 1);
	/* The old stream can still send them. */
	assert_int_equal(spool_next_seq(h.spool, s), end + 1);
	for (uint64_t i = 1; i <= end; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

/* ---- deletion ---- */

static void
a_segment_with_moved_batches_stays_as_long_as_those_of_its_origin(void **state)
{
	struct session_id old, new;
	struct help h;
	uint32_t s, t, to;

	help_begin(&h);
	help_open(&h);
	old = *spool_session(h.spool);
	help_fill(&h, help_stream(&h, "a$a"), 0, 3, BYTES);
	help_fill(&h, help_stream(&h, "b$b"), 50, 1, BYTES);
	help_reopen(&h);
	new = *spool_session(h.spool);
	s = help_earlier(&h, &old, "a$a");
	spool_acked(h.spool, s, 1);
	to = move_all(&h, s);
	spool_acked(h.spool, to, 2);
	help_reopen(&h);
	/* All that was moved is acknowledged, but the segment that it comes
	 * from has a batch of another stream. */
	to = help_earlier(&h, &new, "a$a");
	t = help_earlier(&h, &old, "b$b");
	spool_acked(h.spool, help_earlier(&h, &old, "a$a"), 1);
	spool_acked(h.spool, to, 2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 2);
	help_reopen(&h);
	t = help_earlier(&h, &old, "b$b");
	are_there_once(&h, 51, 51);
	spool_acked(h.spool, t, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 0);
	help_reopen(&h);
	assert_int_equal(spool_streams(h.spool), 0);
	help_end(&h);
}

static void
a_moved_batch_is_moved_again(void **state)
{
	struct session_id first, second;
	struct help h;
	uint32_t s = begin_earlier(&h, 6, 2, &first), to;

	second = *spool_session(h.spool);
	to = move_all(&h, s);
	spool_acked(h.spool, to, 1);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	help_reopen(&h);
	are_there_once(&h, 4, 6);
	to = move_all(&h, help_earlier(&h, &second, "acct$pool"));
	for (uint64_t i = 4; i <= 6; i++)
		help_is(&h, to, i - 3, i);
	for (int round = 0; round < 2; round++) {
		are_there_once(&h, 4, 6);
		help_reopen(&h);
	}
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_old_stream_ends_before_what_was_moved),
		cmocka_unit_test(one_call_moves_256_kib),
		cmocka_unit_test(after_a_crash_the_rest_is_moved),
		cmocka_unit_test(a_torn_move_is_done_again),
		cmocka_unit_test(gaps_are_moved_too),
		cmocka_unit_test(a_failure_in_the_middle_moves_nothing_twice),
		cmocka_unit_test(without_room_the_rest_waits),
		cmocka_unit_test(
		    what_is_below_a_moved_number_can_be_moved_later),
		cmocka_unit_test(a_move_that_goes_on_leaves_what_is_below_it),
		cmocka_unit_test(
		    lost_moved_batches_are_still_where_they_came_from),
		cmocka_unit_test(
		    a_segment_with_moved_batches_stays_as_long_as_those_of_its_origin),
		cmocka_unit_test(a_moved_batch_is_moved_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
