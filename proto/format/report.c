/*
 * report - write rows with a few columns as a table, JSON or CSV.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/report.h"

#include <inttypes.h>
#include <math.h>

#include "proto/base/number.h"
#include "proto/os/clock.h"

const char *
report_time_text(char to[static REPORT_TIME_BYTES], int64_t us)
{
	int decimals = us % 1000 != 0 ? 6 : us % 1000000 != 0 ? 3 : 0;

	if (us < TIME_MIN_NS / 1000 || us > TIME_MAX_NS / 1000)
		snprintf(to, REPORT_TIME_BYTES, "%" PRId64 " us", us);
	else
		clock_text(to, us * 1000, decimals);
	return to;
}

void
report_begin(struct report *rows, FILE *file, enum report_format format,
    const char *const *names, const struct table_column *columns)
{
	*rows = (struct report){ .file = file,
		.format = format,
		.names = names,
		.csv = { .file = file } };
	switch (format) {
	case REPORT_TABLE: table_begin(&rows->table, file, columns); break;
	case REPORT_JSON:
		json_init(&rows->json, file, JSON_INDENTED);
		json_begin_array(&rows->json);
		break;
	case REPORT_JSONL: break;
	case REPORT_CSV:
		for (; *names != NULL; names++)
			csv_string(&rows->csv, *names);
		csv_end_row(&rows->csv);
		break;
	}
}

void
report_end(struct report *rows)
{
	if (rows->format != REPORT_JSON)
		return;
	json_end_array(&rows->json);
	putc('\n', rows->file);
}

/* Before a cell: returns false if the format is not JSON. */
static bool
begin_cell(struct report *rows, bool filled)
{
	if (rows->format != REPORT_JSON && rows->format != REPORT_JSONL)
		return false;
	if (rows->at == 0 && rows->format == REPORT_JSONL)
		json_init(&rows->json, rows->file, JSON_LINE);
	if (rows->at == 0)
		json_begin_object(&rows->json);
	if (filled)
		json_name(&rows->json, rows->names[rows->at]);
	return true;
}

static void
end_cell(struct report *rows)
{
	if (rows->names[++rows->at] != NULL)
		return;
	rows->at = 0;
	rows->count++;
	if (rows->format == REPORT_JSON || rows->format == REPORT_JSONL)
		json_end_object(&rows->json);
	if (rows->format == REPORT_JSONL)
		putc('\n', rows->file);
	if (rows->format == REPORT_CSV)
		csv_end_row(&rows->csv);
}

void
report_text(struct report *rows, struct text value)
{
	if (begin_cell(rows, true))
		json_text(&rows->json, value);
	else if (rows->format == REPORT_CSV)
		csv_text(&rows->csv, value);
	else
		table_text(&rows->table, value);
	end_cell(rows);
}

void
report_time(struct report *rows, int64_t us)
{
	char text[REPORT_TIME_BYTES];

	if (begin_cell(rows, true))
		json_int(&rows->json, us);
	else if (rows->format == REPORT_CSV)
		csv_int(&rows->csv, us);
	else
		table_string(&rows->table, report_time_text(text, us));
	end_cell(rows);
}

void
report_count(struct report *rows, uint64_t value)
{
	if (begin_cell(rows, true))
		json_uint(&rows->json, value);
	else if (rows->format == REPORT_CSV)
		csv_uint(&rows->csv, value);
	else
		table_count(&rows->table, value);
	end_cell(rows);
}

void
report_flag(struct report *rows, bool value)
{
	if (!begin_cell(rows, true)) {
		report_text(rows, text_of(value ? "yes" : "no"));
		return;
	}
	json_bool(&rows->json, value);
	end_cell(rows);
}

static void
put_json_value(struct json *json, const struct value *value)
{
	if (value->type != VALUE_FLOAT || isfinite(value->is.f)) {
		json_value(json, value);
		return;
	}
	json_begin_object(json);
	json_name(json, "$float");
	json_string(json, isnan(value->is.f) ? "nan"
			  : value->is.f < 0  ? "-inf"
					     : "inf");
	json_end_object(json);
}

void
report_value(struct report *rows, const struct value *value)
{
	char digits[NUMBER_BYTES];
	struct text shown = { digits, 0 };

	if (begin_cell(rows, true)) {
		put_json_value(&rows->json, value);
		end_cell(rows);
		return;
	}
	if (value->type == VALUE_TEXT)
		shown = value->is.text;
	else if (value->type == VALUE_FLOAT)
		shown.bytes = (uint32_t)number_repr(digits, value->is.f);
	else
		shown.bytes = (uint32_t)snprintf(digits, sizeof(digits),
		    "%" PRId64, value->type == VALUE_INT ? value->is.i : 0);
	if (rows->format == REPORT_TABLE)
		table_text(&rows->table, shown);
	else if (value->type == VALUE_TEXT)
		csv_text(&rows->csv, shown);
	else
		csv_number(&rows->csv, shown);
	end_cell(rows);
}

void
report_none(struct report *rows)
{
	if (begin_cell(rows, false)) {
		end_cell(rows);
		return;
	}
	if (rows->format == REPORT_CSV)
		csv_none(&rows->csv);
	else
		table_none(&rows->table);
	end_cell(rows);
}
