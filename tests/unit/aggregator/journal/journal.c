/*
 * journal - tests of aggregator/journal/journal.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/journal/journal.h"
#include "aggregator/journal/verify.h"

static char folder[SCRATCH_BYTES];
static struct journal *journal;

static void
open_journal(void)
{
	const struct journal_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };

	if (journal_open(&journal, folder, &options, &err) != 0)
		fail_msg("%s", err.text);
}

static int
set_up(void **state)
{
	(void)state;
	scratch_make(folder);
	open_journal();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	journal_close(&journal);
	scratch_remove(folder);
	return 0;
}

static const struct session_id session = { "session of ours" };

static void
append(uint64_t seq, int64_t receive_ns, uint32_t bytes)
{
	static char body[100000];
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	const struct wire_header header = {
		.type = WIRE_BATCH,
		.partition = text_of("acct$pool"),
		.node = text_of("node-1"),
		.session = session,
		.seq = seq,
		.records = 1,
	};
	const struct journal_note note = {
		.seq = seq,
		.receive_ns = receive_ns,
	};
	size_t length;

	memset(body, (int)seq, bytes);
	length = wire_frame(
	    frame, sizeof(frame), &header, (struct text){ body, bytes });
	assert_true(length > 0);
	journal_append(journal,
	    (struct text){ (const char *)frame, (uint32_t)length }, &note);
}

static void
begin(void)
{
	struct err err = { 0 };

	if (journal_begin(journal, &err) != 0)
		fail_msg("%s", err.text);
}

static void
commit(void)
{
	struct err err = { 0 };

	if (journal_commit(journal, &err) != DB_OK)
		fail_msg("%s", err.text);
}

static void
append_many(uint64_t from, uint64_t to)
{
	begin();
	for (uint64_t seq = from; seq <= to; seq++)
		append(seq, (int64_t)seq * 1000, 100 + (uint32_t)seq * 37);
	commit();
}

static struct journal_walk *
walk_from(uint64_t number)
{
	struct journal_walk *walk;
	struct err err = { 0 };

	assert_int_equal(journal_walk_open(journal, &walk, &err), 0);
	assert_int_equal(journal_walk_seek(walk, number, &err), 0);
	return walk;
}

static void
entries_come_back_in_order_and_whole(void **state)
{
	struct journal_entry entry;
	struct journal_walk *walk;

	(void)state;
	append_many(1, 50);
	append_many(51, 100);
	journal_close(&journal);
	open_journal();
	assert_true(journal_first(journal) == 1);
	assert_true(journal_next(journal) == 101);
	walk = walk_from(1);
	for (uint64_t n = 1; n <= 100; n++) {
		assert_int_equal(journal_walk_next(walk, &entry), 1);
		assert_true(entry.number == n);
		assert_true(entry.header.seq == n);
		assert_true(entry.receive_ns == (int64_t)n * 1000);
		assert_int_equal(entry.body.bytes, 100 + n * 37);
		assert_int_equal(entry.body.at[99], (char)n);
		assert_true(
		    text_equal(entry.header.partition, text_of("acct$pool")));
		assert_false(entry.rejected);
	}
	assert_int_equal(journal_walk_next(walk, &entry), 0);
	journal_walk_close(&walk);
}

static void
a_walk_sees_what_was_there_when_it_looked(void **state)
{
	struct journal_entry entry;
	struct journal_walk *walk;
	struct err err;

	(void)state;
	append_many(1, 3);
	walk = walk_from(3);
	append_many(4, 5);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_int_equal(journal_walk_next(walk, &entry), 0);
	journal_walk_park(walk);
	assert_int_equal(journal_walk_next(walk, &entry), 0);
	assert_int_equal(journal_walk_seek(walk, 4, &err), 0);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 4);
	journal_walk_close(&walk);
}

static void
what_was_aborted_gives_its_number_back(void **state)
{
	struct journal_entry entry;
	struct journal_walk *walk;

	(void)state;
	append_many(1, 2);
	begin();
	append(3, 3, 10);
	journal_abort(journal);
	assert_true(journal_next(journal) == 3);
	append_many(3, 3);
	walk = walk_from(3);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 3);
	journal_walk_close(&walk);
}

static void
a_stream_is_found_as_it_was_put(void **state)
{
	struct journal_stream put = { .last_seq = 77, .start_count = 3 }, got;

	(void)state;
	for (uint64_t n = 46; n <= 77; n++)
		put.ring[n % JOURNAL_RING] = n * n;
	put.node = text_of("node-1");
	put.first_ns = -5;
	begin();
	assert_int_equal(
	    journal_stream_get(journal, &session, text_of("acct$pool"), &got),
	    JOURNAL_ABSENT);
	journal_stream_put(journal, &session, text_of("acct$pool"), &put);
	commit();
	begin();
	assert_int_equal(
	    journal_stream_get(journal, &session, text_of("acct$pool"), &got),
	    JOURNAL_FOUND);
	assert_int_equal(
	    journal_stream_get(journal, &session, text_of("acct$other"), &put),
	    JOURNAL_ABSENT);
	assert_true(
	    got.last_seq == 77 && got.start_count == 3 && got.first_ns == -5);
	assert_true(text_equal(got.node, text_of("node-1")));
	assert_true(journal_running_hash(&got, 77) == 77 * 77);
	assert_true(journal_running_hash(&got, 46) == 46 * 46);
	assert_true(journal_running_hash(&got, 45) == 0);
	assert_true(journal_running_hash(&got, 78) == 0);
	assert_true(
	    got.missing == 0 && got.missing_hash == 0 && got.boundary == 0);
	assert_true(journal_running_hash(&got, 0) == 0);
	journal_abort(journal);
}

/* What is behind the node is there or not, and nothing between. */
static void
a_stream_may_have_missing_batches_and_a_boundary(void **state)
{
	static const struct journal_stream puts[] = {
		{ .last_seq = 7, .missing = 9, .missing_hash = 5 },
		{ .last_seq = 7, .boundary = 3 },
		{ .last_seq = 7,
		    .missing = 9,
		    .missing_hash = 5,
		    .boundary = 3 },
		{ .last_seq = 7,
		    .missing = 7,
		    .missing_hash = 5,
		    .boundary = 3 }, /* came */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(puts) / sizeof(puts[0]); i++) {
		struct journal_stream put = puts[i], got;
		bool owes = put.missing > put.last_seq;

		put.node = text_of("node-1");
		begin();
		journal_stream_put(
		    journal, &session, text_of("acct$pool"), &put);
		commit();
		begin();
		assert_int_equal(journal_stream_get(journal, &session,
				     text_of("acct$pool"), &got),
		    JOURNAL_FOUND);
		assert_true(text_equal(got.node, put.node));
		assert_true(got.missing == (owes ? 9 : 0));
		assert_true(got.missing_hash == (owes ? 5 : 0));
		assert_true(got.boundary == put.boundary);
		journal_abort(journal);
	}
}

