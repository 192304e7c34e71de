/*
 * change_points - known steps are found where they are, noise is seldom taken
 * for one, and a slow direct version in Python says the same.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/change_points.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { VALUES_MAX = 3000, LENGTH_MAX = 400 };

static double values[VALUES_MAX];

/* In (0, 1). */
static double
draw(uint64_t *random)
{
	return ((double)(check_random(random) >> 11) + 0.5) /
	       9007199254740992.0;
}

static double
draw_normal(uint64_t *random)
{
	return sqrt(-2 * log(draw(random))) * cos(2 * M_PI * draw(random));
}

/* A tail that is so heavy that it has no mean. */
static double
draw_cauchy(uint64_t *random)
{
	return tan(M_PI * (draw(random) - 0.5));
}

static void
assert_alarms(uint64_t *random, uint32_t count, double (*noise)(uint64_t *))
{
	unsigned series = check_share(2000, 500), alarms = 0;
	double most;

	for (unsigned i = 0; i < series; i++) {
		struct change_points change_points;

		for (uint32_t k = 0; k < count; k++)
			values[k] = noise(random);
		change_points_find(&change_points, values, count);
		alarms += change_points.count > 0;
	}
	/* Five standard deviations above the promised rate. */
	most =
	    series * CHANGE_POINTS_ALARM +
	    5 * sqrt(series * CHANGE_POINTS_ALARM * (1 - CHANGE_POINTS_ALARM));
	print_message(
	    "%u values: an alarm in %u of %u series\n", count, alarms, series);
	assert_true(alarms <= most);
}

static void
noise_of_any_kind_is_seldom_taken_for_a_change(void **state)
{
	static const uint32_t counts[] = { 8, 9, 10, 11, 12, 13, 17, 20, 24, 31,
		48, 90, 150, LENGTH_MAX };
	uint64_t random = check_seed();

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		assert_alarms(
		    &random, counts[i], i % 2 == 0 ? draw_normal : draw_cauchy);
}

/* Of series of 100 values each of which is like the one before, one in a
 * hundred has a change, and not many fewer; but for five standard deviations.
 */
static void
noise_that_goes_on_is_no_change(void **state)
{
	enum { COUNT = 100 };
	uint64_t random = check_seed();
	unsigned series = check_share(10000, 1000);

	for (int r = 0; r <= 5; r++) {
		double of_last = r / 10.0, share;
		unsigned alarms = 0;

		for (unsigned i = 0; i < series; i++) {
			struct change_points change_points;

			values[0] = draw_normal(&random);
			for (uint32_t k = 1; k < COUNT; k++)
				values[k] = of_last * values[k - 1] +
					    sqrt(1 - of_last * of_last) *
						draw_normal(&random);
			change_points_find(&change_points, values, COUNT);
			alarms += change_points.count > 0;
		}
		share = (double)alarms / series;
		print_message("correlation %.1f: an alarm in %u of %u series\n",
		    of_last, alarms, series);
		assert_true(fabs(share - CHANGE_POINTS_ALARM) <=
			    0.003 + 5 * sqrt(CHANGE_POINTS_ALARM / series));
	}
}

static void
few_or_equal_values_have_no_change(void **state)
{
	struct change_points change_points;

	for (uint32_t count = 0; count < 2 * CHANGE_POINTS_LEAST; count++) {
		for (uint32_t i = 0; i < count; i++)
			values[i] = 5;
		change_points_find(&change_points, values, count);
		assert_int_equal(change_points.count, 0);
	}
	for (uint32_t i = 0; i < CHANGE_POINTS_LEAST - 1; i++)
		values[i] = i >= CHANGE_POINTS_LEAST / 2;
	change_points_find(&change_points, values, CHANGE_POINTS_LEAST - 1);
	assert_int_equal(change_points.count, 0);
}

static bool
is_local(const struct change_points *change_points, double place, double off)
{
	for (uint32_t k = 0; k < change_points->count; k++)
		if (fabs(change_points->at[k] - place) <= off)
			return true;
	return false;
}

/* What was found in addition to what there is, of all series so far. */
struct extras {
	uint32_t parts, changes;
};

/* Steps of at least six deviations, well apart. */
static void
try_steps(uint64_t *random, bool outliers, struct extras *extras)
{
	enum { OFF = 25 };
	uint32_t at[8], steps = 0, count = 0;
	struct change_points change_points;
	double level = 100;

	for (;;) {
		uint32_t length = 60 + (uint32_t)(check_random(random) % 200);

		for (uint32_t i = 0; i < length; i++)
			values[count++] = level + draw_normal(random);
		if (steps == 8 || check_random(random) % 4 == 0)
			break;
		at[steps++] = count;
		level += (check_random(random) % 2 ? 1.0 : -1.0) *
			 (6 + 10 * draw(random));
	}
	for (uint32_t i = 0; outliers && i < count / 50; i++)
		values[check_random(random) % count] *= 3;
	change_points_find(&change_points, values, count);
	for (uint32_t i = 0; i < steps; i++)
		if (!is_local(&change_points, at[i], OFF))
			fail_msg(
			    "the step at %u of %u is not found", at[i], count);
	extras->parts += steps + 1;
	extras->changes += change_points.count - steps;
}

