/*
 * answer_cell - the types of an answer: cells, columns, tables, options.
 *
 * A cell is one value.  An unknown value is null, "-" or empty, never 0.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_CELL_H
#define PROTO_ANSWER_CELL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/format/quantity.h"
#include "proto/record/value.h"

/* The C type of a cell, and the value that means unknown. */
enum answer_type {
	ANSWER_TEXT,     /* struct text; at NULL */
	ANSWER_COUNT,    /* uint64_t up to 2^53; ANSWER_NO_COUNT */
	ANSWER_WHOLE,    /* int64_t from -2^53 to 2^53; ANSWER_NO_NS */
	ANSWER_NUMBER,   /* double; NaN */
	ANSWER_SHARE,    /* double, 0 to 1 (a table prints per cent); NaN */
	ANSWER_TIME,     /* int64_t ns since the epoch; ANSWER_NO_NS */
	ANSWER_DURATION, /* int64_t ns (formats print seconds); ANSWER_NO_NS */
	ANSWER_SECONDS,  /* the same, in a table without a unit, to compare */
	ANSWER_BYTES,    /* double; NaN */
	ANSWER_FLAG,     /* enum answer_flag */
	ANSWER_VALUE,    /* struct value; VALUE_NIL */
};
#define ANSWER_NO_COUNT UINT64_MAX
#define ANSWER_NO_NS    INT64_MIN
enum answer_flag { ANSWER_NO, ANSWER_YES, ANSWER_NO_FLAG };

enum answer_trait {
	ANSWER_SPARE = 1,    /* leaves a table that is too wide */
	ANSWER_BY_SIZE = 2,  /* --sort does not see the sign */
	ANSWER_IN_ORDER = 4, /* rows come in its order, which --sort keeps */
	ANSWER_IN_UNIT = 8,  /* a number in the unit that the column "unit" of
				the row has: a table shows bytes in KiB */
	ANSWER_CLAUSE = 32, /* goes below the row in a table that is too wide */
	ANSWER_REPEATS = 16, /* texts of which there are few: arrow has a
				dictionary of them */
};

struct answer_column {
	const char *key;   /* in json, csv, --sort and --columns; NULL ends */
	const char *title; /* in a table; NULL: only if --columns has it */
	enum answer_type type;
	uint32_t offset;    /* of the cell in the row */
	const char *help;   /* one sentence for the manual and openapi.json */
	const char *unit;   /* UCUM: "s", "By"; NULL: none */
	unsigned traits;    /* bits of enum answer_trait */
	const char *family; /* pattern of the keys of columns that come with
			       the data (answer_add_column); such a row of the
			       list is no column itself */
};

/* Does a word of --sort or --columns name this column: by its key, or by its
 * title, which is what a table shows? */
bool answer_column_is(const struct answer_column *column, struct text word);

/* Type and offset of a member of the row, checked by the compiler; what follows
 * is the help, and what is left out is zero. */
#define ANSWER_AT_(kind, ctype, row, member)                                   \
	.type = kind,                                                          \
	.offset = (uint32_t)(offsetof(row, member) +                           \
			     0 * sizeof(char[_Generic(                         \
				     ((row *)NULL)->member, ctype : 1)]))
#define ANSWER_AT_TEXT(row, m)   ANSWER_AT_(ANSWER_TEXT, struct text, row, m)
#define ANSWER_AT_COUNT(row, m)  ANSWER_AT_(ANSWER_COUNT, uint64_t, row, m)
#define ANSWER_AT_WHOLE(row, m)  ANSWER_AT_(ANSWER_WHOLE, int64_t, row, m)
#define ANSWER_AT_NUMBER(row, m) ANSWER_AT_(ANSWER_NUMBER, double, row, m)
#define ANSWER_AT_SHARE(row, m)  ANSWER_AT_(ANSWER_SHARE, double, row, m)
#define ANSWER_AT_TIME(row, m)   ANSWER_AT_(ANSWER_TIME, int64_t, row, m)
#define ANSWER_AT_DURATION(row, m)                                             \
	.unit = "s", ANSWER_AT_(ANSWER_DURATION, int64_t, row, m)
#define ANSWER_AT_BYTES(row, m)                                                \
	.unit = "By", ANSWER_AT_(ANSWER_BYTES, double, row, m)
#define ANSWER_AT_FLAG(row, m)  ANSWER_AT_(ANSWER_FLAG, enum answer_flag, row, m)
#define ANSWER_AT_VALUE(row, m) ANSWER_AT_(ANSWER_VALUE, struct value, row, m)
/* A member of the head. */
#define ANSWER_HEAD(kind) .type = kind, .offset = 0
/* The pattern of columns that come with the data. */
#define ANSWER_FAMILY(pattern, type, unit, help)                               \
	{                                                                      \
		pattern, NULL, type, 0, help, unit, 0, pattern                 \
	}

struct answer_table {
	/* NULL ends a list.  json calls the first "rows".  "head" has no rows:
	 * it describes the members that answer_head gives. */
	const char *name;
	const struct answer_column *columns;
};

struct answer_cell {
	enum answer_type type;
	enum quantity_kind kind; /* of a number in a table */
	union {
		struct text text;
		uint64_t count;
		double number; /* also a share, bytes */
		int64_t ns;    /* also a whole number */
		enum answer_flag flag;
		struct value value;
	} is;
};

