/*
 * parquet - columns of values as a file of Apache Parquet.
 *
 * Numbers of fields, types and encodings are those of parquet.thrift.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/parquet.h"

#include <endian.h>
#include <stdlib.h>

#include <sodium.h>
#include <zstd.h>

#include "proto/answer/arrow.h"
#include "proto/answer/rle.h"
#include "proto/answer/thrift.h"
#include "proto/base/memory.h"
#include "proto/base/version.h"

enum { LEVEL_OF_ZSTD = 1 };
enum physical { PHYSICAL_BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY };
enum encoding { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };

static const char magic[] = { 'P', 'A', 'R', '1' };

struct parquet {
	FILE *file;
	uint64_t at, rows;
	struct buffer groups; /* the structs RowGroup */
	uint32_t group_count;
	ZSTD_CCtx *codec;
	struct buffer page, packed, header;
	struct frame_column names; /* the dictionary of texts */
};

/* What the end says of a chunk. */
struct chunk {
	int64_t values, unknown;
	uint64_t dictionary_at, data_at; /* dictionary_at 0: none */
	uint64_t raw_bytes, bytes;
	bool has_limits;
	uint64_t least, greatest; /* as they are in the page */
};

static void
put(struct parquet *p, const void *bytes, size_t count)
{
	fwrite_unlocked(bytes, 1, count, p->file);
	p->at += count;
}

struct parquet *
parquet_new(FILE *file)
{
	struct parquet *p = memory_zero(1, sizeof(*p));

	p->file = file;
	p->codec = memory_must(ZSTD_createCCtx());
	frame_init(&p->names, NULL, NULL, FRAME_NAMES);
	put(p, magic, sizeof(magic));
	return p;
}

void
parquet_free(struct parquet **freed)
{
	struct parquet *p = *freed;

	if (p == NULL)
		return;
	ZSTD_freeCCtx(p->codec);
	buffer_clear(&p->groups);
	buffer_clear(&p->page);
	buffer_clear(&p->packed);
	buffer_clear(&p->header);
	frame_clear(&p->names);
	free(p);
	*freed = NULL;
}

/* ---- values ---- */

static void
put_uint32(struct buffer *to, uint32_t number)
{
	number = htole32(number);
	memcpy(buffer_need(to, sizeof(number)), &number, sizeof(number));
	to->bytes += sizeof(number);
}

/* Definition levels: is there a value? */
static void
put_levels(struct buffer *page, const struct frame_column *column)
{
	size_t from;
	uint32_t bytes;

	put_uint32(page, 0);
	from = page->bytes;
	if (column->unknown == 0 || column->unknown == column->rows)
		rle_put_same(page, column->unknown == 0, column->rows);
	else
		rle_put_bits(page, column->known.at, column->rows);
	bytes = htole32((uint32_t)(page->bytes - from));
	memcpy(page->at + from - sizeof(bytes), &bytes, sizeof(bytes));
}

static uint64_t
number_at(const void *numbers, size_t i)
{
	uint64_t number;

	memcpy(&number, (const char *)numbers + 8 * i, sizeof(number));
	return number;
}

static void
put_numbers(struct buffer *page, const struct frame_column *column)
{
	unsigned char *to = buffer_need(page, 8 * (size_t)column->rows);

	for (uint32_t i = 0; i < column->rows; i++) {
		uint64_t number = htole64(number_at(column->values.at, i));

		memcpy(to, &number, sizeof(number));
		to += frame_is_known(column, i) ? sizeof(number) : 0;
	}
	page->bytes = (size_t)(to - page->at);
}

static void
put_bools(struct buffer *page, const struct frame_column *column)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < column->rows; i++) {
		unsigned bit = column->values.at[i / 8] >> i % 8 & 1;

		if (!frame_is_known(column, i))
			continue;
		if (count % 8 == 0) {
			*buffer_need(page, 1) = 0;
			page->bytes++;
		}
		page->at[page->bytes - 1] |=
		    (unsigned char)(bit << count++ % 8);
	}
}

static void
put_text(struct buffer *page, struct text text)
{
	put_uint32(page, text.bytes);
	buffer_put_text(page, text);
}

