/*
 * answer_print_arrow - one table of an answer as a stream of Apache Arrow.
 *
 * What the answer is about is JSON in the metadata of the schema, with the
 * notes if there is no more than one batch; they go to standard error, too.
 *
 * A column of values of any kind (ANSWER_VALUE) has no type before there are
 * values.  It gets the type that holds those of the first batch, before which
 * no schema is written.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "proto/answer/arrow.h"
#include "proto/answer/printer.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

enum {
	BATCH_ROWS = 65536,
	/* A batch ends when it has more. */
	BATCH_CELLS = 4 << 20,
	BATCH_TEXT_BYTES = 16 << 20,
};

struct waiting {
	struct buffer values; /* struct value; texts are kept in `texts` */
	struct string_table texts;
};

struct arrow_printing {
	struct arrow_column *columns;
	struct waiting *waiting; /* one for each column */
	const char *table;
	uint32_t count, rows;
	uint64_t text_bytes;
	bool has_schema;
};

/* ---- types ---- */

static enum arrow_type
type_of(const struct answer_column *column)
{
	switch (column->type) {
	case ANSWER_TEXT:
		return column->traits & ANSWER_REPEATS ? ARROW_NAMES
						       : ARROW_TEXT;
	case ANSWER_COUNT: return ARROW_UINT64;
	case ANSWER_WHOLE: return ARROW_INT64;
	case ANSWER_NUMBER:
	case ANSWER_SHARE:
	case ANSWER_BYTES: return ARROW_FLOAT64;
	case ANSWER_TIME: return ARROW_TIME;
	case ANSWER_DURATION:
	case ANSWER_SECONDS: return ARROW_DURATION;
	case ANSWER_FLAG: return ARROW_BOOL;
	case ANSWER_VALUE: break; /* type_of_values */
	}
	return ARROW_FLOAT64;
}

/* Nanoseconds are exact; of other numbers one row may have a fraction, though
 * those before had none. */
static enum arrow_type
type_of_values(const struct buffer *values, const char *unit)
{
	const struct value *value = (const void *)values->at;
	uint32_t count[VALUE_TEXT + 1] = { 0 };
	uint32_t known;

	for (size_t i = 0; i < values->bytes / sizeof(*value); i++)
		count[value[i].type]++;
	known = (uint32_t)(values->bytes / sizeof(*value)) - count[VALUE_NIL];
	if (count[VALUE_TEXT] > 0 ||
	    (count[VALUE_BOOL] > 0 && count[VALUE_BOOL] < known))
		return ARROW_TEXT;
	if (count[VALUE_BOOL] > 0)
		return ARROW_BOOL;
	return unit != NULL && strcmp(unit, "ns") == 0 &&
		       count[VALUE_FLOAT] == 0
		   ? ARROW_INT64
		   : ARROW_FLOAT64;
}

/* ---- cells ---- */

static uint64_t
bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* False: the column cannot hold it. */
static bool
add_value(struct arrow_column *to, const struct value *value)
{
	const struct answer_cell cell = { .type = ANSWER_VALUE,
		.is.value = *value };
	bool is_number = value->type == VALUE_INT ||
			 value->type == VALUE_UINT ||
			 value->type == VALUE_FLOAT;
	char text[ANSWER_SHOWN_BYTES];

	if (value->type == VALUE_NIL)
		arrow_add_unknown(to);
	else if (to->type == ARROW_TEXT)
		arrow_add_text(to, answer_plain(&cell, text));
	else if (to->type == ARROW_BOOL && value->type == VALUE_BOOL)
		arrow_add_bool(to, value->is.boolean);
	else if (to->type == ARROW_FLOAT64 && is_number)
		arrow_add_bits(to, bits_of(counter_rate_number(value)));
	else if (to->type == ARROW_INT64 &&
		 (value->type == VALUE_INT ||
		     (value->type == VALUE_UINT && value->is.u <= INT64_MAX)))
		arrow_add_bits(to, value->is.u);
	else
		return false;
	return true;
}

static void
add_cell(struct arrow_column *to, const struct answer_cell *cell)
{
	if (!answer_is_known(cell)) {
		arrow_add_unknown(to);
		return;
	}
	switch (cell->type) {
	case ANSWER_TEXT: arrow_add_text(to, cell->is.text); break;
	case ANSWER_FLAG:
		arrow_add_bool(to, cell->is.flag == ANSWER_YES);
		break;
	case ANSWER_NUMBER:
	case ANSWER_SHARE:
	case ANSWER_BYTES: arrow_add_bits(to, bits_of(cell->is.number)); break;
	case ANSWER_COUNT: arrow_add_bits(to, cell->is.count); break;
	default: arrow_add_bits(to, (uint64_t)cell->is.ns); break;
	}
}

static void
keep_value(struct waiting *waiting, struct value value)
{
	if (value.type == VALUE_TEXT)
		value.is.text =
		    string_table_keep(&waiting->texts, value.is.text);
	buffer_put(&waiting->values, &value, sizeof(value));
}

/* ---- batches ---- */

static bool
has_failed(const struct answer_printing *p)
{
	return p->err->text[0] != '\0';
}

