/*
 * stragglers_order - what the model says of the order of phases, and so what a
 * slow one cost the pool.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/order.h"

#include <stdlib.h>

#include "proto/base/memory.h"

int
order_read(struct order *order, const struct phases_timeline *timeline,
    uint32_t needed, struct source *source, struct text partition,
    struct err *err)
{
	if (critical_rules_read(&order->rules, &timeline->names,
		timeline->model, source, partition, err) != 0)
		return -1;
	if (!order->rules.any)
		return 0;
	critical_waits_find(&order->waits, &timeline->phases, &order->rules);
	order->waits.needed = needed;
	critical_run_recorded(&order->run, &order->waits);
	place_waits_find(&order->places, &order->waits, &order->run);
	return 0;
}

void
order_clear(struct order *order)
{
	place_waits_clear(&order->places);
	critical_run_clear(&order->run);
	critical_waits_clear(&order->waits);
	critical_rules_clear(&order->rules);
}

/* The number in the order of a phase of the timeline; CRITICAL_NONE. */
static uint32_t
place_of(const struct order *order, const struct phases_item *item)
{
	for (uint32_t i = 0; i < order->waits.count; i++) {
		const struct critical_item *at = &order->waits.at[i];

		if (at->begin_ns == item->begin_ns && at->node == item->node &&
		    at->phase == item->phase && at->key == item->key &&
		    at->end_ns == item->end_ns)
			return i;
	}
	return CRITICAL_NONE;
}

int64_t
order_drag(const struct order *order, const struct phases_timeline *timeline,
    const struct who_suspect *suspect)
{
	const struct critical_waits *waits = &order->waits;
	bool is_begin = suspect->item == WHO_NO_ITEM;
	int64_t *shift_ns, *length_ns, drag_ns = STRAGGLER_NO_NS;
	struct critical_change change = { .length_ns = NULL };
	struct critical_run run;
	uint32_t place = CRITICAL_NONE;

	if (waits->count == 0 || order->run.last == CRITICAL_NONE)
		return drag_ns;
	if (!is_begin)
		place = place_of(order, &timeline->phases.items[suspect->item]);
	if (!is_begin && place == CRITICAL_NONE)
		return drag_ns;
	shift_ns = memory_zero((size_t)waits->nodes + 1, sizeof(*shift_ns));
	length_ns = memory_zero((size_t)waits->count + 1, sizeof(*length_ns));
	for (uint32_t i = 0; i < waits->count; i++)
		length_ns[i] = waits->at[i].end_ns - waits->at[i].begin_ns;
	if (is_begin)
		shift_ns[suspect->node] = suspect->usual_ns - suspect->time_ns;
	else
		length_ns[place] = suspect->usual_ns;
	change.shift_ns = shift_ns;
	change.length_ns = length_ns;
	critical_run_changed(&run, waits, &order->run, &change);
	if (run.missing == 0 && run.last != CRITICAL_NONE)
		drag_ns = order->run.ready_ns - run.ready_ns;
	critical_run_clear(&run);
	free(shift_ns);
	free(length_ns);
	return drag_ns;
}
