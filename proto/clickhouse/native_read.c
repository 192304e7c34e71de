/*
 * native_read - read an answer in ClickHouse's format Native.
 *
 * A machine of a few states looks at each byte once.  Of numbers it waits until
 * all of a column are there, of texts it takes one after the other and notes
 * where each begins.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/native_read.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/varint.h"
#include "proto/clickhouse/native_private.h"

enum native_read_step {
	READ_COLUMNS,
	READ_ROWS,
	READ_NAME,
	READ_TYPE,
	READ_ENDS,
	READ_NUMBERS,
	READ_TEXTS,
	READ_COMPLETE,
};

struct native_read_column {
	const struct native_shape *shape;
	const char *name;
	uint64_t elements;   /* of an array column, or rows */
	size_t ends, values; /* where they begin in the block */
	uint32_t *texts;     /* where each begins in the block */
	uint32_t room;       /* of texts */
};

struct native_reader {
	struct buffer bytes; /* the block, and what came after it */
	size_t block;        /* where the block begins in them */
	size_t at;           /* up to here of the block was looked at */
	enum native_read_step step;
	bool refused;
	unsigned count, column; /* columns; the one that is read */
	uint32_t rows;
	uint32_t seen;  /* texts of the column that is read */
	uint64_t texts; /* of all columns up to that */
	struct native_read_column columns[];
};

static uint64_t
number_at(const void *from)
{
	uint64_t little;

	memcpy(&little, from, sizeof(little));
	return le64toh(little);
}

/* ---- the rows of the block ---- */

uint32_t
native_read_rows(const struct native_reader *r)
{
	return r->step == READ_COMPLETE ? r->rows : 0;
}

static const struct native_read_column *
value_of(const struct native_reader *r, unsigned column,
    enum native_family family, uint32_t i)
{
	const struct native_read_column *c = &r->columns[column];

	assert(r->step == READ_COMPLETE && column < r->count);
	assert(c->shape->family == family && i < c->elements);
	return c;
}

/* The value's bytes as the low ones of a number. */
static uint64_t
bits_of(const struct native_reader *r, const struct native_read_column *c,
    uint32_t i)
{
	uint64_t little = 0;

	memcpy(&little,
	    r->bytes.at + r->block + c->values + (size_t)i * c->shape->bytes,
	    c->shape->bytes);
	return le64toh(little);
}

uint64_t
native_read_uint(const struct native_reader *r, unsigned column, uint32_t i)
{
	return bits_of(r, value_of(r, column, NATIVE_UINT, i), i);
}

int64_t
native_read_int(const struct native_reader *r, unsigned column, uint32_t i)
{
	const struct native_read_column *c = value_of(r, column, NATIVE_INT, i);
	uint64_t bits = bits_of(r, c, i);

	return c->shape->bytes == 4 ? (int32_t)bits : (int64_t)bits;
}

