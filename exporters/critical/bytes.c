/*
 * critical_bytes - how many bytes the phases of a start moved, and what a byte
 * cost.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/bytes.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/cascade/image_size.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"
#include "proto/os/clock.h"

enum { PAIRS_MAX = 1 << 20 };
#define WINDOW_NS (10 * NS_PER_SECOND)

/* ---- reading ---- */

double
critical_bytes_of(const struct record *record, const char *attribute)
{
	struct value value;
	uint64_t bytes;
	double size = NAN;

	if (!record_find_attribute(record, text_of(attribute), &value))
		return NAN;
	if (value.type == VALUE_INT)
		size = (double)value.is.i;
	else if (value.type == VALUE_UINT)
		size = (double)value.is.u;
	else if (value.type == VALUE_FLOAT)
		size = value.is.f;
	else if (value.type == VALUE_TEXT &&
		 image_size_parse(value.is.text, &bytes) == 0)
		size = (double)bytes;
	return isfinite(size) && size >= 0 ? size : NAN;
}

static void
take(struct critical_bytes *bytes, const struct critical_start *of,
    uint32_t phase, const struct record *record)
{
	struct critical_item like = { .phase = phase };
	uint32_t i;

	if (!record->has_time || !record->has_end || record->duration_ns < 0)
		return;
	like.begin_ns = record->time_ns;
	if (__builtin_add_overflow(
		like.begin_ns, record->duration_ns, &like.end_ns))
		like.end_ns = INT64_MAX;
	like.end_ns = critical_waits_end(
	    &of->rules, phase, like.end_ns, phases_ended(record));
	if (!string_table_find(&of->phases.nodes, record->node, &like.node) ||
	    !string_table_find(&of->phases.keys, record->key, &like.key))
		return; /* it came meanwhile */
	i = critical_waits_number(&of->waits, &like);
	if (i != CRITICAL_NONE)
		bytes->at[i] =
		    critical_bytes_of(record, of->rules.bytes[phase]);
}

static int
read_phase(struct critical_bytes *bytes, const struct critical_start *of,
    struct source *source, struct text partition, struct wire_query query,
    uint32_t phase, struct err *err)
{
	struct record record;
	int rc;

	query.name = of->names.phases.names[phase];
	rc = source_select(source, SOURCE_RECORDS, partition, &query, err);
	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		if (record.kind == RECORD_PHASE)
			take(bytes, of, phase, &record);
		rc = 0;
	}
	return rc;
}

/* By the key what its own record does not say. */
static void
take_from_others(struct critical_bytes *bytes, const struct critical_start *of)
{
	uint32_t keys = of->phases.keys.count;
	double *of_key = memory_zero((size_t)keys + 1, sizeof(*of_key));

	for (uint32_t i = 0; i < keys; i++)
		of_key[i] = NAN;
	for (uint32_t i = of->waits.count; i-- > 0;)
		if (!isnan(bytes->at[i]))
			of_key[of->waits.at[i].key] = bytes->at[i];
	for (uint32_t i = 0; i < of->waits.count; i++)
		if (isnan(bytes->at[i]) &&
		    of->rules.bytes[of->waits.at[i].phase] != NULL)
			bytes->at[i] = of_key[of->waits.at[i].key];
	free(of_key);
}

int
critical_bytes_read(struct critical_bytes *bytes,
    const struct critical_start *of, struct source *source,
    struct text partition, const struct start *start, int64_t to_ns,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	int rc = 0;

	query.from_ns = start->begin_ns;
	query.to_ns = to_ns;
	bytes->at =
	    memory_zero((size_t)of->waits.count + 1, sizeof(*bytes->at));
	for (uint32_t i = 0; i < of->waits.count; i++)
		bytes->at[i] = NAN;
	for (uint32_t phase = 0; rc == 0 && phase < of->rules.phases; phase++)
		if (of->rules.bytes[phase] != NULL)
			rc = read_phase(
			    bytes, of, source, partition, query, phase, err);
	if (rc == 0)
		take_from_others(bytes, of);
	return rc;
}

void
critical_bytes_clear(struct critical_bytes *bytes)
{
	free(bytes->at);
	bytes->at = NULL;
}

