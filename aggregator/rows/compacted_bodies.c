/*
 * compacted_bodies - makes the bodies of records from the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_row.h"

#include <stdlib.h>

#include "aggregator/rows/body_template.h"
#include "proto/base/memory.h"
#include "proto/msgpack/mp_put.h"

/* A decoded step of a template. */
struct step {
	enum body_template_step step;
	struct text bytes; /* BODY_TEMPLATE_BYTES */
	union {
		const struct text *texts;
		const struct value *values;
		const int64_t *ints;
	} column; /* the value of the next row */
};

enum { COMPACTED_ROW_CELLS_MAX = COMPACTED_ROW_BYTES_MAX + CHUNK_COLUMNS_MAX };

struct row_template {
	uint32_t first, steps; /* its first step in the list */
	uint32_t rows;
};

/* The state while bodies are put together. */
struct builder {
	struct compacted_row_rows *rows;
	struct step *step;
	struct row_template *template;
	uint32_t steps, step_room, templates;
	int64_t *row_template;
	/* Unpacked so far, to refuse more than any writer produces. */
	uint64_t cells, text_bytes;
};

static struct step *
add_step(struct builder *builder, enum body_template_step step)
{
	MEMORY_GROW(builder->step, builder->step_room, builder->steps);
	builder->step[builder->steps] = (struct step){ .step = step };
	return &builder->step[builder->steps++];
}

static bool
count_texts(struct builder *builder, const struct step *step, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (step->step == BODY_TEMPLATE_RAW)
			builder->text_bytes += step->column.texts[i].bytes;
		else if (step->step == BODY_TEMPLATE_VALUE &&
			 step->column.values[i].type == VALUE_TEXT)
			builder->text_bytes +=
			    step->column.values[i].is.text.bytes;
	}
	return builder->text_bytes <= COMPACTED_ROW_ROOM_BYTES;
}

/* Read the column of a field, for the rows of its template. */
static bool
read_column(
    struct builder *builder, struct step *step, uint32_t column, uint32_t count)
{
	struct compacted_row_rows *rows = builder->rows;
	/* All columns are in use at once, so this memory must not move. */
	void *room = memory_alloc(((size_t)count + 1) * sizeof(struct value));
	enum chunk_fault fault = CHUNK_DAMAGED;

	step->column.ints = room;
	builder->cells += count;
	if (column >= chunk_columns(rows->chunk) ||
	    chunk_count(rows->chunk, column) != count ||
	    builder->cells > COMPACTED_ROW_CELLS_MAX)
		return false;
	switch (step->step) {
	case BODY_TEMPLATE_RAW:
		fault = chunk_get_text(rows->chunk, column, room);
		break;
	case BODY_TEMPLATE_VALUE:
		fault = chunk_get_value(rows->chunk, column, room);
		break;
	default: fault = chunk_get_int(rows->chunk, column, room); break;
	}
	return fault == CHUNK_OK && count_texts(builder, step, count);
}

/* Decode a template and read its columns from `*column` on. */
static bool
open_template(struct builder *builder, struct row_template *template,
    struct text text, uint32_t *column)
{
	struct varint_reader u = varint_reader_of(text);

	template->first = builder->steps;
	while (varint_left(&u) > 0) {
		uint64_t kind = varint_get_max(&u, BODY_TEMPLATE_ZIGZAG);
		struct step *step =
		    add_step(builder, (enum body_template_step)kind);

		if (kind == BODY_TEMPLATE_BYTES)
			step->bytes = varint_get_text(&u);
		if (builder->steps > 2 * CHUNK_COLUMNS_MAX)
			return false;
		if (kind != BODY_TEMPLATE_BYTES &&
		    !read_column(builder, step, (*column)++, template->rows))
			return false;
	}
	template->steps = builder->steps - template->first;
	return !u.bad;
}

static bool
open_templates(struct builder *builder)
{
	struct compacted_row_rows *rows = builder->rows;
	uint32_t column = BODY_TEMPLATE_COLUMNS, i;
	struct text *texts = compacted_row_room(
	    &rows->columns, builder->templates, sizeof(*texts));

	if (chunk_get_int(rows->chunk, BODY_TEMPLATE_NUMBER,
		builder->row_template) != CHUNK_OK ||
	    chunk_get_text(rows->chunk, BODY_TEMPLATE_TEXT, texts) != CHUNK_OK)
		return false;
	for (i = 0; i < rows->count; i++) {
		if (builder->row_template[i] < 0 ||
		    builder->row_template[i] >= builder->templates)
			return false;
		builder->template[builder->row_template[i]].rows++;
	}
	for (i = 0; i < builder->templates; i++)
		if (!open_template(
			builder, &builder->template[i], texts[i], &column))
			return false;
	return column == chunk_columns(rows->chunk);
}

