/*
 * decimate - a long list made short, while it comes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/decimate.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- as the older sampler does ---- */

void
thin_init(struct thin *thin, uint64_t max_length, size_t item_bytes)
{
	*thin = (struct thin){
		.every = 1,
		.max = max_length + max_length % 2,
		.item_bytes = item_bytes,
	};
}

void
thin_clear(struct thin *thin)
{
	free(thin->items);
	thin->items = NULL;
	thin->length = thin->room = 0;
}

static unsigned char *
place(struct thin *thin, uint64_t i)
{
	return thin->items + i * thin->item_bytes;
}

void
thin_add(struct thin *thin, const void *item)
{
	if (++thin->seen % thin->every != 0)
		return;
	if (thin->length == thin->room) {
		thin->room = thin->room > 0 ? 2 * thin->room : 16;
		thin->items =
		    reallocarray(thin->items, thin->room, thin->item_bytes);
		if (thin->items == NULL)
			abort(); /* out of memory */
	}
	memcpy(place(thin, thin->length++), item, thin->item_bytes);
	if (thin->length <= thin->max)
		return;
	for (uint64_t i = 1; i < thin->max / 2; i++)
		memcpy(place(thin, i), place(thin, 2 * i), thin->item_bytes);
	thin->length = thin->max / 2;
	/* Nobody lives to see the report of 2^62. */
	if (thin->every < UINT64_C(1) << 62)
		thin->every *= 2;
}

/* ---- with its peaks and its end ---- */

static void
hold(struct thin_peaks *thin, const void *item, double height)
{
	bool first = thin->least_at == 0;

	if (first || height < thin->least || isnan(thin->least)) {
		thin->least = height;
		thin->least_at = thin->seen;
		memcpy(thin->held[0], item, thin->item_bytes);
	}
	if (first || height > thin->greatest || isnan(thin->greatest)) {
		thin->greatest = height;
		thin->greatest_at = thin->seen;
		memcpy(thin->held[1], item, thin->item_bytes);
	}
}

/* Items are numbered from 1 here; 0 is none. */
static void
let_go(struct thin_peaks *thin)
{
	bool least_first = thin->least_at <= thin->greatest_at;

	if (thin->least_at == 0)
		return;
	thin->give(thin->arg, thin->held[least_first ? 0 : 1]);
	if (thin->least_at != thin->greatest_at)
		thin->give(thin->arg, thin->held[least_first ? 1 : 0]);
	thin->least_at = thin->greatest_at = 0;
}

void
thin_peaks_add(struct thin_peaks *thin, const void *item, double height)
{
	uint64_t stretches = (thin->max_length - 2) / 2, stretch;

	assert(thin->max_length >= 2 && thin->item_bytes <= THIN_ITEM_BYTES);
	if (thin->seen == thin->count)
		return;
	thin->seen++;
	if (thin->count <= thin->max_length || thin->seen == 1) {
		thin->give(thin->arg, item);
	} else if (thin->seen == thin->count) {
		let_go(thin);
		thin->give(thin->arg, item);
	} else if (stretches > 0) {
		stretch = (thin->seen - 2) * stretches / (thin->count - 2);
		if (stretch != thin->stretch)
			let_go(thin);
		thin->stretch = stretch;
		hold(thin, item, height);
	}
}

void
thin_peaks_end(struct thin_peaks *thin)
{
	let_go(thin);
}
