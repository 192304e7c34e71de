/*
 * processor_times - sums that jump; times are in ticks of 10 ms.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/processor_times.h"

#include "agents/proc/scan.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

static uint64_t
take(struct processor_times *times, double seconds, uint64_t processors,
    uint64_t set, uint64_t used, uint64_t idle)
{
	uint64_t both[] = { used, idle };
	int64_t at_ns = (int64_t)((100 + seconds) * 1e9);
	const struct processor_times_reading reading = { both, 2, processors,
		set, 100, at_ns, at_ns + 1000 };

	return processor_times_take(times, &reading);
}

static void
what_processors_can_do_changes_nothing(void **state)
{
	struct processor_times times = { .epoch = 0 };

	assert_int_equal(take(&times, 0, 4, 9, 70000, 50000000), 0);
	/* 4 processors, 10 s: 4,000 ticks, in any parts; some come late. */
	assert_int_equal(take(&times, 10, 4, 9, 74000, 50000000), 0);
	assert_int_equal(take(&times, 20, 4, 9, 74000, 50004000), 0);
	assert_int_equal(take(&times, 20.1, 4, 9, 74020, 50004030), 0);
	/* That a sum falls is for readers to see. */
	assert_int_equal(take(&times, 30, 4, 9, 74020, 12500000), 0);
	assert_int_equal(take(&times, 40, 4, 9, 74020, SCAN_UNKNOWN), 0);
}

static void
a_jump_begins_another_epoch(void **state)
{
	struct processor_times times = { .epoch = 0 };

	take(&times, 0, 4, 9, 0, 0);
	/* Each could be, but not both: 5,000 ticks in 10 s. */
	assert_int_equal(take(&times, 10, 4, 9, 2500, 2500), 1);
	assert_int_equal(take(&times, 20, 4, 9, 4500, 4500), 1);
	/* Other processors, whatever they have counted. */
	assert_int_equal(take(&times, 30, 4, 8, 4501, 4501), 2);
	assert_int_equal(take(&times, 40, 4, 8, 100000, 4501), 3);
}

static void
epochs_fit_in_their_bits(void **state)
{
	struct processor_times times = { .epoch = (1 << 15) - 1 };

	take(&times, 0, 1, 0, 0, 0);
	assert_int_equal(take(&times, 1, 1, 0, 1000, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_processors_can_do_changes_nothing),
		cmocka_unit_test(a_jump_begins_another_epoch),
		cmocka_unit_test(epochs_fit_in_their_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
