/* What nobody takes: its share of the spool, and what yields to others.
 * SPDX-License-Identifier: MIT */
#include "proto/wire/wire.h"
#include "tests/unit/agents/spool/spool_help.h"

static void
begin(struct help *h, uint32_t *own, uint32_t *other)
{
	help_begin(h);
	h->options.bytes_max = 512 << 10;
	help_open(h);
	*own = help_stream(h, "own$pool");
	*other = help_stream(h, "other$pool");
	spool_forbid(h->spool, *other, true);
}

static void
it_has_a_quarter(void **state)
{
	struct help h;
	uint32_t own, other;

	begin(&h, &own, &other);
	/* A batch of 9,000 bytes takes 9,056: 14 * 9056 + 9000 > 131072. */
	for (int i = 0; i < 14; i++) {
		assert_true(spool_has_share(h.spool, other, 9000));
		help_fill(&h, other, 0, 1, 9000);
	}
	assert_false(spool_has_share(h.spool, other, 9000));
	assert_true(spool_has_share(h.spool, own, 9000));
	/* What is acknowledged counts no more, nor what is taken now. */
	spool_forbid(h.spool, other, false);
	assert_true(spool_has_share(h.spool, other, 9000));
	spool_forbid(h.spool, other, true);
	spool_acked(h.spool, other, 14);
	assert_true(spool_has_share(h.spool, other, 9000));
	help_end(&h);
}

static void
the_oldest_becomes_a_gap_when_others_need_the_room(void **state)
{
	struct spool_batch b;
	uint32_t own, other;
	uint64_t lost;
	struct help h;

	begin(&h, &own, &other);
	/* Each segment of 64 KiB has a batch of it: 1.3 MB in 512 KiB. */
	for (int i = 0; i < 150; i++) {
		help_fill(&h, own, 1000, 1, 9000);
		help_fill(&h, other, 2000, 1, 100);
		spool_acked(h.spool, own, spool_next_seq(h.spool, own) - 1);
	}
	lost = spool_given_up(h.spool);
	assert_true(lost > 75 && lost < 150);
	help_is_gap(&h, other, 1, lost, WIRE_NACK_FORBIDDEN);
	for (uint64_t seq = lost + 1; seq <= 150; seq++)
		help_is(&h, other, seq, 2000 + seq);
	/* What others have not sent is never given up. */
	while (help_put(&h, own, 1, 9000, true, &lost) == SPOOL_OK)
		help_commit(&h);
	assert_int_equal(spool_read(h.spool, own, 151, &b, &h.err), 1);
	assert_int_equal(b.reason, 0);
	help_end(&h);
}

static void
no_session_waits_for_it(void **state)
{
	uint32_t streams[SPOOL_STREAMS_MAX], own, other;
	struct help h;

	begin(&h, &own, &other);
	help_fill(&h, other, 0, 1, 100);
	help_reopen(&h);
	help_fill(&h, help_stream(&h, "own$pool"), 0, 1, 100);
	help_reopen(&h);
	assert_int_equal(spool_take_session(h.spool, streams, 256), 1);
	assert_string_equal(
	    spool_partition(h.spool, streams[0]).at, "other$pool");
	spool_forbid(h.spool, streams[0], true);
	assert_true(spool_has_session(h.spool));
	spool_release(h.spool, streams[0]);
	assert_int_equal(spool_take_session(h.spool, streams, 256), 1);
	assert_string_equal(
	    spool_partition(h.spool, streams[0]).at, "own$pool");
	/* What nobody takes comes when nothing else is left. */
	assert_false(spool_has_session(h.spool));
	assert_int_equal(spool_take_session(h.spool, streams, 0), 0);
	assert_int_equal(spool_take_session(h.spool, streams, 1), 1);
	assert_string_equal(
	    spool_partition(h.spool, streams[0]).at, "other$pool");
	help_end(&h);
}

/* The earlier streams of the partition. */
static uint32_t
forbid_earlier(struct help *h, uint32_t *last)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < spool_streams(h->spool); i++) {
		if (spool_partition(h->spool, i).at == NULL ||
		    !text_equal(
			spool_partition(h->spool, i), text_of("other$pool")))
			continue;
		spool_forbid(h->spool, i, true);
		*last = i;
		count++;
	}
	return count;
}

static void
acknowledge_own(struct help *h, uint32_t own, int count)
{
	for (int i = 0; i < count; i++) {
		help_fill(h, own, 1000, 1, 9000);
		spool_acked(h->spool, own, spool_next_seq(h->spool, own) - 1);
	}
	assert_int_equal(spool_tidy(h->spool, 1, &h->err), 0);
}

/* Segments of 64 KiB that have a batch of it, the end of the one before, or
 * both: 20 sessions in 512 KiB. */
static void
its_ends_keep_no_room(void **state)
{
	uint32_t own, other;
	struct help h;

	for (int every = 1; every <= 2; every++) {
		begin(&h, &own, &other);
		for (int i = 0; i < 20; i++) {
			help_reopen(&h);
			forbid_earlier(&h, &other);
			if (i % every == 0) {
				other = help_stream(&h, "other$pool");
				help_fill(&h, other, 2000, 1, 100);
				spool_forbid(h.spool, other, true);
			}
			acknowledge_own(&h, help_stream(&h, "own$pool"), 6);
		}
		help_end(&h);
	}
}

/* Five batches of it in an earlier session were given up; the end says how many
 * they were. */
static void
what_was_given_up_is_told_once(void **state)
{
	uint32_t own, other;
	struct help h;

	for (int started = 0; started < 2; started++) {
		struct session_id session;

		begin(&h, &own, &other);
		session = *spool_session(h.spool);
		help_fill(&h, other, 2000, 5, 100);
		help_reopen(&h);
		assert_int_equal(forbid_earlier(&h, &other), 1);
		/* Of the agent's own partition nothing is acknowledged, so its
		 * segment with the end stays. */
		own = help_stream(&h, "own$pool");
		while (spool_given_up(h.spool) == 0)
			help_fill(&h, own, 1000, 1, 9000);
		assert_int_equal(spool_given_up(h.spool), 5);
		help_is_gap(&h, other, 1, 5, WIRE_NACK_FORBIDDEN);
		if (started) {
			help_reopen(&h);
			other = help_earlier(&h, &session, "other$pool");
			assert_int_not_equal(other, UINT32_MAX);
			help_is_gap(&h, other, 1, 5, WIRE_GAP_DAMAGED);
		}
		spool_acked(h.spool, other, 5);
		assert_int_equal(spool_tidy(h.spool, 1, &h.err), 0);
		for (int i = 0; i < 2; i++) {
			help_reopen(&h);
			assert_int_equal(
			    help_earlier(&h, &session, "other$pool"),
			    UINT32_MAX);
			assert_int_equal(spool_counters(h.spool)->gaps, 0);
		}
		help_end(&h);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_a_quarter),
		cmocka_unit_test(
		    the_oldest_becomes_a_gap_when_others_need_the_room),
		cmocka_unit_test(no_session_waits_for_it),
		cmocka_unit_test(its_ends_keep_no_room),
		cmocka_unit_test(what_was_given_up_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
