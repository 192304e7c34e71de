/*
 * clock_offset - estimates of the aggregator's clock, against a world in
 * which it is known.
 * SPDX-License-Identifier: MIT
 */
#include "agents/clock/clock_offset.h"

#include <inttypes.h>
#include <math.h>

#include "tests/unit/check.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

enum { WORLDS = 300, EXCHANGES = 400 };

/* Two hosts.  `now` is the aggregator's clock before its steps; ours goes
 * faster by a rate that wanders. */
static struct world {
	uint64_t random;
	int64_t now;
	double ours, rate, wander, period;
	int64_t start, step, aggregator_step; /* of the wall clocks */
	int64_t there, back;                  /* the least delays */
	double jitter;
	int64_t slowest; /* round trip so far */
} w;

static struct clock_offset clock_offset;

static double
uniform(void)
{
	return (double)(check_random(&w.random) >> 11) * 0x1p-53;
}

/* 10^low .. 10^high, each power as likely. */
static int64_t
any_size(double low, double high)
{
	return (int64_t)pow(10, low + (high - low) * uniform());
}

static void
pass(int64_t time_ns)
{
	double left = (double)time_ns;

	w.now += time_ns;
	while (left > 0) {
		double part = fmin(left, 1e9);

		w.ours +=
		    part * (1 + w.rate + w.wander * sin(w.ours / w.period));
		left -= part;
	}
}

static int64_t
monotonic(void)
{
	return 5 * S + (int64_t)w.ours;
}

static struct clock_offset_now
clocks(void)
{
	int64_t slack = (int64_t)(uniform() * 2000);
	int64_t read = (int64_t)(uniform() * (double)slack);

	return (struct clock_offset_now){ monotonic() + w.start + w.step -
					      slack / 2 + read,
		monotonic(), slack };
}

static int64_t
truth(void)
{
	return w.now + w.aggregator_step - (monotonic() + w.start + w.step);
}

static int64_t
delay(int64_t least)
{
	double more = -log(1 - uniform()) * w.jitter;

	if (uniform() < 0.02)
		more *= 100;
	return least + (int64_t)more;
}

/* A question and its answer, held for a while. */
static struct clock_offset_probe
exchange(void)
{
	struct clock_offset_probe probe = { .sent_ns = monotonic() };
	int64_t sent = w.now;

	pass(delay(w.there));
	probe.received_ns = w.now + w.aggregator_step;
	pass((int64_t)(uniform() * 30e6));
	probe.answered_ns = w.now + w.aggregator_step;
	pass(delay(w.back));
	probe.arrived_ns = monotonic();
	if (w.now - sent > w.slowest)
		w.slowest = w.now - sent;
	return probe;
}

static void
make_world(void)
{
	w.now = INT64_C(1700000000) * S;
	w.ours = 0;
	w.rate = (uniform() - 0.5) * 300e-6;
	w.wander = uniform() * 5e-6;
	w.period = 60e9 + uniform() * 3600e9;
	w.start = check_random(&w.random) & 1 ? w.now + any_size(3, 12)
					      : w.now - any_size(3, 16);
	w.step = w.aggregator_step = 0;
	w.there = any_size(4, 8);
	w.back = any_size(4, 8);
	w.jitter = (double)any_size(3, 7);
	w.slowest = 0;
}

static void
begin(void)
{
	struct clock_offset_now now = clocks();

	clock_offset_init(&clock_offset, &now, 7);
}

/* Is the truth within the reported error? */
static void
expect_honest(const struct clock_offset_estimate *estimate, int64_t true_ns)
{
	int64_t wrong = estimate->offset_ns - true_ns;

	if (wrong < -estimate->error_ns || wrong > estimate->error_ns)
		fail_msg("wrong by %" PRId64 " ns, reported error %" PRId64,
		    wrong, estimate->error_ns);
}

static void
take(const struct clock_offset_probe *probe, enum clock_offset_result expected)
{
	struct clock_offset_now now = clocks();
	struct clock_offset_estimate last;
	bool known;

	assert_false(clock_offset_watch(&clock_offset, &now, &last, &known));
	assert_false(known);
	assert_int_equal(
	    clock_offset_add(&clock_offset, probe, &last, &known), expected);
}

static struct clock_offset_estimate
get(void)
{
	struct clock_offset_now now = clocks();
	struct clock_offset_estimate estimate;

	assert_true(clock_offset_get(&clock_offset, &now, &estimate));
	return estimate;
}

/* ---- properties ---- */

/* What happened since the last probe: our clock stepped, or the aggregator's.
 */
