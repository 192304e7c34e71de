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

enum { SEAL_SLOTS = 4 * SEAL_ROWS_MAX };

struct seal_shape {
	size_t at; /* in `texts` */
	uint32_t bytes;
	uint32_t places;
	uint32_t rows, first; /* in `order` */
};

/* Things found by a hash: open addressing, number + 1. */
struct seal_seen {
	uint32_t slot[SEAL_SLOTS];
	uint32_t used[SEAL_ROWS_MAX]; /* to clear without going over all */
	uint32_t count;
};

struct seal_batch {
	uint32_t stream;
	uint64_t seq;
	int64_t receive_ns;
};

struct seal_writer {
	struct chunk_writer *chunk;
	struct buffer value, texts;
	struct seal_body body;
	struct hash_key key;
	struct seal_seen seen;
	struct seal_shape shape[SEAL_ROWS_MAX];
	uint32_t shapes, columns;
	uint32_t row_shape[SEAL_ROWS_MAX];
	uint32_t row_place[SEAL_ROWS_MAX]; /* its first in body.place */
	uint32_t order[SEAL_ROWS_MAX];
	struct seal_batch batch[SEAL_ROWS_MAX];
	uint32_t batches;
	int64_t ints[3][SEAL_ROWS_MAX];
	struct text text[SEAL_ROWS_MAX];
	struct value values[SEAL_ROWS_MAX];
};

static inline void
seal_seen_reset(struct seal_seen *seen)
{
	while (seen->count > 0)
		seen->slot[seen->used[--seen->count]] = 0;
}

static inline void
seal_seen_add(struct seal_seen *seen, uint32_t slot, uint32_t number)
{
	seen->slot[slot] = number + 1;
	seen->used[seen->count++] = slot;
}

static inline struct text
seal_shape_text(const struct seal_writer *w, const struct seal_shape *shape)
{
	return (
	    struct text){ (const char *)w->texts.at + shape->at, shape->bytes };
}

/* The shapes of the items, and which one each row has. */
void seal_choose_shapes(struct seal_writer *w, enum record_kind kind,
    const struct seal_item *items, uint32_t count);

#endif
