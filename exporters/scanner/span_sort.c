/*
 * span_sort - sort spans into the order in which they were recorded.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/span_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/os/file_io.h"

enum {
	BLOCK = 16,        /* up to this many items insertion sort is used */
	PIECE_ITEMS = 256, /* items of each piece in memory, while merging */
};

/* A sorted part of the file, while merging. */
struct piece {
	uint64_t at, end; /* items of the file that are not read yet */
	struct span_item *items;
	uint32_t next, count;
};

struct span_sort {
	struct span_item *items, *other; /* other: buffer for merging */
	uint32_t room, count, next;
	FILE *file;
	struct piece *pieces; /* a heap while merging */
	uint32_t piece_count, heap;
	uint64_t written; /* items */
};

struct span_sort *
span_sort_new(uint32_t items)
{
	struct span_sort *order = memory_zero(1, sizeof(*order));

	order->room = items;
	order->items = memory_resize_array(NULL, items, sizeof(*order->items));
	order->other = memory_resize_array(NULL, items, sizeof(*order->other));
	return order;
}

static void
clear_pieces(struct span_sort *order)
{
	for (uint32_t i = 0; i < order->piece_count; i++)
		free(order->pieces[i].items);
	free(order->pieces);
	order->pieces = NULL;
	order->piece_count = order->heap = 0;
	order->written = 0;
}

void
span_sort_free(struct span_sort **order)
{
	struct span_sort *old = *order;

	if (old == NULL)
		return;
	clear_pieces(old);
	if (old->file != NULL)
		fclose(old->file);
	free(old->items);
	free(old->other);
	free(old);
	*order = NULL;
}

/* ---- in memory ---- */

static inline bool
is_before(const struct span_item *a, const struct span_item *b)
{
	return a->seq != b->seq ? a->seq < b->seq : a->index < b->index;
}

static void
sort_block(struct span_item *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct span_item item = items[i];
		uint32_t to = i;

		for (; to > 0 && is_before(&item, &items[to - 1]); to--)
			items[to] = items[to - 1];
		items[to] = item;
	}
}

/* Merge items[0 .. half) and items[half .. count). */
static void
merge_halves(struct span_item *items, struct span_item *other, uint32_t half,
    uint32_t count)
{
	uint32_t a = 0, b = half, to;

	/* Skip the items that are in place: usually all, or nearly all. */
	while (a < half && !is_before(&items[half], &items[a]))
		a++;
	if (a == half)
		return;
	to = a;
	memcpy(other, items + a, (half - a) * sizeof(*items));
	half -= a;
	for (a = 0; a < half;)
		if (b < count && is_before(&items[b], &other[a]))
			items[to++] = items[b++];
		else
			items[to++] = other[a++];
}

static void
sort_items(struct span_sort *order)
{
	uint32_t count = order->count;

	for (uint32_t i = 0; i < count; i += BLOCK)
		sort_block(
		    order->items + i, count - i < BLOCK ? count - i : BLOCK);
	for (uint32_t half = BLOCK; half < count; half *= 2)
		for (uint32_t i = 0; count - i > half; i += 2 * half) {
			uint32_t both =
			    count - i < 2 * half ? count - i : 2 * half;

			merge_halves(
			    order->items + i, order->other, half, both);
			if (count - i <= 2 * half)
				break;
		}
}

/* ---- on disk ---- */

/* Read or write `items` items of the file from `first` on. */
static int
seek_to(struct span_sort *order, uint64_t item, struct err *err)
{
	if (fseeko(order->file, (off_t)(item * sizeof(*order->items)),
		SEEK_SET) == 0)
		return 0;
	return err_set(err, "temporary file: %s", strerror(errno));
}

static FILE *
open_nameless(struct err *err)
{
	int fd = file_io_nameless(err);

	return fd < 0 ? NULL : memory_must(fdopen(fd, "w+"));
}

