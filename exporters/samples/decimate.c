/*
 * decimate - reduce a long list to a bounded length while it grows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/decimate.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* ---- every f-th item, as in the older sampler ---- */

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
slot(struct decimate *decimate, uint64_t i)
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
	memcpy(slot(decimate, decimate->length++), item, decimate->item_bytes);
	if (decimate->length <= decimate->max)
		return;
	for (uint64_t i = 1; i < decimate->max / 2; i++)
		memcpy(slot(decimate, i), slot(decimate, 2 * i),
		    decimate->item_bytes);
	decimate->length = decimate->max / 2;
	/* The overflow of 2^62 cannot happen in practice. */
	if (decimate->every < UINT64_C(1) << 62)
		decimate->every *= 2;
}

/* ---- peaks, first and last item ---- */

static void
store_peaks(struct decimate_peaks *peaks, const void *item, double height)
{
	bool first = peaks->least_at == 0;

	if (first || height < peaks->least || isnan(peaks->least)) {
		peaks->least = height;
		peaks->least_at = peaks->seen;
		memcpy(peaks->held[0], item, peaks->item_bytes);
	}
	if (first || height > peaks->greatest || isnan(peaks->greatest)) {
		peaks->greatest = height;
		peaks->greatest_at = peaks->seen;
		memcpy(peaks->held[1], item, peaks->item_bytes);
	}
}

/* Item numbers start at 1; 0: none. */
static void
give_peaks(struct decimate_peaks *peaks)
{
	bool least_first = peaks->least_at <= peaks->greatest_at;

	if (peaks->least_at == 0)
		return;
	peaks->give(peaks->arg, peaks->held[least_first ? 0 : 1]);
	if (peaks->least_at != peaks->greatest_at)
		peaks->give(peaks->arg, peaks->held[least_first ? 1 : 0]);
	peaks->least_at = peaks->greatest_at = 0;
}

void
decimate_peaks_add(
    struct decimate_peaks *peaks, const void *item, double height)
{
	uint64_t stretches = (peaks->max_length - 2) / 2, section;

	assert(
	    peaks->max_length >= 2 && peaks->item_bytes <= DECIMATE_ITEM_BYTES);
	if (peaks->seen == peaks->count)
		return;
	peaks->seen++;
	if (peaks->count <= peaks->max_length || peaks->seen == 1) {
		peaks->give(peaks->arg, item);
	} else if (peaks->seen == peaks->count) {
		give_peaks(peaks);
		peaks->give(peaks->arg, item);
	} else if (stretches > 0) {
		section = (peaks->seen - 2) * stretches / (peaks->count - 2);
		if (section != peaks->section)
			give_peaks(peaks);
		peaks->section = section;
		store_peaks(peaks, item, height);
	}
}

void
decimate_peaks_end(struct decimate_peaks *peaks)
{
	give_peaks(peaks);
}
