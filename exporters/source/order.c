/*
 * order - rows in the order of one of their columns.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/order.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"

struct item {
	struct order_key key;
	uint32_t at; /* the row */
	uint32_t number;
};

static int
compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	double x = a->key.number, y = b->key.number;
	int order;

	if (a->key.is_text)
		order = text_compare_natural(a->key.text, b->key.text);
	else if (isnan(x) || isnan(y))
		order = (int)isnan(x) - (int)isnan(y);
	else
		order = (x < y) - (x > y);
	return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

void
order_numbers(uint32_t *numbers, uint32_t count,
    struct order_key (*key_of)(const void *arg, uint32_t number, int column),
    int column, const void *arg)
{
	struct item *items;

	if (count < 2)
		return;
	items = memory_alloc(count * sizeof(*items));
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){ key_of(arg, numbers[i], column), i,
			numbers[i] };
	qsort(items, count, sizeof(*items), compare);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = items[i].number;
	free(items);
}