static void
a_row_of_another_length_is_no_stream(void **state)
{
	static const char row[4 * 8 + JOURNAL_RING * 8 + 1 + 32 + 1];
	const uint32_t fixed = 4 * 8 + JOURNAL_RING * 8 + 1;
	struct journal_stream stream;

	(void)state;
	for (uint32_t bytes = 0; bytes <= sizeof(row); bytes++) {
		uint32_t more = bytes - fixed;
		char *heap = malloc(bytes + 1);

		memcpy(heap, row, bytes);
		assert_int_equal(journal_stream_decode(
				     (struct text){ heap, bytes }, &stream),
		    more == 0 || more == 16 || more == 24);
		if (bytes >= fixed) {
			heap[fixed - 1] = (char)200; /* of the node's name */
			assert_false(journal_stream_decode(
			    (struct text){ heap, bytes }, &stream));
		}
		free(heap);
	}
}

static void
purging_keeps_young_unindexed_and_last_entries(void **state)
{
	(void)state;
	append_many(1, 20);
	begin();
	assert_int_equal(
	    journal_purge(journal, 0, INT64_MAX, UINT64_MAX, 100), 0);
	assert_int_equal(journal_purge(journal, 20, 5000, UINT64_MAX, 100), 4);
	assert_int_equal(
	    journal_purge(journal, 9, INT64_MAX, UINT64_MAX, 100), 5);
	assert_int_equal(
	    journal_purge(journal, 20, INT64_MAX, UINT64_MAX, 3), 3);
	commit();
	assert_true(journal_first(journal) == 13);
	begin();
	assert_int_equal(
	    journal_purge(journal, 20, INT64_MAX, UINT64_MAX, 100), 7);
	commit();
	assert_true(journal_first(journal) == 20);
	assert_true(journal_next(journal) == 21);
}

