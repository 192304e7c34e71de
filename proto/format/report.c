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
report_begin(struct report *report, FILE *file, enum report_format format,
    const char *const *names, const struct table_column *columns)
{
	*report = (struct report){ .file = file,
		.format = format,
		.names = names,
		.csv = { .file = file } };
	switch (format) {
	case REPORT_TABLE: table_begin(&report->table, file, columns); break;
	case REPORT_JSON:
		json_init(&report->json, file, JSON_INDENTED);
		json_begin_array(&report->json);
		break;
	case REPORT_JSONL: break;
	case REPORT_CSV:
		for (; *names != NULL; names++)
			csv_string(&report->csv, *names);
		csv_end_row(&report->csv);
		break;
	}
}

void
report_end(struct report *report)
{
	if (report->format != REPORT_JSON)
		return;
	json_end_array(&report->json);
	putc('\n', report->file);
}

/* Before a cell: returns false if the format is not JSON. */
static bool
begin_cell(struct report *report, bool filled)
{
	if (report->format != REPORT_JSON && report->format != REPORT_JSONL)
		return false;
	if (report->at == 0 && report->format == REPORT_JSONL)
		json_init(&report->json, report->file, JSON_LINE);
	if (report->at == 0)
		json_begin_object(&report->json);
	if (filled)
		json_name(&report->json, report->names[report->at]);
	return true;
}

static void
end_cell(struct report *report)
{
	if (report->names[++report->at] != NULL)
		return;
	report->at = 0;
	report->count++;
	if (report->format == REPORT_JSON || report->format == REPORT_JSONL)
		json_end_object(&report->json);
	if (report->format == REPORT_JSONL)
		putc('\n', report->file);
	if (report->format == REPORT_CSV)
		csv_end_row(&report->csv);
}

void
report_text(struct report *report, struct text value)
{
	if (begin_cell(report, true))
		json_text(&report->json, value);
	else if (report->format == REPORT_CSV)
		csv_text(&report->csv, value);
	else
		table_text(&report->table, value);
	end_cell(report);
}

void
report_time(struct report *report, int64_t us)
{
	char text[REPORT_TIME_BYTES];

	if (begin_cell(report, true))
		json_int(&report->json, us);
	else if (report->format == REPORT_CSV)
		csv_int(&report->csv, us);
	else
		table_string(&report->table, report_time_text(text, us));
	end_cell(report);
}

void
report_count(struct report *report, uint64_t value)
{
	if (begin_cell(report, true))
		json_uint(&report->json, value);
	else if (report->format == REPORT_CSV)
		csv_uint(&report->csv, value);
	else
		table_count(&report->table, value);
	end_cell(report);
}

void
report_flag(struct report *report, bool value)
{
	if (!begin_cell(report, true)) {
		report_text(report, text_of(value ? "yes" : "no"));
		return;
	}
	json_bool(&report->json, value);
	end_cell(report);
}

static void
put_json_value(struct json *json, const struct value *value)
{
	if (value->type != VALUE_FLOAT || isfinite(value->is.f)) {
		json_value(json, value);
		return;
	}
	json_begin_object(json);
	json_add_string(json, "$float",
	    isnan(value->is.f) ? "nan"
	    : value->is.f < 0  ? "-inf"
			       : "inf");
	json_end_object(json);
}

void
report_value(struct report *report, const struct value *value)
{
	char digits[NUMBER_BYTES];
	struct text shown = { digits, 0 };

	if (begin_cell(report, true)) {
		put_json_value(&report->json, value);
		end_cell(report);
		return;
	}
	if (value->type == VALUE_TEXT)
		shown = value->is.text;
	else if (value->type == VALUE_FLOAT)
		shown.bytes = (uint32_t)number_repr(digits, value->is.f);
	else
		shown.bytes = (uint32_t)snprintf(digits, sizeof(digits),
		    "%" PRId64, value->type == VALUE_INT ? value->is.i : 0);
	if (report->format == REPORT_TABLE)
		table_text(&report->table, shown);
	else if (value->type == VALUE_TEXT)
		csv_text(&report->csv, shown);
	else
		csv_number(&report->csv, shown);
	end_cell(report);
}

void
report_none(struct report *report)
{
	if (begin_cell(report, false)) {
		end_cell(report);
		return;
	}
	if (report->format == REPORT_CSV)
		csv_none(&report->csv);
	else
		table_none(&report->table);
	end_cell(report);
}
