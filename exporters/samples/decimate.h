/*
 * decimate - a long list made short, while it comes.
 *
 * Two ways.  `thin` is the older sampler's store of at most M items (M made
 * even): of those that come every f-th is taken, and when there are more than
 * M the even places stay and f doubles.  The first item stays for ever, the
 * newest usually does not.
 *
 * `thin_peaks` knows how many will come and gives away at most M: the first,
 * the last, and of each of (M - 2) / 2 equal stretches between them the least
 * and the greatest, in the order of their coming.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_DECIMATE_H
#define EXPORTERS_SAMPLES_DECIMATE_H

#include <stddef.h>
#include <stdint.h>

struct thin {
	uint64_t length; /* items that are there */
	uint64_t every;  /* f: one of so many is taken */
	uint64_t seen, max;
	size_t item_bytes, room; /* of `items`, in items */
	unsigned char *items;    /* thin_at */
};

void thin_init(struct thin *thin, uint64_t max_length, size_t item_bytes);
void thin_add(struct thin *thin, const void *item); /* copies it */
void thin_clear(struct thin *thin);

static inline const void *
thin_at(const struct thin *thin, uint64_t i)
{
	return thin->items + i * thin->item_bytes;
}

/* Set all of the first part, zero the rest. */
struct thin_peaks {
	uint64_t count;      /* that will come; more are dropped */
	uint64_t max_length; /* 2 .. 2^24 */
	size_t item_bytes;   /* at most THIN_ITEM_BYTES */
	void *arg;
	void (*give)(void *arg, const void *item);

	uint64_t seen, stretch, least_at, greatest_at;
	double least, greatest;
	_Alignas(16) unsigned char held[2][160];
};
enum { THIN_ITEM_BYTES = sizeof(((struct thin_peaks *)0)->held[0]) };

/* `height` says what a peak is; NaN is none. */
void thin_peaks_add(struct thin_peaks *thin, const void *item, double height);
/* Fewer came than were said to. */
void thin_peaks_end(struct thin_peaks *thin);

#endif
