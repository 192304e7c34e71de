/*
 * pace - tests of aggregator/ingest/pace.h: senders and an indexer in a world
 * whose time is a number.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/ingest/pace.h"
#include "proto/os/clock.h"

#define MS INT64_C(1000000)

enum { SENDERS = 100, BATCH = 60 << 10, SECONDS = 60 };

/* 100 senders of which each could send 2 MB/s, and an indexer. */
static struct {
	struct pace pace;
	int64_t now_ns;
	uint64_t limit, lag;
	double indexed_part;
	struct {
		int64_t next_ns; /* its next batch, or its turn */
		uint64_t bytes;
	} sender[SENDERS];
	uint64_t admitted[SECONDS]; /* of each second */
	uint64_t refused;
} w;

static void
begin(uint64_t limit)
{
	memset(&w, 0, sizeof(w));
	w.limit = limit;
	w.now_ns = 1000 * NS_PER_SECOND;
	for (int i = 0; i < SENDERS; i++)
		w.sender[i].next_ns = w.now_ns + i * MS / 4;
}

/* `bytes` a second are indexed for `seconds`. */
static void
run(int seconds, double indexing, int senders)
{
	int64_t from_ns = w.now_ns;

	while (w.now_ns - from_ns < seconds * NS_PER_SECOND) {
		uint64_t done = (uint64_t)(indexing / 1000);

		w.now_ns += MS;
		w.lag = w.lag > done ? w.lag - done : 0;
		pace_step(&w.pace, w.now_ns, w.lag, w.limit);
		for (int i = 0; i < senders; i++) {
			uint32_t retry_ms;

			if (w.sender[i].next_ns > w.now_ns || w.lag >= w.limit)
				continue;
			retry_ms = pace_take(&w.pace, BATCH, (uint64_t)i * 977);
			if (retry_ms > 0) {
				w.refused++;
				w.sender[i].next_ns = w.now_ns + retry_ms * MS;
				continue;
			}
			w.sender[i].next_ns = w.now_ns + 30 * MS;
			w.sender[i].bytes += BATCH;
			w.lag += BATCH;
			w.admitted[(w.now_ns - from_ns) / NS_PER_SECOND %
				   SECONDS] += BATCH;
		}
	}
}

static uint64_t
least(int from, int to)
{
	uint64_t bytes = UINT64_MAX;

	for (int i = from; i < to; i++)
		if (w.admitted[i] < bytes)
			bytes = w.admitted[i];
	return bytes;
}

static uint64_t
most(int from, int to)
{
	uint64_t bytes = 0;

	for (int i = from; i < to; i++)
		if (w.admitted[i] > bytes)
			bytes = w.admitted[i];
	return bytes;
}

static void
what_the_indexer_keeps_up_with_is_never_deferred(void **state)
{
	begin(1 << 30);
	run(30, 250e6, SENDERS);
	assert_int_equal(w.refused, 0);
	assert_false(w.pace.paced);
	assert_int_equal(pace_credit(&w.pace, 512 << 10), 512 << 10);
}

/* A burst fills a quarter of the journal; then the senders slow down to the
 * indexer's 20 MB/s, and no second is without it. */
static void
senders_settle_at_the_rate_of_the_indexer(void **state)
{
	begin(256 << 20);
	run(SECONDS, 20e6, SENDERS);
	assert_true(most(0, 3) > 60e6);
	assert_in_range(least(20, SECONDS), 14000000, 22000000);
	assert_in_range(most(20, SECONDS), 18000000, 28000000);
	assert_in_range(w.lag, (256 << 20) / 2, (256 << 20) / 10 * 9);
}

static void
no_sender_is_starved(void **state)
{
	uint64_t all = 0;

	begin(256 << 20);
	run(20, 20e6, SENDERS);
	for (int i = 0; i < SENDERS; i++)
		w.sender[i].bytes = 0;
	run(40, 20e6, SENDERS);
	for (int i = 0; i < SENDERS; i++)
		all += w.sender[i].bytes;
	for (int i = 0; i < SENDERS; i++)
		assert_true(w.sender[i].bytes > all / SENDERS / 3);
}

/* An indexer that becomes fast again is noticed within two seconds or so. */
static void
a_faster_indexer_gets_more(void **state)
{
	begin(256 << 20);
	run(30, 20e6, SENDERS);
	memset(w.admitted, 0, sizeof(w.admitted));
	run(10, 300e6, SENDERS);
	assert_true(w.admitted[5] > 150e6);
	assert_false(w.pace.paced);
}

/* It may compact an hour, or the disk is slow. */
static void
an_indexer_that_stands_still_does_not_stop_senders_at_once(void **state)
{
	begin(256 << 20);
	run(30, 20e6, SENDERS);
	memset(w.admitted, 0, sizeof(w.admitted));
	run(5, 0, SENDERS);
	assert_true(least(0, 5) >= 900000);
	run(5, 20e6, SENDERS);
	assert_true(w.lag <= w.limit);
}

static void
the_credit_of_a_stream_is_its_share(void **state)
{
	begin(256 << 20);
	run(30, 20e6, 4);
	if (w.pace.paced)
		assert_in_range(
		    pace_credit(&w.pace, 512 << 10), 64 << 10, 512 << 10);
	begin(256 << 20);
	run(30, 20e6, SENDERS);
	assert_true(w.pace.paced);
	assert_int_equal(pace_credit(&w.pace, 512 << 10), 64 << 10);
	assert_in_range(w.pace.streams, 50, SENDERS);
}

/* A journal that was not indexed when the process began. */
static void
what_was_there_before_is_no_rate(void **state)
{
	begin(256 << 20);
	w.lag = 200 << 20;
	run(10, 20e6, SENDERS);
	assert_in_range((uint64_t)w.pace.indexing, 15000000, 25000000);
	assert_in_range(least(4, 10), 10000000, 30000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    what_the_indexer_keeps_up_with_is_never_deferred),
		cmocka_unit_test(senders_settle_at_the_rate_of_the_indexer),
		cmocka_unit_test(no_sender_is_starved),
		cmocka_unit_test(a_faster_indexer_gets_more),
		cmocka_unit_test(
		    an_indexer_that_stands_still_does_not_stop_senders_at_once),
		cmocka_unit_test(the_credit_of_a_stream_is_its_share),
		cmocka_unit_test(what_was_there_before_is_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
