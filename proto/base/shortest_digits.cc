/*
 * shortest_digits - the shortest digits of a double, by double-conversion.
 *
 * These two steps are what its DoubleToAscii does.  They are called one by
 * one because they are all of the library that needs nothing of libstdc++:
 * programs are linked as C, and load no C++ at run time.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/shortest_digits.h"

#include <double-conversion/bignum-dtoa.h>
#include <double-conversion/fast-dtoa.h>

using namespace double_conversion;

/* Both end the digits with a NUL. */
static_assert(SHORTEST_DIGITS_BYTES > kFastDtoaMaximalLength,
    "no room for the longest digits");

int
shortest_digits(char *digits, double value, int *point)
{
	Vector<char> to(digits, SHORTEST_DIGITS_BYTES);
	int count;

	/* One in 200 doubles is too close to call for the fast way. */
	if (!FastDtoa(value, FAST_DTOA_SHORTEST, 0, to, &count, point))
		BignumDtoa(value, BIGNUM_DTOA_SHORTEST, 0, to, &count, point);
	return count;
}
