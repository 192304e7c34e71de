/*
 * body_choice - which shape each row of a chunk has.
 *
 * Shapes of many rows come first.  Rows of rare shapes are taken apart once
 * more with names as places, so that they may have a shape in common; when
 * there are too many shapes even so they stay whole.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_write_private.h"

enum {
	OFTEN = 16, /* rows that make a shape worth columns of its own */
	SHAPES_MAX = 2048,
	PLACES_MAX = CHUNK_COLUMNS_MAX - BODY_TEMPLATE_COLUMNS - 64,
};

/* Where to look for it first. */
static uint32_t
slot_of(const struct compacted_row_writer *w, struct text text)
{
	return (uint32_t)hash_bytes(w->key, text.at, text.bytes) %
	       COMPACTED_ROW_SLOTS;
}

/* The number of the shape of w->body, a new one when `room` says so. */
static bool
shape_number(struct compacted_row_writer *w, uint32_t places, bool room,
    uint32_t *number)
{
	struct text text = buffer_text(&w->body.shape);
	uint32_t at = slot_of(w, text);

	for (; w->seen.slot[at] != 0; at = (at + 1) % COMPACTED_ROW_SLOTS) {
		*number = w->seen.slot[at] - 1;
		if (text_equal(
			text, compacted_row_shape_text(w, &w->shape[*number])))
			return true;
	}
	if (!room)
		return false;
	*number = w->shapes++;
	w->shape[*number] = (struct compacted_row_shape){
		.at = w->texts.bytes, .bytes = text.bytes, .places = places
	};
	buffer_put(&w->texts, text.at, text.bytes);
	compacted_row_seen_add(&w->seen, at, *number);
	return true;
}

static void
shapes_reset(struct compacted_row_writer *w)
{
	compacted_row_seen_reset(&w->seen);
	w->shapes = w->columns = 0;
	w->texts.bytes = 0;
}

static void
take_apart(struct compacted_row_writer *w, enum record_kind kind,
    struct text body, uint32_t row, bool loosely)
{
	w->row_place[row] = w->body.places;
	body_template_take_apart(&w->body, kind, body, loosely);
}

/* Every shape that there is, and how many rows have it. */
static void
count_shapes(struct compacted_row_writer *w, enum record_kind kind,
    const struct compacted_row_item *items, uint32_t count)
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

/* A row of a rare shape. */
static void
settle_row(struct compacted_row_writer *w, enum record_kind kind,
    struct text body, uint32_t row)
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
	body_template_take_whole(&w->body, body);
	shape_number(w, 1, true, &w->row_shape[row]);
	if (w->shape[w->row_shape[row]].rows++ == 0)
		w->columns++;
}

/* Keep the shapes of many rows, in their order. */
static void
keep_shapes(struct compacted_row_writer *w, uint32_t *number)
{
	uint32_t kept = 0;

	compacted_row_seen_reset(&w->seen);
	for (uint32_t i = 0; i < w->shapes; i++) {
		struct compacted_row_shape shape = w->shape[i];
		struct text text = compacted_row_shape_text(w, &shape);
		uint32_t at;

		number[i] = UINT32_MAX;
		if (shape.rows < OFTEN || kept == SHAPES_MAX ||
		    w->columns + shape.places > PLACES_MAX)
			continue;
		at = slot_of(w, text);
		while (w->seen.slot[at] != 0)
			at = (at + 1) % COMPACTED_ROW_SLOTS;
		compacted_row_seen_add(&w->seen, at, kept);
		w->columns += shape.places;
		number[i] = kept;
		w->shape[kept++] = shape;
	}
	w->shapes = kept;
}

void
compacted_row_choose_shapes(struct compacted_row_writer *w,
    enum record_kind kind, const struct compacted_row_item *items,
    uint32_t count)
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