static enum clock_offset_result
step_at_random(void)
{
	double what = uniform();
	int64_t before = truth();

	if (what < 0.02) {
		uint64_t generation = clock_offset.generation;
		/* What is smaller may be drift since we looked. */
		int64_t size = any_size(6, 16);
		struct clock_offset_estimate last;
		struct clock_offset_now now;
		bool known;

		w.step += check_random(&w.random) & 1 ? size : -size;
		now = clocks();
		assert_true(
		    clock_offset_watch(&clock_offset, &now, &last, &known));
		assert_int_equal(clock_offset.generation, generation + 1);
		assert_true(clock_offset.begin_ns <= now.wall_ns);
		if (known) {
			assert_int_equal(last.generation, generation);
			expect_honest(&last, before);
		}
	} else if (what < 0.03) {
		/* Greater than what could hide in a round trip. */
		int64_t size = 3 * w.slowest + 2 * S + any_size(5, 16);

		w.aggregator_step += check_random(&w.random) & 1 ? size : -size;
		if (clock_offset.drift.count > 0)
			return CLOCK_OFFSET_STEPPED;
	}
	return CLOCK_OFFSET_TAKEN;
}

static void
the_truth_is_always_within_the_error(void **state)
{
	w.random = check_seed();
	for (unsigned i = check_share(WORLDS, 30); i > 0; i--) {
		make_world();
		begin();
		for (int j = 0; j < EXCHANGES; j++) {
			enum clock_offset_result expected = step_at_random();
			struct clock_offset_probe probe = exchange();
			struct clock_offset_estimate estimate;

			take(&probe, expected);
			estimate = get();
			expect_honest(&estimate, truth());
			/* No more than the round trip of what just came. */
			assert_true(estimate.error_ns <= w.slowest + 30 * US);
			pass(any_size(6, 10.6));
			estimate = get();
			expect_honest(&estimate, truth());
			if (uniform() < 0.8) {
				struct clock_offset_now now = clocks();

				assert_false(clock_offset_watch(
				    &clock_offset, &now, NULL, NULL));
			}
		}
	}
}

static void
between_two_estimates_both_hold(void **state)
{
	w.random = check_seed();
	for (unsigned i = check_share(WORLDS, 30); i > 0; i--) {
		struct clock_offset_estimate before, after;
		double ahead, back;
		int64_t true_ns;

		make_world();
		begin();
		for (int j = 0; j < 20; j++) {
			struct clock_offset_probe probe = exchange();

			take(&probe, CLOCK_OFFSET_TAKEN);
			pass(5 * S);
		}
		before = get();
		pass(any_size(8, 10.5));
		ahead = (double)clocks().wall_ns;
		true_ns = truth();
		pass(any_size(8, 10.5));
		for (int j = 0; j < 3; j++) {
			struct clock_offset_probe probe = exchange();

			take(&probe, CLOCK_OFFSET_TAKEN);
		}
		after = get();
		back = (double)after.time_ns - ahead;
		ahead -= (double)before.time_ns;
		assert_true(fabs((double)(before.offset_ns - true_ns) +
				 before.drift * ahead) <=
			    (double)before.error_ns +
				before.drift_error * ahead + 2000);
		assert_true(
		    fabs((double)(after.offset_ns - true_ns) -
			 after.drift * back) <=
		    (double)after.error_ns + after.drift_error * back + 2000);
	}
}

/* ---- examples ---- */

/* A link of this round trip, the same both ways, and a clock of this rate. */
static void
quiet_world(int64_t round_trip, double rate)
{
	w.random = 1;
	make_world();
	w.rate = rate;
	w.wander = 0;
	w.there = w.back = round_trip / 2;
	w.jitter = 0;
	begin();
}

static void
on_a_fast_link_alike_both_ways_it_is_within_50_us(void **state)
{
	w.random = check_seed();
	for (int i = 0; i < 100; i++) {
		uint64_t random = w.random;
		struct clock_offset_estimate estimate;

		quiet_world(200 * US, (uniform() - 0.5) * 100e-6);
		w.random = random + 1;
		w.jitter = 10e3;
		for (int j = 0; j < 60; j++) {
			struct clock_offset_probe probe = exchange();

			take(&probe, CLOCK_OFFSET_TAKEN);
			pass(S);
		}
		estimate = get();
		expect_honest(&estimate, truth());
		assert_true(llabs(estimate.offset_ns - truth()) <= 50 * US);
	}
}

static void
the_drift_is_measured(void **state)
{
	struct clock_offset_estimate estimate;

	quiet_world(200 * US, 80e-6);
	for (int j = 0; j < 60; j++) {
		struct clock_offset_probe probe = exchange();

		take(&probe, CLOCK_OFFSET_TAKEN);
		pass(10 * S);
	}
	estimate = get();
	assert_true(fabs(estimate.drift + 80e-6) < 1e-6);
	assert_true(estimate.drift_error >= CLOCK_DRIFT_WANDER);
	assert_true(estimate.drift_error < 2 * CLOCK_DRIFT_WANDER);
	assert_true(llabs(estimate.round_trip_ns - 200 * US) < 10 * US);
}

