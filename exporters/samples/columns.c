/*
 * columns - the columns of samples, from the definitions of metric groups.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/decode/record_json.h"
#include "proto/metric/labels.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

enum { POSITION_BYTES = 16 };

struct row {
	struct value time_ns;
	struct text time, node, group, labels, metric, unit;
	struct value value;
	int64_t at; /* typed */
	double number;
};

#define FROM                                                                   \
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),                    \
		"the node that took it", .traits = ANSWER_REPEATS },           \
	    { "group", "GROUP", ANSWER_AT_TEXT(struct row, group),             \
		    "the metric group", .traits = ANSWER_REPEATS },            \
	{                                                                      \
		"labels", NULL, ANSWER_AT_TEXT(struct row, labels),            \
		    "the labels of the group, a JSON object",                  \
		    .traits = ANSWER_REPEATS                                   \
	}
#define OF_EACH_SAMPLE                                                         \
	{ "time_ns", NULL, ANSWER_AT_VALUE(struct row, time_ns),               \
		"when the sample was taken, since 1970", "ns" },               \
	    { "time", "TIME", ANSWER_AT_TEXT(struct row, time),                \
		    "the same as text, in the zone of --tz" },                 \
	    FROM
#define METRIC                                                                 \
	{ "metric", "METRIC", ANSWER_AT_TEXT(struct row, metric),              \
		"the name of the metric, or its position, such as #3",         \
		.traits = ANSWER_REPEATS },                                    \
	{                                                                      \
		"unit", "UNIT", ANSWER_AT_TEXT(struct row, unit),              \
		    "the unit of the metric (UCUM)", .traits = ANSWER_REPEATS  \
	}

static const struct answer_column long_columns[] = {
	OF_EACH_SAMPLE,
	METRIC,
	{ "value", "VALUE", ANSWER_AT_VALUE(struct row, value), "the value" },
	{ .key = NULL },
};
static const struct answer_column typed_columns[] = {
	{ "time", "TIME", ANSWER_AT_TIME(struct row, at),
	    "when the sample was taken" },
	FROM,
	METRIC,
	{ "value", "VALUE", ANSWER_AT_NUMBER(struct row, number), "the value" },
	{ .key = NULL },
};
static const struct answer_column wide_columns[] = {
	OF_EACH_SAMPLE,
	ANSWER_FAMILY("*", ANSWER_VALUE, NULL, "the values of a metric"),
	{ .key = NULL },
};

const struct answer_table sample_values_long[] = {
	{ "values", long_columns },
	{ NULL, NULL },
};
const struct answer_table sample_values_typed[] = {
	{ "values", typed_columns },
	{ NULL, NULL },
};
const struct answer_table sample_values_wide[] = {
	{ "samples", wide_columns },
	{ NULL, NULL },
};

/* The metrics of one definition become columns, unless other groups have
 * made them. */
static void
add_metrics(struct sample_values *values, const struct record *record)
{
	const struct columns *columns =
	    columns_find(&values->groups, record->name);

	for (uint32_t i = 0; i < columns->count; i++)
		(void)string_table_add(&values->metrics, columns->names[i]);
}

static int
read_definitions(struct sample_values *values, struct source *source,
    struct text name, struct err *err)
{
	struct record record;
	int rc;

	while ((rc = source_next(source, &record, err)) > 0) {
		columns_take(&values->groups, &record);
		if (values->form != SAMPLE_VALUES_WIDE ||
		    (name.bytes > 0 && !text_match(name, record.name)))
			continue;
		add_metrics(values, &record);
		if (values->metrics.count > SAMPLE_VALUES_COLUMNS_MAX)
			return err_set(err,
			    "the samples have more than %d metrics, which is "
			    "the limit of --format wide: select a metric group "
			    "with --name, or use --format long",
			    SAMPLE_VALUES_COLUMNS_MAX);
	}
	return rc;
}

int
sample_values_open(struct sample_values *values, struct source *source,
    struct text partition, struct text name, enum sample_values_form form,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	memset(values, 0, sizeof(*values));
	values->form = form;
	columns_init(&values->groups);
	string_table_init(&values->metrics);
	query.name = text_of("set:*");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) !=
		0 ||
	    read_definitions(values, source, name, err) != 0)
		return -1;
	values->cells =
	    memory_zero(values->metrics.count + 1, sizeof(*values->cells));
	return 0;
}

void
sample_values_clear(struct sample_values *values)
{
	columns_clear(&values->groups);
	string_table_clear(&values->metrics);
	free(values->cells);
}

void
sample_values_add_columns(
    const struct sample_values *values, struct answer *answer)
{
	for (uint32_t i = 0; i < values->metrics.count; i++)
		answer_add_column(
		    answer, values->metrics.names[i], NULL, ANSWER_VALUE, NULL);
}

/* A number, or unknown. */
static struct value
number_of(const struct value *value)
{
	if (value->type == VALUE_INT || value->type == VALUE_UINT ||
	    (value->type == VALUE_FLOAT && isfinite(value->is.f)))
		return *value;
	return (struct value){ .type = VALUE_NIL };
}

static void
put_long(const struct columns *columns, struct answer *answer, struct row *row,
    struct text rest)
{
	char position[POSITION_BYTES];
	struct value value;

