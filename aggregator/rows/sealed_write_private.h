/*
 * sealed_write_private - what sealed_write.c (the columns of a chunk) and
 * body_choice.c (which shape each row has) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_SEALED_WRITE_PRIVATE_H
#define AGGREGATOR_ROWS_SEALED_WRITE_PRIVATE_H

#include "aggregator/rows/body_template.h"
#include "aggregator/rows/sealed_row.h"
#include "proto/base/hash.h"

enum { SEALED_ROW_SLOTS = 4 * SEALED_ROW_ROWS_MAX };

struct sealed_row_shape {
	size_t at; /* in `texts` */
	uint32_t bytes;
	uint32_t places;
	uint32_t rows, first; /* in `order` */
};

/* Things found by a hash: open addressing, number + 1. */
struct sealed_row_seen {
	uint32_t slot[SEALED_ROW_SLOTS];
	uint32_t
	    used[SEALED_ROW_ROWS_MAX]; /* to clear without going over all */
	uint32_t count;
};

struct sealed_row_batch {
	uint32_t stream;
	uint64_t seq;
	int64_t receive_ns;
};

struct sealed_row_writer {
	struct chunk_writer *chunk;
	struct buffer value, texts;
	struct body_template_body body;
	struct hash_key key;
	struct sealed_row_seen seen;
	struct sealed_row_shape shape[SEALED_ROW_ROWS_MAX];
	uint32_t shapes, columns;
	uint32_t row_shape[SEALED_ROW_ROWS_MAX];
	uint32_t row_place[SEALED_ROW_ROWS_MAX]; /* its first in body.place */
	uint32_t order[SEALED_ROW_ROWS_MAX];
	struct sealed_row_batch batch[SEALED_ROW_ROWS_MAX];
	uint32_t batches;
	int64_t ints[3][SEALED_ROW_ROWS_MAX];
	struct text text[SEALED_ROW_ROWS_MAX];
	struct value values[SEALED_ROW_ROWS_MAX];
};

static inline void
sealed_row_seen_reset(struct sealed_row_seen *seen)
{
	while (seen->count > 0)
		seen->slot[seen->used[--seen->count]] = 0;
}

static inline void
sealed_row_seen_add(
    struct sealed_row_seen *seen, uint32_t slot, uint32_t number)
{
	seen->slot[slot] = number + 1;
	seen->used[seen->count++] = slot;
}

static inline struct text
sealed_row_shape_text(
    const struct sealed_row_writer *w, const struct sealed_row_shape *shape)
{
	return (
	    struct text){ (const char *)w->texts.at + shape->at, shape->bytes };
}

/* The shapes of the items, and which one each row has. */
void sealed_row_choose_shapes(struct sealed_row_writer *w,
    enum record_kind kind, const struct sealed_row_item *items, uint32_t count);

#endif