/* ---- what a byte costs ---- */

struct moved {
	uint32_t node;
	double bytes, ns;
};

static int
by_node(const void *left, const void *right)
{
	const struct moved *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

static struct moved *
moved_in(const struct critical_bytes *bytes, const struct critical_waits *waits,
    uint32_t phase, uint32_t *count)
{
	struct moved *moved =
	    memory_zero((size_t)waits->count + 1, sizeof(*moved));

	*count = 0;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];

		if (item->phase == phase && !isnan(bytes->at[i]))
			moved[(*count)++] =
			    (struct moved){ item->node, bytes->at[i],
				    (double)(item->end_ns - item->begin_ns) };
	}
	qsort(moved, *count, sizeof(*moved), by_node);
	return moved;
}

double
critical_bytes_cost(const struct critical_bytes *bytes,
    const struct critical_waits *waits, uint32_t phase)
{
	uint32_t count, pairs = 0, room = 0;
	struct moved *moved = moved_in(bytes, waits, phase, &count);
	double *costs = NULL, median = NAN;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count && pairs < PAIRS_MAX &&
					 moved[j].node == moved[i].node;
		     j++) {
			double more = moved[j].bytes - moved[i].bytes;

			if (!(fabs(more) > 0))
				continue;
			*MEMORY_ADD(costs, room, pairs) =
			    (moved[j].ns - moved[i].ns) / more;
		}
	sort_doubles(costs, pairs);
	if (pairs > 0)
		median = quantile_median(costs, pairs);
	free(costs);
	free(moved);
	return median;
}

/* ---- the most at once ---- */

struct turn {
	int64_t at_ns;
	double more; /* bytes a nanosecond from then on */
	double sum;  /* bytes until then */
};

static int
by_at(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

/* How many until then; `number` is a turn that it is not before. */
static double
sum_at(
    const struct turn *turns, uint32_t count, uint32_t *number, int64_t at_ns)
{
	while (*number + 1 < count && turns[*number + 1].at_ns <= at_ns)
		++*number;
	if (count == 0 || at_ns < turns[0].at_ns)
		return 0;
	return turns[*number].sum +
	       turns[*number].more * (double)(at_ns - turns[*number].at_ns);
}

static struct turn *
turns_of(const struct critical_bytes *bytes, const struct critical_waits *waits,
    uint32_t phase, uint32_t *count)
{
	struct turn *turns =
	    memory_zero(2 * ((size_t)waits->count + 1), sizeof(*turns));

	*count = 0;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];
		double ns = (double)(item->end_ns - item->begin_ns);

		if (item->phase != phase || isnan(bytes->at[i]) || !(ns > 0))
			continue;
		turns[(*count)++] = (struct turn){ .at_ns = item->begin_ns,
			.more = bytes->at[i] / ns };
		turns[(*count)++] = (struct turn){ .at_ns = item->end_ns,
			.more = -bytes->at[i] / ns };
	}
	qsort(turns, *count, sizeof(*turns), by_at);
	for (uint32_t i = 1; i < *count; i++) {
		turns[i].sum = turns[i - 1].sum +
			       turns[i - 1].more * (double)(turns[i].at_ns -
							    turns[i - 1].at_ns);
		turns[i].more += turns[i - 1].more;
	}
	return turns;
}

/* Between two turns the sum of a window is a straight line: the most is where
 * one begins or ends with a turn. */
double
critical_bytes_most(const struct critical_bytes *bytes,
    const struct critical_waits *waits, uint32_t phase)
{
	uint32_t count, front = 0, back = 0;
	struct turn *turns = turns_of(bytes, waits, phase, &count);
	double most = 0;

	for (uint32_t i = 0; i < count; i++) {
		double until =
		    sum_at(turns, count, &front, turns[i].at_ns + WINDOW_NS);
		double before =
		    sum_at(turns, count, &back, turns[i].at_ns - WINDOW_NS);

		most = fmax(most, until - turns[i].sum);
		most = fmax(most, turns[i].sum - before);
	}
	free(turns);
	return most > 0 ? most / (double)WINDOW_NS : NAN;
}