	for (uint32_t i = 0; record_next_value(&rest, &value); i++) {
		if (i < columns->count) {
			row->metric = columns->names[i];
			row->unit = columns->units[i];
		} else {
			snprintf(position, sizeof(position), "#%u", i + 1);
			row->metric = text_of(position);
			row->unit = (struct text){ NULL, 0 };
		}
		row->value = number_of(&value);
		row->number = counter_rate_number(&row->value);
		answer_row(answer, row, NULL);
	}
}

static void
put_wide(const struct sample_values *values, const struct columns *columns,
    struct answer *answer, const struct row *row, struct text rest)
{
	struct answer_cell *cells = values->cells;
	struct value value;
	uint32_t number;

	for (uint32_t i = 0; i < values->metrics.count; i++)
		cells[i] = (struct answer_cell){ .type = ANSWER_VALUE,
			.is.value = { .type = VALUE_NIL } };
	for (uint32_t i = 0;
	     i < columns->count && record_next_value(&rest, &value); i++)
		if (string_table_find(
			&values->metrics, columns->names[i], &number))
			cells[number].is.value = number_of(&value);
	answer_row(answer, row, cells);
}

void
sample_values_rows(struct sample_values *values, struct answer *answer,
    const struct record *record)
{
	const struct columns *columns =
	    columns_find(&values->groups, record->source);
	char time[CLOCK_TEXT_BYTES];
	struct row row = { .time_ns = { VALUE_INT, .is.i = record->time_ns },
		.node = record->node,
		.group = record->source,
		.labels = columns->labels,
		.at = record->time_ns };

	if (values->form != SAMPLE_VALUES_TYPED)
		row.time = text_of(
		    clock_text(time, record->time_ns, RECORD_JSON_DECIMALS));
	if (values->form == SAMPLE_VALUES_WIDE)
		put_wide(values, columns, answer, &row, record->value_bytes);
	else
		put_long(columns, answer, &row, record->value_bytes);
}

void
columns_init(struct column_groups *groups)
{
	memset(groups, 0, sizeof(*groups));
	string_table_init(&groups->names);
}

static void
clear_one(struct columns *columns)
{
	free(columns->names);
	free(columns->counters);
	free(columns->memory);
	*columns = (struct columns){ .labels = columns->labels };
}

void
columns_clear(struct column_groups *groups)
{
	for (uint32_t i = 0; i < groups->names.count && i < groups->room; i++)
		clear_one(&groups->at[i]);
	free(groups->at);
	string_table_clear(&groups->names);
	memset(groups, 0, sizeof(*groups));
}

static struct columns *
columns_of(struct column_groups *groups, struct text group)
{
	uint32_t number;

	/* Samples of one group follow each other. */
	if (groups->last < groups->names.count &&
	    text_equal(groups->names.names[groups->last], group))
		return &groups->at[groups->last];
	number = string_table_add(&groups->names, group);
	MEMORY_GROW_ZERO(groups->at, groups->room, number);
	groups->last = number;
	return &groups->at[number];
}

static void
take_apart(struct columns *columns)
{
	struct text names = columns->lists.names;
	struct text units = columns->lists.units;
	struct text types = columns->lists.types;
	uint32_t room = names.bytes / 2 + 1; /* each a name and a blank */
	struct text name;

	if (room > RECORD_VALUES_MAX)
		room = RECORD_VALUES_MAX;
	columns->names = memory_zero(2 * (size_t)room, sizeof(*columns->names));
	columns->units = columns->names + room;
	columns->counters = memory_zero(room, sizeof(*columns->counters));
	while (columns->count < room &&
	       (name = text_next_word(&names)).bytes > 0) {
		columns->names[columns->count] = name;
		columns->units[columns->count] = text_next_word(&units);
		if (columns->units[columns->count].bytes == 0)
			columns->units[columns->count].at = NULL;
		columns->counters[columns->count] =
		    text_equal(text_next_word(&types), text_of("counter"));
		columns->count++;
	}
}

static struct text
copy(char **to, struct text list)
{
	struct text made = { *to, list.bytes };

	if (list.bytes > 0)
		memcpy(*to, list.at, list.bytes);
	*to += list.bytes;
	return made;
}

/* The last that were sent hold, as of any entity; an older agent passed on any
 * text. */
static void
take_labels(struct column_groups *groups, struct columns *columns,
    const struct record *record)
{
	struct text labels = { NULL, 0 };

	if (record_find_text(record, "labels", &labels) &&
	    !text_equal(labels, columns->labels) &&
	    labels_check(labels, NULL) == 0)
		columns->labels = string_table_keep(&groups->names, labels);
}

void
columns_take(struct column_groups *groups, const struct record *record)
{
	struct definition fresh;
	struct columns *columns;
	char *end;

	if (!definition_of(record, &fresh))
		return;
	columns = columns_of(groups, record->name);
	take_labels(groups, columns, record);
	if (definition_compare(record->name, &columns->lists, &fresh,
		definition_sender_of(record), NULL) != DEFINITION_GROWN)
		return;
	clear_one(columns);
	columns->memory = end =
	    memory_alloc((size_t)fresh.names.bytes + fresh.units.bytes +
			 fresh.types.bytes + 1);
	columns->lists.names = copy(&end, fresh.names);
	columns->lists.units = copy(&end, fresh.units);
	columns->lists.types = copy(&end, fresh.types);
	columns->definition = ++groups->definitions;
	take_apart(columns);
}

uint32_t
columns_group(struct column_groups *groups, struct text group)
{
	return (uint32_t)(columns_of(groups, group) - groups->at);
}

const struct columns *
columns_find(struct column_groups *groups, struct text group)
{
	return columns_of(groups, group);
}
