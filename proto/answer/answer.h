/*
 * answer - rows of typed cells: what a question gives, whoever prints it.
 *
 * An answer has a head (what it is about), tables of rows, and an end (how many
 * rows, what was left out or lost, whether it is complete).  Who answers
 * declares columns and gives rows; only this folder knows formats, and decides
 * which rows and columns are printed in which order.
 *
 * A cell is one value.  What is nested is a second table with the key of its
 * parent.  An unknown value is null, "-" or empty, never 0.
 *
 * Formats: table (for people, as wide as the terminal; complete where the
 * output is no terminal), md, csv (one table, RFC 4180 with LF; notes go to
 * standard error), json (one object: head, "rows", other tables by their name,
 * "notes", "complete"; tables also by column), jsonl (head and end are lines
 * with the one member "poolscope"; a row of another table than the first has a
 * member "table"), arrow and parquet (one table, a stream of Apache Arrow or a
 * file of Apache Parquet: times and durations are integers of ns, not text;
 * notes as in csv), brief (JSON within a limit of bytes, print_brief.c). Times
 * are UTC in json, jsonl, csv, arrow, parquet and brief, and in the zone of
 * --tz otherwise.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_ANSWER_ANSWER_H
#define PROTO_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/answer/cell.h"
#include "proto/base/err.h"
#include "proto/config/opt_table.h"

enum { ANSWER_ROWS_BYTES_MAX = 256 << 20 }; /* rows that are kept to sort */

/* --format, --table, --sort, --top, --columns; bound to struct
 * answer_options. */
extern const struct opt answer_options[];
/* The last three, of a program with a --format of its own. */
extern const struct opt *const answer_row_options;

/* The one that --sort, --top and --columns are of: that of --table, else the
 * first. */
const struct answer_table *answer_chosen_table(
    const struct answer_options *options, const struct answer_table *tables);
/* Do the options fit the tables?  -1: the sentence names the nearest columns.
 */
int answer_options_check(const struct answer_options *options,
    const struct answer_table *tables, struct err *err);
/* What --columns help prints, in enum answer_format. */
void answer_put_columns(
    const struct answer_table *tables, int format, FILE *file);
/* The width of the terminal that standard output is; 0: it is none. */
unsigned answer_terminal_width(void);

struct answer; /* opaque */

/* `tables`, `options` and their texts must live as long as the answer. */
struct answer *answer_new(FILE *file, const struct answer_options *options,
    const struct answer_table *tables);
void answer_free(struct answer **answer);

/* For programs: check the options (wrong usage and --columns help end the
 * process), and print what `give` gives to standard output; it returns -1 for a
 * failure, and any other number is returned. */
void answer_options_judge(
    const struct answer_options *options, const struct answer_table *tables);
int answer_run(const struct answer_options *options,
    const struct answer_table *tables,
    int (*give)(void *arg, struct answer *answer, struct err *err), void *arg,
    struct err *err);

/* Members of the head, before the first row; texts are copied.  A key that has
 * a value gets the new one. */
void answer_head(
    struct answer *answer, const char *key, struct answer_cell value);
/* The line above a table or md. */
void answer_title(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What stands behind that line, whatever it is. */
void answer_title_end(struct answer *answer, const char *end);

/* Begin the table of this name; the first begins by itself. */
void answer_begin_table(struct answer *answer, const char *name);
/* A column behind those that are known, before the first row of its table.  The
 * texts are copied. */
void answer_add_column(struct answer *answer, struct text key,
    const char *title, enum answer_type type, const char *unit);
/* The table does not show the column by itself. */
void answer_hide_column(struct answer *answer, const char *key);
/* Is the format a table, md or brief?  Then what means nothing may be left out.
 */
bool answer_is_for_people(const struct answer *answer);
/* A row; `added` has the cells of the columns that were added. */
void answer_row(
    struct answer *answer, const void *row, const struct answer_cell *added);
/* The rows that follow are sorted and counted by --top apart from those so
 * far. */
void answer_next_group(struct answer *answer);
/* Print what waits for more rows, for those who watch. */
void answer_flush(struct answer *answer);

/* What the reader must know about the rows: `key` names the kind ("lost",
 * "left_out"), `count` of what (ANSWER_NO_COUNT: it has none). */
void answer_note(struct answer *answer, const char *key, uint64_t count,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What is printed is right, but not all: the end says so, because of the
 * sentence, and answer_end returns 0 all the same. */
void answer_lacks(struct answer *answer, const char *sentence);
/* Can nothing more be printed?  answer_end, or who opened the file, says why.
 */
bool answer_is_broken(const struct answer *answer);
/* How many rows the first table has so far, printed or not. */
uint64_t answer_rows(const struct answer *answer);

/* End it.  `rc` -1: it is not complete, because of `err`.  Returns `rc`, or -1
 * if the rows are too many to sort, or --columns named one that did not come.
 */
int answer_end(struct answer *answer, int rc, struct err *err);

#endif
