/*
 * seal_rows - rows out of the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/seal_rows.h"

#include <stdlib.h>

#include "aggregator/seal_shape.h"
#include "proto/mp.h"

/* A step of a shape, ready to be done. */
struct step {
	enum seal_step step;
	struct text bytes; /* SEAL_BYTES */
	union {
		const struct text *texts;
		const struct value *values;
		const int64_t *ints;
	} column; /* what comes next */
};

enum { SEAL_CELLS_MAX = SEAL_BYTES_MAX + CHUNK_COLUMNS_MAX };

struct shape {
	uint32_t first, steps; /* in the list of steps */
	uint32_t rows;
};

/* Bodies being put together. */
struct maker {
	struct seal_rows *rows;
	struct step *step;
	struct shape *shape;
	uint32_t steps, step_room, shapes;
	int64_t *row_shape;
	/* What a chunk of ours never has more of than it has bytes. */
	uint64_t cells, text_bytes;
};

bool
seal_get_head(struct text value, struct seal_head *head)
{
	struct unpack u = unpack_of(value);

	head->rows = get_varint_max(&u, SEAL_ROWS_MAX);
	head->node = get_u32(&u);
	head->track = get_u32(&u);
	head->least_ns = pack_unzigzag(get_varint(&u));
	head->most_ns = pack_undelta(head->least_ns, get_varint(&u));
	head->first_ns = pack_undelta(head->least_ns, get_varint(&u));
	head->chunk = get_bytes(&u, unpack_left(&u));
	return !u.bad && head->rows > 0;
}

void
seal_rows_clear(struct seal_rows *rows)
{
	chunk_reader_free(&rows->chunk);
	buffer_clear(&rows->value);
	buffer_clear(&rows->bands_room);
	buffer_clear(&rows->times);
	buffer_clear(&rows->rows);
	buffer_clear(&rows->batches);
	buffer_clear(&rows->bodies);
	buffer_clear(&rows->offsets);
	buffer_clear(&rows->values);
	buffer_clear(&rows->columns);
	*rows = (struct seal_rows){ .count = 0 };
}

/* Room for `count` things, from the front. */
static void *
room_of(struct buffer *buffer, size_t count, size_t bytes)
{
	buffer->bytes = 0;
	return buffer_need(buffer, (count + 1) * bytes);
}

static bool
spoil(struct seal_rows *rows)
{
	rows->bad = true;
	return false;
}

/* ---- bands ---- */

static bool
read_bands(struct seal_rows *rows)
{
	uint32_t bands = chunk_count(rows->chunk, SEAL_BAND_NODE), next = 0;
	int64_t *columns;

	if (bands == 0 || bands > rows->count)
		return false;
	columns = room_of(&rows->columns, 3 * (size_t)bands, sizeof(int64_t));
	for (uint32_t c = SEAL_BAND_NODE; c <= SEAL_BAND_ROWS; c++)
		if (chunk_count(rows->chunk, c) != bands ||
		    chunk_get_int(rows->chunk, c, columns + c * bands) !=
			CHUNK_OK)
			return false;
	rows->bands = bands;
	rows->band =
	    room_of(&rows->bands_room, bands, sizeof(struct seal_band));
	for (uint32_t i = 0; i < bands; i++) {
		const int64_t *in = columns + i;
		int64_t n = in[SEAL_BAND_ROWS * bands];

		if (in[0] < 0 || in[0] > UINT32_MAX || in[bands] < 0 ||
		    in[bands] > UINT32_MAX || n < 1 ||
		    n > (int64_t)(rows->count - next))
			return false;
		rows->band[i] = (struct seal_band){ (uint32_t)in[0],
			(uint32_t)in[bands], next, next + (uint32_t)n };
		next += (uint32_t)n;
	}
	return next == rows->count;
}

/* Every column but those of the shapes is there, and says how many it has. */
static bool
open_columns(struct seal_rows *rows)
{
	struct chunk_reader *chunk = rows->chunk;
	uint32_t batches;

	if (chunk_columns(chunk) < SEAL_COLUMNS)
		return false;
	batches = chunk_count(chunk, SEAL_BATCH_STREAM);
	return chunk_count(chunk, SEAL_TIME) == rows->count && batches > 0 &&
	       batches <= rows->count &&
	       chunk_count(chunk, SEAL_BATCH_SEQ) == batches &&
	       chunk_count(chunk, SEAL_BATCH_RECEIVE) == batches &&
	       chunk_count(chunk, SEAL_BATCH) == rows->count &&
	       chunk_count(chunk, SEAL_INDEX) == rows->count &&
	       chunk_count(chunk, SEAL_ORDER) == 1 &&
	       chunk_count(chunk, SEAL_SHAPE) == rows->count &&
	       chunk_count(chunk, SEAL_SHAPES) <= rows->count;
}

