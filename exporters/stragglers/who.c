/*
 * stragglers_who - which phases of which nodes took too long.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/who.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/stragglers/robust.h"
#include "proto/base/memory.h"
#include "proto/base/sort.h"
#include "proto/os/clock.h"

static double
seconds_of(const struct phases_item *item)
{
	return (double)(item->end_ns - item->begin_ns) / NS_PER_SECOND;
}

static int64_t
to_ns(double seconds)
{
	return (int64_t)llround(seconds * NS_PER_SECOND);
}

/* ---- what is long ---- */

struct who_usual
who_usual_of(double *seconds, uint32_t count)
{
	struct who_usual usual = { .count = count };

	if (count < WHO_TIMES_MIN)
		return (struct who_usual){ .count = 0 };
	for (uint32_t i = 0; i < count; i++)
		seconds[i] = log(fmax(seconds[i], 1e-9));
	sort_doubles(seconds, count);
	usual.median_ln = robust_median(seconds, count);
	usual.spread_ln =
	    fmax(robust_upper_spread(seconds, count), WHO_SPREAD_MIN);
	return usual;
}

bool
who_is_long(const struct who_usual *usual, double seconds,
    const struct straggler_bounds *bounds)
{
	double median = exp(usual->median_ln);

	return usual->count > 0 && seconds > bounds->ratio * median &&
	       seconds - median > (double)bounds->lost_ns / NS_PER_SECOND &&
	       (log(seconds) - usual->median_ln) / usual->spread_ln > bounds->z;
}

static void
add(struct who *who, struct who_suspect suspect)
{
	*MEMORY_ADD(who->at, who->room, who->count) = suspect;
}

static void
judge(struct who *who, uint32_t group, uint32_t i,
    const struct who_usual *usual, bool is_of_node,
    const struct straggler_bounds *bounds)
{
	const struct phases_item *item = &who->timeline->phases.items[i];
	double seconds = seconds_of(item);

	if (!who_is_long(usual, seconds, bounds))
		return;
	add(who, (struct who_suspect){ .item = i,
		     .node = item->node,
		     .group = group,
		     .time_ns = item->end_ns - item->begin_ns,
		     .usual_ns = to_ns(exp(usual->median_ln)),
		     .of = usual->count,
		     .is_of_node = is_of_node });
}

/* ---- groups ---- */

static int
by_group(const void *left, const void *right, void *arg)
{
	const struct phases_item *items = arg;
	const struct phases_item *a = &items[*(const uint32_t *)left],
				 *b = &items[*(const uint32_t *)right];

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a > b) - (a < b);
}

static void
make_groups(struct who *who)
{
	const struct phases_read *phases = &who->timeline->phases;

	who->order = memory_zero((size_t)phases->count + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < phases->count; i++)
		who->order[i] = i;
	qsort_r(who->order, phases->count, sizeof(uint32_t), by_group,
	    phases->items);
	for (uint32_t i = 0; i < phases->count; i++) {
		const struct phases_item *item = &phases->items[who->order[i]];
		const struct phases_item *before =
		    &phases->items[who->order[i > 0 ? i - 1 : 0]];

		if (i == 0 || item->phase != before->phase ||
		    item->key != before->key) {
			*MEMORY_ADD(
			    who->groups, who->group_room, who->group_count) =
			    (struct who_group){ .first = i };
		}
		who->groups[who->group_count - 1].end = i + 1;
	}
}

/* Those without an end are known to be longer than they have lasted: one that
 * has lasted less than the median of the others says nothing. */
static struct who_usual
usual_of_group(
    const struct who *who, const struct who_group *group, double *room)
{
	const struct phases_item *items = who->timeline->phases.items;
	uint32_t count = 0;
	double median;

	for (uint32_t i = group->first; i < group->end; i++)
		if (!items[who->order[i]].is_open)
			room[count++] = seconds_of(&items[who->order[i]]);
	sort_doubles(room, count);
	median = count > 0 ? robust_median(room, count) : 0;
	for (uint32_t i = group->first; i < group->end; i++) {
		const struct phases_item *item = &items[who->order[i]];

		if (item->is_open && seconds_of(item) > median)
			room[count++] = seconds_of(item);
	}
	return who_usual_of(room, count);
}

