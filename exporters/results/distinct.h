/*
 * distinct - texts in byte order, however many there are, in bounded memory.
 *
 * For what can be read again and again: each pass over all of them keeps the
 * smallest that are greater than those of the passes before.  Nothing is
 * written to a disk, which a reader of a store may not have, and the first rows
 * come after one pass.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_DISTINCT_H
#define EXPORTERS_RESULTS_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

struct distinct {
	struct text *keys; /* after distinct_sort: in order, each once */
	uint32_t count;

	uint32_t room;    /* keys in memory, at most; at least 2 */
	size_t bytes_max; /* of them together; at least two of the longest */
	char *bytes;
	size_t used;
	char *last, *limit; /* no key up to `last`, none from `limit` on */
	uint32_t last_bytes, limit_bytes;
	bool has_last, has_limit;
};

void distinct_init(struct distinct *distinct, uint32_t room, size_t bytes_max);
void distinct_clear(struct distinct *distinct);

/* A pass: begin it, add every key there is, sort. */
void distinct_begin(struct distinct *distinct);
void distinct_add(struct distinct *distinct, struct text key);
/* Were there more keys than these, so that another pass is needed? */
bool distinct_sort(struct distinct *distinct);

#endif
