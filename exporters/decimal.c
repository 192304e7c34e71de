/*
 * decimal - number_repr, faster for times in seconds.
 *
 * Two decimals of at most 15 digits that differ are different doubles, so
 * when n/10^6 is the value and n has at most 15 digits, then n without its
 * zeros at the end is the shortest text.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/decimal.h"

#include <math.h>
#include <stdbool.h>

enum { DECIMALS = 6, MILLION = 1000000 };

/* Below this number_repr writes exponents. */
#define SMALLEST 1e-4
#define LARGEST  1e9

size_t
decimal_repr(char to[static NUMBER_BYTES], double value)
{
	double size = fabs(value);
	char reversed[NUMBER_BYTES];
	uint64_t n;
	size_t used = 0, count = 0;
	int zeros = 0;

	if (!(size >= SMALLEST && size < LARGEST))
		return number_repr(to, value);
	n = (uint64_t)(size * MILLION + 0.5);
	if ((double)n / MILLION != size)
		return number_repr(to, value);
	while (zeros < DECIMALS - 1 && n % 10 == 0) {
		n /= 10;
		zeros++;
	}
	for (int i = zeros; i < DECIMALS; i++, n /= 10)
		reversed[count++] = (char)('0' + n % 10);
	reversed[count++] = '.';
	do
		reversed[count++] = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	if (value < 0)
		to[used++] = '-';
	while (count > 0)
		to[used++] = reversed[--count];
	to[used] = '\0';
	return used;
}
