/*
 * answer_print_json - an answer as one JSON object, or as lines of JSON.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/answer/printer.h"

/* JSON has no number for one that is not finite. */
static void
put_value(struct json *json, const struct value *value)
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
answer_put_cell(struct json *json, const struct answer_cell *cell)
{
	char text[ANSWER_SHOWN_BYTES];

	if (!answer_is_known(cell)) {
		json_null(json);
		return;
	}
	switch (cell->type) {
	case ANSWER_TEXT: json_text(json, cell->is.text); break;
	case ANSWER_TIME: json_text(json, answer_plain(cell, text)); break;
	case ANSWER_VALUE: put_value(json, &cell->is.value); break;
	default: json_raw(json, answer_plain(cell, text)); break;
	}
}

void
answer_put_head(struct json *json, const struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->head_count; i++) {
		json_name(json, p->head[i].key);
		answer_put_cell(json, &p->head[i].value);
	}
}

/* What is the same in all rows is made once.  `depth`: of the members. */
static void
make_rows(struct answer_printing *p, unsigned depth, const char *table)
{
	for (uint32_t i = 0; i <= p->column_count; i++) {
		bool is_back = i == p->column_count;
		struct json_memory *made =
		    is_back ? &p->back : &p->columns[i].front;

		json_memory_begin(made, p->json.style);
		made->to.depth = depth;
		made->to.filled = i > 0 ? UINT64_C(1) << depth : 0;
		if (i == 0)
			putc_unlocked('{', made->to.file);
		if (i == 0 && table != NULL)
			json_add_string(&made->to, "table", table);
		if (is_back)
			json_end_object(&made->to);
		else
			json_name(&made->to, p->columns[i].is.key);
		json_memory_end(made);
	}
}

static void
free_rows(struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->column_count; i++)
		free(p->columns[i].front.text);
	free(p->back.text);
}

/* Of what text is made that needs no escape: most cells. */
static bool
is_plain(struct text t)
{
	uint32_t i = 0;

	while (i < t.bytes && t.at[i] >= 0x20 && t.at[i] < 0x7F &&
	       t.at[i] != '"' && t.at[i] != '\\')
		i++;
	return i == t.bytes;
}

static void
put_row_cell(struct answer_printing *p, const struct answer_cell *cell)
{
	char text[ANSWER_SHOWN_BYTES];

	if (!answer_is_known(cell)) {
		buffer_put(&p->line, "null", 4);
	} else if (cell->type == ANSWER_TEXT && is_plain(cell->is.text)) {
		buffer_put(&p->line, "\"", 1);
		buffer_put_text(&p->line, cell->is.text);
		buffer_put(&p->line, "\"", 1);
	} else if (cell->type == ANSWER_TEXT || cell->type == ANSWER_TIME ||
		   cell->type == ANSWER_VALUE) {
		answer_put_line(p);
		p->json.after_key = true; /* nothing separates it */
		answer_put_cell(&p->json, cell);
	} else {
		buffer_put_text(&p->line, answer_plain(cell, text));
	}
}

static void
put_row(struct answer_printing *p, const struct answer_cell *cells)
{
	for (uint32_t i = 0; i < p->column_count; i++) {
		buffer_put(&p->line, p->columns[i].front.text,
		    p->columns[i].front.bytes);
		put_row_cell(p, &cells[p->columns[i].cell]);
	}
	buffer_put(&p->line, p->back.text, p->back.bytes);
	answer_put_line(p);
}

void
answer_put_notes(
    struct json *json, const struct answer_printing *p, const char *failed)
{
	json_add_array(json, "notes");
	for (uint32_t i = 0; i < p->note_count; i++) {
		const struct answer_note *note = &p->notes[i];

		json_begin_object(json);
		json_add_string(json, "key", note->key);
		json_name(json, "count");
		if (note->count == ANSWER_NO_COUNT)
			json_null(json);
		else
			json_uint(json, note->count);
		json_add_string(json, "text", note->text);
		json_end_object(json);
	}
	json_end_array(json);
	json_add_bool(json, "complete", failed == NULL);
	if (failed != NULL)
		json_add_string(json, "error", failed);
}

