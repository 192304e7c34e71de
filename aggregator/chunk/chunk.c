/*
 * chunk - rows of records as columns: the column list, and columns of mixed
 * types.  This file writes them; read.c reads them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <assert.h>
#include <stdlib.h>

#include <zstd.h>

#include "proto/base/memory.h"

struct chunk_writer *
chunk_writer_new(void)
{
	struct chunk_writer *w = memory_zero(1, sizeof(*w));

	w->codec = memory_must(ZSTD_createCCtx());
	ZSTD_CCtx_setParameter(w->codec, ZSTD_c_contentSizeFlag, 0);
	return w;
}

void
chunk_writer_free(struct chunk_writer **old)
{
	struct chunk_writer *w = *old;

	*old = NULL;
	if (w == NULL)
		return;
	ZSTD_freeCCtx(w->codec);
	buffer_clear(&w->whole);
	buffer_clear(&w->list);
	buffer_clear(&w->body);
	buffer_clear(&w->symbols);
	buffer_clear(&w->bits);
	buffer_clear(&w->compressed);
	buffer_clear(&w->blob);
	buffer_clear(&w->values);
	for (unsigned i = 0; i < CHUNK_REFERENCES; i++)
		free(w->back[i].values.at);
	free(w->ints.at);
	free(w->more.at);
	free(w->residual.at);
	free(w->wholes.at);
	free(w->ulps.at);
	chunk_words_free(&w->words);
	chunk_same_free(&w->same);
	free(w);
}

void
chunk_begin(struct chunk_writer *w)
{
	w->whole.bytes = w->list.bytes = w->body.bytes = 0;
	w->columns = 0;
	chunk_same_reset(w);
	for (unsigned i = 0; i < CHUNK_REFERENCES; i++)
		w->back[i].count = 0;
}

/* Append the list entry of a column whose bytes begin at `start`. */
static void
end_column(
    struct chunk_writer *w, enum chunk_type type, uint32_t count, size_t start)
{
	unsigned char byte = (unsigned char)type;

	buffer_put(&w->list, &byte, 1);
	varint_put(&w->list, count);
	varint_put(&w->list, w->body.bytes - start);
	w->columns++;
	assert(w->columns <= CHUNK_COLUMNS_MAX && count <= CHUNK_ROWS_MAX);
}

void
chunk_put_int(struct chunk_writer *w, const int64_t *values, uint32_t count)
{
	size_t start = w->body.bytes;

	chunk_write_ints(w, values, count, true);
	end_column(w, CHUNK_INT, count, start);
}

void
chunk_put_float(struct chunk_writer *w, const double *values, uint32_t count)
{
	size_t start = w->body.bytes;

	chunk_write_floats(w, values, count);
	end_column(w, CHUNK_FLOAT, count, start);
}

void
chunk_put_text(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	size_t start = w->body.bytes;

	chunk_write_texts(w, values, count, true);
	end_column(w, CHUNK_TEXT, count, start);
}

/* Write those of `values` that have this type. */
static void
write_type(struct chunk_writer *w, enum value_type type,
    const struct value *values, uint32_t count, bool refer)
{
	/* The other buffers of the writer are in use while a stream is
	 * written. */
	void *room = buffer_need(&w->values, count * sizeof(struct text));
	struct text *texts = room;
	double *floats = room;
	int64_t *ints = room;
	uint32_t n = 0, i;

	for (i = 0; i < count; i++) {
		const struct value *value = &values[i];

		if (value->type != type)
			continue;
		switch (type) {
		case VALUE_NIL: break;
		case VALUE_BOOL: ints[n++] = value->is.boolean; break;
		case VALUE_INT: ints[n++] = value->is.i; break;
		case VALUE_UINT: ints[n++] = (int64_t)value->is.u; break;
		case VALUE_FLOAT: floats[n++] = value->is.f; break;
		case VALUE_TEXT: texts[n++] = value->is.text; break;
		}
	}
	if (type == VALUE_FLOAT)
		chunk_write_floats(w, floats, n);
	else if (type == VALUE_TEXT)
		chunk_write_texts(w, texts, n, refer);
	else
		chunk_write_ints(w, ints, n, refer && type == VALUE_INT);
}

void
chunk_put_value(
    struct chunk_writer *w, const struct value *values, uint32_t count)
{
	size_t start = w->body.bytes;
	unsigned seen = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		seen |= 1u << values[i].type;
	if (seen != 0 && (seen & (seen - 1)) == 0) {
		varint_put(&w->body, values[0].type);
		write_type(w, values[0].type, values, count, true);
	} else if (count > 0) {
		int64_t *types = chunk_ints_room(&w->wholes, count);

		for (i = 0; i < count; i++)
			types[i] = (int64_t)values[i].type;
		varint_put(&w->body, CHUNK_MIXED);
		chunk_write_ints(w, types, count, false);
		for (i = 0; i <= VALUE_TEXT; i++)
			write_type(w, (enum value_type)i, values, count, false);
	}
	end_column(w, CHUNK_VALUE, count, start);
}

struct text
chunk_end(struct chunk_writer *w)
{
	varint_put(&w->whole, CHUNK_FORMAT);
	varint_put(&w->whole, w->columns);
	buffer_put(&w->whole, w->list.at, w->list.bytes);
	buffer_put(&w->whole, w->body.at, w->body.bytes);
	assert(w->whole.bytes <= CHUNK_BYTES_MAX);
	return buffer_text(&w->whole);
}
