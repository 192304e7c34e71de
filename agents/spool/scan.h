/*
 * spool_scan - walks a segment that may hold anything.
 *
 * Bounded: every byte is looked at a few times at most, however often
 * something in it looks like the beginning of a frame.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_SCAN_H
#define AGENTS_SPOOL_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/window.h"

struct spool_scan {
	struct spool_window *window;
	uint64_t number;
	uint64_t salt;
	uint32_t size;    /* bytes of the file to look at */
	uint32_t streams; /* a frame of a higher one is invalid */
	uint64_t budget;  /* bytes of false beginnings still to be checked */
};

/* Turns the window to `fd`, which stays the caller's. */
void spool_scan_init(struct spool_scan *scan, struct spool_window *window,
    int fd, const struct spool_head *head, uint32_t size, uint32_t streams);

/* The next valid frame at or behind `*offset`, which moves there.  False when
 * there is none.  `body` (may be NULL): a view. */
bool spool_scan_next(struct spool_scan *scan, uint32_t *offset,
    struct spool_frame *frame, const unsigned char **body);

/* Where a segment's frames end, and what is wrong with it. */
struct spool_extent {
	uint32_t end;    /* frames count up to here */
	uint32_t commit; /* where the last commit begins */
	uint32_t dirty;  /* no byte from here on is other than zero */
	uint32_t frames; /* valid ones before `end` (and the seal) */
	uint32_t crcs;   /* CRC32C of their checksums */
	uint32_t lost; /* frames that the seal counted and that are not there */
	uint32_t tail; /* at most so many more were lost behind `end` */
	bool sealed;   /* by its own seal */
	bool damaged;
	bool counted; /* damaged, but the seal tells how many are lost */
};

/* `last`: no later segment has frames, so the tail may be torn.  `limit`: the
 * end by the seal of a later segment, or 0. */
void spool_scan_extent(struct spool_scan *scan, bool last, uint32_t limit,
    struct spool_extent *extent);

#endif