static struct text
text_at(const struct frame_column *column, uint32_t row)
{
	const uint32_t *numbers = (const void *)column->values.at;

	if (column->type == FRAME_NAMES)
		return column->names.names[numbers[row]];
	if (numbers[row + 1] == numbers[row])
		return (struct text){ "", 0 }; /* texts.at may be NULL */
	return (struct text){ (const char *)column->texts.at + numbers[row],
		numbers[row + 1] - numbers[row] };
}

static void
put_texts(struct buffer *page, const struct frame_column *column)
{
	for (uint32_t i = 0; i < column->rows; i++)
		if (frame_is_known(column, i))
			put_text(page, text_at(column, i));
}

/* The numbers of names that are known are moved to the front of `room`. */
static void
put_references(
    struct buffer *page, const struct frame_column *column, struct buffer *room)
{
	const uint32_t *numbers = (const void *)column->values.at;
	unsigned width = rle_width(column->names.count - 1);
	uint32_t count = column->rows;

	if (column->unknown > 0) {
		room->bytes = count = 0;
		buffer_need(room, column->rows * sizeof(*numbers));
		for (uint32_t i = 0; i < column->rows; i++) {
			memcpy(room->at + count * sizeof(*numbers), &numbers[i],
			    sizeof(*numbers));
			count += frame_is_known(column, i);
		}
		numbers = (const void *)room->at;
	}
	*buffer_need(page, 1) = (unsigned char)width;
	page->bytes++;
	rle_put(page, numbers, count, width);
}

/* ---- pages ---- */

static void
put_page(struct parquet *p, struct chunk *chunk, enum page type,
    uint32_t values, enum encoding encoding)
{
	struct thrift t = { .to = &p->header };
	size_t room = ZSTD_compressBound(p->page.bytes), bytes;

	p->packed.bytes = p->header.bytes = 0;
	buffer_need(&p->packed, room);
	bytes = ZSTD_compressCCtx(p->codec, p->packed.at, room, p->page.at,
	    p->page.bytes, LEVEL_OF_ZSTD);
	if (ZSTD_isError(bytes))
		memory_exhausted(room); /* it has no other reason */
	thrift_begin(&t);
	thrift_i32(&t, 1, type);
	thrift_i32(&t, 2, (int32_t)p->page.bytes);
	thrift_i32(&t, 3, (int32_t)bytes);
	thrift_begin_field(&t, type == PAGE_DATA ? 5 : 7);
	thrift_i32(&t, 1, (int32_t)values);
	thrift_i32(&t, 2, encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&t, 3, RLE);
		thrift_i32(&t, 4, RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	put(p, p->header.at, p->header.bytes);
	put(p, p->packed.at, bytes);
	chunk->raw_bytes += p->header.bytes + p->page.bytes;
	chunk->bytes += p->header.bytes + bytes;
	p->page.bytes = 0;
}

/* The same with a dictionary; NULL: most texts are different. */
static const struct frame_column *
dictionary_of(struct parquet *p, const struct frame_column *column)
{
	uint32_t names_max = (column->rows - column->unknown) / 2;

	if (column->type == FRAME_NAMES)
		return column->names.count > 0 &&
			       column->names.count <= names_max
			   ? column
			   : NULL;
	frame_forget_rows(&p->names);
	frame_forget_names(&p->names);
	for (uint32_t i = 0;
	     i < column->rows && p->names.names.count <= names_max; i++)
		if (frame_is_known(column, i))
			frame_add_text(&p->names, text_at(column, i));
		else
			frame_add_unknown(&p->names);
	return p->names.names.count > 0 && p->names.names.count <= names_max
		   ? &p->names
		   : NULL;
}

static void
put_chunk_of_texts(
    struct parquet *p, struct chunk *chunk, const struct frame_column *column)
{
	const struct frame_column *named = dictionary_of(p, column);

	if (named == NULL) {
		put_levels(&p->page, column);
		put_texts(&p->page, column);
		put_page(p, chunk, PAGE_DATA, column->rows, PLAIN);
		return;
	}
	chunk->dictionary_at = p->at;
	for (uint32_t i = 0; i < named->names.count; i++)
		put_text(&p->page, named->names.names[i]);
	put_page(p, chunk, PAGE_DICTIONARY, named->names.count, PLAIN);
	chunk->data_at = p->at;
	put_levels(&p->page, named);
	put_references(&p->page, named, &p->packed);
	put_page(p, chunk, PAGE_DATA, column->rows, RLE_DICTIONARY);
}

static void
measure(struct chunk *chunk, const unsigned char *numbers, size_t count,
    bool is_signed)
{
	/* Signed numbers are in the order of others with this bit changed. */
	uint64_t sign = is_signed ? UINT64_C(1) << 63 : 0;
	uint64_t least = UINT64_MAX, greatest = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t number = le64toh(number_at(numbers, i)) ^ sign;

		least = number < least ? number : least;
		greatest = number > greatest ? number : greatest;
	}
	chunk->has_limits = count > 0;
	chunk->least = htole64(least ^ sign);
	chunk->greatest = htole64(greatest ^ sign);
}

