/*
 * ranks - the Mann-Whitney test of two groups, exactly.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/ranks.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* Shares that are the same number differ by what the sums were rounded to. */
#define ROUNDED 1e-12

static bool
is_exact(uint32_t first, uint32_t second)
{
	return (uint64_t)first * second <= RANKS_PAIRS_MAX;
}

static double
normal_share(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

/* Of all choices of `chosen` of these weights (ascending), the share with each
 * sum, without that of the `chosen` least ones.  `sums`: how many there are. */
static double *
sum_shares(
    const uint32_t *weights, uint32_t count, uint32_t chosen, uint32_t *sums)
{
	uint32_t least = 0, most = 0;
	double *shares, *last, all = 0;

	for (uint32_t i = 0; i < chosen; i++) {
		least += weights[i];
		most += weights[count - 1 - i];
	}
	/* Row k: of choices of k, by their sum. */
	shares = memory_zero((size_t)(chosen + 1) * (most + 1), sizeof(double));
	shares[0] = 1;
	for (uint32_t i = 0, reach = 0; i < count; i++) {
		reach = reach + weights[i] < most ? reach + weights[i] : most;
		for (uint32_t k = i < chosen ? i + 1 : chosen; k > 0; k--) {
			double *to = shares + (size_t)k * (most + 1);
			const double *from = to - (most + 1);

			for (uint32_t sum = weights[i]; sum <= reach; sum++)
				to[sum] += from[sum - weights[i]];
		}
	}
	last = shares + (size_t)chosen * (most + 1) + least;
	*sums = most - least + 1;
	memmove(shares, last, *sums * sizeof(*shares));
	for (uint32_t i = 0; i < *sums; i++)
		all += shares[i];
	for (uint32_t i = 0; i < *sums; i++)
		shares[i] /= all;
	return shares;
}

void
ranks_null_make(struct ranks_null *null, uint32_t first, uint32_t second)
{
	uint32_t count = first + second, sums;
	uint32_t *weights;

	if (null->first == first && null->second == second)
		return;
	ranks_null_clear(null);
	null->first = first;
	null->second = second;
	if (!is_exact(first, second))
		return;
	weights = memory_zero((size_t)count + 1, sizeof(*weights));
	for (uint32_t i = 0; i < count; i++)
		weights[i] = i;
	null->shares =
	    sum_shares(weights, count, first < second ? first : second, &sums);
	assert(sums == first * second + 1);
	for (uint32_t i = 1; i < sums; i++)
		null->shares[i] += null->shares[i - 1];
	free(weights);
}

void
ranks_null_clear(struct ranks_null *null)
{
	free(null->shares);
	*null = (struct ranks_null){ 0 };
}

/* The deviation of the number of pairs. */
static double
deviation_of(const struct ranks_null *null)
{
	double first = null->first, second = null->second;

	return sqrt(first * second * (first + second + 1) / 12);
}

double
ranks_null_share(const struct ranks_null *null, uint64_t pairs)
{
	double all = (double)null->first * null->second;

	if ((double)pairs >= all)
		return 1;
	if (null->shares != NULL)
		return null->shares[pairs];
	return normal_share(
	    ((double)pairs + 0.5 - all / 2) / deviation_of(null));
}

uint64_t
ranks_null_pairs(const struct ranks_null *null, double share)
{
	uint64_t low = 0, high = (uint64_t)null->first * null->second;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (ranks_null_share(null, middle) <= share * (1 + ROUNDED))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- equal values ---- */

/* The mean ranks of all values, times two from 0 on, and the sum of those of
 * the first group; `squares` adds up n^3 - n of the groups of equal ones. */
static uint32_t *
rank_both(const double *first, uint32_t first_count, const double *second,
    uint32_t second_count, uint64_t *of_first, double *squares)
{
	uint32_t count = first_count + second_count, i = 0, k = 0;
	uint32_t *ranks = memory_zero((size_t)count + 1, sizeof(*ranks));

	*of_first = 0;
	*squares = 0;
	while (i + k < count) {
		uint32_t begin = i + k, mine = i, rank;
		double value = k == second_count ||
				       (i < first_count && first[i] < second[k])
				   ? first[i]
				   : second[k];

		while (i < first_count && first[i] == value)
			i++;
		while (k < second_count && second[k] == value)
			k++;
		rank = begin + i + k - 1;
		for (uint32_t at = begin; at < i + k; at++)
			ranks[at] = rank;
		*of_first += (uint64_t)rank * (i - mine);
		*squares += pow(i + k - begin, 3) - (i + k - begin);
	}
	return ranks;
}

/* Twice the smaller tail would be more than one where both have the middle. */
static double
both_tails(const double *shares, uint32_t sums, uint64_t sum)
{
	double below = 0, above = 0;

	for (uint32_t i = 0; i < sums; i++) {
		below += i <= sum ? shares[i] : 0;
		above += i >= sum ? shares[i] : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

double
ranks_likeness(const double *first, uint32_t first_count, const double *second,
    uint32_t second_count)
{
	double n = (double)first_count + second_count, squares, far, deviation;
	double pairs = (double)first_count * second_count, likeness;
	uint64_t sum, least = 0;
	uint32_t *ranks, sums;
	double *shares;

	if (first_count > second_count)
		return ranks_likeness(second, second_count, first, first_count);
	ranks =
	    rank_both(first, first_count, second, second_count, &sum, &squares);
	if (is_exact(first_count, second_count)) {
		for (uint32_t i = 0; i < first_count; i++)
			least += ranks[i];
		shares = sum_shares(
		    ranks, first_count + second_count, first_count, &sums);
		likeness = both_tails(shares, sums, sum - least);
		free(shares);
	} else {
		/* Ranks are doubled, and from 0 on. */
		far = fabs((double)sum / 2 - first_count * (n - 1) / 2);
		deviation =
		    sqrt(pairs / 12 * (n + 1 - squares / (n * (n - 1))));
		likeness = deviation == 0
			       ? 1
			       : fmin(1, 2 * normal_share(-fmax(0, far - 0.5) /
							  deviation));
	}
	free(ranks);
	return likeness;
}
