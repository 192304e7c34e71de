/*
 * report - rows of few columns, as a table, JSON or CSV.
 *
 * JSON is an array of objects or an object a line; nothing is held back, so
 * there may be any number of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_REPORT_H
#define PROTO_FORMAT_REPORT_H

#include "proto/format/csv.h"
#include "proto/format/json.h"
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

/* `names` of JSON and CSV; `columns` of a table, titles and widths. */
void report_begin(struct report *rows, FILE *file, enum report_format format,
    const char *const *names, const struct table_column *columns);
void report_end(struct report *rows);

/* The next cell; after the last the next row begins. */
void report_text(struct report *rows, struct text value);
/* Microseconds since the epoch; a date in a table. */
void report_time(struct report *rows, int64_t us);
/* In a table as many digits as fit, then k, M, G. */
void report_count(struct report *rows, uint64_t value);
/* "yes" and "no" where it is not JSON. */
void report_flag(struct report *rows, bool value);
/* What is not finite is {"$float": "nan"}: JSON has no number for it. */
void report_value(struct report *rows, const struct value *value);
/* No such thing here: the name is left out of an object. */
void report_none(struct report *rows);

enum { REPORT_TIME_BYTES = 48 };
/* "2017-03-08T21:06:40Z", with a fraction where there is one. */
const char *report_time_text(char to[static REPORT_TIME_BYTES], int64_t us);

#endif
