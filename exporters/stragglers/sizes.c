/*
 * stragglers_sizes - how many bytes phases moved, as their events say.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/sizes.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/critical/bytes.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"

/* The first item of a node from this begin on. */
static uint32_t
first_of(const struct phases_read *phases, uint32_t node, int64_t begin_ns)
{
	return LOWER_BOUND(i, 0, phases->count,
	    phases->items[i].node < node ||
		(phases->items[i].node == node &&
		    phases->items[i].begin_ns < begin_ns));
}

static void
take(double *sizes, const struct phases_timeline *t,
    const struct critical_rules *rules, const bool *is_wanted,
    const struct record *record)
{
	const struct phases_read *phases = &t->phases;
	char id[2 * NAME_BYTES_MAX + 1];
	uint32_t phase, node, key;
	double size;

	if (!string_table_find(
		&t->names.phases, record_whole_name(id, record), &phase) ||
	    !is_wanted[phase] || rules->bytes[phase] == NULL ||
	    !string_table_find(&phases->nodes, record->node, &node) ||
	    !string_table_find(&phases->keys, record->key, &key))
		return;
	size = critical_bytes_of(record, rules->bytes[phase]);
	for (uint32_t i = first_of(phases, node, record->time_ns);
	     i < phases->count && phases->items[i].node == node &&
	     phases->items[i].begin_ns == record->time_ns;
	     i++)
		if (phases->items[i].phase == phase &&
		    phases->items[i].key == key)
			sizes[i] = size;
}

double *
sizes_read(const struct phases_timeline *timeline,
    const struct critical_rules *rules, const bool *is_wanted,
    struct source *source, struct text partition,
    const struct wire_query *query, struct err *err)
{
	double *sizes =
	    memory_zero((size_t)timeline->phases.count + 1, sizeof(*sizes));
	struct record record;
	bool any = false;
	int rc = 0;

	for (uint32_t i = 0; i < timeline->phases.count; i++)
		sizes[i] = NAN;
	for (uint32_t i = 0; i < rules->phases; i++)
		any = any || (is_wanted[i] && rules->bytes[i] != NULL);
	if (any)
		rc = source_select(
		    source, SOURCE_RECORDS, partition, query, err);
	while (any && rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		rc = 0;
		if (record.kind == RECORD_PHASE && record.has_time)
			take(sizes, timeline, rules, is_wanted, &record);
	}
	if (rc == 0)
		return sizes;
	free(sizes);
	return NULL;
}
