/*
 * stragglers_earlier - what phases took on each node in earlier starts.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/earlier.h"

#include <stdlib.h>

#include "exporters/phases/usual.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"

void
earlier_init(struct earlier *earlier)
{
	*earlier = (struct earlier){ .at = NULL };
	string_table_init(&earlier->nodes);
	string_table_init(&earlier->phases);
	string_table_init(&earlier->keys);
}

void
earlier_clear(struct earlier *earlier)
{
	free(earlier->at);
	string_table_clear(&earlier->nodes);
	string_table_clear(&earlier->phases);
	string_table_clear(&earlier->keys);
	*earlier = (struct earlier){ .at = NULL };
}

static void
add(struct earlier *earlier, struct text node, struct text phase,
    struct text key, int64_t begin_ns, int64_t end_ns)
{
	*MEMORY_ADD(earlier->at, earlier->room, earlier->count) =
	    (struct earlier_time){ string_table_add(&earlier->nodes, node),
		    string_table_add(&earlier->phases, phase),
		    string_table_add(&earlier->keys, key), begin_ns, end_ns };
}

static int
compare(const void *left, const void *right)
{
	const struct earlier_time *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

uint32_t
earlier_find(const struct earlier *earlier, struct text node, struct text phase,
    struct text key, const struct earlier_time **first)
{
	struct earlier_time wanted = { .node = 0 };
	uint32_t low, end;

	if (earlier->count == 0 ||
	    !string_table_find(&earlier->nodes, node, &wanted.node) ||
	    !string_table_find(&earlier->phases, phase, &wanted.phase) ||
	    !string_table_find(&earlier->keys, key, &wanted.key))
		return 0;
	low = LOWER_BOUND(
	    i, 0, earlier->count, compare(&earlier->at[i], &wanted) < 0);
	*first = &earlier->at[low];
	for (end = low;
	     end < earlier->count && compare(&earlier->at[end], &wanted) == 0;)
		end++;
	return end - low;
}

int
earlier_read(struct earlier *earlier, struct source *source,
    struct text partition, const char *model, int64_t before_ns,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct phases_timeline t = { .open = 0 };
	struct usual_starts starts;

	if (usual_starts_read(&starts, source, partition, before_ns, err) != 0)
		return -1;
	query.from_ns = starts.count > 0 ? starts.begin_ns[0] : TIME_MIN_NS;
	query.to_ns = before_ns;
	if (query.from_ns >= query.to_ns)
		return 0;
	if (phases_timeline_read(
		&t, source, partition, &query, NULL, model, err) == 0) {
		for (uint32_t i = 0; i < t.phases.count; i++) {
			const struct phases_item *item = &t.phases.items[i];

			if (!item->is_open)
				add(earlier, t.phases.nodes.names[item->node],
				    t.names.phases.names[item->phase],
				    t.phases.keys.names[item->key],
				    item->begin_ns, item->end_ns);
		}
	} else if (source_has_failed(source)) {
		phases_timeline_clear(&t);
		return -1;
	} else {
		err_clear(err);
	}
	phases_timeline_clear(&t);
	if (earlier->count > 0)
		qsort(
		    earlier->at, earlier->count, sizeof(*earlier->at), compare);
	return 0;
}