/* ---- one object ---- */

static void
json_begin_answer(struct answer_printing *p)
{
	json_init(&p->json, p->file, JSON_STRICT | JSON_INDENTED);
	json_begin_object(&p->json);
	answer_put_head(&p->json, p);
}

static void
json_begin_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	json_add_array(&p->json, p->is_first ? "rows" : p->table);
	make_rows(p, p->json.depth + 1, NULL);
}

static void
json_put_row(struct answer_printing *p, const struct answer_cell *cells)
{
	json_raw(&p->json, (struct text){ "", 0 }); /* what separates rows */
	put_row(p, cells);
}

static void
json_end_table(struct answer_printing *p)
{
	free_rows(p);
	json_end_array(&p->json);
}

static void
json_end_answer(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	answer_put_notes(&p->json, p, failed);
	json_end_object(&p->json);
	putc('\n', p->file);
}

const struct answer_printer answer_print_json = { json_begin_answer,
	json_begin_table, json_put_row, json_end_table, json_end_answer, NULL };

/* ---- one object, tables by column ---- */

static void
columns_begin_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	json_add_object(&p->json, p->is_first ? "rows" : p->table);
	for (uint32_t i = 0; i < p->column_count; i++) {
		json_memory_begin(&p->columns[i].values,
		    JSON_STRICT | JSON_LINE | JSON_COMPACT);
		json_begin_array(&p->columns[i].values.to);
	}
}

static void
columns_put_row(struct answer_printing *p, const struct answer_cell *cells)
{
	p->kept_bytes = 0;
	for (uint32_t i = 0; i < p->column_count; i++) {
		struct shown_column *column = &p->columns[i];
		const struct answer_cell *cell = &cells[column->cell];

		answer_put_cell(&column->values.to, cell);
		if (answer_is_known(cell))
			column->is_known = true;
		p->kept_bytes += (uint64_t)ftello(column->values.to.file);
	}
}

static void
columns_end_table(struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->column_count; i++) {
		struct shown_column *column = &p->columns[i];
		struct text values;

		json_end_array(&column->values.to);
		values = json_memory_end(&column->values);
		json_name(&p->json, column->is.key);
		if (column->is_known)
			json_raw(&p->json, values);
		else
			json_null(&p->json);
		free(column->values.text);
	}
	json_end_object(&p->json);
	p->kept_bytes = 0;
}

const struct answer_printer answer_print_json_columns = { json_begin_answer,
	columns_begin_table, columns_put_row, columns_end_table,
	json_end_answer, NULL };

/* ---- lines ---- */

static void
begin_line(struct answer_printing *p)
{
	json_init(&p->json, p->file, JSON_STRICT | JSON_LINE);
	json_begin_object(&p->json);
	json_add_object(&p->json, "poolscope");
}

static void
end_line(struct answer_printing *p)
{
	json_end_object(&p->json);
	json_end_object(&p->json);
	putc('\n', p->file);
}

static void
jsonl_begin(struct answer_printing *p)
{
	begin_line(p);
	answer_put_head(&p->json, p);
	end_line(p);
}

static void
jsonl_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	json_init(&p->json, p->file, JSON_STRICT | JSON_LINE);
	make_rows(p, 1, p->is_first ? NULL : p->table);
}

static void
jsonl_row(struct answer_printing *p, const struct answer_cell *cells)
{
	put_row(p, cells);
	putc_unlocked('\n', p->file);
}

static void
jsonl_end_table(struct answer_printing *p)
{
	free_rows(p);
}

static void
jsonl_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	begin_line(p);
	json_add_uint(&p->json, "rows", rows);
	answer_put_notes(&p->json, p, failed);
	end_line(p);
}

const struct answer_printer answer_print_jsonl = { jsonl_begin, jsonl_table,
	jsonl_row, jsonl_end_table, jsonl_end, NULL };
