/*
 * memory - memory and disk are two causes; the numbers are worked out by hand.
 *
 * A load took 5 s, and 0.5 s on others: 4.5 s were lost.  15,000 pages a second
 * came back from the disk; tasks waited for it 30 % of the time, others 10 %,
 * and it was busy 60 % of the time, others 10 %.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/why.h"

#include <math.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { PEERS = 4 };

static struct measured measured;
static struct string_table texts;
static struct straggler straggler;

static void
measure(uint32_t at, enum measure measure, double sum)
{
	struct measured_window *window = &measured.at[at];

	window->sum[measure] = sum;
	window->seconds[measure] =
	    (double)(window->end_ns - window->begin_ns) / NS_PER_SECOND;
	window->samples[measure] = 5;
}

/* Shares of the time, and pages a second. */
static void
add(const char *node, double seconds, double waited, double busy, double faults)
{
	uint32_t at = measured_add(&measured, text_of(node), 0,
	    (int64_t)llround(seconds * NS_PER_SECOND));

	measure(at, MEASURE_IDLE, 0.5 * seconds);
	measure(at, MEASURE_IO_WAIT, waited * seconds);
	measure(at, MEASURE_MEMORY_WAIT, 0);
	measure(at, MEASURE_DISK_BUSY, busy * seconds);
	measure(at, MEASURE_MAJOR_FAULTS, faults * seconds);
}

static const struct straggler_cause *
explain(double waited, double busy, double faults)
{
	static const char *const names[PEERS] = { "n1", "n2", "n3", "n4" };
	const uint32_t peers[PEERS] = { 1, 2, 3, 4 };
	const struct why_known known = { .bytes = NAN };

	measured_init(&measured);
	add("n0", 5, waited, busy, faults);
	for (int i = 0; i < PEERS; i++)
		add(names[i], 0.5, 0.1, 0.1, 0);
	straggler = (struct straggler){ .time_ns = 5 * NS_PER_SECOND,
		.usual_ns = NS_PER_SECOND / 2,
		.lost_ns = 9 * NS_PER_SECOND / 2 };
	why_explain(&straggler, &measured, 0, peers, PEERS, &known, &texts);
	measured_clear(&measured);
	assert_int_equal(straggler.causes, 1);
	return &straggler.cause[0];
}

/* (0.6 - 0.1) * 5 s; what was waited for would be (0.3 - 0.1) * 5 s, which is
 * too little of 4.5 s to be named. */
static void
pages_keep_the_disk_busy(void **state)
{
	const struct straggler_cause *cause = explain(0.3, 0.6, 15000);

	assert_int_equal(cause->kind, STRAGGLER_MEMORY);
	assert_int_equal(cause->explained_ns, 5 * NS_PER_SECOND / 2);
}

/* (0.8 - 0.1) * 5 s. */
static void
pages_are_waited_for(void **state)
{
	const struct straggler_cause *cause = explain(0.8, 0.1, 15000);

	assert_int_equal(cause->kind, STRAGGLER_MEMORY);
	assert_int_equal(cause->explained_ns, 7 * NS_PER_SECOND / 2);
}

/* Busy or waited for, without pages that come back it is the disk. */
static void
a_disk_is_no_memory(void **state)
{
	assert_int_equal(explain(0.8, 0.6, 50)->kind, STRAGGLER_DISK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_keep_the_disk_busy),
		cmocka_unit_test(pages_are_waited_for),
		cmocka_unit_test(a_disk_is_no_memory),
	};
	int rc;

	string_table_init(&texts);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	string_table_clear(&texts);
	return rc;
}
