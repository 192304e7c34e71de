/*
 * read - reading the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <stdlib.h>

#include <zstd.h>

#include "proto/base/memory.h"

struct chunk_reader *
chunk_reader_new(void)
{
	struct chunk_reader *r = memory_zero(1, sizeof(*r));

	chunk_symbols_init(&r->table);
	r->codec = memory_must(ZSTD_createDCtx());
	return r;
}

void
chunk_reader_free(struct chunk_reader **old)
{
	struct chunk_reader *r = *old;

	*old = NULL;
	if (r == NULL)
		return;
	ZSTD_freeDCtx(r->codec);
	free(r->column);
	free(r->ints.at);
	free(r->residual.at);
	free(r->wholes.at);
	free(r->ulps.at);
	free(r->reference.at);
	free(r->texts);
	buffer_clear(&r->symbols);
	buffer_clear(&r->bits);
	buffer_clear(&r->values);
	chunk_pool_free(&r->pool);
	free(r);
}

enum chunk_fault
chunk_open(struct chunk_reader *r, struct text chunk)
{
	struct varint_reader u = varint_reader_of(chunk);
	uint64_t columns, i;
	size_t left;

	r->columns = 0;
	r->texts_column = 0;
	chunk_pool_reset(r);
	if (varint_get(&u) != CHUNK_FORMAT)
		return u.bad ? CHUNK_TRUNCATED : CHUNK_VERSION;
	columns = varint_get(&u);
	if (columns > CHUNK_COLUMNS_MAX)
		return CHUNK_LIMIT;
	if (columns > r->room) {
		free(r->column);
		r->room = (uint32_t)columns;
		r->column = memory_alloc(r->room * sizeof(*r->column));
	}
	for (i = 0; i < columns && !u.bad; i++) {
		struct text type = varint_get_bytes(&u, 1);
		uint64_t count = varint_get(&u), bytes = varint_get(&u);

		if (u.bad)
			break;
		if (*type.at < CHUNK_INT || *type.at > CHUNK_VALUE)
			return CHUNK_METHOD;
		if (count > CHUNK_ROWS_MAX || bytes > CHUNK_BYTES_MAX)
			return CHUNK_LIMIT;
		r->column[i] = (struct chunk_column){ (uint8_t)*type.at,
			(uint32_t)count, (uint32_t)bytes, NULL };
	}
	if (u.bad)
		return CHUNK_TRUNCATED;
	left = varint_left(&u);
	for (i = 0; i < columns; i++) {
		size_t bytes = r->column[i].bytes;

		if (bytes > left)
			return CHUNK_TRUNCATED;
		r->column[i].at = u.at;
		u.at += bytes;
		left -= bytes;
	}
	if (left > 0)
		return CHUNK_TRUNCATED;
	r->columns = (uint32_t)columns;
	return CHUNK_OK;
}

uint32_t
chunk_columns(const struct chunk_reader *r)
{
	return r->columns;
}

enum chunk_type
chunk_type(const struct chunk_reader *r, uint32_t column)
{
	return (enum chunk_type)r->column[column].type;
}

uint32_t
chunk_count(const struct chunk_reader *r, uint32_t column)
{
	return r->column[column].count;
}

/* Find a column; false when there is no column of that number and type. */
static bool
find(const struct chunk_reader *r, uint32_t column, enum chunk_type type,
    struct varint_reader *u)
{
	if (column >= r->columns || r->column[column].type != type)
		return false;
	*u = chunk_column_unpack(&r->column[column]);
	return true;
}

/* A column must use all of its bytes. */
static enum chunk_fault
finish(enum chunk_fault fault, const struct varint_reader *u)
{
	if (fault != CHUNK_OK)
		return fault;
	return u->at == u->end && !u->bad ? CHUNK_OK : CHUNK_TRUNCATED;
}

enum chunk_fault
chunk_get_int(struct chunk_reader *r, uint32_t column, int64_t *to)
{
	struct varint_reader u;

	if (!find(r, column, CHUNK_INT, &u))
		return CHUNK_DAMAGED;
	return finish(
	    chunk_read_ints(r, &u, to, r->column[column].count, column), &u);
}

