/*
 * phases_sweep - in which phase a node was at each moment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/sweep.h"

struct sweep {
	const struct phases_item **stack; /* in the order of their begin */
	uint32_t used;
	int64_t at_ns;
	/* A piece that may go on: an item without length parts none. */
	const struct phases_item *item;
	int64_t from_ns;
	void (*on_piece)(void *arg, const struct phases_item *item,
	    int64_t from_ns, int64_t to_ns);
	void *arg;
};

static void
end_piece(struct sweep *sweep)
{
	if (sweep->from_ns < sweep->at_ns)
		sweep->on_piece(
		    sweep->arg, sweep->item, sweep->from_ns, sweep->at_ns);
	sweep->from_ns = sweep->at_ns;
}

static void
advance(struct sweep *sweep, int64_t to_ns)
{
	while (sweep->at_ns < to_ns) {
		const struct phases_item *top = NULL;
		int64_t next_ns = to_ns;

		while (sweep->used > 0 &&
		       sweep->stack[sweep->used - 1]->end_ns <= sweep->at_ns)
			sweep->used--;
		if (sweep->used > 0)
			top = sweep->stack[sweep->used - 1];
		if (top != NULL && top->end_ns < to_ns)
			next_ns = top->end_ns;
		if (top != sweep->item)
			end_piece(sweep);
		sweep->item = top;
		sweep->at_ns = next_ns;
	}
}

uint32_t
phases_share_end(const struct phases_read *phases, uint32_t first)
{
	uint32_t end = first;

	while (end < phases->count &&
	       phases->items[end].node == phases->items[first].node)
		end++;
	return end;
}

int64_t
phases_sweep(const struct phases_read *phases, uint32_t first, uint32_t end,
    const struct phases_item **stack,
    void (*on_piece)(void *arg, const struct phases_item *item, int64_t from_ns,
	int64_t to_ns),
    void *arg)
{
	int64_t first_ns = phases->items[first].begin_ns, last_ns = first_ns;
	struct sweep sweep = { .stack = stack,
		.at_ns = first_ns,
		.from_ns = first_ns,
		.on_piece = on_piece,
		.arg = arg };

	for (uint32_t i = first; i < end; i++) {
		const struct phases_item *item = &phases->items[i];

		advance(&sweep, item->begin_ns);
		sweep.stack[sweep.used++] = item;
		last_ns = item->end_ns > last_ns ? item->end_ns : last_ns;
	}
	advance(&sweep, last_ns);
	end_piece(&sweep);
	return last_ns;
}
