/*
 * state - tests of what a move of a partition takes along of its streams.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "aggregator/journal/journal.h"
#include "aggregator/move/move_private.h"

enum { LAST = 200 };

static const struct session_id session = { "session of ours" };
static char folder[SCRATCH_BYTES];
static struct journal *from, *to;

static struct journal *
open_journal(const char *name)
{
	const struct journal_options options = { .map_bytes = 64 << 20 };
	char path[SCRATCH_BYTES + 16];
	struct journal *journal;
	struct err err = { 0 };

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
	if (journal_open(&journal, path, &options, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(journal_begin(journal, &err), 0);
	return journal;
}

static int
set_up(void **state)
{
	(void)state;
	scratch_make(folder);
	from = open_journal("from");
	to = open_journal("to");
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	journal_abort(from);
	journal_abort(to);
	journal_close(&from);
	journal_close(&to);
	scratch_remove(folder);
	return 0;
}

static uint64_t
hash_of(const char *partition, uint64_t seq)
{
	return (uint64_t)strlen(partition) << 20 | seq;
}

static void
fill(const char *partition)
{
	struct journal_stream stream = { .node = text_of("n") };

	for (uint64_t n = 1; n <= LAST; n++)
		journal_stream_advance(from, &session, text_of(partition),
		    &stream, n, hash_of(partition, n));
	journal_stream_put(from, &session, text_of(partition), &stream);
}

/* The target has to recognize repetitions, and other content. */
static void
the_target_can_compare_every_number(void **state)
{
	const char *names[] = { "acct$pool", "acct$pool-2", "other$pool" };
	struct text moved = text_of(names[0]);
	struct journal_stream stream;

	(void)state;
	for (int i = 0; i < 3; i++)
		fill(names[i]);
	assert_int_equal(
	    move_each_stream(journal_txn(from), moved, journal_txn(to)), 1);
	assert_int_equal(
	    journal_stream_get(to, &session, moved, &stream), JOURNAL_FOUND);
	for (uint64_t n = 1; n <= LAST; n++) {
		uint64_t hash = hash_of(names[0], n);

		assert_int_equal(journal_stream_compare(
				     to, &session, moved, &stream, n, hash),
		    JOURNAL_SAME);
		assert_int_equal(journal_stream_compare(to, &session, moved,
				     &stream, n, hash + 1000),
		    JOURNAL_OTHER);
	}
	for (int i = 1; i < 3; i++)
		assert_int_equal(journal_stream_get(
				     to, &session, text_of(names[i]), &stream),
		    JOURNAL_ABSENT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_target_can_compare_every_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