enum chunk_fault
chunk_get_float(struct chunk_reader *r, uint32_t column, double *to)
{
	struct varint_reader u;

	if (!find(r, column, CHUNK_FLOAT, &u))
		return CHUNK_DAMAGED;
	return finish(
	    chunk_read_floats(r, &u, to, r->column[column].count), &u);
}

enum chunk_fault
chunk_get_text(struct chunk_reader *r, uint32_t column, struct text *to)
{
	struct varint_reader u;

	if (!find(r, column, CHUNK_TEXT, &u))
		return CHUNK_DAMAGED;
	return finish(
	    chunk_read_texts(r, &u, to, r->column[column].count, column), &u);
}

/* Values of one type in sequence. */
static void
give(struct value *to, uint32_t count, enum value_type type, const void *room)
{
	const struct text *texts = room;
	const double *floats = room;
	const int64_t *ints = room;
	uint32_t i;

	switch (type) {
	case VALUE_NIL:
	case VALUE_BOOL:
		for (i = 0; i < count; i++)
			to[i] = (struct value){ .type = type,
				.is.boolean = type == VALUE_BOOL && ints[i] };
		break;
	case VALUE_INT:
	case VALUE_UINT:
		for (i = 0; i < count; i++)
			to[i] = (struct value){ .type = type, .is.i = ints[i] };
		break;
	case VALUE_FLOAT:
		for (i = 0; i < count; i++)
			to[i] =
			    (struct value){ .type = type, .is.f = floats[i] };
		break;
	case VALUE_TEXT:
		for (i = 0; i < count; i++)
			to[i] =
			    (struct value){ .type = type, .is.text = texts[i] };
		break;
	}
}

static enum chunk_fault
read_type(struct chunk_reader *r, struct varint_reader *u, enum value_type type,
    struct value *to, uint32_t count, uint32_t column)
{
	void *room = buffer_need(&r->values, count * sizeof(struct text));
	enum chunk_fault fault = CHUNK_OK;

	if (type == VALUE_FLOAT)
		fault = chunk_read_floats(r, u, room, count);
	else if (type == VALUE_TEXT)
		fault = chunk_read_texts(r, u, room, count, column);
	else if (type != VALUE_NIL)
		fault = chunk_read_ints(r, u, room, count, column);
	if (fault == CHUNK_OK)
		give(to, count, type, room);
	return fault;
}

/* The types of all rows, then the values of each type. */
static enum chunk_fault
read_mixed(struct chunk_reader *r, struct varint_reader *u, struct value *to,
    uint32_t count)
{
	int64_t *types = memory_alloc((count + 1) * sizeof(*types));
	struct value *values = memory_alloc((count + 1) * sizeof(*values));
	uint32_t found[VALUE_TEXT + 1] = { 0 }, i, n;
	enum chunk_fault fault;

	fault = chunk_read_ints(r, u, types, count, UINT32_MAX);
	for (i = 0; fault == CHUNK_OK && i < count; i++) {
		if (types[i] < VALUE_NIL || types[i] > VALUE_TEXT)
			fault = CHUNK_METHOD;
		else
			found[types[i]]++;
	}
	for (int type = VALUE_NIL; fault == CHUNK_OK && type <= VALUE_TEXT;
	     type++) {
		fault = read_type(r, u, (enum value_type)type, values,
		    found[type], UINT32_MAX);
		for (i = n = 0; fault == CHUNK_OK && i < count; i++)
			if (types[i] == type)
				to[i] = values[n++];
	}
	free(types);
	free(values);
	return fault;
}

enum chunk_fault
chunk_get_value(struct chunk_reader *r, uint32_t column, struct value *to)
{
	uint32_t count;
	struct varint_reader u;
	uint64_t type;

	if (!find(r, column, CHUNK_VALUE, &u))
		return CHUNK_DAMAGED;
	count = r->column[column].count;
	if (count == 0)
		return finish(CHUNK_OK, &u);
	type = varint_get(&u);
	if (type == CHUNK_MIXED)
		return finish(read_mixed(r, &u, to, count), &u);
	if (type > VALUE_TEXT)
		return CHUNK_METHOD;
	return finish(
	    read_type(r, &u, (enum value_type)type, to, count, column), &u);
}
