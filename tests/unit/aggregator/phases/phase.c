/*
 * phase - tests of aggregator/phases/phase.h: the k-th start and the k-th end.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/phases/phase.h"

enum { EVENTS = 120, SCOPE = 7 };

static struct phase_state phase;
static struct duration_stats *stats, *other;

static int
set_up(void **state)
{
	(void)state;
	stats = malloc(sizeof(*stats));
	other = malloc(sizeof(*other));
	if (stats == NULL || other == NULL)
		return -1;
	duration_stats_init(stats);
	duration_stats_init(other);
	phase_state_reset(&phase, text_of("a key"));
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	phase_state_clear(&phase);
	free(stats);
	free(other);
	return 0;
}

static struct phase_entry
at(int64_t time_ns)
{
	return (struct phase_entry){ .id = { .time_ns = time_ns,
					 .stream = 1,
					 .seq = 1,
					 .body = { "\0", 1 } },
		.node = SCOPE };
}

static enum phase_taken
take(bool is_end, int64_t time_ns)
{
	struct phase_entry entry = at(time_ns);

	return phase_take(&phase, is_end, &entry, stats);
}

static void
assert_sums_up(void)
{
	duration_stats_reset(other);
	phase_state_sum(&phase, other);
	if (stats->loose) {
		stats->min = other->min;
		stats->max = other->max;
	}
	assert_true(duration_stats_equal(stats, other));
}

static void
the_kth_start_pairs_with_the_kth_end(void **state)
{
	(void)state;
	take(true, 50);
	take(false, 40);
	take(true, 20);
	take(false, 10);
	take(false, 60);
	assert_int_equal(phase_pairs(&phase), 2);
	assert_int_equal(phase.start.count, 3);
	assert_true(phase_duration(&phase.start.at[0], &phase.end.at[0]) == 10);
	assert_true(stats->count == 2 && stats->sum == 20);
	assert_true(stats->open_starts == 1 && stats->open_ends == 0);
	assert_sums_up();
}

static void
an_end_may_be_before_its_start(void **state)
{
	(void)state;
	take(false, 100);
	take(true, 90);
	assert_true(stats->count == 1 && stats->sum == -10);
}

static void
a_measured_duration_wins(void **state)
{
	struct phase_entry end = at(50);

	(void)state;
	end.measured = true;
	end.measured_ns = 3;
	take(false, 10);
	phase_take(&phase, true, &end, stats);
	assert_true(stats->sum == 3);
	assert_sums_up();
}

static void
durations_saturate_at_int64(void **state)
{
	struct phase_entry low = at(INT64_MIN), high = at(INT64_MAX);

	(void)state;
	assert_true(phase_duration(&low, &high) == INT64_MAX);
	assert_true(phase_duration(&high, &low) == INT64_MIN);
}

static void
a_repetition_changes_nothing(void **state)
{
	uint64_t random = check_seed();
	int i;

	(void)state;
	for (i = 0; i < EVENTS; i++) {
		bool is_end = check_random(&random) & 1;
		int64_t time_ns = (int64_t)(check_random(&random) % 40);
		bool there = false;
		struct phase_side *side = is_end ? &phase.end : &phase.start;
		uint32_t j;

		for (j = 0; j < side->count; j++)
			there |= side->at[j].id.time_ns == time_ns;
		assert_int_equal(take(is_end, time_ns),
		    there ? PHASE_REPEATED : PHASE_TAKEN);
		assert_sums_up();
	}
}

static void
any_order_gives_the_same_state(void **state)
{
	uint64_t random = check_seed();
	struct buffer first = { NULL, 0, 0 }, again = { NULL, 0, 0 };
	int order[EVENTS], i, round;

	(void)state;
	for (i = 0; i < EVENTS; i++)
		order[i] = i;
	for (round = 0; round < 50; round++) {
		phase_state_reset(&phase, text_of("a key"));
		duration_stats_reset(stats);
		for (i = 0; i < EVENTS; i++)
			take(order[i] % 2, order[i] * 1000 + order[i] % 7);
		assert_sums_up();
		again.bytes = 0;
		phase_state_encode(&phase, SCOPE, &again);
		if (round == 0)
			buffer_put(&first, again.at, again.bytes);
		assert_int_equal(first.bytes, again.bytes);
		assert_memory_equal(first.at, again.at, again.bytes);
		for (i = EVENTS - 1; i > 0; i--) {
			int j =
			    (int)(check_random(&random) % (uint64_t)(i + 1));
			int swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
	}
	buffer_clear(&first);
	buffer_clear(&again);
}

/* Compact when asked to, as the indexer does; `sums` goes into the state. */
static void
compact(struct buffer *sums)
{
	struct varint_reader u = varint_reader_of(phase.sums);

	if (phase_to_compact(&phase) == 0)
		return;
	duration_stats_reset(other);
	if (phase.sums.bytes > 0)
		duration_stats_decode(other, &u);
	phase_compact(&phase, phase_to_compact(&phase), other);
	sums->bytes = 0;
	duration_stats_encode(other, sums);
	phase.sums = buffer_text(sums);
}