/* Can it have lost as much as that? */
static bool
may_be_long(
    const struct phases_item *item, const struct straggler_bounds *bounds)
{
	return item->end_ns - item->begin_ns > bounds->lost_ns;
}

bool
who_find(struct who *who, const struct phases_timeline *timeline,
    const struct straggler_bounds *bounds)
{
	double *room =
	    memory_zero((size_t)timeline->phases.count + 1, sizeof(*room));

	*who = (struct who){ .timeline = timeline };
	make_groups(who);
	for (uint32_t g = 0; g < who->group_count; g++) {
		struct who_group *group = &who->groups[g];

		group->usual = usual_of_group(who, group, room);
		for (uint32_t i = group->first; i < group->end; i++) {
			uint32_t item = who->order[i];

			if (group->usual.count > 0)
				judge(
				    who, g, item, &group->usual, false, bounds);
			else if (may_be_long(
				     &timeline->phases.items[item], bounds))
				who->not_judged++;
		}
	}
	free(room);
	return who->not_judged > 0;
}

/* ---- earlier starts ---- */

static struct who_usual
usual_of_node(const struct who *who, const struct earlier *earlier, uint32_t i)
{
	const struct phases_timeline *t = who->timeline;
	const struct phases_item *item = &t->phases.items[i];
	const struct earlier_time *first;
	uint32_t count =
	    earlier_find(earlier, t->phases.nodes.names[item->node],
		t->names.phases.names[item->phase],
		t->phases.keys.names[item->key], &first);
	struct who_usual usual;
	double *seconds;

	if (count < WHO_TIMES_MIN)
		return (struct who_usual){ .count = 0 };
	seconds = memory_zero(count, sizeof(*seconds));
	for (uint32_t k = 0; k < count; k++)
		seconds[k] = (double)(first[k].end_ns - first[k].begin_ns) /
			     NS_PER_SECOND;
	usual = who_usual_of(seconds, count);
	free(seconds);
	return usual;
}

void
who_find_by_history(struct who *who, const struct earlier *earlier,
    const struct straggler_bounds *bounds)
{
	for (uint32_t g = 0; g < who->group_count; g++) {
		const struct who_group *group = &who->groups[g];

		for (uint32_t i = group->first;
		     group->usual.count == 0 && i < group->end; i++) {
			uint32_t item = who->order[i];
			struct who_usual usual;

			if (!may_be_long(
				&who->timeline->phases.items[item], bounds))
				continue;
			usual = usual_of_node(who, earlier, item);
			who->not_judged -= usual.count > 0;
			judge(who, g, item, &usual, true, bounds);
		}
	}
}

/* ---- late begins ---- */

/* The first begin of each node with the first required phase; INT64_MAX: it
 * has none. */
static int64_t *
begins_of_nodes(const struct who *who, uint32_t *group)
{
	const struct phases_timeline *t = who->timeline;
	int64_t *begin_ns =
	    memory_zero((size_t)t->phases.nodes.count + 1, sizeof(*begin_ns));
	uint32_t number;

	for (uint32_t i = 0; i < t->phases.nodes.count; i++)
		begin_ns[i] = INT64_MAX;
	for (uint32_t g = 0; g < who->group_count; g++) {
		const struct who_group *at = &who->groups[g];
		const struct phases_item *first =
		    &t->phases.items[who->order[at->first]];

		if (!string_table_find(&t->names.begins,
			t->names.phases.names[first->phase], &number))
			continue;
		*group = g;
		for (uint32_t i = at->first; i < at->end; i++) {
			const struct phases_item *item =
			    &t->phases.items[who->order[i]];

			if (item->begin_ns < begin_ns[item->node])
				begin_ns[item->node] = item->begin_ns;
		}
	}
	return begin_ns;
}