enum answer_format {
	ANSWER_FORMAT_TABLE,
	ANSWER_FORMAT_JSON,
	ANSWER_FORMAT_JSONL,
	ANSWER_FORMAT_CSV,
	ANSWER_FORMAT_MD,
	ANSWER_FORMAT_ARROW,
	ANSWER_FORMAT_PARQUET,
	ANSWER_FORMAT_BRIEF, /* of no option: JSON within a limit of bytes */
};

enum { ANSWER_BRIEF_BYTES_MIN = 1024 };

/* Of a table in json. */
enum answer_shape {
	ANSWER_SHAPE_ROWS, /* an array of objects */
	/* An object with an array for each column; null for a column of which
	 * nothing is known. */
	ANSWER_SHAPE_COLUMNS,
};

/* A row that is printed, with the columns that are not, too; also the head, as
 * a row of the table "head" for each member, and each note, as one of the table
 * "notes" (key, count, text).  All valid until the call returns. */
struct answer_taken {
	const char *table;
	const struct answer_column *columns;
	uint32_t count;
	const struct answer_cell *cells;
};
/* The cell of a column; NULL: it has none. */
const struct answer_cell *answer_taken_cell(
    const struct answer_taken *row, const char *key);
/* What it has: 0, ANSWER_NO_NS, NaN, no text or false if it is not known. */
uint64_t answer_taken_count(const struct answer_taken *row, const char *key);
int64_t answer_taken_ns(const struct answer_taken *row, const char *key);
double answer_taken_number(const struct answer_taken *row, const char *key);
struct text answer_taken_text(const struct answer_taken *row, const char *key);
bool answer_taken_is_set(const struct answer_taken *row, const char *key);

/* Hears what is printed: a program that prints an answer and needs what
 * it says does not read its own text. */
struct answer_taker {
	void (*take)(void *arg, const struct answer_taken *row);
	void *arg;
};

/* How it is printed.  Zeros are the defaults. */
struct answer_options {
	int format;          /* enum answer_format */
	const char *sort;    /* key of a column of the chosen table */
	uint64_t top;        /* print at most this many rows; 0: all */
	const char *columns; /* keys or patterns, with commas; NULL: those with
				a title in a table, else all */
	const char *table;   /* name of the chosen table; NULL: the first */
	int shape;           /* enum answer_shape; json */
	unsigned width;      /* of the terminal in characters; 0: it is none */
	uint32_t room;       /* brief: bytes, ANSWER_BRIEF_BYTES_MIN at least */
	const struct answer_taker *taker; /* NULL: none */
};

/* Cells. */
static inline struct answer_cell
answer_text(struct text text)
{
	return (struct answer_cell){ .type = ANSWER_TEXT, .is.text = text };
}

static inline struct answer_cell
answer_string(const char *string)
{
	return answer_text(text_of(string));
}

static inline struct answer_cell
answer_count(uint64_t value)
{
	return (struct answer_cell){ .type = ANSWER_COUNT, .is.count = value };
}

static inline struct answer_cell
answer_number(double number)
{
	return (
	    struct answer_cell){ .type = ANSWER_NUMBER, .is.number = number };
}

static inline struct answer_cell
answer_time(int64_t ns)
{
	return (struct answer_cell){ .type = ANSWER_TIME, .is.ns = ns };
}

static inline struct answer_cell
answer_duration(int64_t ns)
{
	return (struct answer_cell){ .type = ANSWER_DURATION, .is.ns = ns };
}

static inline struct answer_cell
answer_seconds(int64_t ns)
{
	return (struct answer_cell){ .type = ANSWER_SECONDS, .is.ns = ns };
}

static inline struct answer_cell
answer_flag(bool flag)
{
	return (struct answer_cell){ .type = ANSWER_FLAG,
		.is.flag = flag ? ANSWER_YES : ANSWER_NO };
}

/* Is there a value?  Of a cell; of what a row has at `at`. */
static inline bool
answer_is_known_at(enum answer_type type, const void *at)
{
	uint64_t number;
	double real;

	switch (type) {
	case ANSWER_TEXT: return ((const struct text *)at)->at != NULL;
	case ANSWER_FLAG:
		return *(const enum answer_flag *)at != ANSWER_NO_FLAG;
	case ANSWER_VALUE: return ((const struct value *)at)->type != VALUE_NIL;
	case ANSWER_NUMBER:
	case ANSWER_SHARE:
	case ANSWER_BYTES:
		memcpy(&real, at, sizeof(real));
		return isfinite(real);
	default: break;
	}
	memcpy(&number, at, sizeof(number));
	return number != (type == ANSWER_COUNT ? ANSWER_NO_COUNT
					       : (uint64_t)ANSWER_NO_NS);
}

static inline bool
answer_is_known(const struct answer_cell *cell)
{
	return answer_is_known_at(cell->type, &cell->is);
}

enum { ANSWER_SHOWN_BYTES = 64 };
/* A cell as people read it: a view of `to`, or of the cell's text. */
struct text answer_shown(
    const struct answer_cell *cell, char to[static ANSWER_SHOWN_BYTES]);
/* A cell as programs read it, without quotes: of a time UTC, of a duration
 * seconds; empty: unknown. */
struct text answer_plain(
    const struct answer_cell *cell, char to[static ANSWER_SHOWN_BYTES]);
/* A text in Markdown: a bar would end a cell, and marks would be taken for
 * layout. */
void answer_put_markdown(FILE *file, struct text t);

#endif
