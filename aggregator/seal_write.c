/*
 * seal_write - rows into the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/seal_rows.h"

#include <assert.h>
#include <stdlib.h>

#include "aggregator/seal_shape.h"
#include "proto/hash.h"

enum {
	OFTEN = 16, /* rows that make a shape worth columns of its own */
	SHAPES_MAX = 2048,
	PLACES_MAX = CHUNK_COLUMNS_MAX - SEAL_COLUMNS - 64,
	HASH_SLOTS = 4 * SEAL_ROWS_MAX,
};

struct shape {
	size_t at; /* in `texts` */
	uint32_t bytes;
	uint32_t places;
	uint32_t rows, first; /* in `order` */
};

/* Things found by a hash: open addressing, number + 1. */
struct seen {
	uint32_t slot[HASH_SLOTS];
	uint32_t used[SEAL_ROWS_MAX]; /* to clear without going over all */
	uint32_t count;
};

struct batch {
	uint32_t stream;
	uint64_t seq;
	int64_t receive_ns;
};

struct seal_writer {
	struct chunk_writer *chunk;
	struct buffer value, texts;
	struct seal_body body;
	struct hash_key key;
	struct seen seen;
	struct shape shape[SEAL_ROWS_MAX];
	uint32_t shapes, columns;
	uint32_t row_shape[SEAL_ROWS_MAX];
	uint32_t row_place[SEAL_ROWS_MAX]; /* its first in body.place */
	uint32_t order[SEAL_ROWS_MAX];
	struct batch batch[SEAL_ROWS_MAX];
	uint32_t batches;
	int64_t ints[3][SEAL_ROWS_MAX];
	struct text text[SEAL_ROWS_MAX];
	struct value values[SEAL_ROWS_MAX];
};

int
seal_compare(const struct seal_item *a, const struct seal_item *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	return head_compare(&a->head, &b->head);
}

struct seal_writer *
seal_writer_new(void)
{
	struct seal_writer *w = calloc(1, sizeof(*w));

	if (w == NULL)
		abort();
	w->chunk = chunk_writer_new();
	w->key = hash_key_random();
	return w;
}

void
seal_writer_free(struct seal_writer **writer)
{
	struct seal_writer *w = *writer;

	*writer = NULL;
	if (w == NULL)
		return;
	chunk_writer_free(&w->chunk);
	buffer_clear(&w->value);
	buffer_clear(&w->texts);
	seal_body_clear(&w->body);
	free(w);
}

/* ---- things seen before ---- */

static void
seen_reset(struct seen *seen)
{
	while (seen->count > 0)
		seen->slot[seen->used[--seen->count]] = 0;
}

static void
seen_add(struct seen *seen, uint32_t slot, uint32_t number)
{
	seen->slot[slot] = number + 1;
	seen->used[seen->count++] = slot;
}

/* ---- who and when ---- */

static void
put_bands(struct seal_writer *w, const struct seal_item *items, uint32_t count)
{
	uint32_t bands = 0, i;

	for (i = 0; i < count; i++) {
		if (i == 0 || items[i].node != items[i - 1].node ||
		    items[i].track != items[i - 1].track) {
			w->ints[0][bands] = items[i].node;
			w->ints[1][bands] = items[i].track;
			w->ints[2][bands] = 0;
			bands++;
		}
		w->ints[2][bands - 1]++;
	}
	chunk_put_int(w->chunk, w->ints[0], bands);
	chunk_put_int(w->chunk, w->ints[1], bands);
	chunk_put_int(w->chunk, w->ints[2], bands);
	for (i = 0; i < count; i++)
		w->ints[0][i] = items[i].head.time_ns;
	chunk_put_int(w->chunk, w->ints[0], count);
}

static int
compare_times(const void *left, const void *right, void *arg)
{
	const struct seal_item *items = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].head.time_ns != items[b].head.time_ns)
		return items[a].head.time_ns < items[b].head.time_ns ? -1 : 1;
	return a < b ? -1 : 1;
}

static uint32_t
batch_number(struct seal_writer *w, const struct head_item *item)
{
	struct batch batch = { item->stream, item->seq, item->receive_ns };
	uint64_t mix = batch.seq * UINT64_C(0x9E3779B97F4A7C15) ^
		       (uint64_t)batch.receive_ns ^
		       (uint64_t)batch.stream << 40;
	uint32_t at =
	    (uint32_t)((mix * UINT64_C(0xBF58476D1CE4E5B9)) >> 32) % HASH_SLOTS;

	for (; w->seen.slot[at] != 0; at = (at + 1) % HASH_SLOTS) {
		const struct batch *b = &w->batch[w->seen.slot[at] - 1];

		if (b->seq == batch.seq && b->stream == batch.stream &&
		    b->receive_ns == batch.receive_ns)
			return w->seen.slot[at] - 1;
	}
	w->batch[w->batches] = batch;
	seen_add(&w->seen, at, w->batches);
	return w->batches++;
}