void
who_find_late(struct who *who, int64_t start_ns)
{
	uint32_t nodes = who->timeline->phases.nodes.count, count = 0,
		 group = 0;
	int64_t *begin_ns = begins_of_nodes(who, &group);
	double *seconds = memory_zero((size_t)nodes + 1, sizeof(*seconds));
	double median, bound;

	for (uint32_t i = 0; i < nodes; i++)
		if (begin_ns[i] != INT64_MAX)
			seconds[count++] =
			    (double)(begin_ns[i] - start_ns) / NS_PER_SECOND;
	sort_doubles(seconds, count);
	median = count > 0 ? robust_median(seconds, count) : 0;
	bound = count > 0 ? robust_tukey(seconds, count) : 0;
	for (uint32_t i = 0; count >= WHO_TIMES_MIN && i < nodes; i++) {
		double late = (double)(begin_ns[i] - start_ns) / NS_PER_SECOND;

		if (begin_ns[i] == INT64_MAX || late <= bound ||
		    late - median <= WHO_LATE_SECONDS)
			continue;
		add(who, (struct who_suspect){ .item = WHO_NO_ITEM,
			     .node = i,
			     .group = group,
			     .time_ns = begin_ns[i] - start_ns,
			     .usual_ns = to_ns(median),
			     .of = count });
	}
	free(begin_ns);
	free(seconds);
}

/* ---- one in another ---- */

/* As the items are: what is around others comes before these. */
static int
by_node(const void *left, const void *right)
{
	const struct who_suspect *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* How far those inside reach that were seen: the farthest one, and the farthest
 * of another phase; NULL: none. */
struct reach {
	const struct phases_item *first, *other;
};

/* Does it end in one of another phase? */
static bool
is_reached(const struct reach *reach, const struct phases_item *item)
{
	const struct phases_item *around = reach->first;

	if (around != NULL && around->phase == item->phase)
		around = reach->other;
	return around != NULL && around->end_ns >= item->end_ns;
}

static void
widen(struct reach *reach, const struct phases_item *item)
{
	const struct phases_item *first = reach->first;

	if (first == NULL || item->end_ns > first->end_ns) {
		if (first != NULL && first->phase != item->phase)
			reach->other = first;
		reach->first = item;
	} else if (item->phase != first->phase &&
		   (reach->other == NULL ||
		       item->end_ns > reach->other->end_ns)) {
		reach->other = item;
	}
}

/* What those inside lost, without what is inside these. */
static int64_t
lost_inside(const struct who *who, uint32_t outer)
{
	const struct phases_item *items = who->timeline->phases.items;
	const struct phases_item *around = &items[who->at[outer].item];
	struct reach reach = { NULL, NULL };
	int64_t lost_ns = 0;

	for (uint32_t i = outer + 1;
	     i < who->count && who->at[i].item != WHO_NO_ITEM; i++) {
		const struct phases_item *item = &items[who->at[i].item];

		if (item->node != around->node ||
		    item->begin_ns > around->end_ns)
			break;
		if (item->phase == around->phase ||
		    item->end_ns > around->end_ns)
			continue;
		if (!is_reached(&reach, item))
			lost_ns += who->at[i].time_ns - who->at[i].usual_ns;
		widen(&reach, item);
	}
	return lost_ns;
}

void
who_drop_outer(struct who *who, const struct straggler_bounds *bounds)
{
	uint32_t kept = 0;

	if (who->count > 0)
		qsort(who->at, who->count, sizeof(*who->at), by_node);
	/* Only those behind one can be inside it: those are still there. */
	for (uint32_t i = 0; i < who->count; i++) {
		const struct who_suspect suspect = who->at[i];

		if (suspect.item == WHO_NO_ITEM ||
		    suspect.time_ns - suspect.usual_ns - lost_inside(who, i) >
			bounds->lost_ns)
			who->at[kept++] = suspect;
	}
	who->count = kept;
}

void
who_clear(struct who *who)
{
	free(who->order);
	free(who->groups);
	free(who->at);
	*who = (struct who){ .order = NULL };
}
