/*
 * frame - the columns of a data frame: typed values of a batch of rows.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/frame.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
frame_init(struct frame_column *column, const char *name, const char *unit,
    enum frame_type type)
{
	*column = (struct frame_column){ .name = name,
		.unit = unit,
		.type = type,
		.names_sent = UINT32_MAX };
	string_table_init(&column->names);
}

void
frame_clear(struct frame_column *column)
{
	buffer_clear(&column->known);
	buffer_clear(&column->values);
	buffer_clear(&column->texts);
	string_table_clear(&column->names);
	free(column->next);
}

void
frame_forget_rows(struct frame_column *column)
{
	column->known.bytes = column->values.bytes = 0;
	column->texts.bytes = 0;
	column->rows = column->unknown = 0;
}

void
frame_forget_names(struct frame_column *column)
{
	string_table_clear(&column->names);
	string_table_init(&column->names);
	column->last = 0;
}

static void
add_bit(struct buffer *to, uint32_t row, bool bit)
{
	if (row % 8 == 0) {
		*buffer_need(to, 1) = 0;
		to->bytes++;
	}
	to->at[to->bytes - 1] |= (unsigned char)(bit << row % 8);
}

/* Offsets of texts and numbers of names. */
static void
add_uint32(struct buffer *to, uint32_t number)
{
	memcpy(buffer_need(to, sizeof(number)), &number, sizeof(number));
	to->bytes += sizeof(number);
}

/* The first that is unknown has those before it, which were known. */
void
frame_add_known_bit(struct frame_column *column, bool is_known)
{
	for (uint32_t row = 0; column->unknown == 0 && row < column->rows;
	     row++)
		add_bit(&column->known, row, true);
	add_bit(&column->known, column->rows, is_known);
}

static void
count_known(struct frame_column *column)
{
	if (column->unknown > 0)
		frame_add_known_bit(column, true);
	column->rows++;
}

/* A list of ends begins with a 0. */
static void
add_end(struct frame_column *column)
{
	if (column->values.bytes == 0)
		add_uint32(&column->values, 0);
	add_uint32(&column->values, (uint32_t)column->texts.bytes);
}

void
frame_add_unknown(struct frame_column *column)
{
	const uint64_t zero = 0;

	switch (column->type) {
	case FRAME_BOOL: add_bit(&column->values, column->rows, false); break;
	case FRAME_TEXT: add_end(column); break;
	case FRAME_NAMES: add_uint32(&column->values, 0); break;
	default: buffer_put(&column->values, &zero, sizeof(zero)); break;
	}
	frame_add_known_bit(column, false);
	column->rows++;
	column->unknown++;
}

void
frame_add_bool(struct frame_column *column, bool value)
{
	add_bit(&column->values, column->rows, value);
	count_known(column);
}

/* `texts` gets the text at its end. */
static void
put_utf8(struct buffer *texts, struct text text)
{
	size_t before = texts->bytes;

	buffer_put_text(texts, text);
	if (!text_is_utf8(text))
		for (size_t i = before; i < texts->bytes; i++)
			if (texts->at[i] >= 0x80)
				texts->at[i] = '?';
}

static uint32_t
number_of(struct frame_column *column, struct text name)
{
	uint32_t before = column->names.count, number;

	column->texts.bytes = 0;
	buffer_need(&column->texts, 1);
	put_utf8(&column->texts, name);
	number = string_table_add(&column->names, buffer_text(&column->texts));
	column->texts.bytes = 0;
	if (column->names.count == before)
		return number;
	MEMORY_GROW(column->next, column->next_room, number);
	column->next[number] = 0;
	return number;
}

static bool
is_name(const struct frame_column *column, uint32_t number, struct text name)
{
	return text_equal(column->names.names[number], name);
}

/* Mostly the same as in the row before, or, where rows are for each metric of a
 * sample, what followed that the last time. */
static uint32_t
guess_number(struct frame_column *column, struct text name)
{
	uint32_t last = column->last, number;

	if (column->names.count == 0)
		return number_of(column, name);
	if (is_name(column, last, name))
		return last;
	number = column->next[last];
	if (!is_name(column, number, name)) {
		number = number_of(column, name);
		column->next[last] = number;
	}
	return number;
}

void
frame_add_text(struct frame_column *column, struct text text)
{
	if (column->type == FRAME_TEXT) {
		put_utf8(&column->texts, text);
		add_end(column);
	} else {
		column->last = guess_number(column, text);
		add_uint32(&column->values, column->last);
	}
	count_known(column);
}
