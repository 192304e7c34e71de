/*
 * stragglers - the nodes that were slow in a start, how many seconds that cost,
 * and why.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/stragglers.h"

#include <stdlib.h>

#include "exporters/critical/run.h"
#include "exporters/stragglers/who.h"
#include "exporters/stragglers/why.h"
#include "proto/base/memory.h"

enum { PEERS = 60 }; /* whose samples are read, for a phase with a key */

/* What the model says of the order of phases; without words it is not read. */
struct order {
	struct critical_rules rules;
	struct critical_waits waits;
	struct critical_run run;
};

struct reading {
	struct stragglers *to;
	const struct stragglers_query *query;
	struct source *source;
	struct who who;
	struct earlier earlier;
	struct order order;
	struct measured measured;
	uint32_t *windows; /* of peers, by group: PEERS of each */
	uint32_t *window_count;
};

/* ---- how much earlier the pool had been ready ---- */

static int
read_order(struct reading *r, struct err *err)
{
	struct stragglers *to = r->to;
	struct order *order = &r->order;

	if (critical_rules_read(&order->rules, &to->timeline.names,
		to->timeline.model, r->source, r->query->partition, err) != 0)
		return -1;
	if (!order->rules.any) {
		to->no_words = 1;
		return 0;
	}
	critical_waits_find(&order->waits, &to->timeline.phases, &order->rules);
	critical_run_recorded(&order->run, &order->waits);
	return 0;
}

