/*
 * order - the options --sort and --top.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/select/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/nearest.h"

enum { LIST_BYTES = 320 };

bool
order_is_given(const struct order *order)
{
	return order != NULL && (order->column >= 0 || order->top > 0);
}

int
order_find(struct order *order, const char *const *columns, struct err *err)
{
	char list[LIST_BYTES] = "", question[3 * NEAREST_WORD_BYTES + 32];
	struct nearest nearest;
	size_t used = 0;

	order->column = -1;
	if (order->sort == NULL || order->sort[0] == '\0')
		return 0;
	nearest_begin(&nearest, order->sort);
	for (int i = 0; columns[i] != NULL; i++) {
		if (strcmp(columns[i], order->sort) == 0)
			order->column = i;
		nearest_offer(&nearest, columns[i]);
		/* A sentence has no room for all steps of a long model. */
		if (used + strlen(columns[i]) + sizeof(", , ...") < LIST_BYTES)
			used += (size_t)snprintf(list + used, LIST_BYTES - used,
			    "%s%s", i > 0 ? ", " : "", columns[i]);
		else if (used < LIST_BYTES)
			used += LIST_BYTES + (size_t)snprintf(list + used,
						 LIST_BYTES - used, ", ...");
	}
	if (order->column >= 0)
		return 0;
	return err_set(err, "--sort: '%.64s' is not one of %s%s", order->sort,
	    list, nearest_question(&nearest, "", question, sizeof(question)));
}

void
order_check(struct order *order, const char *const *columns)
{
	struct err err;

	if (order_find(order, columns, &err) != 0)
		opt_usage("%s", err.text);
}

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

uint32_t
order_rows(const struct order *order, void *rows, uint32_t count,
    size_t row_bytes,
    struct order_key (*key_of)(const void *arg, const void *row, int column),
    const void *arg)
{
	uint32_t shown = order->top == 0 || order->top > count
			     ? count
			     : (uint32_t)order->top;
	struct item *items;
	char *from = rows, *sorted;

	if (order->column < 0 || count < 2)
		return shown;
	items = memory_alloc(count * sizeof(*items));
	sorted = memory_alloc(count * row_bytes);
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){
			key_of(arg, from + i * row_bytes, order->column), i, i
		};
	qsort(items, count, sizeof(*items), compare);
	for (uint32_t i = 0; i < count; i++)
		memcpy(sorted + i * row_bytes, from + items[i].at * row_bytes,
		    row_bytes);
	memcpy(rows, sorted, count * row_bytes);
	free(sorted);
	free(items);
	return shown;
}
