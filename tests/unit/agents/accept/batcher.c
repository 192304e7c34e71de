/*
 * batcher - puts become batches: whole, in order, once.
 *
 * The oracle is a list of what was put and accepted, compared with what the
 * spool gives back.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/batcher.h"

#include "proto/os/clock.h"
#include "tests/unit/agents/accept/batcher_help.h"

/* ---- the cases ---- */

static void
puts_of_a_round_share_a_batch_and_a_commit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(put_event(f, "b", 2), BATCHER_OK);
	assert_int_equal(f->settled, 0);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->settled, 2);
	assert_int_equal(f->outcome.from, 1);
	assert_int_equal(f->outcome.upto, 1);
	assert_int_equal(spool_next_seq(f->spool, 0), 2);
	assert_int_equal(spool_counters(f->spool)->commits, 1);
	assert_string_equal(content(f, 0), "me/a me/b");
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(spool_counters(f->spool)->commits, 1);
}

static void
whose_a_record_is_survives_the_sharing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	add_event(f, "a", 1);
	assert_int_equal(put(f, "", "n1"), BATCHER_OK);
	begin(f);
	add_event(f, "b", 2);
	wire_put_context(&f->writer, text_of("n2"));
	add_event(f, "c", 3);
	assert_int_equal(put(f, "", ""), BATCHER_OK);
	begin(f);
	add_event(f, "d", 4);
	assert_int_equal(put(f, "own", "n2"), BATCHER_OK);
	assert_int_equal(put_event(f, "e", 5), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content(f, 0), "n1/a me/b n2/c n2/d me/e");
	assert_int_equal(spool_next_seq(f->spool, 0), 2);
}

static void
each_partition_has_its_own_stream(void **state)
{
	struct fixture *f = *state;
	char partition[16];

	for (int i = 0; i < 20; i++) {
		snprintf(partition, sizeof(partition), "p%d", i % 10);
		begin(f);
		add_event(f, partition, (uint64_t)i + 1);
		assert_int_equal(put(f, partition, ""), BATCHER_OK);
	}
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(spool_streams(f->spool), 10);
	assert_int_equal(f->settled, 20);
	assert_string_equal(content(f, 3), "me/p3 me/p3");
	assert_int_equal(spool_counters(f->spool)->commits, 1);
}

static void
an_event_is_taken_once_by_its_uuid(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(put_event(f, "x", 0), BATCHER_OK);
	assert_int_equal(put_event(f, "x", 0), BATCHER_OK);
	begin(f);
	add_event(f, "a", 1);
	add_event(f, "b", 2);
	assert_int_equal(put(f, "", ""), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->settled, 6);
	assert_int_equal(f->outcome.result, BATCHER_OK);
	assert_int_equal(f->outcome.upto, 2);
	assert_string_equal(content(f, 0), "me/a me/x me/x me/b");
	assert_int_equal(batcher_counters(f->batcher)->repeated, 3);
}

static void
uuids_are_known_after_a_restart(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	close_all(f);
	open_all(f, 16 << 20);
	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(put_event(f, "b", 2), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content_of_all(f), "me/a me/b");
}

static void
what_was_not_committed_is_not_known(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	close_all(f);
	open_all(f, 16 << 20);
	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content(f, 0), "me/a");
}

/* An event that has no uuid, in a numbered put. */
static enum batcher_result
put_once(struct fixture *f, const char *name, const char *node,
    unsigned char session, uint64_t seq)
{
	begin(f);
	add_event(f, name, 0);
	return put_numbered(f, "", node, session, seq);
}

static void
a_numbered_put_is_taken_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_once(f, "a", "", 1, 1), BATCHER_OK);
	assert_int_equal(put_once(f, "a", "", 1, 1), BATCHER_OK);
	assert_int_equal(put_once(f, "b", "n2", 2, 1), BATCHER_OK);
	assert_int_equal(put_once(f, "c", "", 1, 2), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->settled, 4);
	assert_int_equal(f->outcome.result, BATCHER_OK);
	assert_int_equal(put_once(f, "c", "", 1, 2), BATCHER_OK);
	assert_int_equal(put_event(f, "d", 0), BATCHER_OK);
	assert_int_equal(put_event(f, "d", 0), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content(f, 0), "me/a n2/b me/c me/d me/d");
}

static void
numbered_puts_are_known_after_a_restart(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_once(f, "a", "", 1, 1), BATCHER_OK);
	assert_int_equal(put_once(f, "b", "n2", 2, 7), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(put_once(f, "c", "", 1, 2), BATCHER_OK);
	close_all(f); /* without a commit */
	open_all(f, 16 << 20);
	assert_int_equal(put_once(f, "a", "", 1, 1), BATCHER_OK);
	assert_int_equal(put_once(f, "b", "n2", 2, 7), BATCHER_OK);
	assert_int_equal(put_once(f, "c", "", 1, 2), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content_of_all(f), "me/a n2/b me/c");
}

static void
an_empty_put_waits_for_what_was_before(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	begin(f);
	assert_int_equal(put(f, "", ""), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->settled, 2);
	assert_int_equal(f->outcome.from, 1);
	assert_int_equal(f->outcome.upto, 1);
}

