/*
 * answer_print_frame - one table of an answer as a stream of Apache Arrow or a
 * file of Apache Parquet.
 *
 * What the answer is about is JSON in the metadata: title, table, the units of
 * the columns, the head; and the notes and whether it is complete, in a stream
 * only if there is no more than one batch.  Notes go to standard error, too.
 *
 * A column of values of any kind (ANSWER_VALUE) has no type before there are
 * values.  It gets the type that holds those of the first batch, before which
 * no schema is written.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "proto/answer/arrow.h"
#include "proto/answer/parquet.h"
#include "proto/answer/printer.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/record/counter_rate.h"

enum {
	BATCH_ROWS = 65536,
	GROUP_ROWS = 131072, /* readers open each group by itself */
	/* A batch ends when it has more. */
	BATCH_CELLS = 4 << 20,
	BATCH_TEXT_BYTES = 16 << 20,
};

struct waiting {
	struct buffer values; /* struct value; texts are kept in `texts` */
	struct string_table texts;
};

struct frame_printing {
	struct parquet *parquet; /* NULL: a stream of Arrow */
	struct frame_column *columns;
	struct waiting *waiting; /* one for each column */
	const char *table;
	uint32_t count, rows, rows_max;
	uint64_t text_bytes;
	bool has_types, has_schema;
};

/* ---- types ---- */

static enum frame_type
type_of(const struct answer_column *column)
{
	switch (column->type) {
	case ANSWER_TEXT:
		return column->traits & ANSWER_REPEATS ? FRAME_NAMES
						       : FRAME_TEXT;
	case ANSWER_COUNT: return FRAME_UINT64;
	case ANSWER_WHOLE: return FRAME_INT64;
	case ANSWER_NUMBER:
	case ANSWER_SHARE:
	case ANSWER_BYTES: return FRAME_FLOAT64;
	case ANSWER_TIME: return FRAME_TIME;
	case ANSWER_DURATION:
	case ANSWER_SECONDS: return FRAME_DURATION;
	case ANSWER_FLAG: return FRAME_BOOL;
	case ANSWER_VALUE: break; /* type_of_values */
	}
	return FRAME_FLOAT64;
}

/* Nanoseconds are exact; of other numbers one row may have a fraction, though
 * those before had none. */
static enum frame_type
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
		return FRAME_TEXT;
	if (count[VALUE_BOOL] > 0)
		return FRAME_BOOL;
	return unit != NULL && strcmp(unit, "ns") == 0 &&
		       count[VALUE_FLOAT] == 0
		   ? FRAME_INT64
		   : FRAME_FLOAT64;
}

/* ---- cells ---- */

static void
add_number(struct frame_column *to, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	frame_add_number(to, bits);
}

/* False: the column cannot hold it. */
static bool
add_value(struct frame_column *to, const struct value *value)
{
	const struct answer_cell cell = { .type = ANSWER_VALUE,
		.is.value = *value };
	bool is_number = value->type == VALUE_INT ||
			 value->type == VALUE_UINT ||
			 value->type == VALUE_FLOAT;
	char text[ANSWER_SHOWN_BYTES];

	if (value->type == VALUE_NIL)
		frame_add_unknown(to);
	else if (to->type == FRAME_TEXT)
		frame_add_text(to, answer_plain(&cell, text));
	else if (to->type == FRAME_BOOL && value->type == VALUE_BOOL)
		frame_add_bool(to, value->is.boolean);
	else if (to->type == FRAME_FLOAT64 && is_number)
		add_number(to, counter_rate_number(value));
	else if (to->type == FRAME_INT64 &&
		 (value->type == VALUE_INT ||
		     (value->type == VALUE_UINT && value->is.u <= INT64_MAX)))
		frame_add_number(to, value->is.u);
	else
		return false;
	return true;
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
refuse_value(struct answer_printing *p, const struct frame_column *column)
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
	for (uint32_t i = 0; i < p->frame->count; i++) {
		struct frame_column *column = &p->frame->columns[i];
		struct buffer *values = &p->frame->waiting[i].values;
		const struct value *value = (const void *)values->at;

		if (values->bytes > 0)
			column->type = type_of_values(values, column->unit);
		for (size_t k = 0; k < values->bytes / sizeof(*value); k++)
			if (!add_value(column, &value[k])) {
				refuse_value(p, column);
				frame_add_unknown(column);
			}
		clear_waiting(&p->frame->waiting[i]);
	}
	p->frame->has_types = true;
}

