/*
 * answer_print_brief - an answer as JSON within a limit of bytes, for readers
 * whose memory is small: language models.
 *
 *     {"question": "phases", ..., "tables": {"phases": {"columns": ["phase",
 *     "p50"], "units": {"p50": "s"}, "rows": [["prep", 100]], "shown": 1, "of":
 *     60, "left_out": "59 of 60 rows; the command prints all"}}, "notes": [],
 *     "complete": true}
 *
 * A row is an array, so that names of columns are there once.  What is cut is
 * always noted: members of the head, columns, rows, tables and notes.  The
 * first table gets at least half of the room for rows.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/answer/printer.h"
#include "proto/base/memory.h"

enum {
	STYLE = JSON_STRICT | JSON_LINE | JSON_COMPACT,
	/* Braces, words and numbers of the answer, and of a table. */
	ANSWER_FRAME_BYTES = 160,
	TABLE_FRAME_BYTES = 240,
};

struct brief_table {
	const char *name;
	struct buffer columns, units, rows; /* what is between brackets */
	uint32_t column_count;              /* that are printed */
	uint32_t columns_left_out;
	uint32_t *ends; /* of rows, in `rows` */
	uint32_t kept, ends_room;
	uint64_t count; /* of rows that came */
	bool is_full;
};

struct brief_printing {
	struct brief_table *tables;
	uint32_t count, room;
};

/* ---- pieces ---- */

static void
put_words(struct buffer *to, const char *words)
{
	buffer_put_text(to, text_of(words));
}

/* Append an item if no more than `most` bytes are there then. */
static bool
put_item(struct buffer *to, struct text item, size_t most)
{
	if (to->bytes + 1 + item.bytes > most)
		return false;
	if (to->bytes > 0)
		buffer_put(to, ",", 1);
	buffer_put_text(to, item);
	return true;
}

/* A text, or "key":"value", as JSON. */
static bool
put_texts(struct buffer *to, const char *text, const char *value, size_t most)
{
	struct json_memory memory;
	bool fits;

	json_memory_begin(&memory, STYLE);
	if (value == NULL)
		json_string(&memory.to, text);
	else
		json_add_string(&memory.to, text, value);
	fits = put_item(to, json_memory_end(&memory), most);
	free(memory.text);
	return fits;
}

static void
put_count(struct buffer *to, const char *words, uint64_t count)
{
	char text[80];

	snprintf(text, sizeof(text), "%s%" PRIu64, words, count);
	put_words(to, text);
}

/* ---- what comes ---- */

static void
brief_begin(struct answer_printing *p)
{
	p->brief = memory_zero(1, sizeof(*p->brief));
}

static void
brief_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	struct brief_printing *brief = p->brief;
	size_t most = p->options->room / (p->is_first ? 5 : 10);
	struct brief_table *table;

	(void)rows;
	(void)count;
	table = MEMORY_ADD(brief->tables, brief->room, brief->count);
	*table = (struct brief_table){ .name = p->table };
	for (uint32_t i = 0; i < p->column_count; i++) {
		const struct answer_column *column = &p->columns[i].is;
		size_t before = table->columns.bytes;

		/* A number without its unit would be misread. */
		if (table->columns_left_out > 0 ||
		    !put_texts(&table->columns, column->key, NULL, most) ||
		    (column->unit != NULL &&
			!put_texts(
			    &table->units, column->key, column->unit, most))) {
			table->columns.bytes = before;
			table->columns_left_out++;
		} else {
			table->column_count++;
		}
	}
}

static void
brief_row(struct answer_printing *p, const struct answer_cell *cells)
{
	struct brief_table *table = &p->brief->tables[p->brief->count - 1];
	struct json_memory memory;

	table->count++;
	if (table->is_full)
		return;
	json_memory_begin(&memory, STYLE);
	json_begin_array(&memory.to);
	for (uint32_t i = 0; i < table->column_count; i++)
		answer_put_cell(&memory.to, &cells[p->columns[i].cell]);
	json_end_array(&memory.to);
	table->is_full =
	    !put_item(&table->rows, json_memory_end(&memory), p->options->room);
	free(memory.text);
	if (table->is_full)
		return;
	*MEMORY_ADD(table->ends, table->ends_room, table->kept) =
	    (uint32_t)table->rows.bytes;
}

static void
brief_end_table(struct answer_printing *p)
{
	(void)p;
}

/* ---- the whole ---- */

static void
put_head(struct answer_printing *p, struct buffer *out, size_t most)
{
	struct buffer head = { .at = NULL };
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < p->head_count; i++) {
		struct json_memory memory;

		json_memory_begin(&memory, STYLE);
		json_name(&memory.to, p->head[i].key);
		answer_put_cell(&memory.to, &p->head[i].value);
		left_out += !put_item(&head, json_memory_end(&memory), most);
		free(memory.text);
	}
	buffer_put_text(out, buffer_text(&head));
	put_words(out, head.bytes > 0 ? "," : "");
	if (left_out > 0) {
		put_count(out, "\"head_left_out\":", left_out);
		put_words(out, ",");
	}
	buffer_clear(&head);
}

