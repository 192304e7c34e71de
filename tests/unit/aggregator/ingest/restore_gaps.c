/*
 * restore_gaps - tests of aggregator/ingest/restore_gaps.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include "aggregator/ingest/restore_gaps.h"
#include "aggregator/journal/verify.h"
#include "proto/os/clock.h"

static const int64_t noon = INT64_C(1700000000) * NS_PER_SECOND;
static const struct text partition = { "acct$pool", 9 };

/* Two stores: the one that goes, and the one that takes its place. */
static char folder[SCRATCH_BYTES];
static struct journal *before, *now;
static struct receiver *receiver;
static struct restore_gaps restore_gaps;

static struct journal *
open_one(const char *name)
{
	const struct journal_options options = { .map_bytes = 256 << 20 };
	struct journal *journal;
	struct err err = { 0 };
	char path[SCRATCH_BYTES + 16];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (mkdir(path, 0700) != 0 ||
	    journal_open(&journal, path, &options, &err) != 0)
		fail_msg("%s: %s", path, err.text);
	return journal;
}

static int
set_up(void **state)
{
	(void)state;
	scratch_make(folder);
	before = open_one("before");
	now = open_one("now");
	receiver = receiver_new(now, 0);
	restore_gaps =
	    (struct restore_gaps){ .journal = now, .wait_ns = NS_PER_SECOND };
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	receiver_free(&receiver);
	journal_close(&before);
	journal_close(&now);
	scratch_remove(folder);
	return 0;
}

static struct session_id
session(uint8_t id)
{
	return (struct session_id){ .bytes = { id, 1 } };
}

/* The running hash after n in these tests. */
static uint64_t
chain_after(uint64_t n)
{
	return 1000 + n;
}

/* A stream that is kept up to `last_seq`. */
static void
put(struct journal *journal, uint8_t id, uint64_t last_seq, uint64_t run)
{
	struct journal_stream s = { .last_seq = last_seq,
		.start_count = run,
		.first_ns = noon,
		.last_ns = noon,
		.node = text_of("node-1") };
	struct session_id of = session(id);
	struct err err = { 0 };

	for (uint64_t n = 1; n <= last_seq; n++)
		s.ring[n % JOURNAL_RING] = chain_after(n);
	assert_int_equal(journal_begin(journal, &err), 0);
	journal_stream_put(journal, &of, partition, &s);
	assert_int_equal(journal_commit(journal, &err), DB_OK);
}

static struct journal_stream
get(struct journal *journal, uint8_t id)
{
	struct session_id of = session(id);
	struct journal_stream s;
	struct err err = { 0 };

	assert_int_equal(journal_begin(journal, &err), 0);
	assert_int_equal(
	    journal_stream_get(journal, &of, partition, &s), JOURNAL_FOUND);
	journal_abort(journal);
	return s;
}

static struct restore_gaps_sum
carry(void)
{
	struct restore_gaps_sum sum;
	struct err err = { 0 };

	assert_int_equal(restore_gaps_carry(now, before, noon, &sum, &err), 0);
	restore_gaps_count(&restore_gaps);
	return sum;
}

static struct wire_header
ask(const struct wire_header *header, struct text body)
{
	unsigned char frame[2048];
	struct wire_header answer = { 0 };
	struct err err = { 0 };
	size_t bytes = wire_frame(frame, sizeof(frame), header, body);

	assert_true(bytes > 0);
	assert_int_equal(journal_begin(now, &err), 0);
	assert_true(receiver_take(receiver,
	    (struct text){ (char *)frame, (uint32_t)bytes }, noon,
	    RECEIVER_ROOM, &answer));
	assert_int_equal(journal_commit(now, &err), DB_OK);
	receiver_committed(receiver);
	return answer;
}

static struct wire_header
frame_of(uint8_t id, enum wire_type type, uint64_t seq)
{
	return (struct wire_header){ .type = type,
		.partition = partition,
		.node = text_of("node-1"),
		.session = session(id),
		.seq = seq,
		.start_count = 9,
		.chain = seq > 1 ? chain_after(seq - 1) : 0 };
}

