/*
 * stragglers - the nodes that were slow in a start, how many seconds that cost,
 * and why.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/stragglers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/stragglers/order.h"
#include "exporters/stragglers/robust.h"
#include "exporters/stragglers/sizes.h"
#include "exporters/stragglers/who.h"
#include "exporters/stragglers/why.h"
#include "proto/base/memory.h"
#include "proto/base/sort.h"
#include "proto/os/clock.h"

enum { PEERS = 60 }; /* whose samples are read, for a phase with a key */

/* Windows whose samples are read. */
struct windows {
	uint32_t own; /* of the straggler */
	uint32_t of[PEERS], count;
};

struct reading {
	struct stragglers *to;
	const struct stragglers_query *query;
	struct wire_query phases;
	struct source *source;
	struct who who;
	struct earlier earlier;
	struct order order;
	struct measured measured;
	struct windows **peers; /* by group; NULL: none are needed */
	double *sizes;          /* by item; NULL: none are known */
	double *room;           /* for a number of each item */
};

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

/* Who is suspected is not among the peers. */
static bool
is_peer(const struct reading *r, const bool *is_suspect, uint32_t item)
{
	return !r->to->timeline.phases.items[item].is_open && !is_suspect[item];
}

/* The same nodes for each phase, as far as they have it, so that few are
 * read. */
static void
add_peers(struct reading *r, const bool *is_suspect, uint32_t group)
{
	const struct phases_read *phases = &r->to->timeline.phases;
	const struct who_group *of = &r->who.groups[group];
	struct windows *peers = memory_zero(1, sizeof(*peers));
	struct candidate *candidates =
	    memory_zero((size_t)(of->end - of->first) + 1, sizeof(*candidates));
	uint32_t count = 0;

	for (uint32_t i = of->first; i < of->end; i++) {
		uint32_t item = r->who.order[i];

		if (is_peer(r, is_suspect, item))
			candidates[count++] = (struct candidate){
				phases->items[item].node * 2654435761u, item
			};
	}
	qsort(candidates, count, sizeof(*candidates), by_chance);
	for (uint32_t i = 0; i < count && i < PEERS; i++) {
		const struct phases_item *item =
		    &phases->items[candidates[i].item];

		peers->of[peers->count++] =
		    measured_add(&r->measured, phases->nodes.names[item->node],
			item->begin_ns, item->end_ns);
	}
	free(candidates);
	r->peers[group] = peers;
}

/* The last ones of earlier times of the node itself. */
static void
add_earlier(struct reading *r, const struct straggler *straggler,
    struct windows *windows)
{
	const struct earlier_time *first;
	uint32_t count = earlier_find(&r->earlier, straggler->node,
	    straggler->phase,
	    straggler->key.at == NULL ? text_of("") : straggler->key, &first);

	for (uint32_t i = count > PEERS ? count - PEERS : 0; i < count; i++)
		windows->of[windows->count++] = measured_add(&r->measured,
		    straggler->node, first[i].begin_ns, first[i].end_ns);
}

static struct windows *
add_windows(struct reading *r, const bool *is_suspect, uint32_t count)
{
	struct windows *windows =
	    memory_zero((size_t)count + 1, sizeof(*windows));

	r->peers =
	    memory_zero((size_t)r->who.group_count + 1, sizeof(*r->peers));
	for (uint32_t i = 0; i < count; i++) {
		const struct straggler *straggler = &r->to->at[i];
		const struct who_suspect *suspect = &r->who.at[i];

		if (suspect->item == WHO_NO_ITEM)
			continue;
		windows[i].own = measured_add(&r->measured, straggler->node,
		    straggler->begin_ns, straggler->end_ns);
		if (straggler->is_of_node)
			add_earlier(r, straggler, &windows[i]);
		else if (r->peers[suspect->group] == NULL)
			add_peers(r, is_suspect, suspect->group);
	}
	return windows;
}

/* ---- why ---- */

/* The median of what `number` gives for the peers; NaN: it gives none. */
static double
median_of(const struct reading *r, const bool *is_suspect,
    const struct who_group *group,
    double (*number)(const struct reading *r, uint32_t item))
{
	uint32_t count = 0;

	for (uint32_t i = group->first; i < group->end; i++) {
		uint32_t item = r->who.order[i];
		double of =
		    is_peer(r, is_suspect, item) ? number(r, item) : NAN;

		if (!isnan(of))
			r->room[count++] = of;
	}
	sort_doubles(r->room, count);
	return count > 0 ? robust_median(r->room, count) : NAN;
}

static double
waited(const struct reading *r, uint32_t item)
{
	const struct phases_item *of = &r->to->timeline.phases.items[item];
	uint32_t holder;

	return (double)place_waits_length(&r->order.places, of->node,
		   of->begin_ns, of->end_ns, &holder) /
	       NS_PER_SECOND;
}

static double
size(const struct reading *r, uint32_t item)
{
	return r->sizes[item];
}

static double
speed(const struct reading *r, uint32_t item)
{
	const struct phases_item *of = &r->to->timeline.phases.items[item];

	return of->end_ns > of->begin_ns
		   ? r->sizes[item] /
			 ((double)(of->end_ns - of->begin_ns) / NS_PER_SECOND)
		   : NAN;
}