double
native_read_float(const struct native_reader *r, unsigned column, uint32_t i)
{
	uint64_t bits = bits_of(r, value_of(r, column, NATIVE_FLOAT, i), i);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct text
native_read_text(const struct native_reader *r, unsigned column, uint32_t i)
{
	const struct native_read_column *c =
	    value_of(r, column, NATIVE_TEXT, i);
	const unsigned char *block = r->bytes.at + r->block;
	struct varint_reader text = { block + c->texts[i], block + r->at,
		false };

	return varint_get_text(&text);
}

uint32_t
native_read_array(const struct native_reader *r, unsigned column, uint32_t row,
    uint32_t *first)
{
	const struct native_read_column *c = &r->columns[column];
	const unsigned char *ends = r->bytes.at + r->block + c->ends;
	size_t at = (size_t)row * sizeof(uint64_t);

	assert(r->step == READ_COMPLETE && column < r->count);
	assert(c->shape->array && row < r->rows);
	*first =
	    row > 0 ? (uint32_t)number_at(ends + at - sizeof(uint64_t)) : 0;
	return (uint32_t)number_at(ends + at) - *first;
}

/* What a step did: moved on, or waits for bytes.  -1 is an error. */
enum { WAITING = 0, TAKEN = 1 };

enum {
	TAKE_BYTES = 64 << 10, /* from a piece at once */
	WORD_BYTES_MAX = 4096, /* a longer name or type is none of ours */
};

struct native_reader *
native_read_open(const struct native_column *columns, unsigned count)
{
	struct native_reader *r;

	assert(count > 0 && count <= NATIVE_COLUMNS_MAX);
	r = memory_zero(1, sizeof(*r) + count * sizeof(r->columns[0]));
	r->count = count;
	for (unsigned i = 0; i < count; i++) {
		r->columns[i].shape = native_shape(columns[i].type);
		r->columns[i].name = columns[i].name;
	}
	buffer_need(&r->bytes, TAKE_BYTES);
	return r;
}

void
native_read_close(struct native_reader **reader)
{
	if (*reader == NULL)
		return;
	for (unsigned i = 0; i < (*reader)->count; i++)
		free((*reader)->columns[i].texts);
	buffer_clear(&(*reader)->bytes);
	free(*reader);
	*reader = NULL;
}

/* ---- bytes that are there, or not yet ---- */

static const unsigned char *
here(const struct native_reader *r)
{
	return r->bytes.at + r->block + r->at;
}

static size_t
left(const struct native_reader *r)
{
	return r->bytes.bytes - r->block - r->at;
}

static int
refuse_bytes(struct err *err)
{
	return err_set(err, "a block of the answer has more than %d bytes",
	    NATIVE_BLOCK_BYTES_MAX);
}

/* Are the next `bytes` bytes there? */
static int
await(const struct native_reader *r, uint64_t bytes, struct err *err)
{
	if (bytes > NATIVE_BLOCK_BYTES_MAX - r->at)
		return refuse_bytes(err);
	return left(r) < bytes ? WAITING : TAKEN;
}

/* Look at a varint, and store how many bytes it has. */
static int
see_number(const struct native_reader *r, uint64_t *value, unsigned *bytes,
    struct err *err)
{
	const unsigned char *from = here(r);
	struct varint_reader number = { from, from, false };
	size_t n = 0;

	while (n < left(r) && n < VARINT_BYTES && from[n] >= 0x80)
		n++;
	if (n == left(r) && n < VARINT_BYTES)
		return await(r, n + 1, err);
	number.end += n < VARINT_BYTES ? n + 1 : n;
	*value = varint_get(&number);
	if (number.bad)
		return err_set(err, "the answer has a number above 2^64 - 1");
	*bytes = (unsigned)(number.at - from);
	return await(r, *bytes, err);
}

/* Look at a text, and store how many bytes it has with its length. */
static int
see_text(const struct native_reader *r, struct text *text, size_t *bytes,
    uint32_t max, struct err *err)
{
	unsigned front = 0;
	uint64_t length = 0;
	int got = see_number(r, &length, &front, err);

	if (got != TAKEN)
		return got;
	if (length > max)
		return err_set(err,
		    "the answer has a text of %" PRIu64
		    " bytes, more than %" PRIu32,
		    length, max);
	*text =
	    (struct text){ (const char *)here(r) + front, (uint32_t)length };
	*bytes = front + (size_t)length;
	return await(r, *bytes, err);
}

/* ---- the steps ---- */

static void
begin_column(struct native_reader *r, unsigned column)
{
	r->column = column;
	r->step = column < r->count ? READ_NAME : READ_COMPLETE;
}

static int
take_columns(struct native_reader *r, struct err *err)
{
	uint64_t count = 0;
	unsigned bytes = 0;
	int got = see_number(r, &count, &bytes, err);

	if (got != TAKEN)
		return got;
	/* No columns are an answer without rows. */
	if (count != r->count && count != 0)
		return err_set(err,
		    "a block of the answer has %" PRIu64 " columns, not %u",
		    count, r->count);
	r->at += bytes;
	r->column = count == 0 ? r->count : 0;
	r->step = READ_ROWS;
	return TAKEN;
}

static int
take_rows(struct native_reader *r, struct err *err)
{
	uint64_t rows = 0;
	unsigned bytes = 0;
	int got = see_number(r, &rows, &bytes, err);

	if (got != TAKEN)
		return got;
	if (rows > NATIVE_ROWS_MAX)
		return err_set(err,
		    "a block of the answer has %" PRIu64 " rows, more than %d",
		    rows, NATIVE_ROWS_MAX);
	if (rows > 0 && r->column == r->count)
		return err_set(
		    err, "a block of the answer has rows without columns");
	r->at += bytes;
	r->rows = (uint32_t)rows;
	r->texts = 0;
	begin_column(r, r->column);
	return TAKEN;
}

static int
take_name(struct native_reader *r, struct err *err)
{
	const char *name = r->columns[r->column].name;
	struct text text = { 0 };
	size_t bytes = 0;
	char quoted[128];
	int got = see_text(r, &text, &bytes, WORD_BYTES_MAX, err);

	if (got != TAKEN)
		return got;
	if (!text_equal(text, text_of(name)))
		return err_set(err, "column %u of the answer is %s, not %s",
		    r->column + 1, text_quote(quoted, sizeof(quoted), text),
		    name);
	r->at += bytes;
	r->step = READ_TYPE;
	return TAKEN;
}

/* `elements` values follow. */
static int
begin_values(struct native_reader *r, uint64_t elements, struct err *err)
{
	struct native_read_column *c = &r->columns[r->column];

	c->elements = elements;
	c->values = r->at;
	r->step = c->shape->bytes > 0 ? READ_NUMBERS : READ_TEXTS;
	if (r->step == READ_NUMBERS)
		return TAKEN;
	r->seen = 0;
	r->texts += elements;
	if (r->texts > NATIVE_TEXTS_MAX)
		return err_set(err,
		    "a block of the answer has more than %d texts",
		    NATIVE_TEXTS_MAX);
	return TAKEN;
}

static int
take_type(struct native_reader *r, struct err *err)
{
	const struct native_read_column *c = &r->columns[r->column];
	struct text text = { 0 };
	size_t bytes = 0;
	char quoted[128];
	int got = see_text(r, &text, &bytes, WORD_BYTES_MAX, err);

	if (got != TAKEN)
		return got;
	if (!text_equal(text, text_of(c->shape->name)))
		return err_set(err,
		    "column %s of the answer is of type %s, not %s", c->name,
		    text_quote(quoted, sizeof(quoted), text), c->shape->name);
	r->at += bytes;
	r->step = READ_ENDS;
	return c->shape->array ? TAKEN : begin_values(r, r->rows, err);
}

static int
take_ends(struct native_reader *r, struct err *err)
{
	struct native_read_column *c = &r->columns[r->column];
	size_t bytes = (size_t)r->rows * sizeof(uint64_t);
	int got = await(r, bytes, err);
	uint64_t end = 0;

	if (got != TAKEN)
		return got;
	for (size_t i = 0; i < bytes; i += sizeof(end)) {
		uint64_t next = number_at(here(r) + i);

		if (next < end)
			return err_set(err,
			    "column %s of the answer has an array that ends "
			    "before it begins",
			    c->name);
		end = next;
	}
	/* An element has a byte at least; no product below overflows. */
	if (end > NATIVE_BLOCK_BYTES_MAX)
		return refuse_bytes(err);
	c->ends = r->at;
	r->at += bytes;
	return begin_values(r, end, err);
}

static int
take_numbers(struct native_reader *r, struct err *err)
{
	struct native_read_column *c = &r->columns[r->column];
	uint64_t bytes = c->elements * c->shape->bytes;
	int got = await(r, bytes, err);

	if (got != TAKEN)
		return got;
	r->at += (size_t)bytes;
	begin_column(r, r->column + 1);
	return TAKEN;
}

static int
take_texts(struct native_reader *r, struct err *err)
{
	struct native_read_column *c = &r->columns[r->column];
	struct text text = { 0 };
	size_t bytes = 0;

	while (r->seen < c->elements) {
		int got =
		    see_text(r, &text, &bytes, NATIVE_TEXT_BYTES_MAX, err);

		if (got != TAKEN)
			return got;
		*MEMORY_ADD(c->texts, c->room, r->seen) = (uint32_t)r->at;
		r->at += bytes;
	}
	begin_column(r, r->column + 1);
	return TAKEN;
}

/* ---- blocks ---- */

static void
begin_block(struct native_reader *r)
{
	r->block += r->at;
	r->at = 0;
	r->rows = 0;
	r->step = READ_COLUMNS;
}

/* Take some of the piece; bytes of earlier blocks make room for it. */
static void
take(struct native_reader *r, struct text *piece)
{
	uint32_t bytes = piece->bytes < TAKE_BYTES ? piece->bytes : TAKE_BYTES;

	if (r->block > 0) {
		r->bytes.bytes -= r->block;
		memmove(r->bytes.at, r->bytes.at + r->block, r->bytes.bytes);
		r->block = 0;
	}
	buffer_put(&r->bytes, piece->at, bytes);
	piece->at += bytes;
	piece->bytes -= bytes;
}

static int
read_block(struct native_reader *r, struct err *err)
{
	static int (*const steps[])(struct native_reader *, struct err *) = {
		[READ_COLUMNS] = take_columns,
		[READ_ROWS] = take_rows,
		[READ_NAME] = take_name,
		[READ_TYPE] = take_type,
		[READ_ENDS] = take_ends,
		[READ_NUMBERS] = take_numbers,
		[READ_TEXTS] = take_texts,
	};
	int got = TAKEN;

	while (got == TAKEN && r->step != READ_COMPLETE)
		got = steps[r->step](r, err);
	return got;
}

int
native_read_next(struct native_reader *r, struct text *piece, struct err *err)
{
	if (r->refused)
		return err_set(err, "the answer was refused");
	if (r->step == READ_COMPLETE)
		begin_block(r);
	for (;;) {
		int got = read_block(r, err);

		if (got < 0) {
			r->refused = true;
			return -1;
		}
		if (got == TAKEN && r->rows > 0)
			return 1;
		if (got == TAKEN)
			begin_block(r);
		else if (piece->bytes == 0)
			return 0;
		else
			take(r, piece);
	}
}

int
native_read_end(struct native_reader *r, struct err *err)
{
	if (r->refused)
		return err_set(err, "the answer was refused");
	if (r->step == READ_COMPLETE)
		begin_block(r);
	if (r->step != READ_COLUMNS || left(r) > 0) {
		r->refused = true;
		return err_set(err, "the answer ends in the middle of a block");
	}
	r->bytes.bytes = r->block = 0;
	return 0;
}
