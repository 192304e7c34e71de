/*
 * compacted_write_private - what compacted_write.c (the columns of a chunk)
 * and body_choice.c (the template of each row) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROWS_COMPACTED_WRITE_PRIVATE_H
#define AGGREGATOR_ROWS_COMPACTED_WRITE_PRIVATE_H

#include "aggregator/rows/body_template.h"
#include "aggregator/rows/compacted_row.h"
#include "proto/hash/hash.h"

enum { COMPACTED_ROW_SLOTS = 4 * COMPACTED_ROW_ROWS_MAX };

struct compacted_row_template {
	size_t at; /* in `texts` */
	uint32_t bytes;
	uint32_t fields;
	uint32_t rows, first; /* in `order` */
};

/* A hash table with open addressing; an entry is a number + 1. */
struct compacted_row_seen {
	uint32_t slot[COMPACTED_ROW_SLOTS];
	/* The slots in use, so that clearing need not visit all of them. */
	uint32_t used[COMPACTED_ROW_ROWS_MAX];
	uint32_t count;
};

struct compacted_row_batch {
	uint32_t stream;
	uint64_t seq;
	int64_t receive_ns;
};

struct compacted_row_writer {
	struct chunk_writer *chunk;
	struct buffer value, texts;
	struct body_template_body body;
	struct hash_key key;
	struct compacted_row_seen seen;
	struct compacted_row_template template[COMPACTED_ROW_ROWS_MAX];
	uint32_t templates, columns;
	uint32_t row_template[COMPACTED_ROW_ROWS_MAX];
	/* Index of the first field of each row in body.field. */
	uint32_t row_field[COMPACTED_ROW_ROWS_MAX];
	uint32_t order[COMPACTED_ROW_ROWS_MAX];
	struct compacted_row_batch batch[COMPACTED_ROW_ROWS_MAX];
	uint32_t batches;
	int64_t ints[3][COMPACTED_ROW_ROWS_MAX];
	struct text text[COMPACTED_ROW_ROWS_MAX];
	struct value values[COMPACTED_ROW_ROWS_MAX];
};

static inline void
compacted_row_seen_reset(struct compacted_row_seen *seen)
{
	while (seen->count > 0)
		seen->slot[seen->used[--seen->count]] = 0;
}

static inline void
compacted_row_seen_add(
    struct compacted_row_seen *seen, uint32_t slot, uint32_t number)
{
	seen->slot[slot] = number + 1;
	seen->used[seen->count++] = slot;
}

static inline struct text
compacted_row_template_text(const struct compacted_row_writer *w,
    const struct compacted_row_template *template)
{
	return (struct text){ (const char *)w->texts.at + template->at,
		template->bytes };
}

/* Find the templates of the items, and choose one for each row. */
void compacted_row_choose_templates(struct compacted_row_writer *w,
    enum record_kind kind, const struct compacted_row_item *items,
    uint32_t count);

#endif
