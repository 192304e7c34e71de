/*
 * number - convert numbers to and from text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/shortest_digits.h"

/* Place digits around the decimal point: `point` digits come before it. */
static size_t
put_fixed(char *to, const char *digits, int count, int point)
{
	size_t used = 0;

	if (point <= 0) {
		to[used++] = '0';
		to[used++] = '.';
		for (int i = point; i < 0; i++)
			to[used++] = '0';
		for (int i = 0; i < count; i++)
			to[used++] = digits[i];
	} else {
		for (int i = 0; i < point; i++)
			to[used++] = i < count ? digits[i] : '0';
		to[used++] = '.';
		if (count <= point)
			to[used++] = '0';
		for (int i = point; i < count; i++)
			to[used++] = digits[i];
	}
	to[used] = '\0';
	return used;
}

/* "d.ddde+XX". */
static size_t
put_exponent(char *to, const char *digits, int count, int exponent)
{
	unsigned size = (unsigned)abs(exponent);
	size_t used = 0;

	to[used++] = digits[0];
	if (count > 1) {
		to[used++] = '.';
		memcpy(to + used, digits + 1, (size_t)count - 1);
		used += (size_t)count - 1;
	}
	to[used++] = 'e';
	to[used++] = exponent < 0 ? '-' : '+';
	if (size >= 100)
		to[used++] = (char)('0' + size / 100);
	to[used++] = (char)('0' + size / 10 % 10);
	to[used++] = (char)('0' + size % 10);
	to[used] = '\0';
	return used;
}

enum { DECIMALS = 6, MILLION = 1000000 };

/* Smaller values have exponents; the doubles above LARGEST may be too coarse
 * for six decimals. */
#define SMALLEST 1e-4
#define LARGEST  1e9

/* The common case: times in seconds with at most six decimals.  Five times as
 * fast as finding the shortest digits; returns 0 for other numbers. */
static size_t
put_decimal(char *to, double size)
{
	char reversed[NUMBER_BYTES];
	size_t used = 0, count = 0;
	uint64_t n;
	int zeros = 0;

	if (!(size >= SMALLEST && size < LARGEST))
		return 0;
	n = (uint64_t)(size * MILLION + 0.5);
	if ((double)n / MILLION != size)
		return 0;
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
	while (count > 0)
		to[used++] = reversed[--count];
	to[used] = '\0';
	return used;
}

size_t
number_repr(char to[static NUMBER_BYTES], double value)
{
	double size = fabs(value);
	char digits[SHORTEST_DIGITS_BYTES];
	size_t used = 0, bytes;
	int count, point;

	if (isnan(value))
		return (size_t)snprintf(to, NUMBER_BYTES, "nan");
	if (signbit(value))
		to[used++] = '-';
	bytes = put_decimal(to + used, size);
	if (bytes > 0)
		return used + bytes;
	if (isinf(size) || size == 0)
		return used + (size_t)snprintf(to + used, NUMBER_BYTES - used,
				  size == 0 ? "0.0" : "inf");
	count = shortest_digits(digits, size, &point);
	if (point > -4 && point <= 16)
		return used + put_fixed(to + used, digits, count, point);
	return used + put_exponent(to + used, digits, count, point - 1);
}

int
number_parse_u64(struct text t, uint64_t *value, struct err *err)
{
	char shown[64];
	uint64_t v = 0;

	if (t.bytes == 0)
		return err_set(err, "a whole number is missing");
	for (uint32_t i = 0; i < t.bytes; i++) {
		if (t.at[i] < '0' || t.at[i] > '9')
			return err_set(err, "'%s' is not a whole number",
			    text_quote(shown, sizeof(shown), t));
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(t.at[i] - '0'), &v))
			return err_set(err, "'%s' is over 2^64 - 1",
			    text_quote(shown, sizeof(shown), t));
	}
	*value = v;
	return 0;
}

int
number_parse_double(struct text t, double *value, struct err *err)
{
	char copy[128], shown[64], *end;

	/* Accept only decimal notation: strtod also takes hexadecimal,
	 * "nan(...)" and leading blanks.  No program
	 * sets LC_NUMERIC. */
	if (t.bytes == 0 || t.bytes >= sizeof(copy))
		goto bad;
	memcpy(copy, t.at, t.bytes);
	copy[t.bytes] = '\0';
	if (strspn(copy, "0123456789+-.eE") != t.bytes)
		goto bad;
	*value = strtod(copy, &end);
	if (*end == '\0' && end != copy)
		return 0;
bad:
	return err_set(
	    err, "'%s' is not a number", text_quote(shown, sizeof(shown), t));
}

int
number_parse_bytes(struct text t, uint64_t *bytes, struct err *err)
{
	static const char units[] = "kmgtp";
	char shown[64];
	uint32_t number = t.bytes;
	double value, factor = 1;
	struct text suffix;

	while (number > 0 &&
	       !(t.at[number - 1] >= '0' && t.at[number - 1] <= '9') &&
	       t.at[number - 1] != '.')
		number--;
	suffix = (struct text){ t.at + number, t.bytes - number };
	while (suffix.bytes > 0 && suffix.at[0] == ' ') {
		suffix.at++;
		suffix.bytes--;
	}
	if (number_parse_double((struct text){ t.at, number }, &value, NULL) !=
		0 ||
	    value < 0)
		goto bad;
	if (suffix.bytes > 0 && (suffix.at[0] | 0x20) != 'b') {
		const char *unit = strchr(units, suffix.at[0] | 0x20);
		bool binary = suffix.bytes == 1 ||
			      (suffix.bytes == 3 && suffix.at[1] == 'i' &&
				  (suffix.at[2] | 0x20) == 'b');
		bool decimal =
		    suffix.bytes == 2 && (suffix.at[1] | 0x20) == 'b';

		if (unit == NULL || *unit == '\0' || (!binary && !decimal))
			goto bad;
		factor = pow(binary ? 1024 : 1000, (double)(unit - units) + 1);
	} else if (suffix.bytes > 1) {
		goto bad;
	}
	value *= factor;
	if (!(value < 9.2e18))
		return err_set(err, "'%s' exceeds 8 EiB",
		    text_quote(shown, sizeof(shown), t));
	*bytes = (uint64_t)value;
	return 0;
bad:
	return err_set(err, "'%s' is not a size (like 4096, 64KiB, 1.5GB)",
	    text_quote(shown, sizeof(shown), t));
}
