/*
 * phases_read - the phases of one model in a partition, by node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/phase_rows.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"
#include "proto/os/clock.h"
#include "proto/record/record.h"

enum { NAME_ROOM = 2 * NAME_BYTES_MAX + 3, SHOWN_BYTES = 300 };

/* ---- names ---- */

struct placed {
	struct text name;
	int64_t place; /* in its model */
	bool is_required;
};

struct placing {
	struct placed *at;
	uint32_t count, room;
};

static void
take_name(struct phases_names *names, struct placing *placing,
    const struct record *record)
{
	struct value place = { .type = VALUE_NIL };
	struct value required = { .type = VALUE_NIL };
	struct placed *placed;
	struct text text;

	if (record_find_text(record, "unmatched", &text) &&
	    text_equal(text, text_of("ignore")))
		(void)string_table_add(&names->ignored, record->name);
	(void)record_find_attribute(record, text_of("place"), &place);
	(void)record_find_attribute(record, text_of("required"), &required);
	placed = MEMORY_ADD(placing->at, placing->room, placing->count);
	placed->name = string_table_keep(&names->phases, record->name);
	placed->place = place.type == VALUE_INT ? place.is.i : 0;
	placed->is_required =
	    required.type == VALUE_BOOL && required.is.boolean;
}

static int
by_place(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return text_compare(a->name, b->name);
}

/* `begun`: the models whose first required phase is known. */
static void
add_name(struct phases_names *names, const struct placed *placed,
    struct string_table *begun)
{
	struct text phase = placed->name, model = text_before(phase, ':');
	uint32_t number;

	(void)string_table_add(&names->models, model);
	(void)string_table_add(&names->phases, phase);
	if (placed->is_required)
		(void)string_table_add(&names->required, phase);
	if (placed->is_required && !string_table_find(begun, model, &number)) {
		(void)string_table_add(begun, model);
		(void)string_table_add(&names->begins, phase);
	}
}

