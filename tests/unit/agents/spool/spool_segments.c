/*
 * spool_segments - tests: the bound, full disks, failing ones, and what becomes
 * of acknowledged segments.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include "proto/wire/wire.h"

static void
at_the_bound_batches_are_refused_and_acknowledging_makes_room(void **state)
{
	struct help h;
	uint64_t seq, plain, urgent;
	uint32_t s, t;

	help_begin(&h);
	h.options.bytes_max = 512 << 10;
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	while (help_put(&h, s, 1, 1000, false, &seq) == SPOOL_OK)
		help_commit(&h);
	plain = seq;
	assert_non_null(strstr(h.err.text, "last eighth"));
	while (help_put(&h, s, 1, 1000, true, &seq) == SPOOL_OK)
		help_commit(&h);
	urgent = seq - plain;
	assert_non_null(strstr(h.err.text, "full"));
	assert_true(urgent >= 50 && urgent <= 70);
	assert_true(spool_counters(h.spool)->bytes <= 512 << 10);
	/* A gap still fits. */
	assert_int_equal(
	    spool_refuse(h.spool, s, 5, WIRE_GAP_REFUSED, &h.err), 0);
	help_reopen(&h);
	t = help_stream(&h, "acct$pool");
	assert_int_equal(help_put(&h, t, 1, 60000, true, &seq), SPOOL_FULL);
	spool_acked(h.spool, s, 200);
	assert_int_equal(help_put(&h, t, 1, 60000, true, &seq), SPOOL_OK);
	help_commit(&h);
	help_is(&h, t, 1, 1);
	help_is(&h, s, 201, 1);
	/* Were a restored store to ask for it. */
	assert_true(spool_oldest(h.spool, s) > 50);
	help_is_gap(&h, s, 1, spool_oldest(h.spool, s) - 1, WIRE_GAP_RESTORED);
	help_end(&h);
}

static void
a_full_disk_is_reported_in_a_sentence_and_loses_nothing(void **state)
{
	struct help h;
	uint64_t seq;
	uint32_t s;

	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 5, 9000);
	/* No file may grow beyond 30 KiB: allocation fails, as on a full
	 * disk. */
	help_limit_files(30 << 10);
	assert_int_equal(help_put(&h, s, 9, 40000, true, &seq), SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "no room"));
	help_limit_files(0);
	assert_int_equal(help_put(&h, s, 6, 40000, true, &seq), SPOOL_OK);
	help_commit(&h);
	help_is(&h, s, 6, 6);
	h.options.free_bytes_min = UINT64_C(1) << 60;
	help_reopen(&h);
	assert_int_equal(
	    help_put(&h, help_stream(&h, "acct$pool"), 9, 60000, true, &seq),
	    SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "must keep"));
	for (uint64_t i = 1; i <= 6; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

static void
an_append_that_the_disk_refuses_takes_the_round_with_it(void **state)
{
	struct help h;
	char path[96];
	enum spool_result result = SPOOL_OK;
	uint64_t seq, next = 0;
	uint32_t s;

	help_begin(&h);
	h.options.bytes_max = 500 << 10;
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 46, 9000);
	spool_acked(h.spool, s, 30);
	/* What is acknowledged would make room, were that to be written. */
	snprintf(path, sizeof(path), "%s/ACKED", h.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 47; i < 60 && result == SPOOL_OK; i++) {
		next = spool_next_seq(h.spool, s);
		result = help_put(&h, s, (uint64_t)i, 9000, false, &seq);
	}
	assert_int_equal(result, SPOOL_IO);
	assert_true(seq >= next);
	assert_non_null(strstr(h.err.text, "ACKED"));
	help_commit(&h);
	assert_int_equal(spool_next_seq(h.spool, s), next);
	/* No number is used twice: the session has ended with it. */
	assert_int_equal(help_put(&h, s, 9, 10, true, &seq), SPOOL_IO);
	assert_int_equal(rmdir(path), 0);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 100, 3, 9000);
	assert_int_equal(spool_counters(h.spool)->io_errors, 1);
	help_end(&h);
}

static void
acknowledged_segments_are_retained_and_can_be_gone_back_to(void **state)
{
	struct help h;
	uint64_t oldest;
	uint32_t s;

	help_begin(&h);
	h.options.retain_bytes = 128 << 10;
	h.options.retain_ns = 1000;
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 60, 9000);
	spool_acked(h.spool, s, 60);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	oldest = spool_oldest(h.spool, s);
	assert_true(oldest > 30 && oldest < 56);
	spool_rewind(h.spool, s, oldest);
	assert_int_equal(spool_first_unacked(h.spool, s), oldest);
	help_is(&h, s, oldest, oldest);
	assert_int_equal(spool_tidy(h.spool, 5000, &h.err), 0);
	help_is(&h, s, oldest, oldest);
	/* Further back than there is anything: a gap in front. */
	spool_rewind(h.spool, s, 3);
	assert_int_equal(spool_first_unacked(h.spool, s), 3);
	help_is_gap(&h, s, 3, oldest - 1, WIRE_GAP_RESTORED);
	help_is(&h, s, oldest, oldest);
	/* To where it is not: nothing happens. */
	spool_rewind(h.spool, s, 61);
	assert_int_equal(spool_first_unacked(h.spool, s), 3);
	spool_rewind(h.spool, s, 0);
	assert_int_equal(spool_first_unacked(h.spool, s), 1);
	spool_acked(h.spool, s, 60);
	assert_int_equal(spool_tidy(h.spool, 9000, &h.err), 0);
	assert_int_equal(spool_tidy(h.spool, 99999, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 1);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 61);
	assert_int_equal(spool_first_unacked(h.spool, s), 61);
	help_end(&h);
}

