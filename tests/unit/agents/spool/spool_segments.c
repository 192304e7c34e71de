/*
 * spool_segments - tests: the bound, full disks, failing ones, and what becomes
 * of acknowledged segments.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/spool/spool_help.h"

#include <signal.h>
#include <sys/resource.h>

#include "proto/wire/wire.h"

static void
at_the_bound_batches_are_refused_and_acknowledging_makes_room(void **state)
{
	struct help h;
	uint64_t seq, plain, urgent;
	uint32_t s;

	(void)state;
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
	assert_int_equal(help_put(&h, s, 1, 1000, true, &seq), SPOOL_FULL);
	spool_acked(h.spool, s, 200);
	assert_int_equal(help_put(&h, s, 1, 1000, true, &seq), SPOOL_OK);
	help_commit(&h);
	help_is(&h, s, 201, 1);
	assert_int_equal(
	    spool_read(h.spool, s, 1, &(struct spool_batch){ 0 }, &h.err), -1);
	help_end(&h);
}

static void
a_full_disk_is_reported_in_a_sentence_and_loses_nothing(void **state)
{
	struct rlimit limit = { 30 << 10, RLIM_INFINITY };
	struct help h;
	uint64_t seq;
	uint32_t s;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 5, 9000);
	/* No file may grow beyond 30 KiB: allocation fails, as on a full
	 * disk. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(help_put(&h, s, 9, 40000, true, &seq), SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "no room"));
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(help_put(&h, s, 6, 40000, true, &seq), SPOOL_OK);
	help_commit(&h);
	help_is(&h, s, 6, 6);
	h.options.free_bytes_min = UINT64_C(1) << 60;
	help_reopen(&h);
	assert_int_equal(help_put(&h, s, 9, 60000, true, &seq), SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "must keep"));
	for (uint64_t i = 1; i <= 6; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

static void
a_failed_write_abandons_the_segment_and_a_second_one_is_final(void **state)
{
	struct rlimit limit = { 20 << 10, RLIM_INFINITY };
	struct help h;
	uint64_t seq;
	uint32_t s;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 2, 9000);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(help_put(&h, s, 99, 9000, true, &seq), SPOOL_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	help_fill(&h, s, 0, 2, 9000);
	assert_int_equal(help_count(&h, "."), 2);
	help_reopen(&h);
	for (uint64_t i = 1; i <= 4; i++)
		help_is(&h, s, i, i);
	assert_int_equal(spool_counters(h.spool)->gaps, 0);
	assert_int_equal(spool_counters(h.spool)->quarantined, 0);
	/* The second failure in a row. */
	h.spool->failures = 1;
	assert_int_equal(help_put(&h, s, 99, 9000, true, &seq), SPOOL_OK);
	limit.rlim_cur = 20 << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(spool_commit(h.spool, &h.err), SPOOL_IO);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(help_put(&h, s, 99, 10, true, &seq), SPOOL_IO);
	help_end(&h);
}

static void
an_append_that_the_disk_refuses_takes_the_round_with_it(void **state)
{
	struct help h;
	char path[96];
	uint64_t seq;
	uint32_t s;

	(void)state;
	help_begin(&h);
	h.options.bytes_max = 512 << 10;
	help_open(&h);
	s = help_stream(&h, "acct$pool");
	help_fill(&h, s, 0, 46, 9000);
	spool_acked(h.spool, s, 30);
	/* What is acknowledged would make room, were that to be written. */
	snprintf(path, sizeof(path), "%s/ACKED", h.dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(help_put(&h, s, 47, 9000, true, &seq), SPOOL_OK);
	assert_int_equal(help_put(&h, s, 48, 9000, false, &seq), SPOOL_IO);
	assert_non_null(strstr(h.err.text, "ACKED"));
	help_commit(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 47);
	help_end(&h);
}

static void
acknowledged_segments_are_retained_and_can_be_gone_back_to(void **state)
{
	struct help h;
	uint64_t oldest;
	uint32_t s;

	(void)state;
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
	assert_int_equal(spool_resend_from(h.spool, s, oldest, &h.err), 0);
	assert_int_equal(spool_first_unacked(h.spool, s), oldest);
	help_is(&h, s, oldest, oldest);
	assert_int_equal(spool_tidy(h.spool, 5000, &h.err), 0);
	help_is(&h, s, oldest, oldest);
	/* Further back than there is anything: a gap in front. */
	assert_int_equal(spool_resend_from(h.spool, s, 3, &h.err), 0);
	help_is_gap(&h, s, 3, oldest - 1, WIRE_GAP_RESTORED);
	help_is(&h, s, oldest, oldest);
	spool_acked(h.spool, s, 60);
	assert_int_equal(spool_tidy(h.spool, 9000, &h.err), 0);
	assert_int_equal(spool_tidy(h.spool, 99999, &h.err), 0);
	assert_int_equal(help_count(&h, "."), 1);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 61);
	assert_int_equal(spool_first_unacked(h.spool, s), 61);
	help_end(&h);
}

static void
what_is_retained_gives_way_when_the_disk_is_short(void **state)
{
	struct help h;
	uint64_t seq;
	uint32_t s;

	(void)state;
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
	assert_int_equal(help_put(&h, s, 9, 60000, true, &seq), SPOOL_FULL);
	assert_non_null(strstr(h.err.text, "must keep"));
	assert_true(spool_oldest(h.spool, s) > 40);
	for (uint64_t i = 51; i <= 60; i++)
		help_is(&h, s, i, i);
	help_end(&h);
}

static void
a_stream_without_frames_goes_on_where_it_was(void **state)
{
	struct help h;
	uint32_t s, t;
	uint64_t chain;

	(void)state;
	help_begin(&h);
	help_open(&h);
	s = help_stream(&h, "idle$idle");
	t = help_stream(&h, "busy$busy");
	help_fill(&h, s, 0, 3, 100);
	chain = spool_chain(h.spool, s, 4);
	help_fill(&h, t, 0, 20, 9000);
	spool_acked(h.spool, s, 3);
	spool_acked(h.spool, t, 20);
	assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
	assert_int_equal(spool_oldest(h.spool, s), 4);
	help_reopen(&h);
	assert_int_equal(spool_next_seq(h.spool, s), 4);
	assert_int_equal(spool_chain(h.spool, s, 4), chain);
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
		    a_failed_write_abandons_the_segment_and_a_second_one_is_final),
		cmocka_unit_test(
		    an_append_that_the_disk_refuses_takes_the_round_with_it),
		cmocka_unit_test(
		    acknowledged_segments_are_retained_and_can_be_gone_back_to),
		cmocka_unit_test(
		    what_is_retained_gives_way_when_the_disk_is_short),
		cmocka_unit_test(a_stream_without_frames_goes_on_where_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