static unsigned char *
put_plain(unsigned char *to, struct text text)
{
	if (text.bytes > 0)
		memcpy(to, text.at, text.bytes);
	return to + text.bytes;
}

static unsigned char *
put_value(unsigned char *to, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL: mp_put_nil(&to); break;
	case VALUE_BOOL: mp_put_bool(&to, value->is.boolean); break;
	case VALUE_INT: mp_put_int64(&to, value->is.i); break;
	case VALUE_UINT: mp_put_uint64(&to, value->is.u); break;
	case VALUE_FLOAT: mp_put_double(&to, value->is.f); break;
	case VALUE_TEXT:
		mp_put_str(&to, value->is.text.bytes);
		to = put_plain(to, value->is.text);
		break;
	}
	return to;
}

/* The most bytes that a step can write. */
static size_t
bound_of(const struct step *step)
{
	if (step->step == BODY_TEMPLATE_BYTES)
		return step->bytes.bytes;
	if (step->step == BODY_TEMPLATE_RAW)
		return step->column.texts->bytes;
	if (step->step == BODY_TEMPLATE_VALUE &&
	    step->column.values->type == VALUE_TEXT)
		return step->column.values->is.text.bytes + MP_HEAD_BYTES_MAX;
	return VARINT_BYTES;
}

static unsigned char *
do_step(struct step *step, unsigned char *to)
{
	switch (step->step) {
	case BODY_TEMPLATE_BYTES: return put_plain(to, step->bytes);
	case BODY_TEMPLATE_RAW: return put_plain(to, *step->column.texts++);
	case BODY_TEMPLATE_VALUE: return put_value(to, step->column.values++);
	case BODY_TEMPLATE_VARINT:
		return varint_encode(to, (uint64_t)*step->column.ints++);
	case BODY_TEMPLATE_ZIGZAG:
		return varint_encode(to, varint_zigzag(*step->column.ints++));
	}
	return to;
}

static bool
make_bodies(struct builder *builder)
{
	struct compacted_row_rows *rows = builder->rows;
	uint32_t *offset =
	    compacted_row_room(&rows->offsets, rows->count, sizeof(*offset));

	rows->bodies.bytes = 0;
	for (uint32_t i = 0; i < rows->count; i++) {
		struct row_template *template =
		    &builder->template[builder->row_template[i]];
		struct step *step = &builder->step[template->first];
		struct step *end = step + template->steps;

		offset[i] = (uint32_t)rows->bodies.bytes;
		for (; step < end; step++) {
			unsigned char *to =
			    buffer_need(&rows->bodies, bound_of(step));

			rows->bodies.bytes += (size_t)(do_step(step, to) - to);
		}
		if (rows->bodies.bytes > COMPACTED_ROW_ROOM_BYTES)
			return false;
	}
	offset[rows->count] = (uint32_t)rows->bodies.bytes;
	return true;
}

static void
free_columns(struct builder *builder, void **column)
{
	for (uint32_t i = 0; i < builder->steps; i++)
		free(column[i]);
}

/* make_bodies advances the column pointers: remember what to free. */
static bool
make_and_free(struct builder *builder, bool good)
{
	void **column = memory_alloc((builder->steps + 1) * sizeof(*column));

	for (uint32_t i = 0; i < builder->steps; i++)
		column[i] = (void *)(uintptr_t)builder->step[i].column.ints;
	good = good && make_bodies(builder);
	free_columns(builder, column);
	free(column);
	return good;
}

bool
compacted_row_read_bodies(struct compacted_row_rows *rows)
{
	struct builder builder = { .rows = rows };
	bool good;

	if (!compacted_row_read_ids(rows) || rows->has_bodies)
		return !rows->bad;
	builder.templates = chunk_count(rows->chunk, BODY_TEMPLATE_TEXT);
	builder.template =
	    memory_zero(builder.templates + 1, sizeof(*builder.template));
	builder.row_template =
	    compacted_row_room(&rows->values, rows->count, sizeof(int64_t));
	good = make_and_free(&builder, open_templates(&builder));
	free(builder.step);
	free(builder.template);
	if (!good)
		return compacted_row_set_damaged(rows);
	rows->has_bodies = true;
	return true;
}
