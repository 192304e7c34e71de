/*
 * answer_printer - how an answer is written in one format.
 *
 * For proto/answer only.  answer.c has chosen rows and columns and put them in
 * order; a printer writes them as they come.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_PRINTER_H
#define PROTO_ANSWER_PRINTER_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/answer/cell.h"
#include "proto/base/buffer.h"
#include "proto/base/err.h"
#include "proto/format/table.h"
#include "proto/json/json.h"

/* A column as it is printed: one of the question's, or an added one. */
struct shown_column {
	struct answer_column is;
	uint32_t cell;  /* its number in a row */
	unsigned width; /* table: characters so far */
	bool is_hidden; /* table: too wide for the terminal */
	bool is_below;  /* table: on a line below its row, for the same */
	/* table: what its names begin and end with, which is printed once. */
	struct table_names names;
	char *first; /* one of them; NULL: they are printed whole */
	/* json in columns: its values so far, and whether any is known. */
	struct json_memory values;
	bool is_known;
	struct json_memory front; /* json: what a row has before its value */
};

struct answer_head_member {
	const char *key;
	struct answer_cell value;
};

struct answer_note {
	const char *key;
	char *text;
	uint64_t count;
};

struct answer_printing {
	FILE *file;
	const struct answer_options *options;
	const char *title; /* NULL: none */
	const struct answer_head_member *head;
	uint32_t head_count;
	const struct answer_note *notes;
	uint32_t note_count;
	const char *table; /* its name */
	bool is_first;
	struct shown_column *columns;
	uint32_t column_count;
	uint32_t fixed_count; /* cells of a row before the added ones */
	struct err *err; /* a printer that cannot print the rows says why */
	/* Of the printer. */
	struct json json;
	struct buffer line; /* csv, json: of a row, what is not written yet */
	struct json_memory back; /* json: what ends a row */
	uint64_t kept_bytes;     /* json in columns: no more than these */
	bool has_tables;
	struct frame_printing *frame; /* arrow, parquet */
	struct brief_printing *brief;
};

/* Of a format that has one table: is it the one that was asked for? */
static inline bool
answer_is_of_chosen(const struct answer_printing *p)
{
	const char *asked = p->options->table;

	return asked == NULL ? p->is_first : strcmp(asked, p->table) == 0;
}

struct answer_printer;
/* By enum answer_format. */
const struct answer_printer *answer_printer_of(int format);

/* The value of a cell, or null. */
void answer_put_cell(struct json *json, const struct answer_cell *cell);
/* Members of an object: of the head; and notes, complete, error. */
void answer_put_head(struct json *json, const struct answer_printing *p);
void answer_put_notes(
    struct json *json, const struct answer_printing *p, const char *failed);

/* A row is written at once: a call for each of its cells takes longer than the
 * cell. */
static inline void
answer_put_line(struct answer_printing *p)
{
	if (p->line.bytes > 0)
		fwrite_unlocked(p->line.at, 1, p->line.bytes, p->file);
	p->line.bytes = 0;
}

struct answer_printer {
	/* The head, and what comes before any table. */
	void (*begin)(struct answer_printing *p);
	/* A table begins; these are its first rows, from which it may see how
	 * wide the columns are. */
	void (*table)(struct answer_printing *p,
	    struct answer_cell *const *rows, uint32_t count);
	void (*row)(struct answer_printing *p, const struct answer_cell *cells);
	void (*end_table)(struct answer_printing *p);
	/* `failed`: why the answer is not complete; NULL: it is. */
	void (*end)(
	    struct answer_printing *p, uint64_t rows, const char *failed);
	/* NULL, or what `row` does, of a row as answer_row has it: where there
	 * are millions, making cells takes longer than printing them. */
	void (*row_as_given)(struct answer_printing *p, const void *row,
	    const struct answer_cell *added);
};

extern const struct answer_printer answer_print_table, answer_print_md,
    answer_print_csv, answer_print_json, answer_print_json_columns,
    answer_print_jsonl, answer_print_arrow, answer_print_parquet,
    answer_print_brief;

#endif
