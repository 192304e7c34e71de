/*
 * compare - how often the comparison of runs errs, and how often it finds what
 * is there.
 *
 *	compare [TRIALS [SEED [FILE...]]]	trials of each case (1000)
 *
 * Each trial draws old and new durations.  Without a change, `worse` is a false
 * alarm (twice as many trials).  So it is if both are drawn from durations of a
 * FILE, a number a line, that were recorded while nothing changed.  A change
 * that is planted shall be found: a delay, which leaves the spread as it was.
 * `seen`: durations as many times as long as the program says it could see are
 * drawn again, and found as often.  No rule can do so of outliers where there
 * are fewer than 30 runs: 0.95^16, 44 %, of 8 and 8 have none, and are like
 * runs that never have one; but of the next, 1 - 0.95^8, 34 %, have one among
 * the old, above all 8 new ones, which is more pairs than a verdict allows.
 * 15 % are missed so.  Fails where a limit is passed by more than three
 * deviations.
 *
 * It is a unit test, too, with the fixed seed.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/compare/verdict.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { RUNS_MAX = 10000, TRIALS = 1000 };
#define ALARMS (10.0 / 20000)
#define MARGIN 0.01

static uint64_t state;

/* In (0, 1). */
static double
uniform(void)
{
	return ((double)(prng_bits(&state) >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Durations around 1 of which the spread is `sd`. */
static double
of_normal(double sd)
{
	return 1 + sd * normal();
}

static double
of_lognormal(double sd)
{
	return exp(sd * normal());
}

static double
of_outliers(double sd)
{
	return (1 + sd * normal()) * (uniform() < 0.05 ? 1.4 : 1);
}

static double
of_two_modes(double sd)
{
	return (1 + sd * normal()) * (uniform() < 0.5 ? 1.05 : 1);
}

static const struct noise {
	const char *name;
	double (*draw)(double sd);
} noises[] = { { "normal", of_normal }, { "lognormal", of_lognormal },
	{ "5 % outliers", of_outliers }, { "two modes", of_two_modes } };
enum { NOISES = sizeof(noises) / sizeof(*noises) };

static int
by_size(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void
draw(double *to, uint32_t count, const struct noise *noise, double sd,
    double times, double delay)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = log(noise->draw(sd) * times + delay);
	qsort(to, count, sizeof(*to), by_size);
}

static struct compare_judged
judge_both(double *old, uint32_t old_count, double *new, uint32_t new_count)
{
	struct compare_judged of = { .old = old,
		.new = new,
		.old_count = old_count,
		.new_count = new_count,
		.gates = true };

	compare_judge(&of, 1, MARGIN);
	return of;
}

static struct compare_judged
judge(const struct noise *noise, uint32_t old_count, uint32_t new_count,
    double sd, double times, double delay)
{
	static double old[RUNS_MAX], new[RUNS_MAX];

	draw(old, old_count, noise, sd, 1, 0);
	draw(new, new_count, noise, sd, times, delay);
	return judge_both(old, old_count, new, new_count);
}

static uint32_t
found(const struct noise *noise, uint32_t old_count, uint32_t new_count,
    double sd, double delay, uint32_t trials)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trials; i++)
		count +=
		    judge(noise, old_count, new_count, sd, 1, delay).verdict ==
		    COMPARE_WORSE;
	return count;
}

/* Is it within `share` of the trials, but for three deviations? */
static bool
is_least(uint32_t count, uint32_t trials, double share)
{
	return count >= trials * share - 3 * sqrt(trials * share * (1 - share));
}

/* At most 10 in 20,000, but for three deviations. */
static bool
is_seldom(const char *what, uint32_t alarms, uint32_t trials)
{
	double most = trials * ALARMS;

	printf("no change, %s: %" PRIu32 " alarms in %" PRIu32
	       " (at most %.1f)\n",
	    what, alarms, trials, most);
	return alarms <= most + 3 * sqrt(most);
}

static bool
no_change(uint32_t trials)
{
	static const int spreads[] = { 2, 5, 15 };
	char what[40];
	bool good = true;

	for (int i = 0; i < NOISES; i++)
		for (int k = 0; k < 3; k++) {
			uint32_t alarms = found(
			    &noises[i], 20, 5, spreads[k] / 100.0, 0, trials);

			snprintf(what, sizeof(what), "%s, sd %d %%",
			    noises[i].name, spreads[k]);
			good = is_seldom(what, alarms, trials) && good;
		}
	return good;
}

/* Old and new ones are 25 of the group, any of them. */
static bool
replayed(char *path, uint32_t trials)
{
	static double group[RUNS_MAX];
	uint32_t count = 0, alarms = 0;
	FILE *file = fopen(path, "r");

	while (file != NULL && count < RUNS_MAX &&
	       fscanf(file, "%lf", &group[count]) == 1) {
		group[count] = log(group[count]);
		count++;
	}
	if (file == NULL || count < 25)
		return false;
	fclose(file);
	for (uint32_t t = 0; t < trials; t++) {
		double chosen[25];

		for (uint32_t i = 0; i < 25; i++) {
			uint32_t k = i + (uint32_t)(uniform() * (count - i));

			chosen[i] = group[k];
			group[k] = group[i];
			group[i] = chosen[i];
		}
		qsort(chosen, 20, sizeof(*chosen), by_size);
		qsort(chosen + 20, 5, sizeof(*chosen), by_size);
		alarms += judge_both(chosen, 20, chosen + 20, 5).verdict ==
			  COMPARE_WORSE;
	}
	return is_seldom(basename(path), alarms, trials);
}

static bool
planted(uint32_t trials)
{
	static const struct {
		uint32_t new;
		double least;
	} cases[] = { { 5, 0 }, { 10, 0.91 }, { 20, 0.98 } };
	bool good = true;

	for (int i = 0; i < 3; i++) {
		uint32_t count =
		    found(&noises[0], 20, cases[i].new, 0.02, 0.05, trials);

		printf("planted 5 %%, sd 2 %%, 20 and %" PRIu32
		       ": %.2f %% found (at least %.0f %%)\n",
		    cases[i].new, 100.0 * count / trials, 100 * cases[i].least);
		good = good && is_least(count, trials, cases[i].least);
	}
	return good;
}

static bool
seen(uint32_t trials)
{
	static const uint32_t counts[][2] = { { 20, 5 }, { 20, 10 }, { 20, 20 },
		{ 8, 8 } };
	bool good = true;

	for (int i = 0; i < NOISES; i++)
		for (int k = 0; k < 4; k++) {
			uint32_t count = 0;
			double sum = 0;
			bool is_few;

			for (uint32_t t = 0; t < trials; t++) {
				double visible = judge(&noises[i], counts[k][0],
				    counts[k][1], 0.02, 1, 0)
						     .visible;

				sum += visible;
				count += judge(&noises[i], counts[k][0],
					     counts[k][1], 0.02, visible, 0)
					     .verdict == COMPARE_WORSE;
			}
			printf("seen, %s, sd 2 %%, %" PRIu32 " and %" PRIu32
			       ": %.2f %% (at least 95 %%), on average %.1f "
			       "%%\n",
			    noises[i].name, counts[k][0], counts[k][1],
			    100.0 * count / trials, 100 * (sum / trials - 1));
			is_few = noises[i].draw == of_outliers &&
				 counts[k][0] + counts[k][1] < 30;
			good = is_least(count, trials, is_few ? 0.8 : 0.95) &&
			       good;
		}
	return good;
}

static void
cost(void)
{
	int64_t began_ns = clock_monotonic_ns();
	struct compare_judged of =
	    judge(&noises[0], RUNS_MAX / 2, RUNS_MAX / 2, 0.02, 1, 0);

	printf("%d runs: %.1f ms with their sorting; %s\n", RUNS_MAX,
	    (double)(clock_monotonic_ns() - began_ns) / 1e6,
	    compare_verdict_words[of.verdict]);
}

int
main(int argc, char **argv)
{
	uint32_t trials =
	    argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : TRIALS;
	bool good;

	state = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	good = no_change(2 * trials);
	good = planted(trials) && good;
	good = seen(trials) && good;
	for (int i = 3; i < argc; i++)
		good = replayed(argv[i], 2 * trials) && good;
	cost();
	return good ? 0 : 1;
}