/* What is known without samples. */
static struct why_known
known_of(const struct reading *r, const bool *is_suspect,
    const struct who_suspect *suspect)
{
	const struct phases_read *phases = &r->to->timeline.phases;
	const struct phases_item *item = &phases->items[suspect->item];
	const struct who_group *group = &r->who.groups[suspect->group];
	struct why_known known = { .bytes = NAN };
	uint32_t holder = 0;

	if (r->order.places.count > 0 &&
	    place_waits_length(&r->order.places, item->node, item->begin_ns,
		item->end_ns, &holder) > 0) {
		known.waited = waited(r, suspect->item);
		known.peers_waited = median_of(r, is_suspect, group, waited);
		known.holder = phases->nodes.names[holder];
	}
	if (r->sizes != NULL && !isnan(r->sizes[suspect->item])) {
		known.bytes = r->sizes[suspect->item];
		known.peers_bytes = median_of(r, is_suspect, group, size);
		known.peers_rate = median_of(r, is_suspect, group, speed);
	}
	return known;
}

static int
read_sizes(struct reading *r, struct err *err)
{
	bool *is_wanted = memory_zero((size_t)r->order.rules.phases + 1, 1);

	for (uint32_t i = 0; i < r->who.count; i++)
		if (r->who.at[i].item != WHO_NO_ITEM)
			is_wanted[r->to->timeline.phases
				      .items[r->who.at[i].item]
				      .phase] = true;
	r->sizes = sizes_read(&r->to->timeline, &r->order.rules, is_wanted,
	    r->source, r->query->partition, &r->phases, err);
	free(is_wanted);
	return r->sizes != NULL ? 0 : -1;
}

static void
explain_all(struct reading *r, const bool *is_suspect,
    const struct windows *windows, uint32_t count)
{
	struct stragglers *to = r->to;

	for (uint32_t i = 0; i < to->count; i++) {
		const struct who_suspect *suspect = &r->who.at[i];
		const struct windows *peers = &windows[i];
		struct why_known known;

		if (suspect->item == WHO_NO_ITEM) {
			why_explain_begin(&to->at[i], &to->texts);
			continue;
		}
		if (i >= count)
			continue;
		if (!to->at[i].is_of_node)
			peers = r->peers[suspect->group];
		known = known_of(r, is_suspect, suspect);
		why_explain(&to->at[i], &r->measured, windows[i].own, peers->of,
		    peers->count, &known, &to->texts);
	}
}

static int
explain(struct reading *r, struct err *err)
{
	const struct who *who = &r->who;
	uint32_t count = r->to->count < STRAGGLERS_EXPLAINED
			     ? r->to->count
			     : STRAGGLERS_EXPLAINED;
	uint32_t items = r->to->timeline.phases.count;
	bool *is_suspect = memory_zero((size_t)items + 1, 1);
	struct windows *windows;
	int rc;

	for (uint32_t i = 0; i < who->count; i++)
		if (who->at[i].item != WHO_NO_ITEM)
			is_suspect[who->at[i].item] = true;
	windows = add_windows(r, is_suspect, count);
	r->room = memory_zero((size_t)items + 1, sizeof(*r->room));
	rc = read_sizes(r, err);
	r->measured.nodes_of_pool = r->to->timeline.phases.nodes.count;
	if (rc == 0)
		rc = measured_read(
		    &r->measured, r->source, r->query->partition, err);
	if (rc == 0)
		explain_all(r, is_suspect, windows, count);
	for (uint32_t i = 0; i < who->group_count; i++)
		free(r->peers[i]);
	free(r->peers);
	free(r->room);
	free(r->sizes);
	free(windows);
	free(is_suspect);
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
	if (order_read(&r->order, &to->timeline, r->query->needed, r->source,
		r->query->partition, err) != 0)
		return -1;
	to->has_words = r->order.rules.any;
	qsort(who->at, who->count, sizeof(*who->at), by_lost);
	for (uint32_t i = 0; i < who->count; i++) {
		MEMORY_GROW(to->at, to->room, to->count);
		to->at[to->count] = straggler_of(r, &who->at[i]);
		if (i < STRAGGLERS_EXPLAINED)
			to->at[to->count].drag_ns =
			    order_drag(&r->order, &to->timeline, &who->at[i]);
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
	struct reading r = { .to = stragglers,
		.query = query,
		.source = source,
		.phases = source_query(1u << RECORD_PHASE) };
	int rc;

	*stragglers = (struct stragglers){ .at = NULL };
	string_table_init(&stragglers->texts);
	r.phases.from_ns = query->from_ns;
	r.phases.to_ns = query->to_ns;
	rc = phases_timeline_read(&stragglers->timeline, source,
	    query->partition, &r.phases, NULL, query->model, err);
	earlier_init(&r.earlier);
	measured_init(&r.measured);
	if (rc == 0)
		rc = read_all(&r, err);
	who_clear(&r.who);
	order_clear(&r.order);
	earlier_clear(&r.earlier);
	measured_clear(&r.measured);
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
