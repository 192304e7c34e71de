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
	const struct critical_waits *waits;
	int64_t at_ns; /* where it is; all later pieces are there */
};

static void
add(struct walk *walk, enum critical_kind kind, uint32_t item, int64_t from_ns)
{
	struct critical_path *path = walk->path;

	if (from_ns == walk->at_ns)
		return;
	path->at = memory_grow(
	    path->at, &path->room, path->count, sizeof(*path->at));
	path->at[path->count++] = (struct critical_piece){ .from_ns = from_ns,
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
	const struct critical_item *at = walk->waits->at;

	while (at[item].inner != CRITICAL_NONE) {
		add(walk, CRITICAL_END, item, at[at[item].inner].end_ns);
		item = at[item].inner;
		kind = CRITICAL_IN;
	}
	add(walk, kind, item, at[item].begin_ns);
	return item;
}

/* The last begin of the node up to then; `otherwise`: it is not known. */
static int64_t
begin_of_node(const struct critical_waits *waits, uint32_t node,
    uint32_t first, int64_t until_ns, int64_t otherwise_ns)
{
	int64_t begin_ns = otherwise_ns;

	for (uint32_t i = 0;
	     i < waits->count && waits->at[i].begin_ns <= until_ns; i++)
		if (waits->at[i].node == node && waits->at[i].phase == first &&
		    waits->at[i].begin_ns > begin_ns)
			begin_ns = waits->at[i].begin_ns;
	return begin_ns;
}

void
critical_path_walk(struct critical_path *path,
    const struct critical_waits *waits, int64_t start_ns, uint32_t last,
    uint32_t first)
{
	struct walk walk = { path, waits, waits->at[last].end_ns };
	const struct critical_item *item;
	uint32_t number = through_end(&walk, last, CRITICAL_IN);

	/* The steps have an end whatever a model says: see waits.h. */
	for (uint32_t steps = 0; steps <= waits->count; steps++) {
		item = &waits->at[number];
		if (item->by == CRITICAL_NONE)
			break;
		add(&walk, CRITICAL_WAIT, number, item->could_ns);
		number = item->cause == CRITICAL_BY_OUTER
			     ? item->by
			     : through_end(&walk, item->by,
				   item->cause == CRITICAL_BY_PLACE
				       ? CRITICAL_PLACE
				       : CRITICAL_IN);
	}
	item = &waits->at[number];
	add(&walk, CRITICAL_WAIT, number,
	    begin_of_node(waits, item->node, first, walk.at_ns, start_ns));
	add(&walk, CRITICAL_BEGAN, number, start_ns);
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
