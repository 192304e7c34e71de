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

#include "proto/base/memory.h"

/* ---- as the older sampler does ---- */

void
decimate_init(struct decimate *decimate, uint64_t max_length, size_t item_bytes)
{
	*decimate = (struct decimate){
		.every = 1,
		.max = max_length + max_length % 2,
		.item_bytes = item_bytes,
	};
}

void
decimate_clear(struct decimate *decimate)
{
	free(decimate->items);
	decimate->items = NULL;
	decimate->length = decimate->room = 0;
}

static unsigned char *
place(struct decimate *decimate, uint64_t i)
{
	return decimate->items + i * decimate->item_bytes;
}

void
decimate_add(struct decimate *decimate, const void *item)
{
	if (++decimate->seen % decimate->every != 0)
		return;
	if (decimate->length == decimate->room) {
		decimate->room = decimate->room > 0 ? 2 * decimate->room : 16;
		decimate->items = memory_resize_array(
		    decimate->items, decimate->room, decimate->item_bytes);
	}
	memcpy(place(decimate, decimate->length++), item, decimate->item_bytes);
	if (decimate->length <= decimate->max)
		return;
	for (uint64_t i = 1; i < decimate->max / 2; i++)
		memcpy(place(decimate, i), place(decimate, 2 * i),
		    decimate->item_bytes);
	decimate->length = decimate->max / 2;
	/* Nobody lives to see the report of 2^62. */
	if (decimate->every < UINT64_C(1) << 62)
		decimate->every *= 2;
}

/* ---- with its peaks and its end ---- */

static void
hold(struct decimate_peaks *thin, const void *item, double height)
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
let_go(struct decimate_peaks *thin)
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
decimate_peaks_add(struct decimate_peaks *thin, const void *item, double height)
{
	uint64_t stretches = (thin->max_length - 2) / 2, stretch;

	assert(
	    thin->max_length >= 2 && thin->item_bytes <= DECIMATE_ITEM_BYTES);
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
decimate_peaks_end(struct decimate_peaks *thin)
{
	let_go(thin);
}
