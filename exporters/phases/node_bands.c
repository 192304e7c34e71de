/*
 * node_bands - what each node did, as bands.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/node_bands.h"

#include <stdlib.h>

#include "exporters/plot/look.h"
#include "exporters/phases/timeline.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Time of a node by phase; the last is that of no phase. */
struct sums {
	int64_t *ns;
	uint32_t count;
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

static void
count_piece(
    void *arg, const struct phases_item *item, int64_t from_ns, int64_t to_ns)
{
	const struct sums *sums = arg;

	add(&sums->ns[item != NULL ? item->phase : sums->count],
	    minus(to_ns, from_ns));
}

/* ---- all nodes ---- */

/* Which band a phase is; the greatest have one of their own. */
struct choice {
	unsigned *band; /* by phase; the last is waiting */
	bool has_rest;
};

static void
put_band(struct bands *bands, struct text key, struct text name, uint8_t place)
{
	/* Without the name of the model, which is in the title. */
	name = text_after(name, ':');
	bands->band[bands->band_count++] =
	    (struct band){ key, name, name, place };
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
	uint8_t *places = memory_zero(all->count, sizeof(*places));

	palette_place(names->phases.names, all->count, places);
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
		    places[i]);
	}
	free(places);
	if (choice->has_rest) {
		for (uint32_t i = 0; i < all->count; i++)
			if (choice->band[i] == BANDS_MAX)
				choice->band[i] = bands->band_count;
		put_band(bands, text_of("other_phases"),
		    text_of("other phases"), PALETTE_OTHER);
	}
	choice->band[all->count] = bands->band_count;
	if (all->ns[all->count] > 0 || bands->band_count == 0)
		put_band(bands, text_of("no_phase"), text_of("no phase"),
		    PALETTE_NONE);
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
	const struct phases_item **stack =
	    memory_zero(phases->count, sizeof(void *));
	int64_t first_ns = INT64_MAX;
	uint32_t end;

	_Static_assert(
	    (int)NODE_BANDS_NAMED + 2 <= (int)BANDS_MAX, "too many bands");
	for (uint32_t i = 0; i < phases->count; i = end) {
		end = phases_share_end(phases, i);
		(void)phases_sweep(phases, i, end, stack, count_piece, &all);
		if (phases->items[i].begin_ns < first_ns)
			first_ns = phases->items[i].begin_ns;
	}
	choose(bands, &choice, &all, names);
	bands->rows = memory_zero(phases->nodes.count, sizeof(*bands->rows));
	for (uint32_t i = 0; i < phases->count; i = end) {
		int64_t last_ns;

		end = phases_share_end(phases, i);
		for (uint32_t phase = 0; phase <= count; phase++)
			node.ns[phase] = 0;
		last_ns =
		    phases_sweep(phases, i, end, stack, count_piece, &node);
		make_row(bands, &choice, &node,
		    phases->nodes.names[phases->items[i].node],
		    minus(phases->items[i].begin_ns, first_ns),
		    minus(last_ns, phases->items[i].begin_ns));
	}
	qsort(bands->rows, bands->count, sizeof(*bands->rows), by_start);
	bands_sort(bands);
	free(stack);
	free(choice.band);
	free(node.ns);
	free(all.ns);
}