bool
seal_open(struct seal_rows *rows, struct text value)
{
	rows->has_ids = rows->has_bodies = rows->bad = false;
	rows->count = rows->bands = 0;
	if (rows->chunk == NULL)
		rows->chunk = chunk_reader_new();
	/* Texts point into the chunk, and it is to outlive the map. */
	rows->value.bytes = 0;
	put_bytes(&rows->value, value.at, value.bytes);
	if (!seal_get_head(buffer_text(&rows->value), &rows->head))
		return spoil(rows);
	rows->count = (uint32_t)rows->head.rows;
	if (chunk_open(rows->chunk, rows->head.chunk) != CHUNK_OK ||
	    !open_columns(rows) || !read_bands(rows))
		return spoil(rows);
	return true;
}

/* ---- times and identities ---- */

/* The identity of a row; these lie in `rows`. */
struct identity {
	uint32_t batch, index;
};

struct time_row {
	uint64_t since; /* the least of them */
	uint32_t row;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort, which keeps the order of equals. */
static void
sort_by_digit(const struct time_row *from, struct time_row *to, uint32_t count,
    unsigned shift)
{
	uint32_t place[DIGITS] = { 0 }, next = 0, i;

	for (i = 0; i < count; i++)
		place[from[i].since >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		uint32_t rows = place[i];

		place[i] = next;
		next += rows;
	}
	for (i = 0; i < count; i++)
		to[place[from[i].since >> shift & (DIGITS - 1)]++] = from[i];
}

/* The rows in the order of (time, row): a view. */
static const struct time_row *
rows_by_time(struct seal_rows *rows)
{
	uint32_t count = rows->count, i;
	struct time_row *a =
	    room_of(&rows->columns, 2 * (size_t)count, sizeof(*a));
	struct time_row *b = a + count, *swap;
	int64_t least = rows->time_ns[0];
	uint64_t all = 0;

	for (i = 1; i < count; i++)
		if (rows->time_ns[i] < least)
			least = rows->time_ns[i];
	for (i = 0; i < count; i++) {
		a[i].since = (uint64_t)rows->time_ns[i] - (uint64_t)least;
		a[i].row = i;
		all |= a[i].since;
	}
	for (unsigned shift = 0; shift < 64 && all >> shift != 0;
	     shift += DIGIT_BITS) {
		sort_by_digit(a, b, count, shift);
		swap = a;
		a = b;
		b = swap;
	}
	return a;
}

static bool
read_batches(struct seal_rows *rows)
{
	uint32_t batches = chunk_count(rows->chunk, SEAL_BATCH_STREAM);
	int64_t *to =
	    room_of(&rows->batches, 3 * (size_t)batches, sizeof(int64_t));

	for (uint32_t c = SEAL_BATCH_STREAM; c <= SEAL_BATCH_RECEIVE; c++)
		if (chunk_get_int(rows->chunk, c,
			to + (c - SEAL_BATCH_STREAM) * batches) != CHUNK_OK)
			return false;
	for (uint32_t i = 0; i < batches; i++)
		if (to[i] < 0 || to[i] > UINT32_MAX)
			return false;
	return true;
}

static bool
read_identities(struct seal_rows *rows)
{
	uint32_t count = rows->count;
	uint32_t batches = chunk_count(rows->chunk, SEAL_BATCH_STREAM);
	struct identity *to =
	    room_of(&rows->rows, count, sizeof(struct identity));
	const struct time_row *order = NULL;
	int64_t by_time, *batch, *index;

	batch = room_of(&rows->values, 2 * (size_t)count, sizeof(int64_t));
	index = batch + count;
	if (chunk_get_int(rows->chunk, SEAL_ORDER, &by_time) != CHUNK_OK ||
	    by_time < 0 || by_time > 1 ||
	    chunk_get_int(rows->chunk, SEAL_BATCH, batch) != CHUNK_OK ||
	    chunk_get_int(rows->chunk, SEAL_INDEX, index) != CHUNK_OK)
		return false;
	if (by_time != 0)
		order = rows_by_time(rows);
	for (uint32_t i = 0; i < count; i++) {
		if (batch[i] < 0 || batch[i] >= batches || index[i] < 0 ||
		    index[i] > UINT32_MAX)
			return false;
		to[order != NULL ? order[i].row : i] =
		    (struct identity){ (uint32_t)batch[i], (uint32_t)index[i] };
	}
	return true;
}

bool
seal_read_ids(struct seal_rows *rows)
{
	if (rows->bad || rows->has_ids)
		return !rows->bad;
	rows->time_ns = room_of(&rows->times, rows->count, sizeof(int64_t));
	if (chunk_get_int(rows->chunk, SEAL_TIME, rows->time_ns) != CHUNK_OK ||
	    !read_batches(rows) || !read_identities(rows))
		return spoil(rows);
	rows->has_ids = true;
	return true;
}

/* ---- bodies ---- */

static struct step *
add_step(struct maker *maker, enum seal_step step)
{
	if (maker->steps == maker->step_room) {
		maker->step_room = 2 * maker->step_room + 64;
		maker->step = realloc(
		    maker->step, maker->step_room * sizeof(*maker->step));
		if (maker->step == NULL)
			abort();
	}
	maker->step[maker->steps] = (struct step){ .step = step };
	return &maker->step[maker->steps++];
}

static bool
count_texts(struct maker *maker, const struct step *step, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (step->step == SEAL_RAW)
			maker->text_bytes += step->column.texts[i].bytes;
		else if (step->step == SEAL_VALUE &&
			 step->column.values[i].type == VALUE_TEXT)
			maker->text_bytes +=
			    step->column.values[i].is.text.bytes;
	}
	return maker->text_bytes <= SEAL_ROOM_BYTES;
}

