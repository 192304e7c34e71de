/*
 * critical_waits - what the phases of a start wait for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/waits.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static int
compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
by_time(const void *left, const void *right)
{
	const struct critical_item *a = left, *b = right;
	int by = compare(a->begin_ns, b->begin_ns);

	if (by == 0)
		by = compare(a->phase, b->phase);
	if (by == 0)
		by = compare(a->end_ns, b->end_ns);
	if (by == 0)
		by = compare(a->node, b->node);
	return by != 0 ? by : compare(a->key, b->key);
}

/* ---- groups ---- */

static int
compare_groups(enum critical_group by, const struct critical_item *a,
    const struct critical_item *b)
{
	int sign = by == CRITICAL_KEY ? 0 : compare(a->node, b->node);

	if (sign == 0)
		sign = compare(a->phase, b->phase);
	if (sign == 0 && by != CRITICAL_NODE)
		sign = compare(a->key, b->key);
	return sign;
}

/* Of one time, what lies in another comes before it, and what has no length
 * last. */
static int
by_end(const void *left, const void *right, void *arg)
{
	const struct critical_item *at = arg;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct critical_item *a = &at[i], *b = &at[j];
	bool a_lasts = a->begin_ns < a->end_ns,
	     b_lasts = b->begin_ns < b->end_ns;
	int sign = compare(a->end_ns, b->end_ns);

	if (sign == 0)
		sign = b_lasts - a_lasts;
	if (sign == 0)
		sign = a_lasts ? compare(j, i) : compare(i, j);
	return sign;
}

static uint32_t *
sort_ends(const struct critical_waits *waits)
{
	uint32_t *numbers =
	    memory_zero((size_t)waits->count + 1, sizeof(*numbers));

	for (uint32_t i = 0; i < waits->count; i++)
		numbers[i] = i;
	qsort_r(numbers, waits->count, sizeof(*numbers), by_end, waits->at);
	return numbers;
}

/* The parts of a group, the least first. */
enum part { BY_KEY, BY_PHASE, BY_NODE };

static uint32_t
part_of(const struct critical_item *item, enum part part)
{
	return part == BY_KEY     ? item->key
	       : part == BY_PHASE ? item->phase
				  : item->node;
}

/* Items of one part keep their order; `begins` gets where each part begins, and
 * after the last one the count. */
static void
sort_part(const struct critical_waits *waits, uint32_t *numbers, enum part part,
    uint32_t parts, uint32_t *begins)
{
	uint32_t *to =
	    memory_copy(numbers, ((size_t)waits->count + 1) * sizeof(*to));

	memset(begins, 0, ((size_t)parts + 2) * sizeof(*begins));
	for (uint32_t i = 0; i < waits->count; i++)
		begins[part_of(&waits->at[i], part) + 2]++;
	for (uint32_t i = 2; i < parts + 2; i++)
		begins[i] += begins[i - 1];
	for (uint32_t i = 0; i < waits->count; i++)
		numbers[begins[part_of(&waits->at[to[i]], part) + 1]++] = to[i];
	free(to);
}

/* Numbers the groups of an order. */
static void
number_groups(struct critical_waits *waits, const uint32_t *numbers,
    enum critical_group by)
{
	uint32_t group = 0;

	for (uint32_t i = 0; i < waits->count; i++) {
		struct critical_item *item = &waits->at[numbers[i]];

		if (i > 0 &&
		    compare_groups(by, &waits->at[numbers[i - 1]], item) != 0)
			group++;
		item->group[by] = group;
	}
	waits->groups[by] = waits->count > 0 ? group + 1 : 0;
}

struct finding {
	struct critical_waits *waits;
	uint32_t *numbers[CRITICAL_GROUPS];
	/* Where the items of each node begin in that order, or, of
	 * CRITICAL_KEY, those of each phase. */
	uint32_t *begins[CRITICAL_GROUPS];
	uint32_t key_of_none;
	int64_t *least_ns; /* least_begins */
};

/* From the order of ends, so that of a group they are in that order. */
static void
sort_groups(struct finding *finding, uint32_t phases, uint32_t keys)
{
	static const bool has[CRITICAL_GROUPS][BY_NODE + 1] = {
		[CRITICAL_NODE] = { false, true, true },
		[CRITICAL_NODE_KEY] = { true, true, true },
		[CRITICAL_KEY] = { true, true, false },
	};
	const struct critical_waits *waits = finding->waits;
	const uint32_t parts[] = { keys, phases, waits->nodes };
	size_t bytes = ((size_t)waits->count + 1) * sizeof(*waits->ends);

	for (int by = 0; by < CRITICAL_GROUPS; by++) {
		uint32_t *begins = NULL;

		finding->numbers[by] = memory_copy(waits->ends, bytes);
		for (int part = BY_KEY; part <= BY_NODE; part++) {
			if (!has[by][part])
				continue;
			free(begins);
			begins = memory_zero(
			    (size_t)parts[part] + 2, sizeof(*begins));
			sort_part(waits, finding->numbers[by], (enum part)part,
			    parts[part], begins);
		}
		finding->begins[by] = begins;
	}
}

