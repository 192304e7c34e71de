/*
 * ordered_rows - rows that are kept until all are known.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/select/ordered_rows.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { SPARE = 1024 }; /* kept at least, however few are printed */

void
ordered_rows_init(struct ordered_rows *rows, const struct order *order)
{
	*rows = (struct ordered_rows){ .order = order };
}

static uint64_t
bytes_of(const struct ordered_row *row)
{
	return sizeof(*row) + row->bytes + row->key.text.bytes;
}

/* Keep the first `count`. */
static void
cut(struct ordered_rows *rows, uint32_t count)
{
	while (rows->count > count) {
		const struct ordered_row *last = &rows->rows[--rows->count];

		rows->bytes -= bytes_of(last);
		free(last->at);
	}
}

void
ordered_rows_clear(struct ordered_rows *rows)
{
	if (rows->file != NULL) {
		memory_stream_end(&rows->file);
		free(rows->text);
	}
	cut(rows, 0);
	free(rows->rows);
	*rows = (struct ordered_rows){ .order = rows->order };
}

static struct order_key
key_of(const void *arg, const void *row, int column)
{
	(void)arg;
	(void)column;
	return ((const struct ordered_row *)row)->key;
}

void
ordered_rows_sort(struct ordered_rows *rows)
{
	cut(rows, order_rows(rows->order, rows->rows, rows->count,
		      sizeof(*rows->rows), key_of, NULL));
}

int
ordered_rows_add(struct ordered_rows *rows, struct order_key key,
    struct text row, struct err *err)
{
	uint64_t top = rows->order->top;
	struct ordered_row *to;

	if (!key.is_text)
		key.text = (struct text){ NULL, 0 };
	if (top > 0 && rows->count / 2 >= top && rows->count >= SPARE)
		ordered_rows_sort(rows);
	rows->rows = memory_grow(
	    rows->rows, &rows->room, rows->count, sizeof(*rows->rows));
	to = &rows->rows[rows->count++];
	*to = (struct ordered_row){ .key = key, .bytes = row.bytes };
	to->at = memory_alloc((size_t)row.bytes + key.text.bytes);
	if (row.bytes > 0)
		memcpy(to->at, row.at, row.bytes);
	if (key.text.bytes > 0)
		memcpy(to->at + row.bytes, key.text.at, key.text.bytes);
	to->key.text.at = to->at + row.bytes;
	rows->bytes += bytes_of(to);
	if (rows->bytes <= ORDERED_ROWS_BYTES_MAX)
		return 0;
	return err_set(err,
	    "rows to sort take more than %d MiB: select fewer, or print fewer "
	    "with --top",
	    ORDERED_ROWS_BYTES_MAX >> 20);
}

FILE *
ordered_rows_begin(struct ordered_rows *rows)
{
	rows->file = memory_stream(&rows->text, &rows->text_bytes);
	return rows->file;
}

int
ordered_rows_end(
    struct ordered_rows *rows, struct order_key key, struct err *err)
{
	int rc;

	memory_stream_end(&rows->file);
	if (rows->text_bytes > ORDERED_ROWS_BYTES_MAX)
		rows->text_bytes = ORDERED_ROWS_BYTES_MAX; /* is refused */
	rc = ordered_rows_add(rows, key,
	    (struct text){ rows->text, (uint32_t)rows->text_bytes }, err);
	free(rows->text);
	return rc;
}

void
ordered_rows_print(struct ordered_rows *rows, FILE *file)
{
	ordered_rows_sort(rows);
	for (uint32_t i = 0; i < rows->count; i++)
		fwrite(rows->rows[i].at, 1, rows->rows[i].bytes, file);
}
