/*
 * exact_sum - a sum of numbers without rounding.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stats/exact_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

typedef unsigned __int128 u128;

enum {
	FRACTION_BITS = 52,   /* of a double */
	EXPONENT_MAX = 0x7ff, /* infinite, or not a number */
	LEAST_PLACE = 1074,   /* its last bit counts 2^-1074 or more */
	WORDS_BELOW = 17,     /* that many words are below 1 then */
	PRODUCT_WORDS = 3,    /* 53 bits x 64 bits, moved by up to 63 */
	/* The word above them takes the carries: 2^63 of them. */
	ROOM_WORDS = PRODUCT_WORDS + 1
};

void
exact_sum_clear(struct exact_sum *sum)
{
	free(sum->words);
	*sum = (struct exact_sum){ .words = NULL };
}

static bool
is_negative(const struct exact_sum *sum)
{
	return sum->count > 0 && sum->words[sum->count - 1] >> 63 != 0;
}

/* Have the words from `low` on that a product is added to. */
static void
make_room(struct exact_sum *sum, int low)
{
	uint64_t fill = is_negative(sum) ? UINT64_MAX : 0;
	int first = low, end = low + ROOM_WORDS, below = 0;

	if (sum->count > 0) {
		first = sum->low < low ? sum->low : low;
		below = sum->low - first;
		if (end < sum->low + sum->count)
			end = sum->low + sum->count;
	}
	sum->words = memory_resize_array(
	    sum->words, (size_t)(end - first), sizeof(*sum->words));
	memmove(
	    sum->words + below, sum->words, sum->count * sizeof(*sum->words));
	memset(sum->words, 0, (size_t)below * sizeof(*sum->words));
	for (int i = below + sum->count; i < end - first; i++)
		sum->words[i] = fill;
	sum->low = (int16_t)first;
	sum->count = (uint8_t)(end - first);
}

/* Add to the words from `low` on; subtract: add the complement, and one. */
static void
add_words(struct exact_sum *sum, int low, const uint64_t add[PRODUCT_WORDS],
    bool subtract)
{
	uint64_t flip = subtract ? UINT64_MAX : 0;
	u128 carry = subtract;
	int at = low - sum->low, i;

	for (i = 0; i < PRODUCT_WORDS; i++, at++) {
		carry += (u128)sum->words[at] + (add[i] ^ flip);
		sum->words[at] = (uint64_t)carry;
		carry >>= 64;
	}
	for (; at < sum->count && carry != subtract; at++) {
		carry += (u128)sum->words[at] + flip;
		sum->words[at] = (uint64_t)carry;
		carry >>= 64;
	}
}

void
exact_sum_add(struct exact_sum *sum, double value, uint64_t times)
{
	uint64_t bits, fraction, add[PRODUCT_WORDS];
	unsigned exponent, place;
	u128 product;
	int low;

	memcpy(&bits, &value, sizeof(bits));
	fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
	exponent = bits >> FRACTION_BITS & EXPONENT_MAX;
	sum->known = true;
	if (exponent == EXPONENT_MAX)
		sum->unknown = true;
	if (exponent == EXPONENT_MAX || value == 0 || times == 0)
		return;
	if (exponent > 0) {
		fraction |= UINT64_C(1) << FRACTION_BITS;
		exponent--;
	}
	/* The value is fraction x 2^(place - 64 x WORDS_BELOW). */
	place = exponent + 64 * WORDS_BELOW - LEAST_PLACE;
	low = (int)(place / 64) - WORDS_BELOW;
	place %= 64;
	if (sum->count == 0 || low < sum->low ||
	    low + ROOM_WORDS > sum->low + sum->count)
		make_room(sum, low);
	product = (u128)fraction * times;
	add[0] = (uint64_t)(product << place);
	add[1] = (uint64_t)(product << place >> 64);
	add[2] = place > 0 ? (uint64_t)(product >> (128 - place)) : 0;
	add_words(sum, low, add, bits >> 63 != 0);
}

long double
exact_sum_get(const struct exact_sum *sum)
{
	uint64_t flip = is_negative(sum) ? UINT64_MAX : 0;
	long double all = 0;
	u128 carry = flip & 1;

	if (!sum->known || sum->unknown)
		return NAN;
	for (int i = 0; i < sum->count; i++) {
		carry += sum->words[i] ^ flip;
		all += ldexpl((uint64_t)carry, 64 * (sum->low + i));
		carry >>= 64;
	}
	return flip != 0 ? -all : all;
}