/* The first place in an order whose item is not before this end in the group of
 * `like`. */
static uint32_t
place_of(const struct finding *finding, enum critical_group by,
    const struct critical_item *like, int64_t end_ns)
{
	const struct critical_waits *waits = finding->waits;
	const uint32_t *numbers = finding->numbers[by];
	const uint32_t *begins =
	    &finding->begins[by][by == CRITICAL_KEY ? like->phase : like->node];
	uint32_t low = begins[0], high = begins[1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct critical_item *item = &waits->at[numbers[middle]];
		int sign = compare_groups(by, item, like);

		if (sign < 0 || (sign == 0 && item->end_ns < end_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- what a phase waits for ---- */

/* Phase `i` waits for the group of `like`, if there is one. */
static void
add_dep(struct finding *finding, uint32_t i, enum critical_group by,
    const struct critical_item *like)
{
	struct critical_waits *waits = finding->waits;
	const uint32_t *numbers = finding->numbers[by];
	uint32_t at = place_of(finding, by, like, INT64_MIN);
	const struct critical_item *found;

	if (at == waits->count)
		return;
	found = &waits->at[numbers[at]];
	if (compare_groups(by, found, like) != 0)
		return;
	*MEMORY_ADD(waits->dep, waits->dep_room, waits->dep_count) =
	    (struct critical_dep){ found->group[by], by };
	waits->at[i].dep_count++;
}

/* A phase without a key is after those of all keys, one with a key after those
 * of it and those that have none. */
static void
add_after(struct finding *finding, uint32_t i, uint32_t phase)
{
	struct critical_item like = finding->waits->at[i];

	like.phase = phase;
	if (like.key == finding->key_of_none) {
		add_dep(finding, i, CRITICAL_NODE, &like);
		return;
	}
	add_dep(finding, i, CRITICAL_NODE_KEY, &like);
	like.key = finding->key_of_none;
	add_dep(finding, i, CRITICAL_NODE_KEY, &like);
}

/* The least begin of those of the same node and phase that end as late, by
 * place in the order of CRITICAL_NODE. */
static int64_t *
least_begins(const struct finding *finding)
{
	const struct critical_waits *waits = finding->waits;
	const uint32_t *numbers = finding->numbers[CRITICAL_NODE];
	int64_t *least_ns =
	    memory_zero((size_t)waits->count + 1, sizeof(*least_ns));

	for (uint32_t i = waits->count; i-- > 0;) {
		const struct critical_item *item = &waits->at[numbers[i]];

		least_ns[i] = item->begin_ns;
		if (i + 1 < waits->count && least_ns[i + 1] < least_ns[i] &&
		    compare_groups(
			CRITICAL_NODE, &waits->at[numbers[i + 1]], item) == 0)
			least_ns[i] = least_ns[i + 1];
	}
	return least_ns;
}

/* Of those that end as late, the one that began last before it; where phases
 * of one name do not overlap on a node, it is the first. */
static void
find_outer(struct finding *finding, uint32_t i, uint32_t phase)
{
	struct critical_waits *waits = finding->waits;
	const uint32_t *numbers = finding->numbers[CRITICAL_NODE];
	struct critical_item *item = &waits->at[i], like = *item;
	uint32_t at;

	like.phase = phase;
	at = place_of(finding, CRITICAL_NODE, &like, item->end_ns);
	for (; at < waits->count && finding->least_ns[at] <= item->begin_ns;
	     at++) {
		const struct critical_item *outer = &waits->at[numbers[at]];

		if (compare_groups(CRITICAL_NODE, outer, &like) != 0)
			return;
		if (numbers[at] < i && outer->begin_ns <= item->begin_ns &&
		    item->begin_ns < outer->end_ns &&
		    (item->outer == CRITICAL_NONE ||
			waits->at[item->outer].begin_ns < outer->begin_ns))
			item->outer = numbers[at];
	}
}

static void
find_deps(struct finding *finding, uint32_t i)
{
	const struct critical_rules *rules = finding->waits->rules;
	struct critical_item *item = &finding->waits->at[i], like = *item;

	item->deps = finding->waits->dep_count;
	for (uint32_t phase = 0; phase < rules->phases; phase++) {
		like.phase = phase;
		if (critical_rules_say(
			rules, item->phase, CRITICAL_AFTER, phase))
			add_after(finding, i, phase);
		if (critical_rules_say(
			rules, item->phase, CRITICAL_AFTER_ANY, phase))
			add_dep(finding, i, CRITICAL_KEY, &like);
		if (critical_rules_say(
			rules, phase, CRITICAL_END_AFTER, item->phase))
			find_outer(finding, i, phase);
	}
}

/* ---- nodes ---- */

/* When the node of each phase began: the last begin of its first phase, or, if
 * there is none, the phase itself. */
static void
find_begins(struct critical_waits *waits)
{
	int64_t *begin_ns =
	    memory_zero((size_t)waits->nodes + 1, sizeof(*begin_ns));

	for (uint32_t i = 0; i < waits->nodes; i++)
		begin_ns[i] = INT64_MIN;
	for (uint32_t i = 0; i < waits->count; i++) {
		struct critical_item *item = &waits->at[i];

		if (item->phase == waits->rules->first)
			begin_ns[item->node] = item->begin_ns;
		item->node_ns = begin_ns[item->node] == INT64_MIN
				    ? item->begin_ns
				    : begin_ns[item->node];
	}
	free(begin_ns);
}

/* A node since its last begin, while the ends of its phases are looked at. */
struct node {
	uint32_t lacking; /* required phases that have not ended */
	uint32_t ended;   /* the last one that has; CRITICAL_NONE */
	bool is_ready;
};

/* The first end of a required phase since its node began. */
static void
take_end(struct critical_waits *waits, struct node *node, uint32_t *before,
    uint32_t i)
{
	for (uint32_t j = node->ended; j != CRITICAL_NONE; j = before[j])
		if (waits->at[j].phase == waits->at[i].phase)
			return;
	before[i] = node->ended;
	node->ended = i;
	if (--node->lacking > 0)
		return;
	node->is_ready = true;
	for (uint32_t j = i; j != CRITICAL_NONE; j = before[j])
		waits->at[j].is_final = true;
}

/* The phases that make each node ready, as exporters/source/starts.h says. */
static void
find_finals(struct critical_waits *waits)
{
	const struct critical_rules *rules = waits->rules;
	uint32_t *before =
	    memory_zero((size_t)waits->count + 1, sizeof(*before));
	struct node *nodes =
	    memory_zero((size_t)waits->nodes + 1, sizeof(*nodes));
	uint32_t begun = 0;

	for (uint32_t i = 0; i < waits->count; i++) {
		uint32_t number = waits->ends[i];
		const struct critical_item *item = &waits->at[number];

		for (; begun < waits->count; begun++) {
			const struct critical_item *first = &waits->at[begun];
			struct node *node = &nodes[first->node];

			if (first->begin_ns > item->end_ns ||
			    (first->begin_ns == item->end_ns &&
				item->begin_ns < item->end_ns))
				break;
			if (first->phase == rules->first && !node->is_ready)
				*node = (struct node){ rules->required,
					CRITICAL_NONE, false };
		}
		if (rules->is_required[item->phase] &&
		    nodes[item->node].lacking > 0 &&
		    !nodes[item->node].is_ready)
			take_end(waits, &nodes[item->node], before, number);
	}
	free(before);
	free(nodes);
}

/* ---- all ---- */

int64_t
critical_waits_end(const struct critical_rules *rules, uint32_t phase,
    int64_t end_ns, int64_t ended_ns)
{
	return rules->is_required[phase] ? ended_ns : end_ns;
}

static void
take_items(struct critical_waits *waits, const struct phases_read *phases)
{
	waits->nodes = phases->nodes.count;
	waits->at = memory_zero((size_t)phases->count + 1, sizeof(*waits->at));
	for (uint32_t i = 0; i < phases->count; i++) {
		const struct phases_item *item = &phases->items[i];

		if (item->is_open)
			continue;
		waits->at[waits->count++] =
		    (struct critical_item){ .begin_ns = item->begin_ns,
			    .end_ns = critical_waits_end(waits->rules,
				item->phase, item->end_ns, item->ended_ns),
			    .node = item->node,
			    .phase = item->phase,
			    .key = item->key,
			    .outer = CRITICAL_NONE };
	}
	qsort(waits->at, waits->count, sizeof(*waits->at), by_time);
}

void
critical_waits_find(struct critical_waits *waits,
    const struct phases_read *phases, const struct critical_rules *rules)
{
	struct finding finding = { .waits = waits };

	*waits = (struct critical_waits){ .rules = rules };
	take_items(waits, phases);
	if (!string_table_find(
		&phases->keys, (struct text){ NULL, 0 }, &finding.key_of_none))
		finding.key_of_none = CRITICAL_NONE;
	waits->ends = sort_ends(waits);
	sort_groups(&finding, rules->phases, phases->keys.count);
	for (int by = 0; by < CRITICAL_GROUPS; by++)
		number_groups(
		    waits, finding.numbers[by], (enum critical_group)by);
	finding.least_ns = least_begins(&finding);
	waits->places = memory_zero(
	    (size_t)waits->groups[CRITICAL_KEY] + 1, sizeof(*waits->places));
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];

		waits->places[item->group[CRITICAL_KEY]] =
		    rules->places[item->phase];
		find_deps(&finding, i);
	}
	find_begins(waits);
	find_finals(waits);
	for (int by = 0; by < CRITICAL_GROUPS; by++) {
		free(finding.numbers[by]);
		free(finding.begins[by]);
	}
	free(finding.least_ns);
}

uint32_t
critical_waits_number(
    const struct critical_waits *waits, const struct critical_item *like)
{
	const struct critical_item *found =
	    waits->count == 0 ? NULL
			      : bsearch(like, waits->at, waits->count,
				    sizeof(*like), by_time);

	return found == NULL ? CRITICAL_NONE : (uint32_t)(found - waits->at);
}

void
critical_waits_clear(struct critical_waits *waits)
{
	free(waits->at);
	free(waits->ends);
	free(waits->places);
	free(waits->dep);
}
