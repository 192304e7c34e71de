/*
 * made - a range of rows of a table of the store that were made.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_MADE_H
#define AGGREGATOR_ARCHIVE_READ_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"

struct made_row {
	struct text key, value;
};

struct made {
	struct made *next;
	unsigned table;
	/* All rows with from <= key < to are here; empty: from the first on, to
	 * the last. */
	struct text from, to;
	struct made_row *at; /* in the order of keys */
	uint32_t count, room;
	struct arena bytes;
};

struct made *made_new(unsigned table);
void made_free(struct made **range);

/* Copies. */
void made_set_range(struct made *range, struct text from, struct text to);
void made_put(struct made *range, struct text key, struct text value);
/* If they were not put in their order; of equal keys one row stays. */
void made_sort(struct made *range);

/* Is the place of a key in the range? */
bool made_has(const struct made *range, unsigned table, struct text key);
/* The first row with this key or behind it; `count`: none. */
uint32_t made_find(const struct made *range, struct text key);

#endif
