/*
 * ordered_rows - rows that are kept until all are known, because --sort or
 * --top chooses among them.
 *
 * For tables whose rows are read one after another and printed at once
 * otherwise.  With --top no more than about twice as many are kept.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SELECT_ORDERED_ROWS_H
#define EXPORTERS_SELECT_ORDERED_ROWS_H

#include <stdio.h>

#include "exporters/select/order.h"

enum { ORDERED_ROWS_BYTES_MAX = 256 << 20 };

struct ordered_row {
	struct order_key key;
	char *at; /* what was added; aligned as malloc(3) does */
	uint32_t bytes;
};

struct ordered_rows {
	const struct order *order;
	struct ordered_row *rows;
	uint32_t count, room;
	uint64_t bytes;
	/* The row that is being written. */
	FILE *file;
	char *text;
	size_t text_bytes;
};

void ordered_rows_init(struct ordered_rows *rows, const struct order *order);
void ordered_rows_clear(struct ordered_rows *rows);

/* Keep a copy of the row and of its key.  -1: they take more than
 * ORDERED_ROWS_BYTES_MAX. */
int ordered_rows_add(struct ordered_rows *rows, struct order_key key,
    struct text row, struct err *err);
/* The same of what is written to the stream between the two calls. */
FILE *ordered_rows_begin(struct ordered_rows *rows);
int ordered_rows_end(
    struct ordered_rows *rows, struct order_key key, struct err *err);

/* Sort them; then rows[0] to rows[count - 1] are to be printed. */
void ordered_rows_sort(struct ordered_rows *rows);
/* Sort them and print them as they are. */
void ordered_rows_print(struct ordered_rows *rows, FILE *file);

#endif