static struct wire_header
hello(uint8_t id, uint64_t seq)
{
	struct wire_header h = frame_of(id, WIRE_HELLO, seq);

	return ask(&h, (struct text){ NULL, 0 });
}

static struct wire_header
gap(uint8_t id, uint64_t first, uint64_t last)
{
	struct wire_header h = frame_of(id, WIRE_GAP, first);

	h.last_seq = last;
	h.reason = WIRE_GAP_RESTORED;
	h.chain_after = chain_after(last);
	h.generation = journal_generation(now);
	return ask(&h, (struct text){ NULL, 0 });
}

/* One transaction of reports, when it is due. */
static void
tell(int64_t at_ns)
{
	struct err err = { 0 };

	if (!restore_gaps_is_due(&restore_gaps, at_ns))
		return;
	assert_int_equal(journal_begin(now, &err), 0);
	restore_gaps_report(&restore_gaps, receiver, at_ns);
	assert_int_equal(journal_commit(now, &err), DB_OK);
	receiver_committed(receiver);
	restore_gaps_count(&restore_gaps);
}

/* How many numbers the gaps of the journal have. */
static uint64_t
numbers_of_gaps(void)
{
	struct journal_entry entry;
	struct journal_walk *walk;
	uint64_t numbers = 0;
	struct err err = { 0 };

	assert_int_equal(journal_walk_open(now, &walk, &err), 0);
	assert_int_equal(journal_walk_seek(walk, 0, &err), 0);
	while (journal_walk_next(walk, &entry) == 1) {
		struct record record = journal_gap_record(&entry);

		assert_int_equal(entry.header.type, WIRE_GAP);
		assert_int_equal(entry.header.reason, WIRE_GAP_RESTORED);
		assert_true(text_equal(entry.header.node, text_of("node-1")));
		assert_true(record.kind == RECORD_GAP);
		numbers += entry.header.last_seq - entry.header.seq + 1;
	}
	journal_walk_close(&walk);
	return numbers;
}

/* ---- */

static void
batches_of_the_replaced_store_are_missing(void **state)
{
	struct wire_header answer;
	struct restore_gaps_sum sum;

	(void)state;
	put(before, 1, 100, 4);
	put(now, 1, 60, 3);
	put(before, 2, 7, 1); /* begun after the backup */
	put(before, 3, 5, 1); /* nothing since */
	put(now, 3, 5, 1);
	sum = carry();
	assert_int_equal(sum.streams, 2);
	assert_int_equal(sum.batches, 47);
	assert_int_equal(restore_gaps.batches, 47);
	assert_true(restore_gaps.since_ns == noon);
	assert_int_equal(get(now, 1).start_count, 4);
	answer = hello(1, 101);
	assert_int_equal(answer.type, WIRE_WELCOME);
	assert_int_equal(answer.expect, 61);
	assert_int_equal(answer.last_seq, 100);
	assert_true(answer.chain_after == chain_after(100));
	answer = hello(2, 1);
	assert_int_equal(answer.expect, 1);
	assert_int_equal(answer.last_seq, 7);
	answer = hello(3, 6);
	assert_int_equal(answer.expect, 6);
	assert_int_equal(answer.last_seq, 0);
	assert_true(answer.chain_after == 0);
}

static void
a_start_count_superseded_before_stays_superseded(void **state)
{
	struct wire_header answer;

	(void)state;
	put(before, 1, 100, 10);
	put(now, 1, 60, 3);
	carry();
	answer = hello(1, 61); /* of run 9 */
	assert_int_equal(answer.type, WIRE_WELCOME);
	assert_int_equal(answer.last_seq, 100);
	answer = gap(1, 61, 61);
	assert_int_equal(answer.type, WIRE_NACK);
	assert_int_equal(answer.reason, WIRE_NACK_SUPERSEDED);
}

