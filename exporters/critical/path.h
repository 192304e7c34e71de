/*
 * critical_path - from the begin of a start to the moment when it was ready.
 *
 * It is walked backwards, from the end of the phase that was ready last: what a
 * phase waited for (waits.h) is what came before it on the path.  The pieces
 * follow each other without gaps, so they add up to the nanosecond.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_PATH_H
#define EXPORTERS_CRITICAL_PATH_H

#include "exporters/critical/waits.h"

enum critical_kind {
	CRITICAL_BEGAN, /* until the node began, after the start */
	CRITICAL_WAIT,  /* until the phase began, though it could have */
	CRITICAL_IN,    /* the phase */
	CRITICAL_PLACE, /* the same, of the one that had the place */
	CRITICAL_END,   /* until the phase ended, after what it waited for */
};
extern const char *const critical_kind_words[];

struct critical_piece {
	int64_t from_ns, to_ns;
	enum critical_kind kind;
	uint32_t item;
};

struct critical_path {
	struct critical_piece *at; /* in the order of time */
	uint32_t count, room;
};

/* `start_ns`: its begin; `last`: the number of the phase that was ready last;
 * `first`: the phase that begins a node.  Clear it in any case. */
void critical_path_walk(struct critical_path *path,
    const struct critical_waits *waits, int64_t start_ns, uint32_t last,
    uint32_t first);
void critical_path_clear(struct critical_path *path);

#endif