static struct chunk
put_chunk(struct parquet *p, const struct frame_column *column)
{
	struct chunk chunk = { .values = column->rows,
		.unknown = column->unknown,
		.data_at = p->at };
	size_t from;

	if (column->type == FRAME_TEXT || column->type == FRAME_NAMES) {
		put_chunk_of_texts(p, &chunk, column);
		return chunk;
	}
	put_levels(&p->page, column);
	from = p->page.bytes;
	if (column->type == FRAME_BOOL)
		put_bools(&p->page, column);
	else
		put_numbers(&p->page, column);
	if (column->type != FRAME_BOOL && column->type != FRAME_FLOAT64)
		measure(&chunk, p->page.at + from, (p->page.bytes - from) / 8,
		    column->type != FRAME_UINT64);
	put_page(p, &chunk, PAGE_DATA, column->rows, PLAIN);
	return chunk;
}

/* ---- the end of the file ---- */

static enum physical
physical_of(enum frame_type type)
{
	switch (type) {
	case FRAME_BOOL: return PHYSICAL_BOOLEAN;
	case FRAME_FLOAT64: return DOUBLE;
	case FRAME_TEXT:
	case FRAME_NAMES: return BYTE_ARRAY;
	default: return INT64;
	}
}

static struct text
bytes_of(const uint64_t *number)
{
	return (struct text){ (const char *)number, sizeof(*number) };
}

static void
describe_chunk(struct thrift *t, const struct frame_column *column,
    const struct chunk *chunk)
{
	bool has_dictionary = chunk->dictionary_at > 0;

	thrift_begin(t);
	thrift_i64(t, 2, 0); /* the file's metadata has what follows */
	thrift_begin_field(t, 3);
	thrift_i32(t, 1, physical_of(column->type));
	thrift_list(t, 2, THRIFT_I32, 2 + has_dictionary);
	thrift_put_i32(t, PLAIN);
	thrift_put_i32(t, RLE);
	if (has_dictionary)
		thrift_put_i32(t, RLE_DICTIONARY);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_put_text(t, text_of(column->name));
	thrift_i32(t, 4, CODEC_ZSTD);
	thrift_i64(t, 5, chunk->values);
	thrift_i64(t, 6, (int64_t)chunk->raw_bytes);
	thrift_i64(t, 7, (int64_t)chunk->bytes);
	thrift_i64(t, 9, (int64_t)chunk->data_at);
	if (has_dictionary)
		thrift_i64(t, 11, (int64_t)chunk->dictionary_at);
	thrift_begin_field(t, 12);
	thrift_i64(t, 3, chunk->unknown);
	if (chunk->has_limits) {
		thrift_text(t, 5, bytes_of(&chunk->greatest));
		thrift_text(t, 6, bytes_of(&chunk->least));
	}
	thrift_end(t);
	thrift_end(t);
	thrift_end(t);
}

void
parquet_put_group(struct parquet *p, const struct frame_column *columns,
    uint32_t count, uint32_t rows)
{
	struct thrift t = { .to = &p->groups };
	uint64_t from = p->at, raw_bytes = 0;

	thrift_begin(&t);
	thrift_list(&t, 1, THRIFT_STRUCT, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct chunk chunk = put_chunk(p, &columns[i]);

		describe_chunk(&t, &columns[i], &chunk);
		raw_bytes += chunk.raw_bytes;
	}
	thrift_i64(&t, 2, (int64_t)raw_bytes);
	thrift_i64(&t, 3, rows);
	thrift_i64(&t, 5, (int64_t)from);
	thrift_i64(&t, 6, (int64_t)(p->at - from));
	thrift_end(&t);
	p->group_count++;
	p->rows += rows;
}