int
phases_names_read(struct phases_names *names, struct source *source,
    struct text partition, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct placing placing = { .at = NULL };
	struct string_table begun;
	struct record record;
	int rc;

	string_table_init(&names->models);
	string_table_init(&names->phases);
	string_table_init(&names->ignored);
	string_table_init(&names->required);
	string_table_init(&names->begins);
	if (source_select(source, SOURCE_STATS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			take_name(names, &placing, &record);
	if (placing.count > 0)
		qsort(placing.at, placing.count, sizeof(*placing.at), by_place);
	string_table_init(&begun);
	for (uint32_t i = 0; rc == 0 && i < placing.count; i++)
		add_name(names, &placing.at[i], &begun);
	string_table_clear(&begun);
	free(placing.at);
	return rc;
}

void
phases_names_clear(struct phases_names *names)
{
	string_table_clear(&names->models);
	string_table_clear(&names->phases);
	string_table_clear(&names->ignored);
	string_table_clear(&names->required);
	string_table_clear(&names->begins);
}

/* ---- phases ---- */

int64_t
phases_ended(const struct record *record)
{
	return record->end_ns > record->time_ns ? record->end_ns
						: record->time_ns;
}

static int64_t
end_of(const struct record *record)
{
	int64_t end_ns;

	return __builtin_add_overflow(
		   record->time_ns, record->duration_ns, &end_ns)
		   ? INT64_MAX
		   : end_ns;
}

static int
take(struct phases_read *phases, const struct phases_names *names,
    const struct record *record, enum phases_use use, struct err *err)
{
	char id[2 * NAME_BYTES_MAX + 1];
	struct phases_item item = { .begin_ns = record->time_ns,
		.end_ns = record->time_ns,
		.is_open = use != PHASES_COMPLETE && record->has_time &&
			   !record->has_end };
	struct text name = record_whole_name(id, record);
	uint32_t number;

	if (!string_table_find(&names->phases, name, &item.phase))
		return 0; /* of a model that was added just now */
	if (item.is_open && string_table_find(&names->ignored, name, &number))
		return 0;
	if (!item.is_open && (!record->has_time || !record->has_end ||
				 record->duration_ns < 0)) {
		phases->left_out +=
		    !string_table_find(&names->ignored, name, &number);
		return 0;
	}
	if (!item.is_open) {
		item.end_ns = end_of(record);
		item.ended_ns = phases_ended(record);
	}
	if (phases->count == PHASES_READ_MAX)
		return err_set(err,
		    "more than %d phases: select fewer with --from, --to, "
		    "--model or --node",
		    PHASES_READ_MAX);
	if (phases->keys.count == PHASES_KEYS_MAX)
		return err_set(err,
		    "more than %d keys of phases: select fewer with --from, "
		    "--to, --model or --node",
		    PHASES_KEYS_MAX);
	if (use != PHASES_COMPLETE)
		item.key = string_table_add(&phases->keys, record->key);
	item.node = string_table_add(&phases->nodes, record->node);
	*MEMORY_ADD(phases->items, phases->room, phases->count) = item;
	return 0;
}

static int
by_begin(const void *left, const void *right)
{
	const struct phases_item *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->phase > b->phase) - (a->phase < b->phase);
}

int
phases_read(struct phases_read *phases, const struct phases_names *names,
    struct source *source, struct text partition,
    const struct wire_query *query, enum phases_use use, struct err *err)
{
	struct record record;
	int rc;

	*phases = (struct phases_read){ .items = NULL };
	string_table_init(&phases->nodes);
	string_table_init(&phases->keys);
	if (source_select(source, SOURCE_RECORDS, partition, query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE &&
		    take(phases, names, &record, use, err) != 0)
			return -1;
	phases_read_sort(phases);
	return rc;
}

void
phases_read_sort(struct phases_read *phases)
{
	if (phases->count > 0)
		qsort(phases->items, phases->count, sizeof(*phases->items),
		    by_begin);
}

void
phases_read_clear(struct phases_read *phases)
{
	free(phases->items);
	string_table_clear(&phases->nodes);
	string_table_clear(&phases->keys);
}

/* ---- spans ---- */

struct span_name {
	uint32_t number; /* as read */
	double sum_ns;
};

static int
by_sum(const void *left, const void *right)
{
	const struct span_name *a = left, *b = right;

	if (a->sum_ns < b->sum_ns || a->sum_ns > b->sum_ns)
		return a->sum_ns > b->sum_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* `all` are the names that the phases of the items are numbers of. */
static void
name_spans(struct phases_read *phases, struct phases_names *names,
    const struct string_table *all)
{
	struct span_name *sums = memory_zero(all->count, sizeof(*sums));
	uint32_t *numbers = memory_zero(all->count, sizeof(*numbers));
	struct text others = text_of("others");
	char id[NAME_ROOM];

	for (uint32_t i = 0; i < all->count; i++)
		sums[i].number = i;
	for (uint32_t i = 0; i < phases->count; i++)
		sums[phases->items[i].phase].sum_ns +=
		    (double)phases->items[i].end_ns -
		    (double)phases->items[i].begin_ns;
	qsort(sums, all->count, sizeof(*sums), by_sum);
	string_table_clear(&names->phases);
	string_table_init(&names->phases);
	for (uint32_t i = 0; i < all->count; i++) {
		struct text name =
		    i < PHASES_SPAN_NAMES ? all->names[sums[i].number] : others;

		snprintf(id, sizeof(id), RECORD_SPAN_MODEL ":%.*s",
		    (int)name.bytes, name.at);
		numbers[sums[i].number] =
		    string_table_add(&names->phases, text_of(id));
	}
	for (uint32_t i = 0; i < phases->count; i++)
		phases->items[i].phase = numbers[phases->items[i].phase];
	free(numbers);
	free(sums);
}

static int
take_span(struct phases_read *phases, struct string_table *all,
    const struct record *record, struct err *err)
{
	if (phases->count == PHASES_READ_MAX || all->count == PHASES_KEYS_MAX ||
	    phases->keys.count == PHASES_KEYS_MAX)
		return err_set(err,
		    "more than %d spans, or %d names or tracks of them: "
		    "select fewer with --from, --to, --name or --node",
		    PHASES_READ_MAX, PHASES_KEYS_MAX);
	*MEMORY_ADD(phases->items, phases->room, phases->count) =
	    (struct phases_item){
		    .begin_ns = record->time_ns,
		    .end_ns = record->end_ns,
		    .node = string_table_add(&phases->nodes, record->node),
		    .phase = string_table_add(all, record->name),
		    .key = string_table_add(&phases->keys, record->source),
	    };
	return 0;
}

static int
read_spans(struct phases_read *phases, struct phases_names *names,
    struct source *source, struct text partition, struct wire_query query,
    struct err *err)
{
	struct text name = query.name;
	struct string_table all;
	struct record record;
	char shown[SHOWN_BYTES];
	int rc;

	query.name = (struct text){ NULL, 0 }; /* it has the track, too */
	query.kinds = 1u << RECORD_SPAN;
	*phases = (struct phases_read){ .is_of_spans = true };
	string_table_init(&phases->nodes);
	string_table_init(&phases->keys);
	string_table_init(&all);
	rc = source_select(source, SOURCE_RECORDS, partition, &query, err);
	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		rc = 0;
		if (record.kind == RECORD_SPAN && record.has_time &&
		    record.has_end && record.end_ns >= record.time_ns &&
		    (name.bytes == 0 || text_match(name, record.name)))
			rc = take_span(phases, &all, &record, err);
	}
	if (rc == 0 && phases->count == 0)
		rc = err_set(err, "no such spans in partition %s of %s",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source));
	if (rc == 0)
		name_spans(phases, names, &all);
	phases_read_sort(phases);
	string_table_clear(&all);
	return rc;
}

/* ---- of a model ---- */

const char *
phases_model_words(char to[static PHASES_MODEL_BYTES], struct text model)
{
	if (text_equal(model, text_of(RECORD_NO_MODEL)))
		return "no model";
	snprintf(
	    to, PHASES_MODEL_BYTES, "model %.*s", (int)model.bytes, model.at);
	return to;
}

static int
read_one(struct phases_read *phases, const struct phases_names *names,
    struct source *source, struct text partition, struct wire_query query,
    struct text model, enum phases_use use, struct err *err)
{
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), "%.*s:*", (int)model.bytes, model.at);
	query.name = text_of(name);
	phases_read_clear(phases);
	return phases_read(phases, names, source, partition, &query, use, err);
}