static void
put_units(struct json *to, const struct frame_printing *f)
{
	json_key(to, text_of("units"));
	json_begin_object(to);
	for (uint32_t i = 0; i < f->count; i++)
		if (f->columns[i].unit != NULL)
			json_add_string(
			    to, f->columns[i].name, f->columns[i].unit);
	json_end_object(to);
}

/* `is_end`: the notes are known.  The caller frees its text. */
static struct text
about(const struct answer_printing *p, struct json_memory *to, bool is_end,
    const char *failed)
{
	json_memory_begin(to, JSON_STRICT | JSON_LINE);
	json_begin_object(&to->to);
	if (p->title != NULL)
		json_add_string(&to->to, "title", p->title);
	if (p->frame->table != NULL)
		json_add_string(&to->to, "table", p->frame->table);
	put_units(&to->to, p->frame);
	answer_put_head(&to->to, p);
	if (is_end)
		answer_put_notes(&to->to, p, failed);
	json_end_object(&to->to);
	return json_memory_end(to);
}

static void
put_batch_of_arrow(struct answer_printing *p, bool is_end, const char *failed)
{
	struct frame_printing *f = p->frame;
	struct json_memory memory;

	if (!f->has_schema) {
		arrow_put_schema(p->file, f->columns, f->count,
		    about(p, &memory, is_end, failed));
		free(memory.text);
		f->has_schema = true;
	}
	if (f->rows > 0)
		arrow_put_batch(p->file, f->columns, f->count, f->rows);
	if (is_end)
		arrow_put_end(p->file);
}

static void
put_group_of_parquet(struct answer_printing *p, bool is_end, const char *failed)
{
	struct frame_printing *f = p->frame;
	struct json_memory memory;

	if (f->rows > 0)
		parquet_put_group(f->parquet, f->columns, f->count, f->rows);
	for (uint32_t i = 0; i < f->count; i++)
		if (f->columns[i].type == FRAME_NAMES)
			frame_forget_names(&f->columns[i]);
	if (is_end) {
		parquet_put_end(f->parquet, f->columns, f->count,
		    about(p, &memory, is_end, failed));
		free(memory.text);
	}
}

static void
put_batch(struct answer_printing *p, bool is_end, const char *failed)
{
	struct frame_printing *f = p->frame;

	if (!f->has_types)
		choose_types(p);
	if (has_failed(p))
		return;
	if (f->parquet != NULL)
		put_group_of_parquet(p, is_end, failed);
	else
		put_batch_of_arrow(p, is_end, failed);
	for (uint32_t i = 0; i < f->count; i++)
		frame_forget_rows(&f->columns[i]);
	f->rows = 0;
	f->text_bytes = 0;
}

/* ---- the printers ---- */

static void
begin(struct answer_printing *p, uint32_t rows_max, const char *format)
{
	p->frame = memory_zero(1, sizeof(*p->frame));
	p->frame->rows_max = rows_max;
	if (p->options->width > 0)
		err_set(p->err,
		    "--format %s is not for a terminal: send the output to "
		    "a file or a program",
		    format);
}

static void
arrow_begin(struct answer_printing *p)
{
	begin(p, BATCH_ROWS, "arrow");
}

static void
parquet_begin(struct answer_printing *p)
{
	begin(p, GROUP_ROWS, "parquet");
	if (!has_failed(p))
		p->frame->parquet = parquet_new(p->file);
}

/* The columns of the answer are gone when the schema is written. */
static void
frame_table(
    struct answer_printing *p, struct answer_cell *const *rows, uint32_t count)
{
	struct frame_printing *f = p->frame;

