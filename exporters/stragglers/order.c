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
	struct critical_item like = { .begin_ns = item->begin_ns,
		.end_ns = critical_waits_end(
		    &order->rules, item->phase, item->end_ns, item->ended_ns),
		.node = item->node,
		.phase = item->phase,
		.key = item->key };

	return critical_waits_number(&order->waits, &like);
}

/* What is around others ends after them, however long it is: what it cost is at
 * most what it lost, and what the pool had gained without its node. */
static int64_t
drag_around(const struct order *order, const struct who_suspect *suspect)
{
	const struct critical_waits *waits = &order->waits;
	bool *without = memory_zero((size_t)waits->nodes + 1, 1);
	struct critical_change change = { .without = without };
	int64_t drag_ns = suspect->time_ns - suspect->usual_ns;
	struct critical_run run;

	without[suspect->node] = true;
	critical_run_changed(&run, waits, &order->run, &change);
	if (run.missing > 0)
		drag_ns = STRAGGLER_NO_NS;
	else if (run.last != CRITICAL_NONE &&
		 order->run.ready_ns - run.ready_ns < drag_ns)
		drag_ns = order->run.ready_ns - run.ready_ns;
	critical_run_clear(&run);
	free(without);
	return drag_ns;
}

/* `place` CRITICAL_NONE: its node had begun as long after the start as usual.
 */
static int64_t
drag_alone(const struct order *order, const struct who_suspect *suspect,
    uint32_t place)
{
	const struct critical_waits *waits = &order->waits;
	int64_t *shift_ns =
	    memory_zero((size_t)waits->nodes + 1, sizeof(*shift_ns));
	int64_t *length_ns =
	    memory_zero((size_t)waits->count + 1, sizeof(*length_ns));
	struct critical_change change = { .shift_ns = shift_ns,
		.length_ns = length_ns };
	int64_t drag_ns = STRAGGLER_NO_NS;
	struct critical_run run;

	for (uint32_t i = 0; i < waits->count; i++)
		length_ns[i] = waits->at[i].end_ns - waits->at[i].begin_ns;
	if (place == CRITICAL_NONE)
		shift_ns[suspect->node] = suspect->usual_ns - suspect->time_ns;
	else
		length_ns[place] = suspect->usual_ns;
	critical_run_changed(&run, waits, &order->run, &change);
	if (run.missing == 0 && run.last != CRITICAL_NONE)
		drag_ns = order->run.ready_ns - run.ready_ns;
	critical_run_clear(&run);
	free(shift_ns);
	free(length_ns);
	return drag_ns;
}

int64_t
order_drag(const struct order *order, const struct phases_timeline *timeline,
    const struct who_suspect *suspect)
{
	uint32_t place;

	if (order->waits.count == 0 || order->run.last == CRITICAL_NONE)
		return STRAGGLER_NO_NS;
	if (suspect->item == WHO_NO_ITEM)
		return drag_alone(order, suspect, CRITICAL_NONE);
	place = place_of(order, &timeline->phases.items[suspect->item]);
	if (place == CRITICAL_NONE)
		return STRAGGLER_NO_NS;
	return order->run.at[place].inner != CRITICAL_NONE
		   ? drag_around(order, suspect)
		   : drag_alone(order, suspect, place);
}
