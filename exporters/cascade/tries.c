/*
 * cascade_tries - which try of its start each node is shown with.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Is `a` more complete than `b`, or equally complete and earlier? */
static bool
comes_first(const struct cascade_pair *a, const struct cascade_pair *b)
{
	int more = a->has_begin + a->has_end - b->has_begin - b->has_end;

	if (more != 0)
		return more > 0;
	return (a->has_begin ? a->begin_ns : a->end_ns) <
	       (b->has_begin ? b->begin_ns : b->end_ns);
}

static bool
begins_try(const struct cascade_pair *pair)
{
	return pair->phase == CASCADE_NODEPREP && pair->has_begin;
}

/* The newest begin of each node in the time, and the next one behind it. */
static void
find_tries(struct cascade *cascade, int64_t from_ns, int64_t to_ns)
{
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		cascade->nodes[i].try_ns = TIME_MIN_NS;
		cascade->nodes[i].next_ns = TIME_MAX_NS;
	}
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		const struct cascade_pair *pair = &cascade->pairs[i];
		struct cascade_node *node = &cascade->nodes[pair->place];

		if (begins_try(pair) && pair->begin_ns >= from_ns &&
		    pair->begin_ns < to_ns && pair->begin_ns > node->try_ns)
			node->try_ns = pair->begin_ns;
	}
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		const struct cascade_pair *pair = &cascade->pairs[i];
		struct cascade_node *node = &cascade->nodes[pair->place];

		if (begins_try(pair) && pair->begin_ns > node->try_ns &&
		    pair->begin_ns < node->next_ns &&
		    node->try_ns > TIME_MIN_NS)
			node->next_ns = pair->begin_ns;
	}
}

/* Remove the nodes without a try, and say where the others went. */
static void
remove_nodes(struct cascade *cascade, uint32_t *place, bool all)
{
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		place[i] = UINT32_MAX;
		if (!all && cascade->nodes[i].try_ns == TIME_MIN_NS)
			continue;
		place[i] = nodes;
		cascade->nodes[nodes++] = cascade->nodes[i];
	}
	cascade->node_count = nodes;
}

/* A start that nobody ended, of a try that was given up.  That of an
 * installation of Docker is the start of the node, and a download that was
 * never loaded has no end. */
static bool
was_given_up(const struct cascade_pair *pair, int64_t from_ns)
{
	return pair->has_begin && !pair->has_end && pair->begin_ns >= from_ns &&
	       pair->phase != CASCADE_DOCKER && pair->phase != CASCADE_TORRENT;
}

/* Is it one of the pairs that stay?  Sets its range. */
static bool
sort_pair(struct cascade_node *node, struct cascade_pair *pair, int64_t from_ns)
{
	int64_t time_ns = pair->has_begin ? pair->begin_ns : pair->end_ns;

	if (time_ns >= node->next_ns)
		return false;
	pair->run = CASCADE_EARLIER;
	if (time_ns < node->try_ns)
		return was_given_up(pair, from_ns);
	if (pair->phase < CASCADE_ONCE) {
		if (comes_first(pair, &node->once[pair->phase]))
			node->once[pair->phase] = *pair;
		return false;
	}
	pair->run = (uint8_t)(pair->phase - CASCADE_ONCE);
	return true;
}

void
cascade_choose_tries(struct cascade *cascade, int64_t from_ns, int64_t to_ns)
{
	uint32_t *place = memory_zero(cascade->node_count + 1, sizeof(*place));
	uint32_t pairs = 0;

	find_tries(cascade, from_ns, to_ns);
	remove_nodes(
	    cascade, place, from_ns == TIME_MIN_NS && to_ns == TIME_MAX_NS);
	for (uint32_t i = 0; i < cascade->pair_count; i++) {
		struct cascade_pair pair = cascade->pairs[i];
		struct cascade_node *node;

		pair.place = place[pair.place];
		if (pair.place == UINT32_MAX)
			continue;
		node = &cascade->nodes[pair.place];
		if (!sort_pair(node, &pair, from_ns))
			continue;
		node->run[pair.run].count++;
		cascade->pairs[pairs++] = pair;
	}
	cascade->pair_count = pairs;
	free(place);
}