	(void)rows;
	(void)count;
	if (!answer_is_of_chosen(p))
		return;
	f->table = p->table;
	f->count = p->column_count;
	f->columns = memory_zero(f->count + 1, sizeof(*f->columns));
	f->waiting = memory_zero(f->count + 1, sizeof(*f->waiting));
	for (uint32_t i = 0; i < f->count; i++) {
		const struct answer_column *column = &p->columns[i].is;

		frame_init(
		    &f->columns[i], column->key, column->unit, type_of(column));
		string_table_init(&f->waiting[i].texts);
	}
}

/* A value without a type waits for the others of its batch. */
static void
take_value(
    struct answer_printing *p, uint32_t number, const struct value *value)
{
	struct frame_printing *f = p->frame;

	if (value->type == VALUE_TEXT)
		f->text_bytes += value->is.text.bytes;
	if (!f->has_types)
		keep_value(&f->waiting[number], *value);
	else if (!add_value(&f->columns[number], value))
		refuse_value(p, &f->columns[number]);
}

/* What is at `at`, in a row or in a cell. */
static inline void
take(struct answer_printing *p, uint32_t number, enum answer_type type,
    const void *at)
{
	struct frame_column *to = &p->frame->columns[number];
	const struct text *text = at;
	uint64_t bits;

	if (type == ANSWER_VALUE) {
		take_value(p, number, at);
	} else if (!answer_is_known_at(type, at)) {
		frame_add_unknown(to);
	} else if (type == ANSWER_TEXT) {
		p->frame->text_bytes += text->bytes;
		frame_add_text(to, *text);
	} else if (type == ANSWER_FLAG) {
		frame_add_bool(to, *(const enum answer_flag *)at == ANSWER_YES);
	} else {
		memcpy(&bits, at, sizeof(bits));
		frame_add_number(to, bits);
	}
}

static void
end_row(struct answer_printing *p)
{
	struct frame_printing *f = p->frame;

	if (has_failed(p))
		return;
	if (++f->rows == f->rows_max || f->text_bytes > BATCH_TEXT_BYTES ||
	    (uint64_t)f->rows * f->count > BATCH_CELLS)
		put_batch(p, false, NULL);
}

static void
frame_row(struct answer_printing *p, const struct answer_cell *cells)
{
	if (!answer_is_of_chosen(p) || has_failed(p))
		return;
	for (uint32_t i = 0; i < p->frame->count; i++) {
		const struct answer_cell *cell = &cells[p->columns[i].cell];

		take(p, i, cell->type, &cell->is);
	}
	end_row(p);
}

static void
frame_row_as_given(
    struct answer_printing *p, const void *row, const struct answer_cell *added)
{
	if (!answer_is_of_chosen(p) || has_failed(p))
		return;
	for (uint32_t i = 0; i < p->frame->count; i++) {
		const struct shown_column *column = &p->columns[i];

		if (column->cell < p->fixed_count)
			take(p, i, column->is.type,
			    (const char *)row + column->is.offset);
		else
			take(p, i, added[column->cell - p->fixed_count].type,
			    &added[column->cell - p->fixed_count].is);
	}
	end_row(p);
}

static void
frame_end_table(struct answer_printing *p)
{
	(void)p;
}

static void
clear(struct answer_printing *p)
{
	struct frame_printing *f = p->frame;

	for (uint32_t i = 0; i < f->count; i++) {
		frame_clear(&f->columns[i]);
		clear_waiting(&f->waiting[i]);
	}
	parquet_free(&f->parquet);
	free(f->columns);
	free(f->waiting);
	free(f);
	p->frame = NULL;
}

static void
frame_end(struct answer_printing *p, uint64_t rows, const char *failed)
{
	(void)rows;
	if (!has_failed(p))
		put_batch(p, true, failed);
	for (uint32_t i = 0; i < p->note_count; i++)
		log_warn("%s", p->notes[i].text);
	clear(p);
}

const struct answer_printer answer_print_arrow = { arrow_begin, frame_table,
	frame_row, frame_end_table, frame_end, frame_row_as_given };
const struct answer_printer answer_print_parquet = { parquet_begin, frame_table,
	frame_row, frame_end_table, frame_end, frame_row_as_given };
