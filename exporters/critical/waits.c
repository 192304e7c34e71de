/*
 * critical_waits - what the phases of a start waited for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/waits.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/record/record.h"

/* ---- rules ---- */

static const struct {
	const char *word;
	uint8_t bit;
} words[] = { { "after", CRITICAL_AFTER },
	{ "after_any", CRITICAL_AFTER_ANY },
	{ "end_after", CRITICAL_END_AFTER } };

/* `names` are phases of the same model, a line each. */
static void
take_names(struct critical_rules *rules, const struct phases_names *all,
    struct text phase, uint32_t number, struct text names, uint8_t bit)
{
	struct text model = text_before(phase, ':'), name;
	char id[2 * NAME_BYTES_MAX + 2];
	uint32_t other;

	while (text_next_line(&names, &name)) {
		struct text whole = { id, model.bytes + 1 + name.bytes };

		if (whole.bytes > sizeof(id))
			continue;
		memcpy(id, model.at, model.bytes);
		id[model.bytes] = ':';
		memcpy(id + model.bytes + 1, name.at, name.bytes);
		if (!string_table_find(&all->phases, whole, &other))
			continue;
		rules->waits[number * rules->phases + other] |= bit;
		rules->any = true;
	}
}

static void
take_rules(struct critical_rules *rules, const struct phases_names *names,
    const struct record *record)
{
	struct value places, required;
	struct text text;
	uint32_t number;

	if (!string_table_find(&names->phases, record->name, &number))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (record_find_text(record, words[i].word, &text))
			take_names(rules, names, record->name, number, text,
			    words[i].bit);
	if (record_find_attribute(record, text_of("places"), &places) &&
	    places.type == VALUE_INT && places.is.i > 0 &&
	    places.is.i < UINT32_MAX)
		rules->places[number] = (uint32_t)places.is.i;
	rules->is_required[number] =
	    record_find_attribute(record, text_of("required"), &required) &&
	    required.type == VALUE_BOOL && required.is.boolean;
}