/* A segment in the middle may be deleted before those around it. */
static void
deleted_numbers_are_not_taken_for_damage(void **state)
{
	struct session_id session;
	struct help h;
	uint32_t s = help_filled(&h, 30);
	char command[160];

	session = *spool_session(h.spool);
	spool_acked(h.spool, s, 20);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	spool_close(&h.spool);
	h.options.retain_bytes = 8 << 20;
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	help_is_gap(&h, s, 1, spool_oldest(h.spool, s) - 1, WIRE_GAP_RESTORED);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	spool_close(&h.spool);
	/* There are 7 in each: 15 to 21 go, of which 21 is not
	 * acknowledged. */
	snprintf(command, sizeof(command), "rm %s/*3.seg", h.dir);
	assert_int_equal(system(command), 0);
	help_open(&h);
	s = help_earlier(&h, &session, "acct$pool");
	help_is_gap(&h, s, 1, 20, WIRE_GAP_RESTORED);
	help_is_gap(&h, s, 21, spool_oldest(h.spool, s) - 1, WIRE_GAP_DAMAGED);
	assert_int_equal(spool_counters(h.spool)->gaps, 1);
	assert_int_equal(spool_counters(h.spool)->unacked_batches,
	    1 + 30 - spool_oldest(h.spool, s) + 1);
	help_end(&h);
}

static void
what_is_retained_gives_way_when_the_disk_is_short(void **state)
{
	struct help h;
	uint64_t seq;
	uint32_t s;

	help_begin(&h);
	h.options.retain_bytes = 8 << 20;
	h.options.retain_ns = INT64_MAX;
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 60, 9000);
	spool_acked(h.spool, s, 50);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(spool_oldest(h.spool, s), 1);
	h.options.free_bytes_min = UINT64_C(1) << 60;
	help_reopen(&h);
	/* Not enough, but all there is: only then it is refused. */
	assert_int_equal(
	    help_put(&h, help_stream(&h, "acct$pool"), 9, 60000, true, &seq),
	    SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "must keep"));
	assert_true(spool_oldest(h.spool, s) > 40);
	for (uint64_t i = 51; i <= 60; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

/* A segment names a stream before its first batch there.  How much room the
 * batch leaves: from none up to what the name needs. */
static void
a_batch_fits_where_the_name_of_its_stream_does_too(void **state)
{
	uint32_t name = spool_span(sizeof("acct$new") - 1);

	for (uint32_t left = 0; left <= name; left += 8) {
		struct help h;
		uint32_t s = help_filled(&h, 1), t, offset, first, end;
		uint32_t segment = (uint32_t)h.options.segment_bytes;
		uint64_t seq;

		first = (uint32_t)help_find(&h, s, 1, &offset);
		end = offset + spool_span(9000);
		t = help_stream(&h, "acct$new");
		/* A frame is left for the seal. */
		assert_int_equal(
		    help_put(&h, t, 1,
			segment - end - 2 * SPOOL_FRAME_BYTES - left, true,
			&seq),
		    SPOOL_OK);
		help_commit(&h);
		assert_int_equal(help_find(&h, t, 1, &offset),
		    left < name ? first + 1 : first);
		help_fill(&h, t, 0, 1, 60000);
		help_is(&h, t, 1, 1);
		help_is(&h, t, 2, 2);
		help_end(&h);
	}
}

/* A seal of an older segment is needed as long as that one. */
static void
a_segment_with_the_seal_of_another_one_stays_as_long_as_that(void **state)
{
	struct session_id old;
	struct help h;
	uint32_t s = help_filled(&h, 2), t;
	uint64_t seq;

	old = *spool_session(h.spool);
	assert_int_equal(help_put(&h, s, 99, 9000, true, &seq), SPOOL_OK);
	help_limit_files(20 << 10);
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	help_limit_files(0);
	t = help_stream(&h, "acct$pool");
	help_fill(&h, t, 10, 20, 9000);
	assert_true(help_count(&h, ".") >= 4);
	spool_acked(h.spool, t, 20);
	for (int i = 0; i < 3; i++)
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	/* That of the failure, the one with its seal, the newest. */
	assert_int_equal(help_count(&h, "."), 3);
	help_reopen(&h);
	s = help_earlier(&h, &old, "acct$pool");
	assert_int_equal(spool_next_seq(h.spool, s), 3);
	spool_acked(h.spool, s, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 0);
	help_end(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    at_the_bound_batches_are_refused_and_acknowledging_makes_room),
		cmocka_unit_test(
		    a_full_disk_is_reported_in_a_sentence_and_loses_nothing),
		cmocka_unit_test(
		    an_append_that_the_disk_refuses_takes_the_round_with_it),
		cmocka_unit_test(
		    acknowledged_segments_are_retained_and_can_be_gone_back_to),
		cmocka_unit_test(deleted_numbers_are_not_taken_for_damage),
		cmocka_unit_test(
		    what_is_retained_gives_way_when_the_disk_is_short),
		cmocka_unit_test(
		    a_batch_fits_where_the_name_of_its_stream_does_too),
		cmocka_unit_test(
		    a_segment_with_the_seal_of_another_one_stays_as_long_as_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
