/*
 * text_natural - names in the order in which people count.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/text.h"

static bool
is_digit(struct text t, uint32_t i)
{
	return i < t.bytes && t.at[i] >= '0' && t.at[i] <= '9';
}

/* The digits at `i` without leading zeros; advances `i` past them. */
static struct text
number_at(struct text t, uint32_t *i)
{
	struct text number;

	while (is_digit(t, *i) && t.at[*i] == '0')
		(*i)++;
	number = (struct text){ t.at + *i, 0 };
	while (is_digit(t, *i)) {
		(*i)++;
		number.bytes++;
	}
	return number;
}

int
text_compare_natural(struct text a, struct text b)
{
	uint32_t i = 0, k = 0;

	while (i < a.bytes && k < b.bytes) {
		if (is_digit(a, i) && is_digit(b, k)) {
			struct text x = number_at(a, &i);
			struct text y = number_at(b, &k);
			int order = text_compare(x, y);

			if (x.bytes != y.bytes)
				return x.bytes < y.bytes ? -1 : 1;
			if (order != 0)
				return order;
		} else {
			unsigned char x = (unsigned char)a.at[i++];
			unsigned char y = (unsigned char)b.at[k++];

			if (x != y)
				return x < y ? -1 : 1;
		}
	}
	if (i < a.bytes || k < b.bytes)
		return i < a.bytes ? 1 : -1;
	return text_compare(a, b);
}