static void
purging_bounds_the_bytes(void **state)
{
	uint64_t all;

	(void)state;
	append_many(1, 100);
	all = journal_bytes_after(journal, 0);
	begin();
	journal_purge(journal, 100, 0, all / 2, 1000);
	commit();
	assert_true(journal_first(journal) > 50);
	assert_true(journal_bytes_after(journal, journal_first(journal) - 1) <=
		    all / 2);
	assert_true(journal_bytes_after(journal, 99) > 3000);
	assert_true(journal_bytes_after(journal, 100) == 0);
}

static void
a_purged_front_is_seen_by_its_number(void **state)
{
	struct journal_entry entry;
	struct journal_walk *walk;

	(void)state;
	append_many(1, 10);
	begin();
	journal_purge(journal, 5, INT64_MAX, UINT64_MAX, 100);
	commit();
	walk = walk_from(2);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 6);
	assert_true(journal_walk_damaged(walk) == 0);
	journal_walk_close(&walk);
}

/* Flip a bit in the body of entry `seq`, behind LMDB's back. */
static void
damage(uint64_t seq)
{
	char path[DURABLE_DIR_PATH_BYTES], body[100];

	memset(body, (int)seq, sizeof(body));
	assert_int_equal(
	    durable_dir_path(path, folder, "journal/data.mdb", NULL), 0);
	assert_true(scratch_flip(path, body, sizeof(body)) > 0);
}

static void
damaged_entries_are_skipped_counted_and_never_renumbered(void **state)
{
	struct journal_entry entry;
	struct journal_walk *walk;

	(void)state;
	append_many(65, 70);
	journal_close(&journal);
	damage(67);
	damage(68);
	damage(70);
	open_journal();
	assert_true(journal_next(journal) == 7);
	append_many(71, 71);
	walk = walk_from(1);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_int_equal(journal_walk_next(walk, &entry), -1);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 5);
	assert_int_equal(journal_walk_next(walk, &entry), -1);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 7);
	assert_int_equal(journal_walk_next(walk, &entry), 0);
	assert_true(journal_walk_damaged(walk) == 3);
	journal_walk_close(&walk);
	walk = walk_from(3);
	assert_int_equal(journal_walk_next(walk, &entry), -1);
	assert_int_equal(journal_walk_next(walk, &entry), 1);
	assert_true(entry.number == 5);
	journal_walk_close(&walk);
}

static void
a_damaged_first_entry_is_purged_in_its_turn(void **state)
{
	struct err err;

	(void)state;
	append_many(65, 70);
	journal_close(&journal);
	damage(65);
	open_journal();
	assert_true(journal_first(journal) == 1);
	begin();
	assert_int_equal(
	    journal_purge(journal, 3, INT64_MAX, UINT64_MAX, 100), 3);
	commit();
	assert_true(journal_first(journal) == 4);
	/* The stream of the test has no state: nothing else is wrong. */
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 1);
}

static void
the_generation_stays_until_it_is_renewed(void **state)
{
	uint64_t generation = journal_generation(journal);
	struct err err;

	(void)state;
	assert_true(generation != 0);
	journal_close(&journal);
	open_journal();
	assert_true(journal_generation(journal) == generation);
	assert_int_equal(journal_renew(journal, &err), 0);
	assert_true(journal_generation(journal) != generation);
}

static void
put_state(uint64_t last_seq)
{
	struct journal_stream stream = {
		.last_seq = last_seq,
		.node = text_of("node-1"),
	};

	begin();
	journal_stream_put(journal, &session, text_of("acct$pool"), &stream);
	commit();
}

static void
verify_finds_holes_and_stale_states(void **state)
{
	struct err err;

	(void)state;
	append_many(1, 10);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 1);
	put_state(9);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 1);
	put_state(10);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 0);
	append_many(12, 12);
	put_state(12);
	assert_int_equal(journal_verify(journal, NULL, NULL, &err), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(entries_come_back_in_order_and_whole),
		CASE(a_walk_sees_what_was_there_when_it_looked),
		CASE(what_was_aborted_gives_its_number_back),
		CASE(a_stream_is_found_as_it_was_put),
		CASE(a_stream_may_have_missing_batches_and_a_boundary),
		CASE(a_row_of_another_length_is_no_stream),
		CASE(purging_keeps_young_unindexed_and_last_entries),
		CASE(purging_bounds_the_bytes),
		CASE(a_purged_front_is_seen_by_its_number),
		CASE(damaged_entries_are_skipped_counted_and_never_renumbered),
		CASE(a_damaged_first_entry_is_purged_in_its_turn),
		CASE(the_generation_stays_until_it_is_renewed),
		CASE(verify_finds_holes_and_stale_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