/* What the number, or the bytes, mean. */
static void
describe_type(struct thrift *t, enum frame_type type)
{
	enum { CONVERTED = 6, LOGICAL = 10 };
	enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_64 = 14 };
	enum { STRING = 1, TIMESTAMP = 8, INTEGER = 10, NANOSECONDS = 3 };

	if (type == FRAME_TEXT || type == FRAME_NAMES) {
		thrift_i32(t, CONVERTED, CONVERTED_UTF8);
		thrift_begin_field(t, LOGICAL);
		thrift_begin_field(t, STRING);
	} else if (type == FRAME_UINT64) {
		thrift_i32(t, CONVERTED, CONVERTED_UINT_64);
		thrift_begin_field(t, LOGICAL);
		thrift_begin_field(t, INTEGER);
		thrift_i8(t, 1, 64);
		thrift_bool(t, 2, false);
	} else if (type == FRAME_TIME) {
		thrift_begin_field(t, LOGICAL);
		thrift_begin_field(t, TIMESTAMP);
		thrift_bool(t, 1, true); /* UTC */
		thrift_begin_field(t, 2);
		thrift_begin_field(t, NANOSECONDS);
		thrift_end(t);
		thrift_end(t);
	} else {
		return;
	}
	thrift_end(t);
	thrift_end(t);
}

static void
describe_columns(
    struct thrift *t, const struct frame_column *columns, uint32_t count)
{
	enum { OPTIONAL = 1 };

	thrift_list(t, 2, THRIFT_STRUCT, 1 + count);
	thrift_begin(t);
	thrift_text(t, 4, text_of("schema"));
	thrift_i32(t, 5, (int32_t)count);
	thrift_end(t);
	for (uint32_t i = 0; i < count; i++) {
		thrift_begin(t);
		thrift_i32(t, 1, physical_of(columns[i].type));
		thrift_i32(t, 3, OPTIONAL);
		thrift_text(t, 4, text_of(columns[i].name));
		describe_type(t, columns[i].type);
		thrift_end(t);
	}
}

static void
put_pair(struct thrift *t, const char *key, struct text value)
{
	thrift_begin(t);
	thrift_text(t, 1, text_of(key));
	thrift_text(t, 2, value);
	thrift_end(t);
}

static void
put_pairs(struct thrift *t, const struct frame_column *columns, uint32_t count,
    struct text about)
{
	size_t bytes, room;
	char *schema, *text;
	FILE *file = memory_stream(&schema, &bytes);

	arrow_put_schema(file, columns, count, about);
	memory_stream_end(&file);
	room = sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_ORIGINAL);
	text = memory_alloc(room);
	sodium_bin2base64(text, room, (const unsigned char *)schema, bytes,
	    sodium_base64_VARIANT_ORIGINAL);
	thrift_list(t, 5, THRIFT_STRUCT, 2);
	put_pair(t, "poolscope", about);
	put_pair(t, "ARROW:schema", text_of(text));
	free(text);
	free(schema);
}

/* Least and greatest numbers are in the order of their type. */
static void
put_orders(struct thrift *t, uint32_t count)
{
	thrift_list(t, 7, THRIFT_STRUCT, count);
	for (uint32_t i = 0; i < count; i++) {
		thrift_begin(t);
		thrift_begin_field(t, 1);
		thrift_end(t);
		thrift_end(t);
	}
}

void
parquet_put_end(struct parquet *p, const struct frame_column *columns,
    uint32_t count, struct text about)
{
	enum { FORMAT_2 = 2 };
	struct thrift t = { .to = &p->header };

	p->header.bytes = 0;
	thrift_begin(&t);
	thrift_i32(&t, 1, FORMAT_2);
	describe_columns(&t, columns, count);
	thrift_i64(&t, 3, (int64_t)p->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, p->group_count);
	buffer_put(&p->header, p->groups.at, p->groups.bytes);
	put_pairs(&t, columns, count, about);
	thrift_text(&t, 6, text_of("poolscope version " VERSION));
	put_orders(&t, count);
	thrift_end(&t);
	put_uint32(&p->header, (uint32_t)p->header.bytes);
	buffer_put(&p->header, magic, sizeof(magic));
	put(p, p->header.at, p->header.bytes);
}