/* Write the items in memory to the file as a new piece. */
static int
spill(struct span_sort *order, struct err *err)
{
	if (order->piece_count == SPAN_SORT_PIECES)
		return err_set(err, "a thread has more than %llu intervals",
		    (unsigned long long)SPAN_SORT_PIECES * order->room);
	if (order->file == NULL && (order->file = open_nameless(err)) == NULL)
		return -1;
	if (order->pieces == NULL)
		order->pieces = memory_resize_array(
		    NULL, SPAN_SORT_PIECES, sizeof(*order->pieces));
	sort_items(order);
	if (seek_to(order, order->written, err) != 0)
		return -1;
	if (fwrite(order->items, sizeof(*order->items), order->count,
		order->file) != order->count ||
	    fflush(order->file) != 0)
		return err_set(err, "temporary file: %s", strerror(errno));
	order->pieces[order->piece_count++] = (struct piece){
		.at = order->written,
		.end = order->written + order->count,
	};
	order->written += order->count;
	order->count = 0;
	return 0;
}

/* Read the next items of the piece into memory, if it has any. */
static int
refill(struct span_sort *order, struct piece *piece, struct err *err)
{
	uint64_t left = piece->end - piece->at;

	if (piece->next < piece->count)
		return 0;
	if (piece->items == NULL)
		piece->items = memory_resize_array(
		    NULL, PIECE_ITEMS, sizeof(*piece->items));
	piece->next = 0;
	piece->count = left < PIECE_ITEMS ? (uint32_t)left : PIECE_ITEMS;
	if (piece->count == 0)
		return 0;
	if (seek_to(order, piece->at, err) != 0)
		return -1;
	if (fread(piece->items, sizeof(*piece->items), piece->count,
		order->file) != piece->count)
		return err_set(err, "temporary file: %s", strerror(errno));
	piece->at += piece->count;
	return 0;
}

static bool
comes_first(const struct piece *a, const struct piece *b)
{
	return is_before(&a->items[a->next], &b->items[b->next]);
}

static void
sink(struct span_sort *order, uint32_t at)
{
	struct piece *heap = order->pieces, moved = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < order->heap &&
		    comes_first(&heap[child + 1], &heap[child]))
			child++;
		if (child >= order->heap || !comes_first(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* ---- interface ---- */

int
span_sort_add(
    struct span_sort *order, const struct span_item *item, struct err *err)
{
	if (order->count == order->room && spill(order, err) != 0)
		return -1;
	order->items[order->count++] = *item;
	return 0;
}

int
span_sort_end(struct span_sort *order, struct err *err)
{
	order->next = 0;
	if (order->piece_count == 0) {
		sort_items(order);
		return 0;
	}
	if (spill(order, err) != 0)
		return -1;
	order->heap = order->piece_count;
	for (uint32_t i = 0; i < order->heap; i++)
		if (refill(order, &order->pieces[i], err) != 0)
			return -1;
	for (uint32_t i = order->heap / 2; i-- > 0;)
		sink(order, i);
	return 0;
}

static int
next_of_pieces(struct span_sort *order, struct span_item *item, struct err *err)
{
	struct piece *first = &order->pieces[0];
	struct piece last;

	if (order->heap == 0) {
		clear_pieces(order);
		return 0;
	}
	*item = first->items[first->next++];
	if (refill(order, first, err) != 0)
		return -1;
	if (first->count == 0) {
		/* Move it behind the heap: its memory is freed with the
		 * rest. */
		last = order->pieces[--order->heap];
		order->pieces[order->heap] = *first;
		*first = last;
	}
	if (order->heap > 0)
		sink(order, 0);
	return 1;
}

int
span_sort_next(struct span_sort *order, struct span_item *item, struct err *err)
{
	if (order->piece_count > 0)
		return next_of_pieces(order, item, err);
	if (order->next == order->count) {
		order->count = order->next = 0;
		return 0;
	}
	*item = order->items[order->next++];
	return 1;
}
