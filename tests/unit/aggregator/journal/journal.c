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
	scratch_make(folder);
	open_journal();
	return 0;
}

static int
tear_down(void **state)
{
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
	struct text partition = text_of("acct$pool");
	struct journal_stream put = { .last_seq = 77,
		.hash = UINT64_C(1) << 63,
		.first_ns = -5,
		.forgotten = 5,
		.derived = true,
		.owner = UINT64_MAX - 5,
		.node = text_of("node-1") };
	struct journal_stream got;

	for (uint32_t i = 0; i < 13; i++)
		put.block[i] = i * i + 1;
	begin();
	assert_int_equal(journal_stream_get(journal, &session, partition, &got),
	    JOURNAL_ABSENT);
	journal_stream_put(journal, &session, partition, &put);
	commit();
	begin();
	assert_int_equal(journal_stream_get(journal, &session, partition, &got),
	    JOURNAL_FOUND);
	assert_true(got.last_seq == 77 && got.hash == put.hash &&
		    got.first_ns == -5 && got.derived &&
		    got.owner == put.owner && got.forgotten == put.forgotten);
	assert_true(text_equal(got.node, text_of("node-1")));
	assert_memory_equal(got.block, put.block, sizeof(got.block));
	assert_int_equal(
	    journal_stream_get(journal, &session, text_of("acct$other"), &put),
	    JOURNAL_ABSENT);
	journal_abort(journal);
}

/* A running hash whose lower half is `n`. */
static uint64_t
hash_of(uint64_t n)
{
	return n << 32 | n;
}

static enum journal_content
compare(const struct journal_stream *stream, uint64_t seq, uint64_t hash)
{
	return journal_stream_compare(
	    journal, &session, text_of("acct$pool"), stream, seq, hash);
}

static void
advance(struct journal_stream *stream, uint64_t last, uint64_t hash)
{
	journal_stream_advance(
	    journal, &session, text_of("acct$pool"), stream, last, hash);
}

static void
the_last_numbers_of_a_stream_are_remembered(void **state)
{
	enum { LAST = 3 * JOURNAL_STREAM_REMEMBERED };
	struct journal_stream stream = { .node = text_of("n") };
	uint64_t oldest = LAST - JOURNAL_STREAM_REMEMBERED + 1;

	begin();
	for (uint64_t n = 1; n <= LAST; n++)
		advance(&stream, n, hash_of(n));
	for (uint64_t n = 1; n <= LAST; n++) {
		assert_int_equal(compare(&stream, n, hash_of(n)),
		    n < oldest ? JOURNAL_FORGOTTEN : JOURNAL_SAME);
		assert_int_equal(compare(&stream, n, hash_of(n + 1)),
		    n < oldest ? JOURNAL_FORGOTTEN : JOURNAL_OTHER);
	}
	journal_stream_put(journal, &session, text_of("acct$pool"), &stream);
	commit();
	begin();
	assert_int_equal(journal_stream_get(
			     journal, &session, text_of("acct$pool"), &stream),
	    JOURNAL_FOUND);
	assert_int_equal(
	    compare(&stream, oldest, hash_of(oldest)), JOURNAL_SAME);
	assert_int_equal(compare(&stream, LAST, hash_of(LAST)), JOURNAL_SAME);
	journal_abort(journal);
}

/* A gap of 10,000 numbers, and one within a block. */
static void
within_a_gap_there_is_nothing_to_compare(void **state)
{
	struct journal_stream stream = { .node = text_of("n") };

	begin();
	advance(&stream, 1, hash_of(1));
	advance(&stream, 5, 0);
	advance(&stream, 6, hash_of(6));
	assert_int_equal(compare(&stream, 1, hash_of(1)), JOURNAL_SAME);
	assert_int_equal(compare(&stream, 2, hash_of(2)), JOURNAL_LOST);
	assert_int_equal(compare(&stream, 5, hash_of(5)), JOURNAL_LOST);
	assert_int_equal(compare(&stream, 6, hash_of(6)), JOURNAL_SAME);
	advance(&stream, 10006, hash_of(10006));
	assert_int_equal(compare(&stream, 1, hash_of(1)), JOURNAL_FORGOTTEN);
	assert_int_equal(compare(&stream, 9000, hash_of(1)), JOURNAL_LOST);
	assert_int_equal(compare(&stream, 10005, hash_of(1)), JOURNAL_LOST);
	assert_int_equal(compare(&stream, 10006, hash_of(10006)), JOURNAL_SAME);
	journal_abort(journal);
}

static void
a_removed_stream_leaves_nothing(void **state)
{
	struct journal_stream stream = { .node = text_of("n") };
	struct text partition = text_of("acct$pool");
	unsigned char key[16 + NAME_BYTES_MAX];
	struct db_status status;
	struct err err;

	begin();
	for (uint64_t n = 1; n <= 1000; n++)
		advance(&stream, n, hash_of(n));
	journal_stream_put(journal, &session, partition, &stream);
	/* Its partition begins as the other's does. */
	journal_stream_put(journal, &session, text_of("acct$poo"), &stream);
	commit();
	memcpy(key, session.bytes, 16);
	memcpy(key + 16, partition.at, partition.bytes);
	begin();
	journal_stream_remove(journal_txn(journal),
	    (struct text){ (const char *)key, 16 + partition.bytes });
	assert_int_equal(
	    journal_stream_get(journal, &session, partition, &stream),
	    JOURNAL_ABSENT);
	assert_int_equal(
	    journal_stream_get(journal, &session, text_of("acct$poo"), &stream),
	    JOURNAL_FOUND);
	commit();
	assert_int_equal(db_status(journal_db(journal), &status, &err), 0);
	assert_int_equal(status.rows[JOURNAL_STREAMS], 1);
	assert_int_equal(status.rows[JOURNAL_HASHES], 0);
}

static void
a_row_of_another_length_is_no_stream(void **state)
{
	enum { FIXED = 6 * 8 + 2, NODE = 5, HASHES = 3 };
	static char row[FIXED + NODE + HASHES * 4 + 1];
	struct journal_stream stream;

	row[0] = 64 + HASHES; /* the last seq */
	row[FIXED - 1] = NODE;
	for (uint32_t bytes = 0; bytes <= sizeof(row); bytes++) {
		char *heap = malloc(bytes + 1);

		memcpy(heap, row, bytes);
		assert_int_equal(journal_stream_decode(
				     (struct text){ heap, bytes }, &stream),
		    bytes == FIXED + NODE + HASHES * 4);
		free(heap);
	}
}

static void
purging_keeps_young_unindexed_and_last_entries(void **state)
{
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
		CASE(the_last_numbers_of_a_stream_are_remembered),
		CASE(within_a_gap_there_is_nothing_to_compare),
		CASE(a_removed_stream_leaves_nothing),
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
