/*
 * usual - how long the phases of a pool usually take.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/usual.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/phases/phase_rows.h"
#include "exporters/source/starts.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"

/* ---- the starts ---- */

/* Those of `from` that count; false: there may be more of them before it. */
static bool
take_last(struct usual_starts *starts, const struct starts *from, bool is_whole)
{
	uint32_t first = from->count - 1;
	uint64_t nodes = from->at[first].nodes;

	while (first > 0 && from->count - first < USUAL_STARTS &&
	       nodes + from->at[first - 1].nodes <= USUAL_NODES)
		nodes += from->at[--first].nodes;
	starts->count = from->count - first;
	for (uint32_t i = 0; i < starts->count; i++)
		starts->begin_ns[i] = from->at[first + i].begin_ns;
	if (first == 0 && is_whole)
		starts->begin_ns[0] = TIME_MIN_NS;
	return first > 0;
}

/* How often a phase that a model requires has ended. */
static int
count_required(double *count, struct source *source, struct text partition,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	struct value value;
	int rc;

	*count = 0;
	if (source_select(source, SOURCE_STATS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY &&
		    record_find_attribute(
			&record, text_of("required"), &value) &&
		    value.type == VALUE_BOOL && value.is.boolean)
			*count = fmax(
			    *count, phase_row_of(&record).numbers[PHASE_COUNT]);
	return rc;
}

/* A pool that has been started for years is not read whole. */
int
usual_starts_read(struct usual_starts *starts, struct source *source,
    struct text partition, int64_t before_ns, struct err *err)
{
	enum { DAYS_FACTOR = 4, DAYS_LAST = 64 };
	const int64_t day_ns = 86400 * NS_PER_SECOND;
	int64_t now_ns = clock_wall_ns();
	struct starts_query query = { .to_ns = before_ns,
		.gap_ns = STARTS_GAP_MODEL };
	bool more = true;
	double count;
	int days;

	*starts = (struct usual_starts){ .count = 0 };
	if (count_required(&count, source, partition, err) != 0)
		return -1;
	days = count > 4.0 * USUAL_NODES ? 1 : DAYS_LAST + 1;
	for (; more; days *= DAYS_FACTOR) {
		struct starts some;

		more = days <= DAYS_LAST;
		query.from_ns =
		    more ? (before_ns < now_ns ? before_ns : now_ns) -
			       days * day_ns
			 : TIME_MIN_NS;
		if (starts_read(&some, source, partition, &query, err) == 0)
			more = !take_last(starts, &some, !more) && more;
		starts_clear(&some);
		if (source_has_failed(source))
			return -1;
		err_clear(err); /* that no node began is an answer */
	}
	return 0;
}

uint32_t
usual_start_of(const struct usual_starts *starts, int64_t begin_ns)
{
	uint32_t number = starts->count;

	while (number > 0 && starts->begin_ns[number - 1] > begin_ns)
		number--;
	return number;
}

/* ---- values ---- */

struct usual_value {
	uint32_t phase, key; /* numbers */
	int64_t ns;
};
#define ANY_KEY 0

void
usual_init(struct usual_values *values)
{
	*values = (struct usual_values){ .at = NULL };
	string_table_init(&values->phases);
	string_table_init(&values->keys);
}

void
usual_clear(struct usual_values *values)
{
	free(values->at);
	free(values->any_key);
	string_table_clear(&values->phases);
	string_table_clear(&values->keys);
	*values = (struct usual_values){ .at = NULL };
}

void
usual_add(
    struct usual_values *values, struct text phase, struct text key, int64_t ns)
{
	*MEMORY_ADD(values->at, values->room, values->count) =
	    (struct usual_value){ string_table_add(&values->phases, phase),
		    string_table_add(&values->keys, key), ns };
}

static int
compare(const void *left, const void *right)
{
	const struct usual_value *a = left, *b = right;

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

void
usual_sort(struct usual_values *values)
{
	size_t size = sizeof(*values->at);

	values->any_key = memory_zero(values->count + 1, size);
	for (uint32_t i = 0; i < values->count; i++) {
		values->any_key[i] = values->at[i];
		values->any_key[i].key = ANY_KEY;
	}
	if (values->count == 0)
		return;
	qsort(values->at, values->count, size, compare);
	qsort(values->any_key, values->count, size, compare);
}

/* The first value of the phase with the key, or behind where it would be. */
static uint32_t
place_of(
    const struct usual_value *at, uint32_t count, uint32_t phase, uint32_t key)
{
	const struct usual_value wanted = { phase, key, INT64_MIN };

	return LOWER_BOUND(i, 0, count, compare(&at[i], &wanted) < 0);
}

static struct usual
find(const struct usual_value *at, uint32_t count, uint32_t phase, uint32_t key)
{
	uint32_t first = place_of(at, count, phase, key);
	struct usual usual = { .count = 0 };
	int64_t limit_ns;

	count = place_of(at, count, phase, key + 1) - first;
	if (count < USUAL_VALUES_MIN)
		return usual;
	usual.count = count;
	usual.median_ns = at[first + quantile_index(count, 50)].ns;
	usual.limit_ns = at[first + quantile_index(count, 99)].ns;
	if (__builtin_mul_overflow(usual.median_ns, USUAL_MEDIANS, &limit_ns))
		limit_ns = INT64_MAX;
	if (usual.limit_ns < limit_ns)
		usual.limit_ns = limit_ns;
	if (usual.limit_ns < USUAL_LEAST * NS_PER_SECOND)
		usual.limit_ns = USUAL_LEAST * NS_PER_SECOND;
	return usual;
}

struct usual
usual_find(
    const struct usual_values *values, struct text phase, struct text key)
{
	struct usual usual = { .count = 0 };
	uint32_t phase_number, number;

	if (!string_table_find(&values->phases, phase, &phase_number))
		return usual;
	if (key.bytes > 0 && string_table_find(&values->keys, key, &number))
		usual = find(values->at, values->count, phase_number, number);
	usual.is_of_key = usual.count > 0;
	return usual.is_of_key ? usual
			       : find(values->any_key, values->count,
				     phase_number, ANY_KEY);
}