static void
without_a_probe_nothing_is_known(void **state)
{
	struct clock_offset_now now;
	struct clock_offset_estimate estimate;

	quiet_world(200 * US, 0);
	now = clocks();
	assert_false(clock_offset_get(&clock_offset, &now, &estimate));
	w.step += S;
	now = clocks();
	bool known = true;
	assert_true(clock_offset_watch(&clock_offset, &now, &estimate, &known));
	assert_false(known);
}

static void
a_step_of_ours_keeps_what_is_known_of_the_aggregator(void **state)
{
	struct clock_offset_probe probe;
	struct clock_offset_estimate before, after;
	struct clock_offset_now now;
	bool known;

	quiet_world(200 * US, 0);
	probe = exchange();
	take(&probe, CLOCK_OFFSET_TAKEN);
	before = get();
	w.step += 3600 * S;
	now = clocks();
	assert_true(clock_offset_watch(&clock_offset, &now, &before, &known));
	after = get();
	assert_int_equal(after.generation, 8);
	assert_true(
	    llabs(before.offset_ns - after.offset_ns - 3600 * S) < 10 * US);
	expect_honest(&after, truth());
}

static void
times_that_cannot_be_are_rejected(void **state)
{
	struct clock_offset_probe good, bad;

	quiet_world(200 * US, 0);
	good = exchange();
	bad = good;
	bad.received_ns = -1;
	take(&bad, CLOCK_OFFSET_REJECTED);
	bad = good;
	bad.answered_ns = bad.received_ns - 1;
	take(&bad, CLOCK_OFFSET_REJECTED);
	bad = good;
	bad.answered_ns = INT64_MAX;
	take(&bad, CLOCK_OFFSET_REJECTED);
	bad = good;
	bad.arrived_ns = bad.sent_ns - 1;
	take(&bad, CLOCK_OFFSET_REJECTED);
	/* Held for longer than it was away. */
	bad = good;
	bad.answered_ns += S;
	take(&bad, CLOCK_OFFSET_REJECTED);
	take(&good, CLOCK_OFFSET_TAKEN);
	/* Arrived before what is known already. */
	bad = good;
	bad.arrived_ns--;
	take(&bad, CLOCK_OFFSET_REJECTED);
	assert_int_equal(clock_offset.rejected, 6);
}

static void
any_numbers_at_all_do_no_harm(void **state)
{
	uint64_t random = check_seed();
	struct clock_offset_estimate estimate, last;
	bool known;

	for (unsigned i = check_share(100000, 5000); i > 0; i--) {
		struct clock_offset_probe probe = { check_int64(&random),
			check_int64(&random), check_int64(&random),
			check_int64(&random) };
		struct clock_offset_now now = { 0, check_int64(&random) >> 2,
			100 };

		now.wall_ns = now.monotonic_ns + (check_int64(&random) >> 2);
		if (i % 50 == 0)
			clock_offset_init(&clock_offset, &now, 1);
		probe.arrived_ns = probe.sent_ns / 2 + 100;
		probe.sent_ns /= 2;
		if (check_random(&random) & 1)
			probe.answered_ns = probe.received_ns + 10;
		clock_offset_watch(&clock_offset, &now, &last, &known);
		clock_offset_add(&clock_offset, &probe, &last, &known);
		if (clock_offset_get(&clock_offset, &now, &estimate))
			assert_true(estimate.error_ns >= 0);
	}
}

static void
news_is_what_says_more_than_was_known(void **state)
{
	struct clock_offset_estimate before = {
		.error_ns = 100 * US, .drift_error = 20e-6, .generation = 3
	};
	struct clock_offset_estimate now = before;

	now.time_ns = 10 * S;
	assert_false(clock_offset_is_news(&before, &now, 10));
	now.time_ns = 30 * S; /* known to 700 us by now */
	assert_true(clock_offset_is_news(&before, &now, 1));
	now.error_ns = 600 * US;
	assert_false(clock_offset_is_news(&before, &now, 1));
	now.offset_ns = 400 * US;
	assert_true(clock_offset_is_news(&before, &now, 1));
	now.offset_ns = 0;
	now.time_ns = 60 * S;
	now.error_ns = 1200 * US;
	assert_true(clock_offset_is_news(&before, &now, 2));
	assert_false(clock_offset_is_news(&before, &now, 1));
	now.generation = 4;
	assert_true(clock_offset_is_news(&before, &now, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_always_within_the_error),
		cmocka_unit_test(between_two_estimates_both_hold),
		cmocka_unit_test(
		    on_a_fast_link_alike_both_ways_it_is_within_50_us),
		cmocka_unit_test(the_drift_is_measured),
		cmocka_unit_test(without_a_probe_nothing_is_known),
		cmocka_unit_test(
		    a_step_of_ours_keeps_what_is_known_of_the_aggregator),
		cmocka_unit_test(times_that_cannot_be_are_rejected),
		cmocka_unit_test(any_numbers_at_all_do_no_harm),
		cmocka_unit_test(news_is_what_says_more_than_was_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
