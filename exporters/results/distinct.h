/*
 * distinct - any number of texts in byte order, in bounded memory.
 *
 * For a source that can be read repeatedly: each pass reads everything and
 * stores the smallest keys greater than those of the previous passes.  It
 * needs no disk space, which a reader of a store may not have, and the first
 * rows are available after one pass.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_DISTINCT_H
#define EXPORTERS_RESULTS_DISTINCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

struct distinct {
	struct text *keys; /* after distinct_sort: sorted and unique */
	uint32_t count;

	uint32_t room;    /* maximum number of keys in memory; at least 2 */
	size_t bytes_max; /* maximum total bytes of the keys; at least two of
			     the longest */
	char *bytes;
	size_t used;
	char *last, *limit; /* ignore keys up to and including `last`, and keys
			       from `limit` on */
	uint32_t last_bytes, limit_bytes;
	bool has_last, has_limit;
};

void distinct_init(struct distinct *distinct, uint32_t room, size_t bytes_max);
void distinct_clear(struct distinct *distinct);

/* One pass: begin it, add every key, sort. */
void distinct_begin(struct distinct *distinct);
void distinct_add(struct distinct *distinct, struct text key);
/* Did keys not fit in memory, so that another pass is needed? */
bool distinct_sort(struct distinct *distinct);

#endif
