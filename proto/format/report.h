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

enum result_format { RESULT_TABLE, RESULT_JSON, RESULT_JSONL, RESULT_CSV };

struct result_rows {
	FILE *file;
	enum result_format format;
	const char *const *names; /* of the columns; NULL ends them */
	unsigned at;              /* the next column */
	uint64_t count;
	struct json json;
	struct csv csv;
	struct table table;
};

/* `names` of JSON and CSV; `columns` of a table, titles and widths. */
void result_rows_begin(struct result_rows *rows, FILE *file,
    enum result_format format, const char *const *names,
    const struct table_column *columns);
void result_rows_end(struct result_rows *rows);

/* The next cell; after the last the next row begins. */
void result_rows_text(struct result_rows *rows, struct text value);
/* Microseconds since the epoch; a date in a table. */
void result_rows_time(struct result_rows *rows, int64_t us);
/* In a table as many digits as fit, then k, M, G. */
void result_rows_count(struct result_rows *rows, uint64_t value);
/* "yes" and "no" where it is not JSON. */
void result_rows_flag(struct result_rows *rows, bool value);
/* What is not finite is {"$float": "nan"}: JSON has no number for it. */
void result_rows_value(struct result_rows *rows, const struct value *value);
/* No such thing here: the name is left out of an object. */
void result_rows_none(struct result_rows *rows);

enum { RESULT_TIME_BYTES = 48 };
/* "2017-03-08T21:06:40Z", with a fraction where there is one. */
const char *result_time_text(char to[static RESULT_TIME_BYTES], int64_t us);

#endif