/* Read a column of a shape's rows. */
static bool
read_column(
    struct maker *maker, struct step *step, uint32_t column, uint32_t count)
{
	struct seal_rows *rows = maker->rows;
	/* All of them are needed at once: room that does not move. */
	void *room = malloc(((size_t)count + 1) * sizeof(struct value));
	enum chunk_fault fault = CHUNK_DAMAGED;

	if (room == NULL)
		abort();
	step->column.ints = room;
	maker->cells += count;
	if (column >= chunk_columns(rows->chunk) ||
	    chunk_count(rows->chunk, column) != count ||
	    maker->cells > SEAL_CELLS_MAX)
		return false;
	switch (step->step) {
	case SEAL_RAW: fault = chunk_get_text(rows->chunk, column, room); break;
	case SEAL_VALUE:
		fault = chunk_get_value(rows->chunk, column, room);
		break;
	default: fault = chunk_get_int(rows->chunk, column, room); break;
	}
	return fault == CHUNK_OK && count_texts(maker, step, count);
}

/* Take a shape apart and read its columns from `*column` on. */
static bool
open_shape(struct maker *maker, struct shape *shape, struct text text,
    uint32_t *column)
{
	struct unpack u = unpack_of(text);

	shape->first = maker->steps;
	while (unpack_left(&u) > 0) {
		uint64_t kind = get_varint_max(&u, SEAL_ZIGZAG);
		struct step *step = add_step(maker, (enum seal_step)kind);

		if (kind == SEAL_BYTES)
			step->bytes = get_text(&u);
		if (maker->steps > 2 * CHUNK_COLUMNS_MAX)
			return false;
		if (kind != SEAL_BYTES &&
		    !read_column(maker, step, (*column)++, shape->rows))
			return false;
	}
	shape->steps = maker->steps - shape->first;
	return !u.bad;
}

static bool
open_shapes(struct maker *maker)
{
	struct seal_rows *rows = maker->rows;
	uint32_t column = SEAL_COLUMNS, i;
	struct text *texts =
	    room_of(&rows->columns, maker->shapes, sizeof(*texts));

	if (chunk_get_int(rows->chunk, SEAL_SHAPE, maker->row_shape) !=
		CHUNK_OK ||
	    chunk_get_text(rows->chunk, SEAL_SHAPES, texts) != CHUNK_OK)
		return false;
	for (i = 0; i < rows->count; i++) {
		if (maker->row_shape[i] < 0 ||
		    maker->row_shape[i] >= maker->shapes)
			return false;
		maker->shape[maker->row_shape[i]].rows++;
	}
	for (i = 0; i < maker->shapes; i++)
		if (!open_shape(maker, &maker->shape[i], texts[i], &column))
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
	case VALUE_NIL: return mp_put_nil(to);
	case VALUE_BOOL:
		*to = value->is.boolean ? MP_TRUE : MP_FALSE;
		return to + 1;
	case VALUE_INT: return mp_put_int(to, value->is.i);
	case VALUE_UINT: return mp_put_uint(to, value->is.u);
	case VALUE_FLOAT: return mp_put_float(to, value->is.f);
	case VALUE_TEXT:
		to = mp_put_text_head(to, value->is.text.bytes);
		return put_plain(to, value->is.text);
	}
	return to;
}

/* The bytes that a step may need. */
static size_t
bound_of(const struct step *step)
{
	if (step->step == SEAL_BYTES)
		return step->bytes.bytes;
	if (step->step == SEAL_RAW)
		return step->column.texts->bytes;
	if (step->step == SEAL_VALUE && step->column.values->type == VALUE_TEXT)
		return step->column.values->is.text.bytes + MP_HEAD_BYTES_MAX;
	return PACK_VARINT_BYTES;
}

