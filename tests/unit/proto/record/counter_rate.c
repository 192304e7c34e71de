/*
 * counter_rate - what a counter grew by: wraps, reboots, resets, unknown boots.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/counter_rate.h"

#include <math.h>

#include "tests/unit/check.h"

#define SECOND INT64_C(1000000000)

static struct counter_rate_sample
whole(int64_t seconds, uint64_t boot, uint64_t n)
{
	struct counter_rate_sample sample = { seconds * SECOND, boot,
		{ VALUE_UINT, { .u = n } } };

	if (n <= INT64_MAX) {
		sample.value.type = VALUE_INT;
		sample.value.is.i = (int64_t)n;
	}
	return sample;
}

static struct counter_rate_sample
real(int64_t seconds, uint64_t boot, double f)
{
	return (struct counter_rate_sample){ seconds * SECOND, boot,
		{ VALUE_FLOAT, { .f = f } } };
}

static void
expect_in(const char *group, const char *metric, const char *unit,
    struct counter_rate_sample u, struct counter_rate_sample v, double increase,
    double seconds)
{
	struct counter_rate_column column = counter_rate_column_of(
	    text_of(group), text_of(metric), text_of(unit));
	struct counter_rate counter_rate =
	    counter_rate_between(&column, &u, &v);

	assert_true(counter_rate.increase == increase);
	assert_true(counter_rate.seconds == seconds);
}

static void
expect_of(const char *metric, const char *unit, struct counter_rate_sample u,
    struct counter_rate_sample v, double increase, double seconds)
{
	expect_in("g", metric, unit, u, v, increase, seconds);
}

static void
expect(struct counter_rate_sample u, struct counter_rate_sample v,
    double increase, double seconds)
{
	expect_of("app.requests", "1", u, v, increase, seconds);
}

static void
a_counter_that_grows_has_grown_by_the_difference(void **state)
{
	expect(whole(10, 7, 100), whole(12, 7, 130), 30, 2);
	expect(whole(10, 0, 100), whole(12, 0, 100), 0, 2);
	expect(real(10, 7, 1.5), real(11, 7, 1.75), 0.25, 1);
	expect(whole(10, 7, 1), real(11, 7, 1.75), 0.75, 1);
	/* Beyond what a double counts one by one. */
	expect(whole(0, 7, UINT64_MAX - 3), whole(1, 7, UINT64_MAX), 3, 1);
	expect(
	    whole(0, 7, INT64_MAX), whole(1, 7, (uint64_t)INT64_MAX + 2), 2, 1);
}

static void
after_a_reboot_it_counts_from_the_boot_and_has_no_rate(void **state)
{
	expect(whole(10, 7, 1000), whole(12, 8, 30), 30, 0);
	expect(whole(10, 7, 1000), whole(12, 8, 5000), 5000, 0);
	expect(real(10, 7, 1000), real(12, 8, 0.5), 0.5, 0);
}

static void
a_counter_of_32_bits_wraps(void **state)
{
	const char *disk = "system.disk.io_time";

	expect_of(disk, "ms", whole(0, 7, 4294967290u), whole(1, 7, 4), 10, 1);
	expect_of(disk, "ms", whole(0, 0, 4294967290u), whole(1, 0, 4), 10, 1);
	/* In the lower half it did not: it started again. */
	expect_of(disk, "ms", whole(0, 7, 2000000000u), whole(1, 7, 4), 4, 0);
	/* Nor does a wider one wrap there. */
	expect_of(disk, "ms", whole(0, 7, 4294967296u), whole(1, 7, 4), 4, 0);
	/* A wrap needs the same boot. */
	expect_of(disk, "ms", whole(0, 0, 4294967290u), whole(1, 7, 4), 4, 0);
}

/* 3,000,000,000 bytes, then 4,096: an interface whose driver was loaded
 * again.  It received 4,096 bytes since, not 2^32 - 3e9 + 4096 =
 * 1,294,971,392. */
