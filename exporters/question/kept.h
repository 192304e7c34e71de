/*
 * question_kept - what was read of a source and will be asked for again.
 *
 * For programs that ask again and again; of one source, used by one thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_QUESTION_KEPT_H
#define EXPORTERS_QUESTION_KEPT_H

#include <stdbool.h>

struct question_kept {
	struct pools_kept *pools; /* NULL: nothing, like metrics */
	struct metrics *metrics;
	char *pattern; /* of the metrics */
	bool by_node;
};
void question_kept_clear(struct question_kept *kept);

#endif
