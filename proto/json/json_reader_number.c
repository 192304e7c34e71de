/*
 * json_reader_number - the value of a number that a reader has accepted.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_reader_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* The digits of a number without its sign: `value` times ten to the `power`,
 * exact unless digits were left out. */
struct digits {
	uint64_t value;
	int64_t power;
	bool is_exact;
};

static struct digits
take_digits(const char *at, const char *end)
{
	struct digits d = { .is_exact = true };
	bool negative = false, in_fraction = false;
	int64_t power = 0;

	for (; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.') {
			in_fraction = true;
			continue;
		}
		if (__builtin_mul_overflow(d.value, 10, &d.value) ||
		    __builtin_add_overflow(
			d.value, (uint64_t)(*at - '0'), &d.value)) {
			d.is_exact = false;
			return d;
		}
		d.power -= in_fraction;
	}
	if (at == end)
		return d;
	at++;
	if (*at == '-' || *at == '+')
		negative = *at++ == '-';
	for (; at < end && power < 100000; at++)
		power = 10 * power + (*at - '0');
	d.power += negative ? -power : power;
	return d;
}

/* Correctly rounded, from the text: a number, NaN or Infinity. */
static double
read_double(struct text number)
{
	char few[64], *copy = few;
	double value;

	if (number.bytes >= sizeof(few)) {
		copy = memory_text(number);
	} else {
		memcpy(few, number.at, number.bytes);
		few[number.bytes] = '\0';
	}
	value = strtod(copy, NULL);
	if (copy != few)
		free(copy);
	return value;
}

/* If both the digits and the power of ten are exact doubles, one operation
 * rounds once and gives the nearest double.  False: they are not. */
static bool
combine(const struct digits *d, double *value)
{
	static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };

	if (!d->is_exact || d->value > UINT64_C(1) << 53 || d->power > 22 ||
	    d->power < -22)
		return false;
	*value = d->power < 0 ? (double)d->value / tens[-d->power]
			      : (double)d->value * tens[d->power];
	return true;
}

bool
json_reader_is_whole(struct text number)
{
	uint32_t from = number.bytes > 0 && *number.at == '-';

	return number.bytes > from &&
	       json_skip_digits(number.at + from, number.at + number.bytes) ==
		   number.at + number.bytes;
}

void
json_reader_number(struct text number, struct value *value)
{
	bool negative = *number.at == '-', is_word;
	struct digits d = { .is_exact = false };

	is_word = number.at[negative] == 'N' || number.at[negative] == 'I';
	if (!is_word)
		d = take_digits(number.at + negative, number.at + number.bytes);
	if (d.is_exact && d.value <= (uint64_t)INT64_MAX + negative &&
	    json_reader_is_whole(number)) {
		*value = (struct value){ VALUE_INT,
			.is.i = (int64_t)(negative ? -d.value : d.value) };
		return;
	}
	*value = (struct value){ .type = VALUE_FLOAT };
	if (combine(&d, &value->is.f))
		value->is.f = negative ? -value->is.f : value->is.f;
	else
		value->is.f = read_double(number);
}
