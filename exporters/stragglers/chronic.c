/*
 * stragglers_chronic - the nodes that are slow in more starts than chance has
 * it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/chronic.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/phases/timeline.h"
#include "exporters/stragglers/who.h"
#include "proto/base/memory.h"

enum { NODES_AT_ONCE = 2000 }; /* that began, of all starts of a reading */

/* ---- chances ---- */

/* Place i has the chance that i came so far, the last one that of all more. */
double
chronic_tail(const double *chances, uint32_t count, uint32_t least)
{
	double *of = memory_zero((size_t)least + 1, sizeof(*of));
	double tail;

	of[0] = 1;
	for (uint32_t i = 0; i < count; i++) {
		double chance = fmin(fmax(chances[i], 0), 1);

		if (least > 0)
			of[least] += of[least - 1] * chance;
		for (uint32_t k = least; k-- > 0;)
			of[k] = of[k] * (1 - chance) +
				(k > 0 ? of[k - 1] * chance : 0);
	}
	tail = of[least];
	free(of);
	return tail;
}

/* How many nodes were there, and slow, in a start. */
struct seen {
	uint32_t nodes, slow;
};

static double
share_of(struct seen others, double more)
{
	return (others.slow + more) / (others.nodes + more);
}

static void
judge_node(struct chronic_node *node, uint32_t count, const unsigned char *was,
    const struct seen *seen, uint32_t starts, struct seen all)
{
	double *chances = memory_zero((size_t)starts + 1, sizeof(*chances));
	uint32_t known = 0;
	double share;

	all.nodes -= node->starts;
	all.slow -= node->slow;
	share = share_of(all, 1);
	for (uint32_t s = 0; s < starts; s++) {
		struct seen others = seen[s];

		if (was[s] == CHRONIC_ABSENT)
			continue;
		others.nodes--;
		others.slow -= was[s] == CHRONIC_SLOW;
		chances[known++] =
		    others.nodes > 0 ? fmax(share, share_of(others, 0)) : share;
	}
	node->chance = chronic_tail(chances, known, node->slow);
	node->is_chronic = node->slow >= CHRONIC_STARTS_MIN &&
			   node->chance < CHRONIC_CHANCE &&
			   node->chance * count < CHRONIC_CHANCE_OF_POOL;
	free(chances);
}

void
chronic_judge(struct chronic_node *nodes, uint32_t count,
    const unsigned char *was, uint32_t starts)
{
	struct seen *seen = memory_zero((size_t)starts + 1, sizeof(*seen));
	struct seen all = { 0, 0 };

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t s = 0; s < starts; s++) {
			unsigned char mark = was[(size_t)i * starts + s];

			seen[s].nodes += mark != CHRONIC_ABSENT;
			seen[s].slow += mark == CHRONIC_SLOW;
			nodes[i].starts += mark != CHRONIC_ABSENT;
			nodes[i].slow += mark == CHRONIC_SLOW;
		}
	for (uint32_t s = 0; s < starts; s++) {
		all.nodes += seen[s].nodes;
		all.slow += seen[s].slow;
	}
	for (uint32_t i = 0; i < count; i++)
		judge_node(&nodes[i], count, was + (size_t)i * starts, seen,
		    starts, all);
	free(seen);
}

/* ---- starts ---- */

/* Who was slow in a start. */
struct mark {
	uint32_t node, start;
	bool is_slow;
};

struct marks {
	struct mark *at;
	uint32_t count, room;
};

static uint32_t
node_of(struct chronic *chronic, struct text name)
{
	uint32_t number = string_table_add(&chronic->nodes, name);

	MEMORY_GROW_ZERO(chronic->at, chronic->room, number);
	return number;
}

static void
add_mark(struct marks *marks, uint32_t node, uint32_t start, bool is_slow)
{
	*MEMORY_ADD(marks->at, marks->room, marks->count) =
	    (struct mark){ node, start, is_slow };
}

/* Were there enough nodes to compare one with?  Else none was seen to be slow,
 * and none to be well. */
static bool
is_judged(const struct who *who, uint32_t nodes)
{
	for (uint32_t i = 0; i < who->group_count; i++)
		if (who->groups[i].usual.count > 0)
			return true;
	return nodes >= WHO_TIMES_MIN;
}

/* Only the nodes of the start are compared: what they did in earlier ones is
 * what is asked here. */