/* The promise is an alarm in a hundred parts between two steps; six more, as
 * many are a change and its end, and parts may be few. */
static void
try_series(bool outliers)
{
	uint64_t random = check_seed();
	unsigned rounds = check_share(300, 30);
	struct extras extras = { 0, 0 };

	for (unsigned i = 0; i < rounds; i++)
		try_steps(&random, outliers, &extras);
	print_message(
	    "%u changes too many in %u parts\n", extras.changes, extras.parts);
	assert_true(extras.changes <= extras.parts / 100 + 6);
}

static void
known_steps_are_found_where_they_are(void **state)
{
	try_series(false);
}

static void
outliers_hide_no_step(void **state)
{
	try_series(true);
}

/* Ranks ignore sizes: a value next to the edge that is high by chance moves
 * it.  By more than two it is one time in twenty; 170 of 200 is seven
 * standard deviations from that. */
static void
a_change_and_its_end_are_two(void **state)
{
	enum { SERIES = 200, COUNT = 300, FROM = 140, TO = 160 };
	uint64_t random = check_seed();
	uint32_t begins = 0, ends = 0;

	for (uint32_t n = 0; n < SERIES; n++) {
		struct change_points change_points;

		for (uint32_t i = 0; i < COUNT; i++)
			values[i] = draw_normal(&random) +
				    (i >= FROM && i < TO ? 8 : 0);
		change_points_find(&change_points, values, COUNT);
		assert_true(change_points.count >= 2);
		begins += is_local(&change_points, FROM, 2);
		ends += is_local(&change_points, TO, 2);
	}
	print_message(
	    "%u begin and %u end within 2 of where they do\n", begins, ends);
	assert_true(begins >= 170 && ends >= 170);
}

static void
no_more_changes_are_reported_than_there_is_room_for(void **state)
{
	struct change_points change_points;

	for (uint32_t i = 0; i < VALUES_MAX; i++)
		values[i] = i / 20 + 0.001 * (i % 20);
	change_points_find(&change_points, values, VALUES_MAX);
	assert_true(change_points.count > 30 &&
		    change_points.count <= CHANGE_POINTS_MAX);
	for (uint32_t i = 1; i < change_points.count; i++)
		assert_true(change_points.at[i] >=
			    change_points.at[i - 1] + CHANGE_POINTS_SIDE);
}

/* ---- what the judge says ---- */

static void
put_series(FILE *file, uint64_t *random)
{
	uint32_t count = (uint32_t)(check_random(random) % 120);
	bool coarse = check_random(random) % 3 == 0; /* equal values */
	struct change_points change_points;
	double level = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (check_random(random) % 30 == 0)
			level += 6 * draw_normal(random);
		values[i] = level + draw_normal(random);
		if (coarse)
			values[i] = floor(values[i]);
	}
	change_points_find(&change_points, values, count);
	fprintf(file, "%u", change_points.count);
	for (uint32_t i = 0; i < change_points.count; i++)
		fprintf(file, " %u", change_points.at[i]);
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, " %.17g", values[i]);
	putc('\n', file);
}

static void
the_slow_direct_version_says_the_same(void **state)
{
	char path[] = "/tmp/changes.XXXXXX", command[128];
	uint64_t random = check_seed();
	unsigned rounds = check_share(300, 30);
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (uint32_t i = CHANGE_POINTS_LEAST; i < 3000; i += 7)
		fprintf(
		    file, "critical %u %.17g\n", i, change_points_critical(i));
	for (unsigned i = 0; i < rounds; i++)
		put_series(file, &random);
	fclose(file);
	snprintf(command, sizeof(command),
	    "/usr/bin/python3 "
	    "tests/unit/exporters/results/change_points_judge.py %s",
	    path);
	assert_int_equal(system(command), 0);
	remove(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    noise_of_any_kind_is_seldom_taken_for_a_change),
		cmocka_unit_test(noise_that_goes_on_is_no_change),
		cmocka_unit_test(few_or_equal_values_have_no_change),
		cmocka_unit_test(known_steps_are_found_where_they_are),
		cmocka_unit_test(outliers_hide_no_step),
		cmocka_unit_test(a_change_and_its_end_are_two),
		cmocka_unit_test(
		    no_more_changes_are_reported_than_there_is_room_for),
		cmocka_unit_test(the_slow_direct_version_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
