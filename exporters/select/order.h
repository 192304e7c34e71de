/*
 * order - the options --sort and --top: which rows of a table come first, and
 * how many are shown.
 *
 * The greatest number comes first, because people look for the worst; texts
 * are in natural order, and rows without the number come last.  Rows that are
 * equal keep their order.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SELECT_ORDER_H
#define EXPORTERS_SELECT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/opt.h"

struct order {
	const char *sort; /* NULL: not given */
	uint64_t top;     /* 0: all rows */
	/* Of the names of the columns (order_check); -1: not sorted. */
	int column;
};

/* Are rows sorted, or left out?  NULL: no. */
bool order_is_given(const struct order *order);

/* Find the column among the names (NULL ends them).  -1: the sentence has those
 * that exist. */
int order_find(
    struct order *order, const char *const *columns, struct err *err);
/* The same; exits on wrong usage. */
void order_check(struct order *order, const char *const *columns);

/* What a row has in a column. */
struct order_key {
	bool is_text;
	struct text text; /* must outlive order_rows */
	double number;    /* NaN: none */
};

/* Sort the numbers of rows, which come in the order that rows of equal keys
 * keep. */
void order_numbers(uint32_t *numbers, uint32_t count,
    struct order_key (*key_of)(const void *arg, uint32_t number, int column),
    int column, const void *arg);

/* Sort rows of `row_bytes`; returns how many of them are to be shown. */
uint32_t order_rows(const struct order *order, void *rows, uint32_t count,
    size_t row_bytes,
    struct order_key (*key_of)(const void *arg, const void *row, int column),
    const void *arg);

#endif
