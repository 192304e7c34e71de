/*
 * order - rows in the order of one of their columns.
 *
 * The greatest number comes first, because people look for the worst; texts
 * are in natural order, and rows without the number come last.  Rows that are
 * equal keep their order.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_ORDER_H
#define EXPORTERS_SOURCE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* What a row has in a column. */
struct order_key {
	bool is_text;
	struct text text; /* must outlive order_numbers */
	double number;    /* NaN: none */
};

/* Sort the numbers of rows, which come in the order that rows of equal keys
 * keep. */
void order_numbers(uint32_t *numbers, uint32_t count,
    struct order_key (*key_of)(const void *arg, uint32_t number, int column),
    int column, const void *arg);

#endif
