/*
 * report - write rows with a few columns as a table, JSON or CSV.
 *
 * JSON is an array of objects or one object per line.  Rows are written at
 * once, so their number is not limited.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_REPORT_H
#define PROTO_FORMAT_REPORT_H

#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_JSONL, REPORT_CSV };

struct report {
	FILE *file;
	enum report_format format;
	const char *const *names; /* of the columns; NULL ends them */
	unsigned at;              /* the next column */
	uint64_t count;
	struct json json;
	struct csv csv;
	struct table table;
};

/* `names` for JSON and CSV; `columns` for a table: titles and widths. */
void report_begin(struct report *report, FILE *file, enum report_format format,
    const char *const *names, const struct table_column *columns);
void report_end(struct report *report);

/* Write the next cell; a new row begins after the last column. */
void report_text(struct report *report, struct text value);
/* Microseconds since the epoch; a date in a table. */
void report_time(struct report *report, int64_t us);
/* In a table with as many digits as fit, then in k, M, G. */
void report_count(struct report *report, uint64_t value);
/* "yes" or "no"; in JSON true or false. */
void report_flag(struct report *report, bool value);
/* A number that is not finite becomes {"$float": "nan"}, because JSON has no
 * number for it. */
void report_value(struct report *report, const struct value *value);
/* No value: JSON omits the name. */
void report_none(struct report *report);

enum { REPORT_TIME_BYTES = 48 };
/* "2017-03-08T21:06:40Z", with a fraction if it is not zero. */
const char *report_time_text(char to[static REPORT_TIME_BYTES], int64_t us);

#endif
