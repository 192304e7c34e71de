/*
 * long_phases - of each node the phase that is open for longer than usual.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/long_phases.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/phases/phase_rows.h"
#include "exporters/phases/usual.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

enum { VALUES_MAX = 1 << 18 }; /* of a phase; more are not read */

struct phase {
	struct text id; /* "model:phase" */
	double left;    /* how many are open and were not read */
	double count;   /* how many have ended */
	uint32_t open;  /* how many were read */
	int64_t place;  /* in its model; that of one that is not required: */
	bool is_wanted;
};
#define NOT_REQUIRED INT64_MAX

/* A phase that a node has begun and not ended. */
struct open {
	uint32_t node, phase, key; /* numbers */
	bool is_left;              /* the node has begun once more */
	int64_t begin_ns;
	struct usual usual;
};

struct reading {
	struct source *source;
	const struct string_table *names; /* of nodes */
	struct string_table *ids;         /* of phases */
	struct text partition, nodes;
	int64_t until_ns; /* what is due later is not looked at */
	struct string_table keys;
	struct phase *phases;
	uint32_t phase_count, phase_room;
	struct open *open; /* by node, when all are read */
	uint32_t count, room;
};

/* ---- phases ---- */

static void
take_phase(struct reading *reading, const struct record *record)
{
	const struct phase_row row = phase_row_of(record);
	struct value required;
	struct phase *phase;
	struct text run;

	/* What is usual of one job says nothing of another one. */
	if (record_find_text(record, "run", &run) ||
	    text_equal(record->name, text_of("job:run")))
		return;
	phase = MEMORY_ADD(
	    reading->phases, reading->phase_room, reading->phase_count);
	*phase = (struct phase){
		.id = string_table_text(reading->ids, record->name),
		.left = row.numbers[PHASE_OPEN_STARTS],
		.count = row.numbers[PHASE_COUNT],
		.place = NOT_REQUIRED,
		/* Also not when a number is not known. */
		.is_wanted = !row.ignores_open &&
			     row.numbers[PHASE_COUNT] >= USUAL_VALUES_MIN &&
			     row.numbers[PHASE_OPEN_STARTS] > 0,
	};
	if (record_find_attribute(record, text_of("required"), &required) &&
	    required.type == VALUE_BOOL && required.is.boolean)
		phase->place = record_count(record, "place");
}

