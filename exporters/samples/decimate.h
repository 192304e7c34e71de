/*
 * decimate - a long list made short, while it comes.
 *
 * Two ways.  `thin` is the older sampler's store of at most M items (M made
 * even): of those that come every f-th is taken, and when there are more than
 * M the even places stay and f doubles.  The first item stays for ever, the
 * newest usually does not.
 *
 * `decimate_peaks` knows how many will come and gives away at most M: the
 * first, the last, and of each of (M - 2) / 2 equal stretches between them the
 * least and the greatest, in the order of their coming.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_DECIMATE_H
#define EXPORTERS_SAMPLES_DECIMATE_H

#include <stddef.h>
#include <stdint.h>

struct decimate {
	uint64_t length; /* items that are there */
	uint64_t every;  /* f: one of so many is taken */
	uint64_t seen, max;
	size_t item_bytes, room; /* of `items`, in items */
	unsigned char *items;    /* decimate_at */
};

void decimate_init(
    struct decimate *decimate, uint64_t max_length, size_t item_bytes);
void decimate_add(struct decimate *decimate, const void *item); /* copies it */
void decimate_clear(struct decimate *decimate);

static inline const void *
decimate_at(const struct decimate *decimate, uint64_t i)
{
	return decimate->items + i * decimate->item_bytes;
}

/* Set all of the first part, zero the rest. */
struct decimate_peaks {
	uint64_t count;      /* that will come; more are dropped */
	uint64_t max_length; /* 2 .. 2^24 */
	size_t item_bytes;   /* at most DECIMATE_ITEM_BYTES */
	void *arg;
	void (*give)(void *arg, const void *item);

	uint64_t seen, stretch, least_at, greatest_at;
	double least, greatest;
	_Alignas(16) unsigned char held[2][160];
};
enum { DECIMATE_ITEM_BYTES = sizeof(((struct decimate_peaks *)0)->held[0]) };

/* `height` says what a peak is; NaN is none. */
void decimate_peaks_add(
    struct decimate_peaks *thin, const void *item, double height);
/* Fewer came than were said to. */
void decimate_peaks_end(struct decimate_peaks *thin);

#endif
