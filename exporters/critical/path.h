/*
 * critical_path - from the begin of a start to the moment when it was ready.
 *
 * It is walked backwards, from the end of the phase that was ready last: what a
 * phase waited for (run.h) is what came before it on the path.  The pieces
 * follow each other without gaps, so they add up to the nanosecond.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_PATH_H
#define EXPORTERS_CRITICAL_PATH_H

#include "exporters/critical/run.h"

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

/* `start_ns`: its begin.  The run must have been ready.  Clear it in any case.
 */
void critical_path_walk(struct critical_path *path,
    const struct critical_run *run, int64_t start_ns);
void critical_path_clear(struct critical_path *path);

#endif
