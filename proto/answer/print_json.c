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

static void
put_cell(struct json *json, const struct answer_cell *cell)
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
	default: json_digits(json, answer_plain(cell, text).at); break;
	}
}

static void
put_head(struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->head_count; i++) {
		json_name(&p->json, p->head[i].key);
		put_cell(&p->json, &p->head[i].value);
	}
}

static void
put_row(struct answer_printing *p, const struct answer_cell *cells,
    const char *table)
{
	json_begin_object(&p->json);
	if (table != NULL)
		json_add_string(&p->json, "table", table);
	for (uint32_t i = 0; i < p->column_count; i++) {
		json_name(&p->json, p->columns[i].is.key);
		put_cell(&p->json, &cells[p->columns[i].cell]);
	}
	json_end_object(&p->json);
}

static void
put_end(struct answer_printing *p, const char *failed)
{
	json_add_array(&p->json, "notes");
	for (uint32_t i = 0; i < p->note_count; i++) {
		const struct answer_note *note = &p->notes[i];

		json_begin_object(&p->json);
		json_add_string(&p->json, "key", note->key);
		json_name(&p->json, "count");
		if (note->count == ANSWER_NO_COUNT)
			json_null(&p->json);
		else
			json_uint(&p->json, note->count);
		json_add_string(&p->json, "text", note->text);
		json_end_object(&p->json);
	}
	json_end_array(&p->json);
	json_add_bool(&p->json, "complete", failed == NULL);
	if (failed != NULL)
		json_add_string(&p->json, "error", failed);
}

/* ---- one object ---- */

static void
json_begin_answer(struct answer_printing *p)
{
	json_init(&p->json, p->file, JSON_STRICT | JSON_INDENTED);
	json_begin_object(&p->json);
	put_head(p);
}

static void
json_begin_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)rows;
	(void)count;
	json_add_array(&p->json, p->is_first ? "rows" : p->table);
}

static void
json_put_row(struct answer_printing *p, const struct answer_cell *cells)
{
	put_row(p, cells, NULL);
}

static void
json_end_table(struct answer_printing *p)
{
	json_end_array(&p->json);
}

static void
json_end_answer(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	put_end(p, failed);
	json_end_object(&p->json);
	putc('\n', p->file);
}

const struct answer_printer answer_print_json = { json_begin_answer,
	json_begin_table, json_put_row, json_end_table, json_end_answer };

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

		put_cell(&column->values.to, cell);
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
			json_digits(&p->json, values.at);
		else
			json_null(&p->json);
		free(column->values.text);
	}
	json_end_object(&p->json);
	p->kept_bytes = 0;
}

const struct answer_printer answer_print_json_columns = { json_begin_answer,
	columns_begin_table, columns_put_row, columns_end_table,
	json_end_answer };

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
	put_head(p);
	end_line(p);
}

static void
jsonl_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	(void)p;
	(void)rows;
	(void)count;
}

static void
jsonl_row(struct answer_printing *p, const struct answer_cell *cells)
{
	json_init(&p->json, p->file, JSON_STRICT | JSON_LINE);
	put_row(p, cells, p->is_first ? NULL : p->table);
	putc('\n', p->file);
}

static void
jsonl_end_table(struct answer_printing *p)
{
	(void)p;
}

static void
jsonl_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	begin_line(p);
	json_add_uint(&p->json, "rows", rows);
	put_end(p, failed);
	end_line(p);
}

const struct answer_printer answer_print_jsonl = { jsonl_begin, jsonl_table,
	jsonl_row, jsonl_end_table, jsonl_end };