int
critical_rules_read(struct critical_rules *rules,
    const struct phases_names *names, struct source *source,
    struct text partition, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	uint32_t phases = names->phases.count;
	int rc;

	*rules = (struct critical_rules){ .phases = phases,
		.waits = memory_zero((size_t)phases * phases + 1, 1),
		.places =
		    memory_zero((size_t)phases + 1, sizeof(*rules->places)),
		.is_required = memory_zero(
		    (size_t)phases + 1, sizeof(*rules->is_required)) };
	if (source_select(source, SOURCE_STATS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			take_rules(rules, names, &record);
	return rc;
}

void
critical_rules_clear(struct critical_rules *rules)
{
	free(rules->waits);
	free(rules->places);
	free(rules->is_required);
}

/* ---- orders ---- */

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
		by = compare(a->end_ns, b->end_ns);
	if (by == 0)
		by = compare(a->phase, b->phase);
	if (by == 0)
		by = compare(a->node, b->node);
	return by != 0 ? by : compare(a->key, b->key);
}

/* What the orders compare before the end. */
enum order { BY_NODE, BY_NODE_KEY, BY_KEY };

static int
compare_groups(enum order order, const struct critical_item *a,
    const struct critical_item *b)
{
	int by = order == BY_KEY ? 0 : compare(a->node, b->node);

	if (by == 0)
		by = compare(a->phase, b->phase);
	if (by == 0 && order != BY_NODE)
		by = compare(a->key, b->key);
	return by;
}

struct sorting {
	const struct critical_item *at;
	enum order order;
};

static int
by_group(const void *left, const void *right, void *arg)
{
	const struct sorting *sorting = arg;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct critical_item *a = &sorting->at[i], *b = &sorting->at[j];
	int by = compare_groups(sorting->order, a, b);

	if (by == 0)
		by = compare(a->end_ns, b->end_ns);
	return by != 0 ? by : compare(i, j);
}

static uint32_t *
sort(const struct critical_waits *waits, enum order order)
{
	uint32_t *numbers =
	    memory_zero((size_t)waits->count + 1, sizeof(*numbers));
	struct sorting sorting = { waits->at, order };

	for (uint32_t i = 0; i < waits->count; i++)
		numbers[i] = i;
	qsort_r(numbers, waits->count, sizeof(*numbers), by_group, &sorting);
	return numbers;
}

/* How many of an order come before the end `end_ns` of number `i` in the group
 * of `like`. */
static uint32_t
place_of(const struct critical_waits *waits, const uint32_t *numbers,
    enum order order, const struct critical_item *like, int64_t end_ns,
    uint32_t i)
{
	uint32_t low = 0, high = waits->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct critical_item *item = &waits->at[numbers[middle]];
		int by = compare_groups(order, item, like);

		if (by == 0)
			by = compare(item->end_ns, end_ns);
		if (by == 0)
			by = compare(numbers[middle], i);
		if (by < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last one of the group that ended before number `i` began; CRITICAL_NONE:
 * there is none. */
static uint32_t
last_before(const struct critical_waits *waits, const uint32_t *numbers,
    enum order order, const struct critical_item *like, uint32_t i)
{
	uint32_t place = place_of(
	    waits, numbers, order, like, waits->at[i].begin_ns, i);

	if (place == 0 ||
	    compare_groups(order, &waits->at[numbers[place - 1]], like) != 0)
		return CRITICAL_NONE;
	return numbers[place - 1];
}

/* ---- causes ---- */

static void
offer(struct critical_item *item, enum critical_cause cause, uint32_t by,
    int64_t at_ns)
{
	if (by == CRITICAL_NONE ||
	    (item->by != CRITICAL_NONE && at_ns <= item->could_ns))
		return;
	item->cause = cause;
	item->by = by;
	item->could_ns = at_ns;
}

static void
offer_end(struct critical_waits *waits, uint32_t i, uint32_t by)
{
	if (by != CRITICAL_NONE)
		offer(&waits->at[i], CRITICAL_BY_PHASE, by,
		    waits->at[by].end_ns);
}

/* A phase without a key is after all keys, one with a key after those of it and
 * those that have none. */
static void
find_after(struct critical_waits *waits, uint32_t i, uint32_t phase)
{
	struct critical_item like = waits->at[i];

	like.phase = phase;
	if (like.key == waits->key_of_none) {
		offer_end(waits, i,
		    last_before(waits, waits->by_node, BY_NODE, &like, i));
		return;
	}
	offer_end(waits, i,
	    last_before(waits, waits->by_node_key, BY_NODE_KEY, &like, i));
	like.key = waits->key_of_none;
	offer_end(waits, i,
	    last_before(waits, waits->by_node_key, BY_NODE_KEY, &like, i));
}

static void
find_after_any(struct critical_waits *waits, uint32_t i, uint32_t phase)
{
	struct critical_item like = waits->at[i];
	uint32_t first;

	like.phase = phase;
	first = place_of(waits, waits->by_key, BY_KEY, &like, INT64_MIN, 0);
	if (first == waits->count)
		return;
	first = waits->by_key[first];
	if (compare_groups(BY_KEY, &waits->at[first], &like) == 0 &&
	    first < i && waits->at[first].end_ns <= waits->at[i].begin_ns)
		offer_end(waits, i, first);
}

/* Those of one phase do not overlap on a node, so the first that ends later is
 * the one to look at. */
static void
find_outer(struct critical_waits *waits, uint32_t i, uint32_t phase)
{
	struct critical_item *item = &waits->at[i], like = *item, *outer;
	uint32_t number;

	like.phase = phase;
	number = place_of(
	    waits, waits->by_node, BY_NODE, &like, item->end_ns, 0);
	if (number == waits->count)
		return;
	number = waits->by_node[number];
	outer = &waits->at[number];
	if (number >= i || compare_groups(BY_NODE, outer, &like) != 0 ||
	    outer->begin_ns > item->begin_ns)
		return;
	if (item->outer == CRITICAL_NONE ||
	    waits->at[item->outer].begin_ns < outer->begin_ns)
		item->outer = number;
}

static void
find_causes(struct critical_waits *waits, const struct critical_rules *rules,
    uint32_t i)
{
	struct critical_item *item = &waits->at[i], *outer;
	const uint8_t *of =
	    &rules->waits[(size_t)item->phase * rules->phases];

	for (uint32_t phase = 0; phase < rules->phases; phase++) {
		if (of[phase] & CRITICAL_AFTER)
			find_after(waits, i, phase);
		if (of[phase] & CRITICAL_AFTER_ANY)
			find_after_any(waits, i, phase);
		if (rules->waits[(size_t)phase * rules->phases + item->phase] &
		    CRITICAL_END_AFTER)
			find_outer(waits, i, phase);
	}
	if (item->outer == CRITICAL_NONE)
		return;
	offer(item, CRITICAL_BY_OUTER, item->outer,
	    waits->at[item->outer].begin_ns);
	outer = &waits->at[item->outer];
	if (outer->inner == CRITICAL_NONE ||
	    waits->at[outer->inner].end_ns <= item->end_ns)
		outer->inner = i;
}

/* ---- places ---- */

/* Those that had a place and have not passed it on: a heap by end. */
struct holders {
	uint32_t *at;
	uint32_t count;
};

static bool
is_sooner(const struct critical_waits *waits, uint32_t a, uint32_t b)
{
	int by = compare(waits->at[a].end_ns, waits->at[b].end_ns);

	return by < 0 || (by == 0 && a < b);
}

static void
push(const struct critical_waits *waits, struct holders *holders, uint32_t i)
{
	uint32_t at = holders->count++;

	while (at > 0 && is_sooner(waits, i, holders->at[(at - 1) / 2])) {
		holders->at[at] = holders->at[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	holders->at[at] = i;
}

static void
pop(const struct critical_waits *waits, struct holders *holders)
{
	uint32_t last = holders->at[--holders->count], at = 0, child;

	while ((child = 2 * at + 1) < holders->count) {
		if (child + 1 < holders->count &&
		    is_sooner(
			waits, holders->at[child + 1], holders->at[child]))
			child++;
		if (!is_sooner(waits, holders->at[child], last))
			break;
		holders->at[at] = holders->at[child];
		at = child;
	}
	holders->at[at] = last;
}

/* One that began though none was free has a place of its own from then on. */
static void
take_place(struct critical_waits *waits, struct holders *holders,
    uint32_t places, uint32_t i)
{
	struct critical_item *item = &waits->at[i];

	if (holders->count >= places) {
		uint32_t holder = holders->at[0];

		if (waits->at[holder].end_ns <= item->begin_ns) {
			offer(item, CRITICAL_BY_PLACE, holder,
			    waits->at[holder].end_ns);
			pop(waits, holders);
		} else {
			waits->over++;
		}
	}
	push(waits, holders, i);
}

static int
by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return compare(*a, *b);
}

/* The group [first, end) of by_key, in the order of begin. */
static void
share_places(struct critical_waits *waits, uint32_t first, uint32_t end,
    uint32_t places)
{
	uint32_t count = end - first;
	uint32_t *numbers = memory_copy(
	    &waits->by_key[first], count * sizeof(*waits->by_key));
	struct holders holders = { .at = memory_zero(
				       (size_t)count + 1, sizeof(uint32_t)) };

	qsort(numbers, count, sizeof(*numbers), by_number);
	for (uint32_t i = 0; i < count; i++)
		take_place(waits, &holders, places, numbers[i]);
	free(holders.at);
	free(numbers);
}

static void
find_places(
    struct critical_waits *waits, const struct critical_rules *rules)
{
	uint32_t end;

	for (uint32_t i = 0; i < waits->count; i = end) {
		const struct critical_item *item =
		    &waits->at[waits->by_key[i]];

		for (end = i + 1; end < waits->count; end++)
			if (compare_groups(BY_KEY, item,
				&waits->at[waits->by_key[end]]) != 0)
				break;
		if (rules->places[item->phase] > 0)
			share_places(
			    waits, i, end, rules->places[item->phase]);
	}
}

/* ---- all ---- */

static void
take_items(struct critical_waits *waits, const struct phases_read *phases)
{
	waits->at = memory_zero((size_t)phases->count + 1, sizeof(*waits->at));
	for (uint32_t i = 0; i < phases->count; i++) {
		const struct phases_item *item = &phases->items[i];

		if (item->is_open)
			continue;
		waits->at[waits->count++] =
		    (struct critical_item){ .begin_ns = item->begin_ns,
			    .end_ns = item->end_ns,
			    .node = item->node,
			    .phase = item->phase,
			    .key = item->key,
			    .by = CRITICAL_NONE,
			    .could_ns = item->begin_ns,
			    .inner = CRITICAL_NONE,
			    .outer = CRITICAL_NONE };
	}
	if (waits->count > 0)
		qsort(waits->at, waits->count, sizeof(*waits->at), by_time);
	if (!string_table_find(&phases->keys, (struct text){ NULL, 0 },
		&waits->key_of_none))
		waits->key_of_none = CRITICAL_NONE;
}

void
critical_waits_find(struct critical_waits *waits,
    const struct phases_read *phases, const struct critical_rules *rules)
{
	*waits = (struct critical_waits){ .at = NULL };
	take_items(waits, phases);
	waits->by_node = sort(waits, BY_NODE);
	waits->by_node_key = sort(waits, BY_NODE_KEY);
	waits->by_key = sort(waits, BY_KEY);
	for (uint32_t i = 0; i < waits->count; i++)
		find_causes(waits, rules, i);
	find_places(waits, rules);
}

void
critical_waits_clear(struct critical_waits *waits)
{
	free(waits->at);
	free(waits->by_node);
	free(waits->by_node_key);
	free(waits->by_key);
}