static void
take_start(struct chronic *chronic, struct marks *marks,
    const struct phases_timeline *t, int64_t start_ns,
    const struct straggler_bounds *bounds)
{
	const struct phases_read *phases = &t->phases;
	uint32_t nodes = 0;
	struct who who;

	for (uint32_t i = 0; i < phases->count; i = phases_share_end(phases, i))
		nodes++;
	(void)who_find(&who, t, bounds);
	if (!is_judged(&who, nodes)) {
		who_clear(&who);
		return;
	}
	who_find_late(&who, start_ns);
	who_drop_outer(&who, bounds);
	for (uint32_t i = 0; i < phases->count; i = phases_share_end(phases, i))
		add_mark(marks,
		    node_of(
			chronic, phases->nodes.names[phases->items[i].node]),
		    chronic->starts, false);
	for (uint32_t i = 0; i < who.count; i++) {
		uint32_t node =
		    node_of(chronic, t->phases.nodes.names[who.at[i].node]);

		add_mark(marks, node, chronic->starts, true);
		chronic->at[node].lost_ns +=
		    who.at[i].time_ns - who.at[i].usual_ns;
	}
	who_clear(&who);
	chronic->starts++;
}

static int64_t
end_of(const struct chronic_query *query, uint32_t start)
{
	return start + 1 < query->starts->count
		   ? query->starts->at[start + 1].begin_ns
		   : query->to_ns;
}

/* What began in this start, of a timeline of several: as if it had been read
 * alone. */
static void
take_one(struct chronic *chronic, struct marks *marks,
    const struct phases_timeline *all, const struct chronic_query *query,
    uint32_t start)
{
	int64_t from_ns = query->starts->at[start].begin_ns,
		to_ns = end_of(query, start);
	struct phases_timeline t = *all;

	t.phases.count = 0;
	t.phases.items =
	    memory_zero((size_t)all->phases.count + 1, sizeof(*t.phases.items));
	for (uint32_t i = 0; i < all->phases.count; i++) {
		struct phases_item item = all->phases.items[i];

		if (item.begin_ns < from_ns || item.begin_ns >= to_ns)
			continue;
		if (item.is_open && item.end_ns > to_ns)
			item.end_ns = to_ns;
		t.phases.items[t.phases.count++] = item;
	}
	phases_read_sort(&t.phases);
	if (t.phases.count > 0)
		take_start(chronic, marks, &t, from_ns, &query->bounds);
	free(t.phases.items);
}

/* From `first` on to before the start that is returned: to find where a time
 * begins costs more than what many small starts have. */
static uint32_t
get_end(const struct starts *starts, uint32_t first)
{
	uint32_t end = first + 1, nodes = starts->at[first].nodes;

	while (end < starts->count &&
	       nodes + starts->at[end].nodes <= NODES_AT_ONCE)
		nodes += starts->at[end++].nodes;
	return end;
}

static int
read_starts(struct chronic *chronic, struct marks *marks, struct source *source,
    const struct chronic_query *query, uint32_t first, uint32_t end,
    struct err *err)
{
	struct wire_query phases = source_query(1u << RECORD_PHASE);
	struct phases_timeline t = { .open = 0 };
	int rc;

	phases.from_ns = query->starts->at[first].begin_ns;
	phases.to_ns = end_of(query, end - 1);
	rc = phases_timeline_read(
	    &t, source, query->partition, &phases, NULL, query->model, err);
	for (uint32_t i = first; rc == 0 && i < end; i++)
		take_one(chronic, marks, &t, query, i);
	phases_timeline_clear(&t);
	if (rc == 0 || source_has_failed(source))
		return rc;
	err_clear(err); /* that nothing was done in these is an answer */
	return 0;
}

int
chronic_read(struct chronic *chronic, struct source *source,
    const struct chronic_query *query, struct err *err)
{
	struct marks marks = { .at = NULL };
	unsigned char *was;
	uint32_t first = 0, end;
	int rc = 0;

	*chronic = (struct chronic){ .at = NULL };
	string_table_init(&chronic->nodes);
	while (first < query->starts->count &&
	       query->starts->at[first].begin_ns < query->from_ns)
		first++;
	for (; rc == 0 && first < query->starts->count; first = end) {
		end = get_end(query->starts, first);
		rc = read_starts(
		    chronic, &marks, source, query, first, end, err);
	}
	was =
	    memory_zero((size_t)chronic->nodes.count * chronic->starts + 1, 1);
	for (uint32_t i = 0; i < marks.count; i++) {
		const struct mark *mark = &marks.at[i];
		unsigned char *of =
		    &was[(size_t)mark->node * chronic->starts + mark->start];

		if (*of != CHRONIC_SLOW)
			*of = mark->is_slow ? CHRONIC_SLOW : CHRONIC_WELL;
	}
	chronic_judge(chronic->at, chronic->nodes.count, was, chronic->starts);
	free(was);
	free(marks.at);
	return rc;
}

void
chronic_clear(struct chronic *chronic)
{
	free(chronic->at);
	string_table_clear(&chronic->nodes);
	*chronic = (struct chronic){ .at = NULL };
}