static unsigned char *
do_step(struct step *step, unsigned char *to)
{
	switch (step->step) {
	case SEAL_BYTES: return put_plain(to, step->bytes);
	case SEAL_RAW: return put_plain(to, *step->column.texts++);
	case SEAL_VALUE: return put_value(to, step->column.values++);
	case SEAL_VARINT:
		return pack_varint(to, (uint64_t)*step->column.ints++);
	case SEAL_ZIGZAG:
		return pack_varint(to, pack_zigzag(*step->column.ints++));
	}
	return to;
}

static bool
make_bodies(struct maker *maker)
{
	struct seal_rows *rows = maker->rows;
	uint32_t *offset =
	    room_of(&rows->offsets, rows->count, sizeof(*offset));

	rows->bodies.bytes = 0;
	for (uint32_t i = 0; i < rows->count; i++) {
		struct shape *shape = &maker->shape[maker->row_shape[i]];
		struct step *step = &maker->step[shape->first];
		struct step *end = step + shape->steps;

		offset[i] = (uint32_t)rows->bodies.bytes;
		for (; step < end; step++) {
			unsigned char *to =
			    buffer_need(&rows->bodies, bound_of(step));

			rows->bodies.bytes += (size_t)(do_step(step, to) - to);
		}
		if (rows->bodies.bytes > SEAL_ROOM_BYTES)
			return false;
	}
	offset[rows->count] = (uint32_t)rows->bodies.bytes;
	return true;
}

static void
free_columns(struct maker *maker, void **column)
{
	for (uint32_t i = 0; i < maker->steps; i++)
		free(column[i]);
}

/* make_bodies moves the columns on: what is to be freed is kept aside. */
static bool
make_and_free(struct maker *maker, bool good)
{
	void **column = malloc((maker->steps + 1) * sizeof(*column));

	if (column == NULL)
		abort();
	for (uint32_t i = 0; i < maker->steps; i++)
		column[i] = (void *)(uintptr_t)maker->step[i].column.ints;
	good = good && make_bodies(maker);
	free_columns(maker, column);
	free(column);
	return good;
}

bool
seal_read_bodies(struct seal_rows *rows)
{
	struct maker maker = { .rows = rows };
	bool good;

	if (!seal_read_ids(rows) || rows->has_bodies)
		return !rows->bad;
	maker.shapes = chunk_count(rows->chunk, SEAL_SHAPES);
	maker.shape = calloc(maker.shapes + 1, sizeof(*maker.shape));
	maker.row_shape = room_of(&rows->values, rows->count, sizeof(int64_t));
	if (maker.shape == NULL)
		abort();
	good = make_and_free(&maker, open_shapes(&maker));
	free(maker.step);
	free(maker.shape);
	if (!good)
		return spoil(rows);
	rows->has_bodies = true;
	return true;
}

void
seal_get(const struct seal_rows *rows, uint32_t i, struct head_item *item)
{
	const struct identity *id = (const void *)rows->rows.at;
	const uint32_t *offset = (const void *)rows->offsets.at;
	const int64_t *batch = (const void *)rows->batches.at;
	uint32_t batches = chunk_count(rows->chunk, SEAL_BATCH_STREAM);

	batch += id[i].batch;
	item->time_ns = rows->time_ns[i];
	item->stream = (uint32_t)batch[0];
	item->seq = (uint64_t)batch[batches];
	item->receive_ns = batch[2 * (size_t)batches];
	item->index = id[i].index;
	item->body = (struct text){ (const char *)rows->bodies.at + offset[i],
		offset[i + 1] - offset[i] };
}

uint32_t
seal_values(struct seal_rows *rows)
{
	uint32_t columns = chunk_columns(rows->chunk), i;

	if (rows->bad || chunk_count(rows->chunk, SEAL_SHAPES) != 1)
		return 0;
	for (i = SEAL_COLUMNS; i < columns; i++)
		if (chunk_type(rows->chunk, i) != CHUNK_VALUE)
			return 0;
	return columns - SEAL_COLUMNS;
}

bool
seal_read_value(
    struct seal_rows *rows, uint32_t i, struct value *to, uint32_t count)
{
	uint32_t column = SEAL_COLUMNS + i;

	if (rows->bad || chunk_count(rows->chunk, SEAL_SHAPES) != 1 ||
	    column >= chunk_columns(rows->chunk) ||
	    chunk_type(rows->chunk, column) != CHUNK_VALUE ||
	    chunk_count(rows->chunk, column) != rows->count ||
	    count < rows->count)
		return false;
	return chunk_get_value(rows->chunk, column, to) == CHUNK_OK;
}