static void
refuse_value(struct answer_printing *p, const struct arrow_column *column)
{
	if (!has_failed(p))
		err_set(p->err,
		    "the values of column '%.64s' are of several types: select "
		    "fewer rows, or print csv",
		    column->name);
}

static void
clear_waiting(struct waiting *waiting)
{
	buffer_clear(&waiting->values);
	string_table_clear(&waiting->texts);
}

static void
choose_types(struct answer_printing *p)
{
	for (uint32_t i = 0; i < p->arrow->count; i++) {
		struct arrow_column *column = &p->arrow->columns[i];
		struct buffer *values = &p->arrow->waiting[i].values;
		const struct value *value = (const void *)values->at;

		if (values->bytes > 0)
			column->type = type_of_values(values, column->unit);
		for (size_t k = 0; k < values->bytes / sizeof(*value); k++)
			if (!add_value(column, &value[k])) {
				refuse_value(p, column);
				arrow_add_unknown(column);
			}
		clear_waiting(&p->arrow->waiting[i]);
	}
}

/* `is_end`: the notes are known. */
static void
put_schema(struct answer_printing *p, bool is_end, const char *failed)
{
	const struct arrow_printing *a = p->arrow;
	struct json_memory about;

	json_memory_begin(&about, JSON_STRICT | JSON_LINE);
	json_begin_object(&about.to);
	if (p->title != NULL)
		json_add_string(&about.to, "title", p->title);
	if (a->table != NULL)
		json_add_string(&about.to, "table", a->table);
	answer_put_head(&about.to, p);
	if (is_end)
		answer_put_notes(&about.to, p, failed);
	json_end_object(&about.to);
	arrow_put_schema(
	    p->file, a->columns, a->count, json_memory_end(&about));
	free(about.text);
}

static void
put_batch(struct answer_printing *p, bool is_end, const char *failed)
{
	struct arrow_printing *a = p->arrow;

	if (!a->has_schema) {
		choose_types(p);
		if (has_failed(p))
			return;
		put_schema(p, is_end, failed);
		a->has_schema = true;
	}
	if (a->rows > 0)
		arrow_put_batch(p->file, a->columns, a->count, a->rows);
	a->rows = 0;
	a->text_bytes = 0;
}

/* ---- the printer ---- */

static void
arrow_begin(struct answer_printing *p)
{
	p->arrow = memory_zero(1, sizeof(*p->arrow));
	if (p->options->width > 0)
		err_set(p->err,
		    "--format arrow is not for a terminal: send the output to "
		    "a file or a program");
}

/* The columns of the answer are gone when the schema is written. */
static void
arrow_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	struct arrow_printing *a = p->arrow;

	(void)rows;
	(void)count;
	if (!answer_is_of_chosen(p))
		return;
	a->table = p->table;
	a->count = p->column_count;
	a->columns = memory_zero(a->count + 1, sizeof(*a->columns));
	a->waiting = memory_zero(a->count + 1, sizeof(*a->waiting));
	for (uint32_t i = 0; i < a->count; i++) {
		const struct answer_column *column = &p->columns[i].is;

		arrow_init(
		    &a->columns[i], column->key, column->unit, type_of(column));
		string_table_init(&a->waiting[i].texts);
	}
}

static void
arrow_row(struct answer_printing *p, const struct answer_cell *cells)
{
	struct arrow_printing *a = p->arrow;

	if (!answer_is_of_chosen(p) || has_failed(p))
		return;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct answer_cell *cell = &cells[p->columns[i].cell];
		const struct value *value = &cell->is.value;
		bool is_value = cell->type == ANSWER_VALUE;

		if (is_value && !a->has_schema)
			keep_value(&a->waiting[i], *value);
		else if (!is_value)
			add_cell(&a->columns[i], cell);
		else if (!add_value(&a->columns[i], value))
			refuse_value(p, &a->columns[i]);
		if (cell->type == ANSWER_TEXT)
			a->text_bytes += cell->is.text.bytes;
		else if (is_value && value->type == VALUE_TEXT)
			a->text_bytes += value->is.text.bytes;
	}
	if (has_failed(p))
		return;
	if (++a->rows == BATCH_ROWS || a->text_bytes > BATCH_TEXT_BYTES ||
	    (uint64_t)a->rows * a->count > BATCH_CELLS)
		put_batch(p, false, NULL);
}

static void
arrow_end_table(struct answer_printing *p)
{
	(void)p;
}

static void
clear(struct answer_printing *p)
{
	struct arrow_printing *a = p->arrow;

	for (uint32_t i = 0; i < a->count; i++) {
		arrow_clear(&a->columns[i]);
		clear_waiting(&a->waiting[i]);
	}
	free(a->columns);
	free(a->waiting);
	free(a);
	p->arrow = NULL;
}

static void
arrow_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	if (!has_failed(p))
		put_batch(p, true, failed);
	if (!has_failed(p))
		arrow_put_end(p->file);
	for (uint32_t i = 0; i < p->note_count; i++)
		log_warn("%s", p->notes[i].text);
	clear(p);
}

const struct answer_printer answer_print_arrow = { arrow_begin, arrow_table,
	arrow_row, arrow_end_table, arrow_end };