static void
a_counter_of_64_bits_started_again(void **state)
{
	expect_of("system.network.io.receive", "By", whole(0, 7, 3000000000u),
	    whole(1, 7, 4096), 4096, 0);
	expect_of("system.disk.io.read", "By", whole(0, 7, 3000000000u),
	    whole(1, 7, 4096), 4096, 0);
	expect_of(
	    "app.time", "ms", whole(0, 7, 4294967290u), whole(1, 7, 4), 4, 0);
	expect(whole(0, 7, UINT64_C(1) << 60), whole(1, 7, 4), 4, 0);
}

static void
a_counter_that_fell_started_again_and_has_no_rate(void **state)
{
	expect(whole(0, 7, 1000), whole(1, 7, 10), 10, 0);
	expect(real(0, 7, 1000), real(1, 7, 10), 10, 0);
	/* It had passed half of the old value before the next sample. */
	expect(whole(0, 7, 10000), whole(1, 7, 6000), 6000, 0);
	expect(whole(0, 7, 10000), whole(1, 7, 9899), 9899, 0);
	expect(whole(0, 7, 12), whole(1, 7, 9), 9, 0);
}

/* Up to 1 %, or 10 ticks of 10 ms. */
static void
some_ticks_back_are_no_increase(void **state)
{
	const char *iowait = "system.cpu.time.iowait";

	expect(whole(0, 7, 100000), whole(1, 7, 99999), 0, 0);
	expect(real(0, 7, 100000.5), real(1, 7, 100000.25), 0, 0);
	expect(whole(0, 7, 10000), whole(1, 7, 9900), 0, 0);
	expect_of(iowait, "cs", whole(0, 7, 100), whole(1, 7, 90), 0, 0);
	/* No time of processors starts again within a boot. */
	expect_of(iowait, "cs", whole(0, 7, 100), whole(1, 7, 89), 0, 0);
	expect_of(iowait, "s", real(0, 7, 1.5), real(1, 7, 1.40625), 0, 0);
	expect_of(iowait, "ms", whole(0, 7, 500), whole(1, 7, 400), 0, 0);
	expect_of(iowait, "us", whole(0, 7, 500000), whole(1, 7, 400000), 0, 0);
	expect_of(
	    iowait, "ns", whole(0, 7, 500000000), whole(1, 7, 400000000), 0, 0);
}

static void
a_boot_that_is_not_known_is_not_taken_for_another(void **state)
{
	expect(whole(0, 0, 1000), whole(1, 7, 1010), 10, 1);
	expect(whole(0, 7, 1000), whole(1, 0, 1010), 10, 1);
	expect(whole(0, 0, 1000), whole(1, 7, 10), 10, 0);
}

static void
what_is_no_number_has_not_grown(void **state)
{
	struct counter_rate_sample nil = { SECOND, 7,
		{ VALUE_NIL, { .i = 5 } } };

	expect(nil, whole(2, 7, 10), 0, 0);
	expect(whole(0, 7, 10), nil, 0, 0);
	expect(real(0, 7, NAN), real(1, 7, 1), 0, 0);
	expect(real(0, 7, 1), real(1, 7, INFINITY), 0, 0);
	expect(real(0, 7, -5), real(1, 8, -3), 0, 0);
	expect(real(0, 7, -5), real(1, 7, -3), 2, 1);
}

static void
two_samples_of_one_moment_have_no_rate(void **state)
{
	expect(whole(5, 7, 10), whole(5, 7, 30), 20, 0);
	expect(whole(6, 7, 10), whole(5, 7, 30), 20, 0);
}

static void
no_two_samples_make_a_negative_increase_or_a_spike(void **state)
{
	uint64_t random = check_seed();

	for (unsigned i = 0; i < 200000; i++) {
		unsigned shift = (unsigned)(check_random(&random) % 64);
		struct counter_rate_sample u = whole(0,
		    check_random(&random) % 3, check_random(&random) >> shift);
		struct counter_rate_sample v = whole(1,
		    check_random(&random) % 3, check_random(&random) >> shift);
		struct counter_rate_column column = { .is_32_bits = i % 2 == 0,
			.ticks = i % 3 };
		struct counter_rate counter_rate =
		    counter_rate_between(&column, &u, &v);
		double a = counter_rate_number(&u.value),
		       b = counter_rate_number(&v.value);

		assert_true(counter_rate.increase >= 0);
		assert_true(
		    counter_rate.increase <= (b > a ? b : a) + 4294967296.0);
		if (counter_rate.seconds > 0)
			assert_true(
			    b >= a || counter_rate.increase < 2147483648.0);
	}
}