static int
read_phases(struct reading *reading, struct err *err)
{
	const struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	if (source_select(reading->source, SOURCE_STATS, reading->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(reading->source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			take_phase(reading, &record);
	return rc;
}

static struct text
model_of(struct text id)
{
	const char *colon = memchr(id.at, ':', id.bytes);

	if (colon != NULL)
		id.bytes = (uint32_t)(colon - id.at);
	return id;
}

/* The first one that its model requires; NULL: it requires none. */
static const struct phase *
first_of(const struct reading *reading, const struct phase *of)
{
	const struct phase *first = NULL;

	for (uint32_t i = 0; i < reading->phase_count; i++) {
		const struct phase *phase = &reading->phases[i];

		if (phase->place != NOT_REQUIRED &&
		    (first == NULL || phase->place < first->place) &&
		    text_equal(model_of(phase->id), model_of(of->id)))
			first = phase;
	}
	return first;
}

/* ---- what is open ---- */

static void
take_open(struct reading *reading, uint32_t phase, const struct record *record)
{
	struct open *open;
	uint32_t node;

	if (!record->has_time || record->has_end ||
	    reading->count == LONG_PHASES_MAX ||
	    !string_table_find(reading->names, record->node, &node))
		return;
	reading->phases[phase].left--;
	reading->phases[phase].open++;
	open = MEMORY_ADD(reading->open, reading->room, reading->count);
	*open = (struct open){ .node = node,
		.phase = phase,
		.key = string_table_add(&reading->keys, record->key),
		.begin_ns = record->time_ns };
}

static int
read_open(struct reading *reading, uint32_t phase, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int64_t until_ns;
	int rc;

	query.name = reading->phases[phase].id;
	query.node = reading->nodes;
	/* What has begun since then is not open for longer than usual. */
	if (!__builtin_sub_overflow(
		reading->until_ns, USUAL_LEAST * NS_PER_SECOND, &until_ns) &&
	    until_ns < TIME_MAX_NS)
		query.to_ns = until_ns;
	if (source_select(reading->source, SOURCE_OPEN, reading->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(reading->source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE)
			take_open(reading, phase, &record);
	return rc;
}

/* ---- how long they take ---- */

static int
read_values(struct reading *reading, uint32_t phase, int64_t from_ns,
    struct usual_values *values, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	uint32_t most = values->count + VALUES_MAX;
	struct record record;
	int rc;

	query.name = reading->phases[phase].id;
	query.from_ns = from_ns;
	if (source_select(reading->source, SOURCE_RECORDS, reading->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(reading->source, &record, err)) > 0 &&
	       values->count < most)
		if (record.kind == RECORD_PHASE && record.has_time &&
		    record.has_end && record.duration_ns >= 0)
			usual_add(
			    values, query.name, record.key, record.duration_ns);
	return rc < 0 ? -1 : 0;
}

static int64_t
due_of(const struct open *open)
{
	int64_t due_ns;

	return __builtin_add_overflow(
		   open->begin_ns, open->usual.limit_ns, &due_ns)
		   ? INT64_MAX
		   : due_ns;
}

/* Keep those that are open for longer than usual; the others of which that is
 * known may become so. */
static void
keep_long(struct reading *reading, const struct usual_values *values)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reading->count; i++) {
		struct open *open = &reading->open[i];
		struct phase *phase = &reading->phases[open->phase];

		open->usual = usual_find(
		    values, phase->id, reading->keys.names[open->key]);
		if (open->usual.count > 0 && due_of(open) < reading->until_ns)
			reading->open[kept++] = *open;
		else
			phase->left += open->usual.count > 0;
	}
	reading->count = kept;
}

static int
judge_open(struct reading *reading, struct err *err)
{
	struct usual_values values;
	struct usual_starts starts;
	int64_t from_ns;
	int rc;

	if (reading->count == 0)
		return 0;
	usual_init(&values);
	rc = usual_starts_read(
	    &starts, reading->source, reading->partition, TIME_MAX_NS, err);
	from_ns = starts.count > 0 ? starts.begin_ns[0] : TIME_MIN_NS;
	for (uint32_t i = 0; rc == 0 && i < reading->phase_count; i++)
		if (reading->phases[i].open > 0)
			rc = read_values(reading, i, from_ns, &values, err);
	if (rc == 0) {
		usual_sort(&values);
		keep_long(reading, &values);
	}
	usual_clear(&values);
	return rc;
}

static int
by_node(const void *left, const void *right)
{
	const struct open *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

/* ---- what was left ---- */

static uint32_t
first_open_of(const struct reading *reading, uint32_t node)
{
	return LOWER_BOUND(i, 0, reading->count, reading->open[i].node < node);
}

/* The node has begun a phase: what of `phase` it had begun before is left;
 * `by_key`: if it has the same key. */
static void
leave(struct reading *reading, uint32_t phase, bool by_key,
    const struct record *record)
{
	uint32_t node, key = 0;

	if (!record->has_time ||
	    !string_table_find(reading->names, record->node, &node) ||
	    (by_key && !string_table_find(&reading->keys, record->key, &key)))
		return;
	for (uint32_t i = first_open_of(reading, node);
	     i < reading->count && reading->open[i].node == node; i++) {
		struct open *open = &reading->open[i];

		if (open->phase == phase && (!by_key || open->key == key))
			open->is_left |= record->time_ns > open->begin_ns;
	}
}

/* The nodes that are in a phase for longer than usual, or all that were asked
 * for when they are many; and since when.  False: none is. */
static bool
find_late(const struct reading *reading, uint32_t phase,
    char list[static NODE_LIST_BYTES_MAX], struct wire_query *query)
{
	uint32_t bytes = 0, last = UINT32_MAX;

	query->from_ns = INT64_MAX;
	for (uint32_t i = 0; i < reading->count; i++) {
		const struct open *open = &reading->open[i];
		struct text name = reading->names->names[open->node];

		if (open->phase != phase)
			continue;
		if (open->begin_ns < query->from_ns)
			query->from_ns = open->begin_ns;
		if (last == open->node)
			continue;
		last = open->node;
		if (bytes + 2 * name.bytes + 1 > NODE_LIST_BYTES_MAX) {
			bytes = NODE_LIST_BYTES_MAX;
			continue;
		}
		if (bytes > 0)
			list[bytes++] = ',';
		bytes += node_list_quote(list + bytes, name, false).bytes;
	}
	query->node = bytes < NODE_LIST_BYTES_MAX ? (struct text){ list, bytes }
						  : reading->nodes;
	return query->from_ns != INT64_MAX;
}

static int
read_begins(struct reading *reading, uint32_t phase, struct text id,
    const struct wire_query *of, struct err *err)
{
	bool by_key = text_equal(id, reading->phases[phase].id);
	struct wire_query query = *of;
	struct record record;
	int rc;

	query.name = id;
	if (source_select(reading->source, SOURCE_RECORDS, reading->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(reading->source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE)
			leave(reading, phase, by_key, &record);
	return rc;
}

static int
find_left(struct reading *reading, uint32_t phase, struct err *err)
{
	const struct phase *of = &reading->phases[phase];
	const struct phase *first = first_of(reading, of);
	struct wire_query query = source_query(1u << RECORD_PHASE);
	char list[NODE_LIST_BYTES_MAX];
	int rc;

	if (!find_late(reading, phase, list, &query))
		return 0;
	rc = read_begins(reading, phase, of->id, &query, err);
	if (rc == 0 && first != NULL && first != of)
		rc = read_begins(reading, phase, first->id, &query, err);
	return rc;
}

/* ---- all ---- */

static bool
is_incomplete(const struct reading *reading)
{
	for (uint32_t i = 0; i < reading->phase_count; i++) {
		const struct phase *phase = &reading->phases[i], *first;

		if (phase->place == NOT_REQUIRED)
			continue;
		first = first_of(reading, phase);
		/* Also when a number is not known. */
		if (!(phase->left == 0 && phase->count == first->count))
			return true;
	}
	return false;
}

static void
put(const struct reading *reading, struct long_phase *phases)
{
	for (uint32_t i = 0; i < reading->count; i++) {
		const struct open *open = &reading->open[i];
		const struct phase *phase = &reading->phases[open->phase];
		struct long_phase *to = &phases[open->node];
		int64_t due_ns = due_of(open);

		if (!open->is_left && due_ns < to->due_ns)
			*to = (struct long_phase){ .id = phase->id,
				.begin_ns = open->begin_ns,
				.due_ns = due_ns,
				.usual_ns = open->usual.median_ns,
				.key = open->usual.is_of_key
					   ? string_table_text(reading->ids,
						 reading->keys.names[open->key])
					   : (struct text){ NULL, 0 } };
	}
}

int
long_phases_read(struct long_phase **phases, struct string_table *ids,
    struct source *source, struct text partition, struct text nodes,
    const struct string_table *names, int64_t until_ns, bool *has_more,
    bool *incomplete, struct err *err)
{
	struct reading reading = { .source = source,
		.names = names,
		.ids = ids,
		.partition = partition,
		.nodes = nodes,
		.until_ns = until_ns };
	int rc;

	*has_more = false;
	string_table_init(&reading.keys);
	rc = read_phases(&reading, err);
	*incomplete = rc == 0 && is_incomplete(&reading);
	for (uint32_t i = 0; rc == 0 && i < reading.phase_count; i++) {
		if (reading.phases[i].is_wanted)
			rc = read_open(&reading, i, err);
	}
	if (rc == 0)
		rc = judge_open(&reading, err);
	for (uint32_t i = 0; i < reading.phase_count; i++)
		if (reading.phases[i].is_wanted)
			*has_more |= reading.phases[i].left > 0;
	if (reading.count > 0)
		qsort(reading.open, reading.count, sizeof(*reading.open),
		    by_node);
	for (uint32_t i = 0; rc == 0 && i < reading.phase_count; i++)
		if (reading.phases[i].is_wanted)
			rc = find_left(&reading, i, err);
	*phases = memory_zero(names->count + 1, sizeof(**phases));
	for (uint32_t i = 0; i < names->count; i++)
		(*phases)[i].due_ns = INT64_MAX;
	put(&reading, *phases);
	free(reading.open);
	free(reading.phases);
	string_table_clear(&reading.keys);
	return rc;
}

struct text
long_phase_name(const struct long_phase *phase)
{
	struct text name = phase->id;
	const char *colon =
	    name.bytes > 0 ? memchr(name.at, ':', name.bytes) : NULL;

	if (colon != NULL) {
		name.bytes -= (uint32_t)(colon + 1 - name.at);
		name.at = colon + 1;
	}
	return name;
}
