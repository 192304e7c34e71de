/*
 * sample_values - the values of samples as CSV, with names and units.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/dump/sample_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/decode/record_json.h"
#include "proto/os/clock.h"

enum { POSITION_BYTES = 16 };

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
		if (!values->wide ||
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
    struct text partition, struct text name, bool wide, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	memset(values, 0, sizeof(*values));
	values->wide = wide;
	columns_init(&values->groups);
	string_table_init(&values->metrics);
	query.name = text_of("set:*");
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	return read_definitions(values, source, name, err);
}

void
sample_values_clear(struct sample_values *values)
{
	columns_clear(&values->groups);
	string_table_clear(&values->metrics);
}

void
sample_values_titles(struct sample_values *values, struct csv *csv)
{
	csv_titles(csv, "time_ns time node group");
	if (!values->wide)
		csv_titles(csv, "metric unit value");
	for (uint32_t i = 0; i < values->metrics.count; i++)
		csv_text(csv, values->metrics.names[i]);
	csv_end_row(csv);
}

static void
put_value(struct csv *csv, const struct value *value)
{
	switch (value->type) {
	case VALUE_INT: csv_int(csv, value->is.i); break;
	case VALUE_UINT: csv_uint(csv, value->is.u); break;
	case VALUE_FLOAT:
		if (isfinite(value->is.f)) {
			csv_float(csv, value->is.f);
			break;
		}
		/* FALLTHROUGH */
	default: csv_none(csv);
	}
}

static void
begin_row(struct csv *csv, const struct record *record)
{
	char time[CLOCK_TEXT_BYTES];

	csv_int(csv, record->time_ns);
	csv_string(
	    csv, clock_text(time, record->time_ns, RECORD_JSON_DECIMALS));
	csv_text(csv, record->node);
	csv_text(csv, record->source);
}

static void
put_long(
    const struct columns *columns, struct csv *csv, const struct record *record)
{
	struct text rest = record->value_bytes;
	char position[POSITION_BYTES];
	struct value value;

	for (uint32_t i = 0; record_next_value(&rest, &value); i++) {
		begin_row(csv, record);
		if (i < columns->count) {
			csv_text(csv, columns->names[i]);
			csv_text(csv, columns->units[i]);
		} else {
			snprintf(position, sizeof(position), "#%u", i + 1);
			csv_string(csv, position);
			csv_none(csv);
		}
		put_value(csv, &value);
		csv_end_row(csv);
	}
}

static void
put_wide(const struct sample_values *values, const struct columns *columns,
    struct csv *csv, const struct record *record)
{
	struct value cells[SAMPLE_VALUES_COLUMNS_MAX] = { 0 };
	struct text rest = record->value_bytes;
	struct value value;
	uint32_t number;

	for (uint32_t i = 0;
	     i < columns->count && record_next_value(&rest, &value); i++)
		if (string_table_find(
			&values->metrics, columns->names[i], &number))
			cells[number] = value;
	begin_row(csv, record);
	for (uint32_t i = 0; i < values->metrics.count; i++)
		put_value(csv, &cells[i]);
	csv_end_row(csv);
}

void
sample_values_rows(
    struct sample_values *values, struct csv *csv, const struct record *record)
{
	const struct columns *columns =
	    columns_find(&values->groups, record->source);

	if (values->wide)
		put_wide(values, columns, csv, record);
	else
		put_long(columns, csv, record);
}