static void
only_what_senders_make_is_taken(void **state)
{
	struct fixture *f = *state;
	struct record phase = {
		.kind = RECORD_PHASE,
		.has_time = true,
		.has_end = true,
		.source = text_of("m"),
		.name = text_of("p"),
	};

	begin(f);
	add_event(f, "a", 1);
	assert_true(wire_put_record(&f->writer, &phase));
	assert_int_equal(put(f, "", ""), BATCHER_MALFORMED);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->settled, 0);
	/* Not taken also means not remembered. */
	assert_int_equal(put_event(f, "a", 1), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_string_equal(content(f, 0), "me/a");
}

/* Puts of `bytes` until one is refused; counts those accepted. */
static uint64_t
fill(struct fixture *f, bool samples, size_t bytes)
{
	static uint64_t uuid = 1000;
	uint64_t puts = 0;

	for (;;) {
		begin(f);
		f->writer.room = bytes;
		while (samples ? add_sample(f) : add_event(f, "x", ++uuid))
			;
		assert_int_equal(put(f, "", ""), BATCHER_OK);
		if (commit(f) != BATCHER_OK)
			return puts;
		assert_int_equal(f->outcome.result, BATCHER_OK);
		puts++;
	}
}

/* The same of the smallest puts, of one event. */
static uint64_t
fill_the_rest(struct fixture *f)
{
	uint64_t puts = 0;

	for (;;) {
		assert_int_equal(
		    put_event(f, "x", (1ULL << 32) + puts), BATCHER_OK);
		if (commit(f) != BATCHER_OK)
			return puts;
		puts++;
	}
}

static void
a_full_spool_refuses_samples_first_and_takes_nothing_by_halves(void **state)
{
	struct fixture *f = *state;
	uint64_t samples, events, before;
	struct err err;

	close_all(f);
	open_all(f, 4 << 20);
	samples = fill(f, true, 60 << 10);
	assert_int_equal(f->outcome.result, BATCHER_FULL);
	events = fill(f, false, 60 << 10);
	assert_int_equal(f->outcome.result, BATCHER_FULL);
	events += fill(f, false, 4 << 10);
	events += fill(f, false, 256);
	events += fill_the_rest(f);
	assert_true(samples > 30 && events > 0);
	before = spool_next_seq(f->spool, 0);
	assert_int_equal(before, samples + events + 1);

	/* The same event again and again: refused, not taken for known. */
	for (int i = 0; i < 3; i++) {
		begin(f);
		while (add_event(f, "x", 77))
			;
		put(f, "", "");
		put_event(f, "y", 77);
		assert_int_equal(commit(f), BATCHER_FULL);
		assert_int_equal(f->outcome.result, BATCHER_FULL);
	}
	assert_int_equal(spool_next_seq(f->spool, 0), before);

	/* There is room: it is taken. */
	spool_acked(f->spool, 0, before - 1);
	assert_int_equal(spool_tidy(f->spool, clock_wall_ns(), &err), 0);
	assert_int_equal(put_event(f, "y", 77), BATCHER_OK);
	assert_int_equal(commit(f), BATCHER_OK);
	assert_int_equal(f->outcome.upto, before);
}

struct seen {
	uint32_t times[100000]; /* of each uuid */
	uint64_t events, last;
};

static void
count_event(void *arg, const struct record *record)
{
	struct seen *seen = arg;
	uint64_t uuid;

	memcpy(&uuid, record->key.at, sizeof(uuid));
	seen->times[uuid]++;
	seen->events++;
	seen->last = uuid > seen->last ? uuid : seen->last;
}

/* Any mixture of puts, commits and restarts: what the spool holds is what was
 * accepted, in order, each uuid once. */
static void
random_rounds_keep_every_accepted_event_once(void **state)
{
	struct fixture *f = *state;
	uint64_t random = check_seed(), uuids = 1, tickets = 0;
	struct seen *seen = calloc(1, sizeof(*seen));

	for (int round = 0; round < 60; round++) {
		for (uint64_t i = check_random(&random) % 20; i > 0; i--) {
			begin(f);
			for (uint64_t k = check_random(&random) % 30; k > 0;
			     k--)
				add_event(f, "x",
				    check_random(&random) % 4 && uuids > 1
					? uuids++
					: 1 + check_random(&random) % uuids);
			if (uuids == 1)
				uuids = 2;
			if (batcher_is_due(f->batcher))
				assert_int_equal(commit(f), BATCHER_OK);
			assert_int_equal(put(f, "", ""), BATCHER_OK);
			tickets++;
		}
		assert_int_equal(commit(f), BATCHER_OK);
		assert_int_equal(f->settled, tickets);
		if (check_random(&random) % 4 == 0) {
			close_all(f);
			open_all(f, 16 << 20);
		}
	}
	read_all(f, count_event, seen);
	assert_true(seen->events > 1000 && seen->last < uuids);
	for (uint64_t i = 1; i < uuids; i++)
		assert_true(seen->times[i] <= 1);
	assert_true(seen->events + 1 >= seen->last);
	free(seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(puts_of_a_round_share_a_batch_and_a_commit),
		CASE(whose_a_record_is_survives_the_sharing),
		CASE(each_partition_has_its_own_stream),
		CASE(an_event_is_taken_once_by_its_uuid),
		CASE(uuids_are_known_after_a_restart),
		CASE(what_was_not_committed_is_not_known),
		CASE(a_numbered_put_is_taken_once),
		CASE(numbered_puts_are_known_after_a_restart),
		CASE(an_empty_put_waits_for_what_was_before),
		CASE(only_what_senders_make_is_taken),
		CASE(
		    a_full_spool_refuses_samples_first_and_takes_nothing_by_halves),
		CASE(random_rounds_keep_every_accepted_event_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
