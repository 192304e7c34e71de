/*
 * duration_sums - what durations add up to.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stats/duration_sums.h"

#include <math.h>
#include <string.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

/* ---- sums of squares, modulo 2^192: subtraction is exact too ---- */

static void
square_add(
    struct duration_sums_square *to, const struct duration_sums_square *more)
{
	u128 carry = 0;
	int i;

	for (i = 0; i < 3; i++) {
		carry += (u128)to->word[i] + more->word[i];
		to->word[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

static void
square_subtract(
    struct duration_sums_square *from, const struct duration_sums_square *less)
{
	u128 borrow = 0;
	int i;

	for (i = 0; i < 3; i++) {
		u128 have = from->word[i], take = (u128)less->word[i] + borrow;

		borrow = have < take;
		from->word[i] = (uint64_t)(have - take);
	}
}

static struct duration_sums_square
square_of(int64_t value)
{
	uint64_t size = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
	u128 square = (u128)size * size;

	return (struct duration_sums_square){ { (uint64_t)square,
	    (uint64_t)(square >> 64), 0 } };
}

/* ---- adding and removing ---- */

void
duration_sums_add(struct duration_sums *sums, int64_t duration)
{
	struct duration_sums_square square = square_of(duration);

	sums->count++;
	sums->sum += duration;
	square_add(&sums->squares, &square);
}

void
duration_sums_remove(struct duration_sums *sums, int64_t duration)
{
	struct duration_sums_square square = square_of(duration);

	sums->count--;
	sums->sum -= duration;
	square_subtract(&sums->squares, &square);
}

void
duration_sums_merge(struct duration_sums *to, const struct duration_sums *more)
{
	to->count += more->count;
	to->sum += more->sum;
	square_add(&to->squares, &more->squares);
}

bool
duration_sums_equal(
    const struct duration_sums *a, const struct duration_sums *b)
{
	return a->count == b->count && a->sum == b->sum &&
	       memcmp(&a->squares, &b->squares, sizeof(a->squares)) == 0;
}

/* ---- results ---- */

double
duration_sums_mean(const struct duration_sums *sums)
{
	if (sums->count == 0)
		return 0;
	/* Integer division: the quotient is a duration again, and the result
	 * does not depend on the width of long double. */
	return (double)(int64_t)(sums->sum / (i128)sums->count) +
	       (double)(int64_t)(sums->sum % (i128)sums->count) /
		   (double)sums->count;
}

/* Returns n * squares - sum^2, computed exactly in 256 bits, as a long double.
 * It is never negative (Cauchy-Schwarz), so the words may wrap. */
static long double
spread(const struct duration_sums *sums)
{
	u128 size = (u128)(sums->sum < 0 ? -sums->sum : sums->sum);
	uint64_t left[4] = { 0 }, right[4] = { 0 };
	uint64_t half[2] = { (uint64_t)size, (uint64_t)(size >> 64) };
	u128 carry = 0, borrow = 0;
	long double value = 0;
	int i, j;

	for (i = 0; i < 3; i++) {
		carry += (u128)sums->squares.word[i] * sums->count;
		left[i] = (uint64_t)carry;
		carry >>= 64;
	}
	left[3] = (uint64_t)carry;
	for (i = 0; i < 2; i++) {
		for (j = 0, carry = 0; j < 2; j++) {
			carry += (u128)half[i] * half[j] + right[i + j];
			right[i + j] = (uint64_t)carry;
			carry >>= 64;
		}
		right[i + 2] = (uint64_t)carry;
	}
	for (i = 0; i < 4; i++) {
		u128 take = (u128)right[i] + borrow;

		borrow = left[i] < take;
		left[i] = (uint64_t)((u128)left[i] - take);
	}
	for (i = 3; i >= 0; i--)
		value = value * 0x1p64L + left[i];
	return value;
}

double
duration_sums_deviation(const struct duration_sums *sums, bool sample)
{
	uint64_t less = sample ? 1 : 0;

	if (sums->count <= less)
		return 0;
	return (double)sqrtl(spread(sums) / (long double)sums->count /
			     (long double)(sums->count - less));
}
