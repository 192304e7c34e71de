/*
 * chunk - decode any bytes as a chunk: every column is unpacked with its own
 * type, and what could be unpacked must survive packing and unpacking.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "aggregator/chunk/chunk.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 40 }; /* per input */

static struct value one[CHUNK_ROWS_MAX], two[CHUNK_ROWS_MAX];

static enum chunk_fault
get(struct chunk_reader *reader, uint32_t column, enum chunk_type type,
    struct value *to)
{
	switch (type) {
	case CHUNK_INT: return chunk_get_int(reader, column, (void *)to);
	case CHUNK_FLOAT: return chunk_get_float(reader, column, (void *)to);
	case CHUNK_TEXT: return chunk_get_text(reader, column, (void *)to);
	case CHUNK_VALUE: return chunk_get_value(reader, column, to);
	}
	abort();
}

static bool
texts_equal(const struct text *a, const struct text *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!text_equal(a[i], b[i]))
			return false;
	return true;
}

static bool
values_equal(const struct value *a, const struct value *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (a[i].type != b[i].type)
			return false;
		if (a[i].type == VALUE_TEXT) {
			if (!text_equal(a[i].is.text, b[i].is.text))
				return false;
		} else if (a[i].type == VALUE_BOOL) {
			if (a[i].is.boolean != b[i].is.boolean)
				return false;
		} else if (a[i].type != VALUE_NIL && a[i].is.u != b[i].is.u) {
			return false;
		}
	}
	return true;
}

static void
round_trip(struct chunk_writer *writer, enum chunk_type type, uint32_t count)
{
	static struct chunk_reader *reader;

	if (reader == NULL)
		reader = chunk_reader_new();
	chunk_begin(writer);
	switch (type) {
	case CHUNK_INT: chunk_put_int(writer, (void *)one, count); break;
	case CHUNK_FLOAT: chunk_put_float(writer, (void *)one, count); break;
	case CHUNK_TEXT: chunk_put_text(writer, (void *)one, count); break;
	case CHUNK_VALUE: chunk_put_value(writer, one, count); break;
	}
	MUST(chunk_open(reader, chunk_end(writer)) == CHUNK_OK);
	MUST(chunk_count(reader, 0) == count);
	MUST(get(reader, 0, type, two) == CHUNK_OK);
	switch (type) {
	case CHUNK_INT:
	case CHUNK_FLOAT: MUST(memcmp(one, two, count * 8ul) == 0); break;
	case CHUNK_TEXT:
		MUST(texts_equal((void *)one, (void *)two, count));
		break;
	case CHUNK_VALUE: MUST(values_equal(one, two, count)); break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct chunk_writer *writer;
	static struct chunk_reader *reader;
	struct text chunk = { (const char *)data, (uint32_t)size };

	if (writer == NULL) {
		writer = chunk_writer_new();
		reader = chunk_reader_new();
	}
	if (chunk_open(reader, chunk) != CHUNK_OK)
		return 0;
	for (uint32_t i = 0; i < chunk_columns(reader) && i < COLUMNS; i++) {
		enum chunk_type type = chunk_type(reader, i);

		if (get(reader, i, type, one) == CHUNK_OK)
			round_trip(writer, type, chunk_count(reader, i));
	}
	return 0;
}
