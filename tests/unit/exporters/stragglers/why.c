/*
 * why - what is not measured is not the cause of anything.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/why.h"

#include <math.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { PEERS = 12, SECONDS = 60 };

/* A node whose disk is busy for longer than those of its peers, as the time of
 * its operations is known; they took 1 ms each. */
static uint32_t
add(struct measured *measured, double busy, double operations)
{
	uint32_t number =
	    measured_add(measured, text_of("n"), 0, SECONDS * NS_PER_SECOND);
	struct measured_window *window = &measured->at[number];

	for (int i = 0; i < MEASURES; i++) {
		window->seconds[i] = SECONDS;
		window->samples[i] = SECONDS;
	}
	window->sum[MEASURE_IDLE] = SECONDS;
	window->sum[MEASURE_DISK_BUSY] = busy;
	window->sum[MEASURE_DISK_TIME] = busy;
	window->sum[MEASURE_DISK_OPERATIONS] = operations;
	return number;
}

static enum straggler_kind
explain(double busy, double operations)
{
	struct straggler straggler = { .time_ns = SECONDS * NS_PER_SECOND,
		.usual_ns = 20 * NS_PER_SECOND,
		.lost_ns = 40 * NS_PER_SECOND };
	const struct why_known known = { .bytes = NAN };
	struct string_table texts;
	struct measured measured;
	uint32_t own, peers[PEERS];

	string_table_init(&texts);
	measured_init(&measured);
	own = add(&measured, busy, operations);
	for (int i = 0; i < PEERS; i++)
		peers[i] = add(&measured, 2, 2000);
	why_explain(&straggler, &measured, own, peers, PEERS, &known, &texts);
	measured_clear(&measured);
	string_table_clear(&texts);
	return straggler.cause[0].kind;
}

static void
a_disk_is_slow_if_its_operations_take_longer(void **state)
{
	assert_int_equal(explain(40, 4000), STRAGGLER_DISK);
	assert_int_equal(explain(40, 40000), STRAGGLER_UNKNOWN);
}

static void
without_a_number_of_operations_it_is_not_known(void **state)
{
	assert_int_equal(explain(40, NAN), STRAGGLER_UNKNOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_is_slow_if_its_operations_take_longer),
		cmocka_unit_test(
		    without_a_number_of_operations_it_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
