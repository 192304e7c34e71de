/*
 * batcher_disk - what a round is reported when the disk refuses in the middle
 * of it: never that something is kept which is not, and nothing twice.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/agents/accept/batcher_help.h"

#include <signal.h>
#include <sys/resource.h>

/* No file may grow beyond so much: a disk that refuses. */
static void
limit_files(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* How many of the tickets were reported that what they put is kept. */
static uint64_t good;

static void
count_good(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	good += outcome->result == BATCHER_OK;
}

/* Puts of 60 KiB, a batch each, in four partitions; together more than the
 * commit buffer holds, so that it is written while batches are still being
 * sealed.  The events have the uuids from 1 on. */
static const char *const partitions[] = { "a", "a", "a", "a", "a", "a", "a",
	"a", "b", "c", "d" };
enum { PUTS = sizeof(partitions) / sizeof(*partitions) };

static void
put_round(struct fixture *f)
{
	uint64_t uuid = 1;
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < PUTS; i++) {
		struct batcher_ticket ticket = { .on_settled = count_good };
		struct wire_header header = { .type = WIRE_PUT,
			.partition = text_of(partitions[i]) };
		struct text plain = { (const char *)f->body, 0 };
		struct err err;

		begin(f);
		f->writer.room = 60 << 10;
		while (add_event(f, name, uuid))
			uuid++;
		header.records = f->writer.records;
		plain.bytes = header.body_bytes = (uint32_t)f->writer.bytes;
		assert_int_equal(
		    batcher_put(f->batcher, &ticket, &header, plain, &err),
		    BATCHER_OK);
	}
}

/* Batches on disk. */
static uint64_t
kept(struct fixture *f)
{
	uint64_t batches = 0;

	for (uint32_t i = 0; i < spool_streams(f->spool); i++)
		batches += spool_next_seq(f->spool, i) - 1;
	return batches;
}

static void
nobody_is_reported_that_a_batch_is_kept_which_the_disk_refused(void **state)
{
	struct fixture *f = *state;
	enum batcher_result result;

	good = 0;
	put_round(f);
	limit_files(4096);
	result = commit(f);
	limit_files(RLIM_INFINITY);
	assert_int_equal(kept(f), 0);
	assert_int_equal(good, 0);
	assert_int_equal(result, BATCHER_IO);

	/* The same once more: none of it is taken for known. */
	put_round(f);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(kept(f), PUTS);
	assert_int_equal(good, PUTS);
	assert_int_equal(batcher_counters(f->batcher)->repeated, 0);
}

static void
what_came_to_disk_before_the_refusal_is_good_and_known(void **state)
{
	struct fixture *f = *state;
	enum batcher_result result;
	uint64_t records;

	good = 0;
	put_round(f);
	records = batcher_counters(f->batcher)->records;
	limit_files(540 << 10);
	result = commit(f);
	limit_files(RLIM_INFINITY);
	assert_true(kept(f) > 0 && kept(f) < PUTS);
	assert_int_equal(good, kept(f));
	assert_int_equal(result, BATCHER_IO);

	/* The same once more: each event is there once. */
	put_round(f);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(kept(f), PUTS);
	assert_true(batcher_counters(f->batcher)->repeated > 0);
	assert_true(batcher_counters(f->batcher)->repeated < records);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(
		    nobody_is_reported_that_a_batch_is_kept_which_the_disk_refused),
		CASE(what_came_to_disk_before_the_refusal_is_good_and_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