static void
compaction_changes_no_statistics_and_remembers_late_events(void **state)
{
	struct buffer sums = { NULL, 0, 0 };
	int i;

	(void)state;
	for (i = 0; i < 500; i++) {
		take(false, 10 * i);
		take(true, 10 * i + i % 9);
		compact(&sums);
		assert_sums_up();
		assert_true(phase_pairs(&phase) < PHASE_PAIRS_MAX);
	}
	assert_true(stats->count == 500 && phase.compacted > 400);
	assert_int_equal(take(false, 15), PHASE_LATE);
	assert_int_equal(take(true, 16), PHASE_LATE);
	assert_int_equal(take(false, 4995), PHASE_TAKEN);
	buffer_clear(&sums);
}

static void
an_encoded_state_decodes_to_itself(void **state)
{
	struct buffer bytes = { NULL, 0, 0 }, sums = { NULL, 0, 0 };
	struct phase_state back = { .compacted = 0 };
	uint32_t cut, i;

	(void)state;
	for (i = 0; i < 100; i++) {
		struct phase_entry end = at(10 * i + 3);

		end.node = SCOPE + i % 2;
		end.measured = i % 3 == 0;
		end.measured_ns = end.measured ? -5 * (int64_t)i : 0;
		take(false, 10 * i);
		phase_take(&phase, true, &end, stats);
		compact(&sums);
	}
	phase_state_encode(&phase, SCOPE, &bytes);
	assert_true(phase_state_decode(&back, buffer_text(&bytes), SCOPE));
	assert_true(text_equal(back.key, phase.key));
	assert_int_equal(back.compacted, phase.compacted);
	assert_int_equal(row_block_compare(&back.end_mark, &phase.end_mark), 0);
	for (i = 0; i < phase_pairs(&phase); i++) {
		const struct phase_entry *a = &phase.end.at[i];
		const struct phase_entry *b = &back.end.at[i];

		assert_int_equal(row_block_compare(&a->id, &b->id), 0);
		assert_int_equal(a->node, b->node);
		assert_int_equal(a->measured, b->measured);
		assert_true(a->measured_ns == b->measured_ns);
		assert_true(text_equal(a->id.body, b->id.body));
	}
	for (cut = 0; cut < bytes.bytes; cut++)
		assert_false(phase_state_decode(
		    &back, (struct text){ (char *)bytes.at, cut }, SCOPE));
	phase_state_clear(&back);
	buffer_clear(&bytes);
	buffer_clear(&sums);
}

static void
compacted_rows_hold_the_pairs(void **state)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct phase_entry start, end;
	struct phase_compacted pairs;
	uint32_t done, count, i;

	(void)state;
	for (i = 0; i < 60; i++) {
		take(false, 100 * i);
		take(true, 100 * i + 5);
	}
	for (done = 0; done < 60; done += count) {
		bytes.bytes = 0;
		count =
		    phase_put_compacted(&phase, done, 60 - done, SCOPE, &bytes);
		assert_true(count > 0 && bytes.bytes <= ROW_BLOCK_BYTES + 100);
		assert_true(
		    phase_open_compacted(&pairs, buffer_text(&bytes), SCOPE));
		for (i = done; phase_next_compacted(&pairs, &start, &end);
		     i++) {
			assert_true(start.id.time_ns == 100 * i);
			assert_true(end.id.time_ns == 100 * i + 5);
		}
		assert_int_equal(i, done + count);
		assert_false(pairs.bytes.bad);
	}
	buffer_clear(&bytes);
}

static void
old_pairs_are_removed_exactly(void **state)
{
	struct buffer sums = { NULL, 0, 0 };
	uint32_t pairs, i;
	bool all;

	(void)state;
	for (i = 0; i < 20; i++) {
		take(false, 100 * i);
		take(true, 100 * i + i);
	}
	take(false, 100000);
	pairs = phase_old(&phase, 1000, &all);
	assert_int_equal(pairs, 10);
	assert_false(all);
	phase_trim(&phase, pairs, all, stats);
	duration_stats_reset(other);
	duration_stats_encode(other, &sums);
	phase.sums = buffer_text(&sums);
	assert_true(stats->count == 10 && stats->open_starts == 1);
	assert_int_equal(phase.compacted, 10);
	assert_sums_up();
	assert_int_equal(take(false, 500), PHASE_LATE);
	pairs = phase_old(&phase, 200000, &all);
	assert_true(all);
	phase_trim(&phase, pairs, all, stats);
	assert_true(duration_stats_is_empty(stats));
	buffer_clear(&sums);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_kth_start_pairs_with_the_kth_end),
		CASE(an_end_may_be_before_its_start),
		CASE(a_measured_duration_wins),
		CASE(durations_saturate_at_int64),
		CASE(a_repetition_changes_nothing),
		CASE(any_order_gives_the_same_state),
		CASE(
		    compaction_changes_no_statistics_and_remembers_late_events),
		CASE(an_encoded_state_decodes_to_itself),
		CASE(compacted_rows_hold_the_pairs),
		CASE(old_pairs_are_removed_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
