/*
 * decimate - reduce a long list to a bounded length while it grows.
 *
 * There are two methods.  `struct decimate` stores at most M items (M is made
 * even), like the older sampler: it takes every f-th item, and when it has
 * more than M it drops every other item and doubles f.  The first item is
 * always stored, the newest usually is not.
 *
 * `struct decimate_peaks` knows the number of items in advance and passes on
 * at most M: the first, the last, and the minimum and maximum of each of (M -
 * 2) / 2 equal sections between them, in their original order.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_DECIMATE_H
#define EXPORTERS_SAMPLES_DECIMATE_H

#include <stddef.h>
#include <stdint.h>

struct decimate {
	uint64_t length; /* stored items */
	uint64_t every;  /* f: every f-th item is taken */
	uint64_t seen, max;
	size_t item_bytes, room; /* capacity of `items`, in items */
	unsigned char *items;    /* decimate_at */
};

void decimate_init(
    struct decimate *decimate, uint64_t max_length, size_t item_bytes);
void decimate_add(
    struct decimate *decimate, const void *item); /* copies the item */
void decimate_clear(struct decimate *decimate);

static inline const void *
decimate_at(const struct decimate *decimate, uint64_t i)
{
	return decimate->items + i * decimate->item_bytes;
}

/* Set the fields of the first part; all others are zero. */
struct decimate_peaks {
	uint64_t count;      /* number of items to come; more are dropped */
	uint64_t max_length; /* 2 .. 2^24 */
	size_t item_bytes;   /* at most DECIMATE_ITEM_BYTES */
	void *arg;
	void (*give)(void *arg, const void *item);

	uint64_t seen, section, least_at, greatest_at;
	double least, greatest;
	_Alignas(16) unsigned char held[2][160];
};
enum { DECIMATE_ITEM_BYTES = sizeof(((struct decimate_peaks *)0)->held[0]) };

/* `height` is the value whose extremes are peaks; NaN is never one. */
void decimate_peaks_add(
    struct decimate_peaks *peaks, const void *item, double height);
/* Call it when fewer items came than `count`: passes on the last ones. */
void decimate_peaks_end(struct decimate_peaks *peaks);

#endif