/* Number the batches as they appear in `order`; returns how many bits the
 * steps from row to row have together. */
static uint64_t
number_batches(
    struct seal_writer *w, const struct seal_item *items, uint32_t count)
{
	int64_t *batch = w->ints[0], *index = w->ints[1];
	uint64_t bits = 0;

	seen_reset(&w->seen);
	w->batches = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct head_item *item = &items[w->order[i]].head;

		batch[i] = batch_number(w, item);
		index[i] = item->index;
		if (i == 0)
			continue;
		bits += 128 -
			(unsigned)__builtin_clzll(
			    pack_delta(batch[i - 1], batch[i]) | 1) -
			(unsigned)__builtin_clzll(
			    pack_delta(index[i - 1] + 1, index[i]) | 1);
	}
	seen_reset(&w->seen);
	return bits;
}

/* In the order of the rows or, when batches are of many nodes and went
 * through time, in that of the times. */
static void
put_batches(
    struct seal_writer *w, const struct seal_item *items, uint32_t count)
{
	int64_t by_time = 1;
	uint64_t bits;
	uint32_t i;

	for (i = 0; i < count; i++)
		w->order[i] = i;
	bits = number_batches(w, items, count);
	qsort_r(w->order, count, sizeof(*w->order), compare_times,
	    (void *)(uintptr_t)items);
	if (number_batches(w, items, count) + count / 8 >= bits) {
		by_time = 0;
		for (i = 0; i < count; i++)
			w->order[i] = i;
		number_batches(w, items, count);
	}
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = w->batch[i].stream;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = (int64_t)w->batch[i].seq;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = w->batch[i].receive_ns;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	chunk_put_int(w->chunk, w->ints[0], count);
	chunk_put_int(w->chunk, w->ints[1], count);
	chunk_put_int(w->chunk, &by_time, 1);
}

/* ---- shapes ---- */

static struct text
shape_text(const struct seal_writer *w, const struct shape *shape)
{
	return (
	    struct text){ (const char *)w->texts.at + shape->at, shape->bytes };
}

/* The number of the shape of w->body, a new one when `room` says so. */
static bool
shape_number(
    struct seal_writer *w, uint32_t places, bool room, uint32_t *number)
{
	struct text text = buffer_text(&w->body.shape);
	uint32_t at =
	    (uint32_t)hash_bytes(w->key, text.at, text.bytes) % HASH_SLOTS;

	for (; w->seen.slot[at] != 0; at = (at + 1) % HASH_SLOTS) {
		*number = w->seen.slot[at] - 1;
		if (text_equal(text, shape_text(w, &w->shape[*number])))
			return true;
	}
	if (!room)
		return false;
	*number = w->shapes++;
	w->shape[*number] = (struct shape){
		.at = w->texts.bytes, .bytes = text.bytes, .places = places
	};
	put_bytes(&w->texts, text.at, text.bytes);
	seen_add(&w->seen, at, *number);
	return true;
}

static void
shapes_reset(struct seal_writer *w)
{
	seen_reset(&w->seen);
	w->shapes = w->columns = 0;
	w->texts.bytes = 0;
}

static void
take_apart(struct seal_writer *w, enum record_kind kind, struct text body,
    uint32_t row, bool loosely)
{
	w->row_place[row] = w->body.places;
	seal_take_apart(&w->body, kind, body, loosely);
}

/* Every shape that there is, and how many rows have it. */
static void
count_shapes(struct seal_writer *w, enum record_kind kind,
    const struct seal_item *items, uint32_t count)
{
	shapes_reset(w);
	w->body.places = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number;

		take_apart(w, kind, items[i].head.body, i, false);
		shape_number(
		    w, w->body.places - w->row_place[i], true, &number);
		w->shape[number].rows++;
		w->row_shape[i] = number;
	}
}

/* Rows of rare shapes once more, with names as places; and when there are too
 * many shapes even so, whole. */
static void
settle_row(struct seal_writer *w, enum record_kind kind, struct text body,
    uint32_t row)
{
	uint32_t places;
	bool room;

	take_apart(w, kind, body, row, true);
	places = w->body.places - w->row_place[row];
	room = w->shapes < SHAPES_MAX && w->columns + places < PLACES_MAX;
	if (shape_number(w, places, room, &w->row_shape[row])) {
		if (w->shape[w->row_shape[row]].rows++ == 0)
			w->columns += places;
		return;
	}
	w->body.places = w->row_place[row];
	seal_take_whole(&w->body, body);
	shape_number(w, 1, true, &w->row_shape[row]);
	if (w->shape[w->row_shape[row]].rows++ == 0)
		w->columns++;
}

