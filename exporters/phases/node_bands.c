/*
 * node_bands - what each node did, as bands.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/node_bands.h"

#include <stdlib.h>

#include "exporters/gnuplot/colours.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* A node's items, [first, end). */
struct share {
	const struct phases_item *items;
	uint32_t first, end;
};

/* Time of a node by phase; the last is that of no phase. */
struct sums {
	int64_t *ns;
	uint32_t count;
};

struct stack {
	const struct phases_item **at;
	uint32_t used;
};

static int64_t
minus(int64_t to_ns, int64_t from_ns)
{
	int64_t ns;

	return __builtin_sub_overflow(to_ns, from_ns, &ns) ? INT64_MAX : ns;
}

static void
add(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

/* Count the time up to `to_ns`; the stack has the phases in the order of
 * their begin. */
static void
advance(struct sums *sums, struct stack *stack, int64_t *at_ns, int64_t to_ns)
{
	while (*at_ns < to_ns) {
		int64_t next_ns = to_ns;
		uint32_t phase = sums->count;

		while (stack->used > 0 &&
		       stack->at[stack->used - 1]->end_ns <= *at_ns)
			stack->used--;
		if (stack->used > 0) {
			const struct phases_item *top =
			    stack->at[stack->used - 1];

			phase = top->phase;
			next_ns = top->end_ns < to_ns ? top->end_ns : to_ns;
		}
		add(&sums->ns[phase], minus(next_ns, *at_ns));
		*at_ns = next_ns;
	}
}

/* Returns the total. */
static int64_t
sweep(struct sums *sums, struct stack *stack, const struct share *share)
{
	int64_t first_ns = share->items[share->first].begin_ns;
	int64_t at_ns = first_ns, last_ns = first_ns;

	stack->used = 0;
	for (uint32_t i = share->first; i < share->end; i++) {
		const struct phases_item *item = &share->items[i];

		advance(sums, stack, &at_ns, item->begin_ns);
		stack->at[stack->used++] = item;
		last_ns = item->end_ns > last_ns ? item->end_ns : last_ns;
	}
	advance(sums, stack, &at_ns, last_ns);
	return minus(last_ns, first_ns);
}

/* ---- all nodes ---- */

static struct share
share_from(const struct phases_read *phases, uint32_t first)
{
	struct share share = { phases->items, first, first };

	while (share.end < phases->count &&
	       phases->items[share.end].node == phases->items[first].node)
		share.end++;
	return share;
}

/* Which band a phase is; the greatest have one of their own. */
struct choice {
	unsigned *band; /* by phase; the last is waiting */
	bool has_rest;
};

static void
put_band(
    struct bands *bands, struct text key, struct text name, const char *colour)
{
	uint32_t colon = 0;

	/* Without the name of the model, which is in the title. */
	while (colon < name.bytes && name.at[colon] != ':')
		colon++;
	if (colon < name.bytes)
		name = (struct text){ name.at + colon + 1,
			name.bytes - colon - 1 };
	bands->band[bands->band_count++] =
	    (struct band){ key, name, name, colour };
}

/* Of which rank is the phase by its time? */
static unsigned
rank_of(const struct sums *all, uint32_t phase)
{
	unsigned rank = 0;

	for (uint32_t i = 0; i < all->count; i++)
		rank += all->ns[i] > all->ns[phase] ||
			(all->ns[i] == all->ns[phase] && i < phase);
	return rank;
}

static void
choose(struct bands *bands, struct choice *choice, const struct sums *all,
    const struct phases_names *names)
{
	for (uint32_t i = 0; i < all->count; i++) {
		choice->band[i] = BANDS_MAX;
		if (all->ns[i] == 0)
			continue;
		if (rank_of(all, i) >= NODE_BANDS_NAMED) {
			choice->has_rest = true;
			continue;
		}
		choice->band[i] = bands->band_count;
		put_band(bands, names->phases.names[i], names->phases.names[i],
		    colours_series[bands->band_count]);
	}
	if (choice->has_rest) {
		for (uint32_t i = 0; i < all->count; i++)
			if (choice->band[i] == BANDS_MAX)
				choice->band[i] = bands->band_count;
		put_band(bands, text_of("other_phases"),
		    text_of("other phases"), COLOUR_GREY);
	}
	choice->band[all->count] = bands->band_count;
	if (all->ns[all->count] > 0 || bands->band_count == 0)
		put_band(bands, text_of("no_phase"), text_of("no phase"),
		    COLOUR_LIGHT_GREY);
}

static int
by_start(const void *left, const void *right)
{
	const struct bands_row *a = left, *b = right;

	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

static void
make_row(struct bands *bands, const struct choice *choice,
    const struct sums *node, struct text name, int64_t start_ns,
    int64_t total_ns)
{
	struct bands_row *row = &bands->rows[bands->count++];

	*row = (struct bands_row){ .node = name,
		.start_s = (double)start_ns / NS_PER_SECOND,
		.total_s = (double)total_ns / NS_PER_SECOND };
	for (uint32_t i = 0; i <= node->count; i++)
		if (node->ns[i] > 0)
			row->seconds[choice->band[i]] +=
			    (double)node->ns[i] / NS_PER_SECOND;
}

void
node_bands_make(struct bands *bands, const struct phases_names *names,
    const struct phases_read *phases)
{
	uint32_t count = names->phases.count;
	struct sums all = { memory_zero(count + 1, sizeof(int64_t)), count };
	struct sums node = { memory_zero(count + 1, sizeof(int64_t)), count };
	struct choice choice = { memory_zero(count + 1, sizeof(unsigned)),
		false };
	struct stack stack = { memory_zero(phases->count, sizeof(void *)), 0 };
	int64_t first_ns = INT64_MAX;
	struct share share;

	_Static_assert((int)NODE_BANDS_NAMED <= (int)COLOURS_SERIES &&
			   (int)NODE_BANDS_NAMED + 2 <= (int)BANDS_MAX,
	    "too many bands");
	for (uint32_t i = 0; i < phases->count; i = share.end) {
		share = share_from(phases, i);
		(void)sweep(&all, &stack, &share);
		if (phases->items[i].begin_ns < first_ns)
			first_ns = phases->items[i].begin_ns;
	}
	choose(bands, &choice, &all, names);
	bands->rows = memory_zero(phases->nodes.count, sizeof(*bands->rows));
	for (uint32_t i = 0; i < phases->count; i = share.end) {
		int64_t total_ns;

		share = share_from(phases, i);
		for (uint32_t phase = 0; phase <= count; phase++)
			node.ns[phase] = 0;
		total_ns = sweep(&node, &stack, &share);
		make_row(bands, &choice, &node,
		    phases->nodes.names[phases->items[i].node],
		    minus(phases->items[i].begin_ns, first_ns), total_ns);
	}
	qsort(bands->rows, bands->count, sizeof(*bands->rows), by_start);
	bands_sort(bands);
	free(stack.at);
	free(choice.band);
	free(node.ns);
	free(all.ns);
}
