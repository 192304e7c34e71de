/*
 * phase - tests of aggregator/phases/phase.h: durations and sums.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/phases/phase.h"

static struct phase_entry
end_at(int64_t time_ns)
{
	return (
	    struct phase_entry){ .id = { .time_ns = time_ns }, .is_end = true };
}

static void
durations_saturate_at_int64(void **state)
{
	const struct phase_entry low = end_at(INT64_MIN);
	const struct phase_entry high = end_at(INT64_MAX);

	assert_true(phase_duration(INT64_MIN, &high) == INT64_MAX);
	assert_true(phase_duration(INT64_MAX, &low) == INT64_MIN);
}

static void
a_measured_duration_is_taken_as_it_is(void **state)
{
	struct phase_entry end = end_at(100);

	end.measured = true;
	end.measured_ns = -3;
	assert_true(phase_duration(40, &end) == -3);
	end.measured = false;
	assert_true(phase_duration(40, &end) == 60);
}

/* At one time ends come first, then the order is that of the records. */
static void
events_have_one_order(void **state)
{
	struct phase_entry a = end_at(5), b = end_at(5);

	assert_int_equal(phase_compare(&a, &b), 0);
	b.id.seq = 1;
	assert_true(phase_compare(&a, &b) < 0);
	a.is_end = false;
	assert_true(phase_compare(&a, &b) > 0);
	b.id.time_ns = 6;
	assert_true(phase_compare(&a, &b) < 0);
}

static void
a_sum_is_replaced_by_another(void **state)
{
	struct phase_sum before = { .pairs = 0 }, after = { .pairs = 0 };
	struct duration_stats *stats = malloc(sizeof(*stats));

	assert_non_null(stats);
	duration_stats_init(stats);
	for (int i = 0; i < 4; i++) {
		duration_stats_add(stats, 1);
		phase_sum_pair(&before, 1);
	}
	phase_sum_pair(&after, 1);
	phase_sum_pair(&after, 1);
	phase_sum_pair(&after, 1001);
	after.open_starts = 1;
	phase_sum_replace(stats, &before, &after);
	assert_true(stats->sums.count == 3 && stats->sums.sum == 1003);
	assert_true(stats->open_starts == 1 && stats->open_ends == 0);
	phase_sum_replace(stats, &after, &before);
	assert_true(stats->sums.count == 4 && stats->sums.sum == 4);
	assert_true(stats->open_starts == 0);
	phase_sum_clear(&before);
	phase_sum_clear(&after);
	free(stats);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_saturate_at_int64),
		cmocka_unit_test(a_measured_duration_is_taken_as_it_is),
		cmocka_unit_test(events_have_one_order),
		cmocka_unit_test(a_sum_is_replaced_by_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