static void
missing_batches_stay_missing_when_the_next_store_is_lost_too(void **state)
{
	struct journal_stream s;
	struct session_id of = session(1);
	struct err err = { 0 };

	(void)state;
	put(before, 1, 70, 1);
	s = get(before, 1);
	s.missing = 100;
	s.missing_hash = 5;
	s.node = text_of("node-1");
	assert_int_equal(journal_begin(before, &err), 0);
	journal_stream_put(before, &of, partition, &s);
	assert_int_equal(journal_commit(before, &err), DB_OK);
	put(now, 1, 60, 1);
	assert_int_equal(carry().batches, 40);
	assert_int_equal(hello(1, 61).last_seq, 100);
	assert_int_equal(hello(1, 61).chain_after, 5);
	/* Restored once more, over a store that had less: no less is missing.
	 */
	put(before, 1, 80, 1);
	assert_int_equal(carry().batches, 40);
	assert_int_equal(hello(1, 61).last_seq, 100);
}

static void
resent_batches_are_not_missing(void **state)
{
	(void)state;
	put(before, 1, 100, 1);
	put(now, 1, 60, 1);
	carry();
	assert_int_equal(gap(1, 61, 90).type, WIRE_ACK);
	restore_gaps_count(&restore_gaps);
	assert_int_equal(restore_gaps.batches, 10);
	assert_int_equal(hello(1, 91).last_seq, 100);
	assert_int_equal(gap(1, 91, 101).type, WIRE_ACK);
	restore_gaps_count(&restore_gaps);
	assert_int_equal(restore_gaps.batches, 0);
	assert_int_equal(hello(1, 102).last_seq, 0);
	/* When it is due nothing is reported, and nobody looks any more. */
	tell(noon + NS_PER_SECOND);
	assert_int_equal(numbers_of_gaps(), 41);
	assert_true(restore_gaps.since_ns == 0);
}

static void
batches_not_resent_become_gaps_once(void **state)
{
	struct err err = { 0 };

	(void)state;
	put(before, 1, 100, 1);
	put(now, 1, 60, 1);
	for (unsigned id = 2; id < 202; id++)
		put(before, (uint8_t)id, id, 1);
	carry();
	tell(noon + NS_PER_SECOND - 1);
	assert_int_equal(numbers_of_gaps(), 0);
	for (int i = 0; i < 8; i++)
		tell(noon + NS_PER_SECOND);
	assert_true(restore_gaps.since_ns == 0);
	assert_int_equal(restore_gaps.batches, 0);
	assert_int_equal(numbers_of_gaps(), 40 + (2 + 201) * 200 / 2);
	assert_int_equal(journal_verify(now, NULL, NULL, &err), 0);
}

static void
a_late_sender_may_still_resend(void **state)
{
	(void)state;
	put(before, 1, 100, 1);
	put(now, 1, 60, 1);
	carry();
	for (int i = 0; i < 3; i++)
		tell(noon + NS_PER_SECOND);
	assert_int_equal(numbers_of_gaps(), 40);
	assert_int_equal(hello(1, 101).expect, 61);
	assert_int_equal(hello(1, 101).last_seq, 0);
	assert_int_equal(gap(1, 61, 100).seq, 100);
}

static void
gaps_that_the_store_does_not_accept_are_recorded_later(void **state)
{
	static const struct opt_list others = { { "acct$other" }, 1 };

	(void)state;
	put(before, 1, 100, 1);
	put(now, 1, 60, 1);
	carry();
	receiver_accept(receiver, &others);
	for (int i = 0; i < 3; i++)
		tell(noon + NS_PER_SECOND);
	assert_int_equal(numbers_of_gaps(), 0);
	assert_int_equal(restore_gaps.batches, 40);
	receiver_accept(receiver, NULL);
	for (int i = 0; i < 3; i++)
		tell(noon + NS_PER_SECOND);
	assert_int_equal(numbers_of_gaps(), 40);
	assert_true(restore_gaps.since_ns == 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(batches_of_the_replaced_store_are_missing),
		CASE(a_start_count_superseded_before_stays_superseded),
		CASE(
		    missing_batches_stay_missing_when_the_next_store_is_lost_too),
		CASE(resent_batches_are_not_missing),
		CASE(batches_not_resent_become_gaps_once),
		CASE(gaps_that_the_store_does_not_accept_are_recorded_later),
		CASE(a_late_sender_may_still_resend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