/* How many bytes its rows may take, such that what follows gets its part. */
static size_t
share_of(const struct brief_printing *brief, uint32_t number, size_t left)
{
	uint32_t others = brief->count - number - 1;
	size_t kept_back = 0;

	for (uint32_t i = number + 1; i < brief->count; i++) {
		const struct brief_table *table = &brief->tables[i];
		size_t needs = TABLE_FRAME_BYTES + table->columns.bytes +
			       table->units.bytes + table->rows.bytes;
		size_t part = left / 2 / others;

		kept_back += needs < part ? needs : part;
	}
	return left - kept_back;
}

static void
put_table(struct buffer *out, const struct brief_table *table, size_t most)
{
	uint32_t shown = table->kept;

	while (shown > 0 && table->ends[shown - 1] > most)
		shown--;
	put_words(out, "\"");
	put_words(out, table->name);
	put_words(out, "\":{\"columns\":[");
	buffer_put_text(out, buffer_text(&table->columns));
	put_words(out, "],\"units\":{");
	buffer_put_text(out, buffer_text(&table->units));
	put_words(out, "},\"rows\":[");
	if (shown > 0)
		buffer_put(out, table->rows.at, table->ends[shown - 1]);
	put_count(out, "],\"shown\":", shown);
	put_count(out, ",\"of\":", table->count);
	if (shown < table->count) {
		put_count(out, ",\"left_out\":\"", table->count - shown);
		put_count(out, " of ", table->count);
		put_words(out, " rows; the command prints all\"");
	}
	if (table->columns_left_out > 0)
		put_count(
		    out, ",\"columns_left_out\":", table->columns_left_out);
	put_words(out, "}");
}

/* Names of tables are a program's own, and short. */
static void
put_tables(struct answer_printing *p, struct buffer *out, size_t most)
{
	const struct brief_printing *brief = p->brief;
	size_t end = out->bytes + most;
	uint32_t left_out = 0;

	put_words(out, "\"tables\":{");
	for (uint32_t i = 0; i < brief->count; i++) {
		const struct brief_table *table = &brief->tables[i];
		size_t frame = TABLE_FRAME_BYTES + table->columns.bytes +
			       table->units.bytes;
		size_t left = end - out->bytes;

		if (left_out > 0 || left < frame) {
			left_out++;
			continue;
		}
		put_words(out, i > 0 ? "," : "");
		put_table(out, table, share_of(brief, i, left - frame));
	}
	put_words(out, "}");
	if (left_out > 0)
		put_count(out, ",\"tables_left_out\":", left_out);
}

/* The notes, and why the answer is not complete. */
static void
make_end(struct answer_printing *p, const char *failed, struct buffer *end,
    size_t most)
{
	struct buffer notes = { .at = NULL };
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < p->note_count; i++) {
		const struct answer_note *note = &p->notes[i];
		struct json_memory memory;

		json_memory_begin(&memory, STYLE);
		json_begin_object(&memory.to);
		json_add_string(&memory.to, "key", note->key);
		if (note->count != ANSWER_NO_COUNT)
			json_add_uint(&memory.to, "count", note->count);
		json_add_string(&memory.to, "text", note->text);
		json_end_object(&memory.to);
		left_out += !put_item(&notes, json_memory_end(&memory), most);
		free(memory.text);
	}
	put_words(end, ",\"notes\":[");
	buffer_put_text(end, buffer_text(&notes));
	put_words(end, "]");
	buffer_clear(&notes);
	if (left_out > 0)
		put_count(end, ",\"notes_left_out\":", left_out);
	put_words(
	    end, failed == NULL ? ",\"complete\":true" : ",\"complete\":false");
	if (failed != NULL) {
		put_words(end, ",\"error\":");
		if (!put_texts(&notes, failed, NULL, most))
			put_words(&notes, "\"the sentence is too long\"");
		buffer_put_text(end, buffer_text(&notes));
		buffer_clear(&notes);
	}
	put_words(end, "}");
}

static void
brief_clear(struct brief_printing *brief)
{
	for (uint32_t i = 0; i < brief->count; i++) {
		struct brief_table *table = &brief->tables[i];

		buffer_clear(&table->columns);
		buffer_clear(&table->units);
		buffer_clear(&table->rows);
		free(table->ends);
	}
	free(brief->tables);
	free(brief);
}

static void
brief_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	size_t room = p->options->room - ANSWER_FRAME_BYTES;
	struct buffer out = { .at = NULL }, end = { .at = NULL };

	/* With --top those that are not printed came, too. */
	if (p->brief->count > 0 && p->brief->tables[0].count < rows)
		p->brief->tables[0].count = rows;
	make_end(p, failed, &end, room / 5);
	put_words(&out, "{");
	put_head(p, &out, room / 5);
	put_tables(p, &out, room - out.bytes - end.bytes);
	buffer_put_text(&out, buffer_text(&end));
	fwrite(out.at, 1, out.bytes, p->file);
	buffer_clear(&out);
	buffer_clear(&end);
	brief_clear(p->brief);
	p->brief = NULL;
}

const struct answer_printer answer_print_brief = { brief_begin, brief_table,
	brief_row, brief_end_table, brief_end, NULL };