/* Keep the shapes of many rows, in their order. */
static void
keep_shapes(struct seal_writer *w, uint32_t *number)
{
	uint32_t kept = 0;

	seen_reset(&w->seen);
	for (uint32_t i = 0; i < w->shapes; i++) {
		struct shape shape = w->shape[i];
		struct text text = shape_text(w, &shape);
		uint32_t at;

		number[i] = UINT32_MAX;
		if (shape.rows < OFTEN || kept == SHAPES_MAX ||
		    w->columns + shape.places > PLACES_MAX)
			continue;
		at = (uint32_t)hash_bytes(w->key, text.at, text.bytes) %
		     HASH_SLOTS;
		while (w->seen.slot[at] != 0)
			at = (at + 1) % HASH_SLOTS;
		seen_add(&w->seen, at, kept);
		w->columns += shape.places;
		number[i] = kept;
		w->shape[kept++] = shape;
	}
	w->shapes = kept;
}

static void
find_shapes(struct seal_writer *w, enum record_kind kind,
    const struct seal_item *items, uint32_t count)
{
	uint32_t *number = w->order;

	count_shapes(w, kind, items, count);
	keep_shapes(w, number);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kept = number[w->row_shape[i]];

		if (kept != UINT32_MAX)
			w->row_shape[i] = kept;
		else
			settle_row(w, kind, items[i].head.body, i);
	}
}

/* ---- columns of places ---- */

/* The step of each place of a shape, one after another. */
static enum seal_step
next_place(struct unpack *u)
{
	for (;;) {
		enum seal_step step = (enum seal_step)get_varint(u);

		if (step != SEAL_BYTES)
			return step;
		get_text(u);
	}
}

static void
put_column(struct seal_writer *w, enum seal_step step, const uint32_t *rows,
    uint32_t count, uint32_t place)
{
	for (uint32_t i = 0; i < count; i++) {
		struct text bytes =
		    w->body.place[w->row_place[rows[i]] + place];
		struct unpack u;

		switch (step) {
		case SEAL_VALUE:
			record_next_value(&bytes, &w->values[i]);
			break;
		case SEAL_VARINT:
			u = unpack_of(bytes);
			w->ints[0][i] = (int64_t)get_varint(&u);
			break;
		case SEAL_ZIGZAG:
			u = unpack_of(bytes);
			w->ints[0][i] = pack_unzigzag(get_varint(&u));
			break;
		default: w->text[i] = bytes; break;
		}
	}
	if (step == SEAL_VALUE)
		chunk_put_value(w->chunk, w->values, count);
	else if (step == SEAL_RAW)
		chunk_put_text(w->chunk, w->text, count);
	else
		chunk_put_int(w->chunk, w->ints[0], count);
}

static void
put_bodies(struct seal_writer *w, uint32_t count)
{
	uint32_t i, next = 0;

	for (i = 0; i < count; i++)
		w->ints[0][i] = w->row_shape[i];
	chunk_put_int(w->chunk, w->ints[0], count);
	for (i = 0; i < w->shapes; i++) {
		w->text[i] = shape_text(w, &w->shape[i]);
		w->shape[i].first = next;
		next += w->shape[i].rows;
		w->shape[i].rows = 0;
	}
	assert(next == count);
	chunk_put_text(w->chunk, w->text, w->shapes);
	for (i = 0; i < count; i++) {
		struct shape *shape = &w->shape[w->row_shape[i]];

		w->order[shape->first + shape->rows++] = i;
	}
	for (i = 0; i < w->shapes; i++) {
		const struct shape *shape = &w->shape[i];
		struct unpack u = unpack_of(shape_text(w, shape));

		for (uint32_t place = 0; place < shape->places; place++)
			put_column(w, next_place(&u), &w->order[shape->first],
			    shape->rows, place);
	}
}

/* ---- the whole ---- */

static void
put_head(struct seal_writer *w, const struct seal_item *items, uint32_t count)
{
	int64_t least = items[0].head.time_ns, most = least;

	for (uint32_t i = 1; i < count; i++) {
		if (items[i].head.time_ns < least)
			least = items[i].head.time_ns;
		if (items[i].head.time_ns > most)
			most = items[i].head.time_ns;
	}
	w->value.bytes = 0;
	put_varint(&w->value, count);
	put_varint(&w->value, items[0].node);
	put_varint(&w->value, items[0].track);
	put_varint(&w->value, pack_zigzag(least));
	put_varint(&w->value, pack_delta(least, most));
	put_varint(&w->value, pack_delta(least, items[0].head.time_ns));
}

struct text
seal_write(struct seal_writer *w, enum record_kind kind,
    const struct seal_item *items, uint32_t count)
{
	struct text chunk;

	assert(count > 0 && count <= SEAL_ROWS_MAX);
	chunk_begin(w->chunk);
	put_bands(w, items, count);
	put_batches(w, items, count);
	find_shapes(w, kind, items, count);
	put_bodies(w, count);
	chunk = chunk_end(w->chunk);
	put_head(w, items, count);
	put_bytes(&w->value, chunk.at, chunk.bytes);
	return buffer_text(&w->value);
}