/* The host slept, or lost processors; it was moved, or got them back.  86,400 s
 * idle become 21,600 s; a processor cannot work for 3.2 s in 3 s, nor 8,192 of
 * them for more than 8,192 s in one; ten ticks come late. */
static void
no_processor_time_grows_by_more_than_its_processors_can(void **state)
{
	const char *idle = "system.cpu.time.idle";
	const char *run = "system.linux.scheduler.run_time";
	const char *group = "container.cpu.time";

	expect_in("cpu", idle, "cs", whole(0, 7, 8640000), whole(3, 7, 2160000),
	    0, 0);
	expect_in("cpu", idle, "cs", whole(0, 0, 8640000), whole(3, 7, 2160000),
	    0, 0);
	expect_in("schedstat", run, "ns", whole(0, 7, 900000000000),
	    whole(3, 7, 3000000000), 0, 0);
	expect_in(
	    "cpu/3", idle, "cs", whole(0, 7, 100), whole(3, 7, 410), 310, 3);
	expect_in(
	    "cpu/3", idle, "cs", whole(0, 7, 100), whole(3, 7, 420), 0, 0);
	expect_in(
	    "cpu", idle, "cs", whole(0, 7, 100), whole(3, 7, 420), 320, 3);
	expect_in(
	    "cpu", idle, "cs", whole(0, 7, 0), whole(1, 7, 901120), 901120, 1);
	expect_in("cpu", idle, "cs", whole(0, 7, 0), whole(1, 7, 901121), 0, 0);
	/* Nor after a boot: it is another host's. */
	expect_in(
	    "cpu/3", idle, "cs", whole(0, 7, 100), whole(3, 8, 300), 300, 0);
	expect_in(
	    "cpu/3", idle, "cs", whole(0, 7, 100), whole(3, 8, 420), 0, 0);
	/* That of a container does start again. */
	expect_in("cgroup/a", group, "us", whole(0, 7, 5000000),
	    whole(1, 7, 1000), 1000, 0);
	expect_in("cgroup/a", group, "us", whole(0, 7, 0),
	    whole(1, 7, 9011200001), 0, 0);
}

/* The epoch is in the bits above those of the boot. */
static void
between_epochs_nothing_is_known(void **state)
{
	const uint64_t boot = 0x0123456789ab, epoch = UINT64_C(1) << 48;

	expect(whole(0, boot, 10), whole(1, boot + epoch, 30), 0, 0);
	expect(whole(0, boot + epoch, 10), whole(1, boot + epoch, 30), 20, 1);
	expect(whole(0, boot + epoch, 30), whole(1, boot, 10), 0, 0);
	expect(whole(0, 0, 10), whole(1, epoch, 30), 0, 0);
	/* Another boot is one, whatever the epoch. */
	expect(whole(0, boot + epoch, 10), whole(1, boot + 1, 30), 30, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_counter_that_grows_has_grown_by_the_difference),
		cmocka_unit_test(
		    after_a_reboot_it_counts_from_the_boot_and_has_no_rate),
		cmocka_unit_test(a_counter_of_32_bits_wraps),
		cmocka_unit_test(a_counter_of_64_bits_started_again),
		cmocka_unit_test(
		    a_counter_that_fell_started_again_and_has_no_rate),
		cmocka_unit_test(some_ticks_back_are_no_increase),
		cmocka_unit_test(
		    a_boot_that_is_not_known_is_not_taken_for_another),
		cmocka_unit_test(what_is_no_number_has_not_grown),
		cmocka_unit_test(two_samples_of_one_moment_have_no_rate),
		cmocka_unit_test(
		    no_processor_time_grows_by_more_than_its_processors_can),
		cmocka_unit_test(between_epochs_nothing_is_known),
		cmocka_unit_test(
		    no_two_samples_make_a_negative_increase_or_a_spike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
