/*
 * critical_path - from the begin of a start to the moment when it was ready.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/path.h"

#include <stdlib.h>

#include "proto/base/memory.h"

const char *const critical_kind_words[] = { "began", "wait", "in", "place",
	"end" };

struct walk {
	struct critical_path *path;
	const struct critical_run *run;
	int64_t at_ns; /* where it is; all later pieces are there */
};

static void
add(struct walk *walk, enum critical_kind kind, uint32_t item, int64_t from_ns)
{
	struct critical_path *path = walk->path;

	if (from_ns == walk->at_ns)
		return;
	*MEMORY_ADD(path->at, path->room, path->count) =
	    (struct critical_piece){ .from_ns = from_ns,
		    .to_ns = walk->at_ns,
		    .kind = kind,
		    .item = item };
	walk->at_ns = from_ns;
}

/* The end: what its end waited for, within it, or the phase itself.  Returns
 * the one whose begin is next. */
static uint32_t
through_end(struct walk *walk, uint32_t item, enum critical_kind kind)
{
	const struct critical_times *at = walk->run->at;

	for (; at[item].inner != CRITICAL_NONE; item = at[item].inner) {
		add(walk, CRITICAL_END, item, at[at[item].inner].end_ns);
		kind = CRITICAL_IN;
	}
	add(walk, kind, item, at[item].begin_ns);
	return item;
}

void
critical_path_walk(struct critical_path *path, const struct critical_run *run,
    int64_t start_ns)
{
	struct walk walk = { path, run, run->ready_ns };
	uint32_t item = through_end(&walk, run->last, CRITICAL_IN);
	const struct critical_times *times = &run->at[item];

	/* Each step goes to an earlier phase, or out of one: it has an end. */
	for (; times->by != CRITICAL_NONE; times = &run->at[item]) {
		add(&walk, CRITICAL_WAIT, item, times->could_ns);
		item =
		    times->cause == CRITICAL_BY_OUTER
			? times->by
			: through_end(&walk, times->by,
			      times->cause == CRITICAL_BY_PLACE ? CRITICAL_PLACE
								: CRITICAL_IN);
	}
	add(&walk, CRITICAL_WAIT, item, times->could_ns);
	add(&walk, CRITICAL_BEGAN, item, start_ns);
	for (uint32_t i = 0; i < path->count / 2; i++) {
		struct critical_piece piece = path->at[i];

		path->at[i] = path->at[path->count - 1 - i];
		path->at[path->count - 1 - i] = piece;
	}
}

void
critical_path_clear(struct critical_path *path)
{
	free(path->at);
	*path = (struct critical_path){ .at = NULL };
}
