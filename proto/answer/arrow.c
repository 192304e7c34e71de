/*
 * arrow - columns of values as a stream of Apache Arrow.
 *
 * The numbers of fields and types are those of Message.fbs and Schema.fbs of
 * Arrow's format.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/arrow.h"

#include <stdlib.h>

#include "proto/answer/flat.h"
#include "proto/base/memory.h"

enum { VERSION_5 = 4 };
enum message_kind { MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY, MESSAGE_ROWS };
enum { BUFFERS_MAX = 3 }; /* of a column */

/* ---- messages ---- */

static size_t
filled(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

static void
put_filled(FILE *file, const void *bytes, size_t count)
{
	static const char zeros[8];

	if (count > 0)
		fwrite(bytes, 1, count, file);
	fwrite(zeros, 1, filled(count) - count, file);
}

static void
put_prefix(FILE *file, uint32_t bytes)
{
	for (int i = 0; i < 4; i++)
		putc(0xFF, file);
	for (int i = 0; i < 4; i++)
		putc((int)(bytes >> 8 * i & 0xFF), file);
}

/* The body of `body_bytes` follows. */
static void
put_message(FILE *file, struct flat *f, enum message_kind kind, uint32_t header,
    uint64_t body_bytes)
{
	struct flat_table message;
	struct text made;

	flat_begin(f, &message);
	flat_add(f, &message, 3, body_bytes, 8);
	flat_refer(f, &message, 2, header);
	flat_add(f, &message, 0, VERSION_5, 2);
	flat_add(f, &message, 1, kind, 1);
	made = flat_finish(f, flat_end(f, &message));
	put_prefix(file, made.bytes);
	put_filled(file, made.at, made.bytes);
	flat_clear(f);
}

/* ---- schema ---- */

/* A vector of one pair. */
static uint32_t
put_pair(struct flat *f, struct text key, struct text value)
{
	uint32_t places[2] = { flat_text(f, key), flat_text(f, value) };
	uint32_t pair;
	struct flat_table table;

	flat_begin(f, &table);
	flat_refer(f, &table, 0, places[0]);
	flat_refer(f, &table, 1, places[1]);
	pair = flat_end(f, &table);
	return flat_vector(f, &pair, 1);
}

static uint32_t
put_integer(struct flat *f, uint32_t bits, bool is_signed)
{
	struct flat_table table;

	flat_begin(f, &table);
	flat_add(f, &table, 0, bits, 4);
	flat_add(f, &table, 1, is_signed, 1);
	return flat_end(f, &table);
}

/* `kind` becomes the number of the type. */
static uint32_t
put_type(struct flat *f, enum frame_type type, uint32_t *kind)
{
	enum { INT = 2, FLOAT, UTF8 = 5, BOOL, TIMESTAMP = 10, DURATION = 18 };
	enum { DOUBLE = 2, NANOSECONDS = 3 };
	static const uint32_t kinds[] = { [FRAME_BOOL] = BOOL,
		[FRAME_INT64] = INT,
		[FRAME_UINT64] = INT,
		[FRAME_FLOAT64] = FLOAT,
		[FRAME_TIME] = TIMESTAMP,
		[FRAME_DURATION] = DURATION,
		[FRAME_TEXT] = UTF8,
		[FRAME_NAMES] = UTF8 };
	struct flat_table table;
	uint32_t zone = 0;

	*kind = kinds[type];
	if (*kind == INT)
		return put_integer(f, 64, type == FRAME_INT64);
	if (*kind == TIMESTAMP)
		zone = flat_text(f, text_of("UTC"));
	flat_begin(f, &table);
	if (zone != 0)
		flat_refer(f, &table, 1, zone);
	if (*kind == FLOAT)
		flat_add(f, &table, 0, DOUBLE, 2);
	else if (*kind == TIMESTAMP || *kind == DURATION)
		flat_add(f, &table, 0, NANOSECONDS, 2);
	return flat_end(f, &table);
}

static uint32_t
put_dictionary_of(struct flat *f, uint32_t number)
{
	uint32_t type = put_integer(f, 32, true);
	struct flat_table table;

	flat_begin(f, &table);
	flat_add(f, &table, 0, number, 8);
	flat_refer(f, &table, 1, type);
	return flat_end(f, &table);
}

/* `number` is that of its dictionary. */
static uint32_t
put_field(struct flat *f, const struct frame_column *column, uint32_t number)
{
	uint32_t name = flat_text(f, text_of(column->name));
	uint32_t children = flat_vector(f, NULL, 0), unit = 0, dictionary = 0;
	uint32_t kind, type = put_type(f, column->type, &kind);
	struct flat_table table;

	if (column->unit != NULL)
		unit = put_pair(f, text_of("unit"), text_of(column->unit));
	if (column->type == FRAME_NAMES)
		dictionary = put_dictionary_of(f, number);
	flat_begin(f, &table);
	flat_refer(f, &table, 0, name);
	flat_refer(f, &table, 3, type);
	flat_refer(f, &table, 5, children);
	if (dictionary != 0)
		flat_refer(f, &table, 4, dictionary);
	if (unit != 0)
		flat_refer(f, &table, 6, unit);
	flat_add(f, &table, 1, true, 1); /* may be unknown */
	flat_add(f, &table, 2, kind, 1);
	return flat_end(f, &table);
}

void
arrow_put_schema(FILE *file, const struct frame_column *columns, uint32_t count,
    struct text about)
{
	uint32_t *places = memory_zero(count + 1, sizeof(*places));
	struct flat f = { .memory = NULL };
	uint32_t fields, pairs;
	struct flat_table table;

	pairs = put_pair(&f, text_of("poolscope"), about);
	for (uint32_t i = 0; i < count; i++)
		places[i] = put_field(&f, &columns[i], i);
	fields = flat_vector(&f, places, count);
	free(places);
	flat_begin(&f, &table);
	flat_add(&f, &table, 0, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 2);
	flat_refer(&f, &table, 1, fields);
	flat_refer(&f, &table, 2, pairs);
	put_message(file, &f, MESSAGE_SCHEMA, flat_end(&f, &table), 0);
}

/* ---- batches ---- */

struct body {
	const struct buffer **buffers;
	uint32_t count;
};

static const struct buffer none;

static void
add_column(struct body *body, const struct frame_column *column)
{
	body->buffers[body->count++] =
	    column->unknown > 0 ? &column->known : &none;
	body->buffers[body->count++] = &column->values;
	if (column->type == FRAME_TEXT)
		body->buffers[body->count++] = &column->texts;
}

/* The table RecordBatch.  `end`: where the body ends. */
static uint32_t
put_rows(struct flat *f, const struct frame_column *columns, uint32_t count,
    uint32_t rows, const struct body *body, uint64_t *end)
{
	uint64_t at = 0;
	uint32_t nodes, buffers;
	struct flat_table table;

	for (uint32_t i = 0; i < body->count; i++)
		at += filled(body->buffers[i]->bytes);
	*end = at;
	flat_align(f, 8, 0);
	for (uint32_t i = body->count; i > 0; i--) {
		at -= filled(body->buffers[i - 1]->bytes);
		flat_number(f, body->buffers[i - 1]->bytes, 8);
		flat_number(f, at, 8);
	}
	flat_number(f, body->count, 4);
	buffers = f->used;
	flat_align(f, 8, 0);
	for (uint32_t i = count; i > 0; i--) {
		flat_number(f, columns[i - 1].unknown, 8);
		flat_number(f, rows, 8);
	}
	flat_number(f, count, 4);
	nodes = f->used;
	flat_begin(f, &table);
	flat_add(f, &table, 0, rows, 8);
	flat_refer(f, &table, 1, nodes);
	flat_refer(f, &table, 2, buffers);
	return flat_end(f, &table);
}

static void
put_body(FILE *file, const struct body *body)
{
	for (uint32_t i = 0; i < body->count; i++)
		put_filled(file, body->buffers[i]->at, body->buffers[i]->bytes);
}

static void
put_dictionary(FILE *file, struct frame_column *column, uint32_t number)
{
	const struct string_table *names = &column->names;
	struct frame_column texts;
	const struct buffer *buffers[BUFFERS_MAX];
	struct body body = { .buffers = buffers };
	struct flat f = { .memory = NULL };
	struct flat_table table;
	uint32_t rows;
	uint64_t end;

	if (names->count == column->names_sent)
		return;
	column->names_sent = names->count;
	frame_init(&texts, NULL, NULL, FRAME_TEXT);
	for (uint32_t i = 0; i < names->count; i++)
		frame_add_text(&texts, names->names[i]);
	add_column(&body, &texts);
	rows = put_rows(&f, &texts, 1, names->count, &body, &end);
	flat_begin(&f, &table);
	flat_add(&f, &table, 0, number, 8);
	flat_refer(&f, &table, 1, rows);
	put_message(file, &f, MESSAGE_DICTIONARY, flat_end(&f, &table), end);
	put_body(file, &body);
	frame_clear(&texts);
}

void
arrow_put_batch(
    FILE *file, struct frame_column *columns, uint32_t count, uint32_t rows)
{
	struct body body = { .buffers =
				 memory_zero((size_t)BUFFERS_MAX * count + 1,
				     sizeof(*body.buffers)) };
	struct flat f = { .memory = NULL };
	uint32_t header;
	uint64_t end;

	for (uint32_t i = 0; i < count; i++) {
		if (columns[i].type == FRAME_NAMES)
			put_dictionary(file, &columns[i], i);
		add_column(&body, &columns[i]);
	}
	header = put_rows(&f, columns, count, rows, &body, &end);
	put_message(file, &f, MESSAGE_ROWS, header, end);
	put_body(file, &body);
	free(body.buffers);
}

void
arrow_put_end(FILE *file)
{
	put_prefix(file, 0);
}