static void
clear_order(struct order *order)
{
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

/* Had the phase taken, or the node begun, as long as usual. */
static int64_t
drag_of(const struct reading *r, const struct who_suspect *suspect)
{
	const struct critical_waits *waits = &r->order.waits;
	const struct phases_item *items = r->to->timeline.phases.items;
	struct critical_change change = { .places = r->order.run.places };
	int64_t *shift_ns, *length_ns, drag_ns = STRAGGLER_NO_NS;
	struct critical_run run;
	uint32_t place = CRITICAL_NONE;

	if (r->order.run.last == CRITICAL_NONE || waits->count == 0)
		return drag_ns;
	if (suspect->item != WHO_NO_ITEM)
		place = place_of(&r->order, &items[suspect->item]);
	if (suspect->item != WHO_NO_ITEM && place == CRITICAL_NONE)
		return drag_ns;
	shift_ns = memory_zero((size_t)waits->nodes + 1, sizeof(*shift_ns));
	length_ns = memory_zero((size_t)waits->count + 1, sizeof(*length_ns));
	for (uint32_t i = 0; i < waits->count; i++)
		length_ns[i] = waits->at[i].end_ns - waits->at[i].begin_ns;
	if (place != CRITICAL_NONE)
		length_ns[place] = suspect->usual_ns;
	else
		shift_ns[suspect->node] = suspect->usual_ns - suspect->time_ns;
	change.shift_ns = shift_ns;
	change.length_ns = length_ns;
	critical_run_changed(&run, waits, &r->order.run, &change);
	if (run.missing == 0 && run.last != CRITICAL_NONE)
		drag_ns = r->order.run.ready_ns - run.ready_ns;
	critical_run_clear(&run);
	free(shift_ns);
	free(length_ns);
	return drag_ns;
}

/* ---- who ---- */

static int
find_all(struct reading *r, struct err *err)
{
	const struct stragglers_query *query = r->query;
	struct phases_timeline *t = &r->to->timeline;
	char model[NAME_BYTES_MAX + 1];

	if (who_find(&r->who, t, &query->bounds)) {
		snprintf(model, sizeof(model), "%.*s", (int)t->model.bytes,
		    t->model.at);
		if (earlier_read(&r->earlier, r->source, query->partition,
			model, query->from_ns, err) != 0)
			return -1;
		who_find_by_history(&r->who, &r->earlier, &query->bounds);
	}
	if (query->start_ns != STRAGGLER_NO_NS)
		who_find_late(&r->who, query->start_ns);
	who_drop_outer(&r->who, &query->bounds);
	return 0;
}

/* By what they lost, before drags are known. */
static int
by_lost(const void *left, const void *right)
{
	const struct who_suspect *a = left, *b = right;
	int64_t x = a->time_ns - a->usual_ns, y = b->time_ns - b->usual_ns;

	if (x != y)
		return x > y ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

static struct straggler
straggler_of(const struct reading *r, const struct who_suspect *suspect)
{
	const struct phases_timeline *t = &r->to->timeline;
	uint32_t item = suspect->item == WHO_NO_ITEM
			    ? r->who.order[r->who.groups[suspect->group].first]
			    : suspect->item;
	const struct phases_item *of = &t->phases.items[item];
	struct straggler straggler = { .node =
					   t->phases.nodes.names[suspect->node],
		.phase = t->names.phases.names[of->phase],
		.time_ns = suspect->time_ns,
		.usual_ns = suspect->usual_ns,
		.lost_ns = suspect->time_ns - suspect->usual_ns,
		.drag_ns = STRAGGLER_NO_NS,
		.of = suspect->of,
		.is_of_node = suspect->is_of_node };

	if (suspect->item == WHO_NO_ITEM) {
		straggler.begin_ns = r->query->start_ns;
		straggler.end_ns = r->query->start_ns + suspect->time_ns;
		return straggler;
	}
	straggler.key = t->phases.keys.names[of->key];
	if (straggler.key.bytes == 0)
		straggler.key.at = NULL;
	straggler.begin_ns = of->begin_ns;
	straggler.end_ns = of->end_ns;
	straggler.is_open = of->is_open;
	return straggler;
}

/* ---- whose samples ---- */

struct candidate {
	uint32_t order, item;
};

static int
by_chance(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* The same nodes for each phase, as far as they have it, so that few are
 * read. */
static void
add_peers(struct reading *r, const bool *is_suspect, uint32_t group)
{
	const struct phases_read *phases = &r->to->timeline.phases;
	const struct who_group *of = &r->who.groups[group];
	struct candidate *candidates =
	    memory_zero((size_t)(of->end - of->first) + 1, sizeof(*candidates));
	uint32_t count = 0;

	for (uint32_t i = of->first; i < of->end; i++) {
		uint32_t item = r->who.order[i];

		if (!phases->items[item].is_open && !is_suspect[item])
			candidates[count++] = (struct candidate){
				phases->items[item].node * 2654435761u, item
			};
	}
	qsort(candidates, count, sizeof(*candidates), by_chance);
	for (uint32_t i = 0; i < count && i < PEERS; i++) {
		const struct phases_item *item =
		    &phases->items[candidates[i].item];

		r->windows[(size_t)group * PEERS + r->window_count[group]++] =
		    measured_add(&r->measured, phases->nodes.names[item->node],
			item->begin_ns, item->end_ns);
	}
	free(candidates);
}

/* Earlier times of the node itself. */
static uint32_t
add_own(struct reading *r, const struct straggler *straggler, uint32_t *windows)
{
	const struct earlier_time *first;
	uint32_t count = earlier_find(&r->earlier, straggler->node,
	    straggler->phase,
	    straggler->key.at == NULL ? text_of("") : straggler->key, &first);

	if (count > PEERS) {
		first += count - PEERS;
		count = PEERS;
	}
	for (uint32_t i = 0; i < count; i++)
		windows[i] = measured_add(&r->measured, straggler->node,
		    first[i].begin_ns, first[i].end_ns);
	return count;
}

/* ---- why ---- */

static int
explain(struct reading *r, struct err *err)
{
	struct stragglers *to = r->to;
	const struct who *who = &r->who;
	uint32_t count =
	    to->count < STRAGGLERS_EXPLAINED ? to->count : STRAGGLERS_EXPLAINED;
	uint32_t *own = memory_zero((size_t)count + 1, sizeof(*own));
	uint32_t(*before)[PEERS] =
	    memory_zero((size_t)count + 1, sizeof(*before));
	uint32_t *before_count = memory_zero((size_t)count + 1, 4);
	bool *is_suspect =
	    memory_zero((size_t)to->timeline.phases.count + 1, 1);
	int rc;

	r->windows = memory_zero(
	    (size_t)who->group_count * PEERS + 1, sizeof(*r->windows));
	r->window_count =
	    memory_zero((size_t)who->group_count + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < who->count; i++)
		if (who->at[i].item != WHO_NO_ITEM)
			is_suspect[who->at[i].item] = true;
	for (uint32_t i = 0; i < count; i++) {
		const struct straggler *straggler = &to->at[i];
		uint32_t group = who->at[i].group;

		if (who->at[i].item == WHO_NO_ITEM)
			continue;
		own[i] = measured_add(&r->measured, straggler->node,
		    straggler->begin_ns, straggler->end_ns);
		if (straggler->is_of_node)
			before_count[i] = add_own(r, straggler, before[i]);
		else if (r->window_count[group] == 0)
			add_peers(r, is_suspect, group);
	}
	rc = measured_read(&r->measured, r->source, r->query->partition, err);
	for (uint32_t i = 0; rc == 0 && i < to->count; i++) {
		struct why_place place = { .own_ns = 0 };
		uint32_t group = who->at[i].group;
		bool is_of_node = to->at[i].is_of_node;

		if (who->at[i].item == WHO_NO_ITEM)
			why_explain_begin(&to->at[i], &to->texts);
		else if (i < count)
			why_explain(&to->at[i], &r->measured, own[i],
			    is_of_node ? before[i]
				       : &r->windows[(size_t)group * PEERS],
			    is_of_node ? before_count[i]
				       : r->window_count[group],
			    &place, &to->texts);
	}
	free(is_suspect);
	free(before_count);
	free(before);
	free(own);
	return rc;
}

/* ---- all ---- */

/* What is not known comes last. */
static int
by_drag(const void *left, const void *right)
{
	const struct straggler *a = left, *b = right;

	if (a->drag_ns != b->drag_ns)
		return a->drag_ns > b->drag_ns ? -1 : 1;
	if (a->lost_ns != b->lost_ns)
		return a->lost_ns > b->lost_ns ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

static int
read_all(struct reading *r, struct err *err)
{
	struct stragglers *to = r->to;
	struct who *who = &r->who;
	int rc = 0;

	if (find_all(r, err) != 0)
		return -1;
	to->nodes = to->timeline.phases.nodes.count;
	to->not_judged = who->not_judged;
	if (who->count == 0)
		return 0;
	if (read_order(r, err) != 0)
		return -1;
	qsort(who->at, who->count, sizeof(*who->at), by_lost);
	for (uint32_t i = 0; i < who->count; i++) {
		to->at =
		    memory_grow(to->at, &to->room, to->count, sizeof(*to->at));
		to->at[to->count] = straggler_of(r, &who->at[i]);
		if (i < STRAGGLERS_EXPLAINED)
			to->at[to->count].drag_ns = drag_of(r, &who->at[i]);
		to->count++;
	}
	if (!r->query->without_causes)
		rc = explain(r, err);
	for (uint32_t i = STRAGGLERS_EXPLAINED; i < to->count; i++)
		to->not_explained += to->at[i].causes == 0;
	qsort(to->at, to->count, sizeof(*to->at), by_drag);
	return rc;
}

int
stragglers_read(struct stragglers *stragglers, struct source *source,
    const struct stragglers_query *query, struct err *err)
{
	struct reading r = {
		.to = stragglers, .query = query, .source = source
	};
	struct wire_query phases = source_query(1u << RECORD_PHASE);
	int rc;

	*stragglers = (struct stragglers){ .at = NULL };
	string_table_init(&stragglers->texts);
	phases.from_ns = query->from_ns;
	phases.to_ns = query->to_ns;
	rc = phases_timeline_read(&stragglers->timeline, source,
	    query->partition, &phases, NULL, query->model, err);
	earlier_init(&r.earlier);
	measured_init(&r.measured);
	if (rc == 0)
		rc = read_all(&r, err);
	who_clear(&r.who);
	clear_order(&r.order);
	earlier_clear(&r.earlier);
	measured_clear(&r.measured);
	free(r.windows);
	free(r.window_count);
	return rc;
}

void
stragglers_clear(struct stragglers *stragglers)
{
	free(stragglers->at);
	string_table_clear(&stragglers->texts);
	phases_timeline_clear(&stragglers->timeline);
	*stragglers = (struct stragglers){ .at = NULL };
}