static int
refuse_model(
    const struct string_table *models, const char *model, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[SHOWN_BYTES];
	struct nearest nearest;

	nearest_begin(&nearest, model);
	for (uint32_t i = 0; i < models->count; i++) {
		char *name = memory_text(models->names[i]);

		nearest_offer(&nearest, name);
		free(name);
	}
	return err_set(err, "no model %s%s",
	    text_quote(shown, sizeof(shown), text_of(model)),
	    nearest_question(&nearest, "", question, sizeof(question)));
}

static bool
has_required(const struct phases_names *names, struct text model)
{
	for (uint32_t i = 0; i < names->begins.count; i++)
		if (text_equal(text_before(names->begins.names[i], ':'), model))
			return true;
	return false;
}

int
phases_read_model(struct phases_read *phases, struct phases_names *names,
    struct source *source, struct text partition,
    const struct wire_query *query, const char *model, enum phases_use use,
    struct text *chosen, struct err *err)
{
	const struct string_table *models = &names->models;
	char shown[SHOWN_BYTES];
	bool in_time =
	    query->from_ns != TIME_MIN_NS || query->to_ns != TIME_MAX_NS;
	uint32_t number = 0, end;
	int rc;

	*phases = (struct phases_read){ .items = NULL };
	rc = phases_names_read(names, source, partition, err);
	end = models->count;
	if (rc == 0 && use == PHASES_TIMELINE && model != NULL &&
	    strcmp(model, RECORD_SPAN_MODEL) == 0) {
		*chosen = text_of(RECORD_SPAN_MODEL);
		return read_spans(
		    phases, names, source, partition, *query, err);
	}
	if (rc == 0 && model != NULL) {
		if (!string_table_find(models, text_of(model), &number))
			return refuse_model(models, model, err);
		end = number + 1;
	}
	/* Those of starts come first: a model of jobs says less of nodes. */
	for (int pass = 0; rc == 0 && pass < 2; pass++)
		for (uint32_t i = number;
		     rc == 0 && i < end && phases->count == 0; i++) {
			if (has_required(names, models->names[i]) !=
			    (pass == 0))
				continue;
			*chosen = models->names[i];
			rc = read_one(phases, names, source, partition, *query,
			    *chosen, use, err);
		}
	if (rc == 0 && phases->count == 0)
		rc = err_set(err, "no %sphases%s of partition %s in %s%s",
		    use == PHASES_COMPLETE ? "complete " : "",
		    in_time ? " that begin in that time" : "",
		    text_quote(shown, sizeof(shown), partition),
		    source_name(source), in_time ? "" : PHASE_ROWS_HINT);
	return rc;
}
