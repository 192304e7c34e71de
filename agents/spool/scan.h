/*
 * spool_scan - walks a segment with arbitrary content.
 *
 * The work is bounded: every byte is read a few times at most, however often
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
	uint32_t size; /* bytes of the file to read */
	uint64_t
	    budget; /* bytes of false candidates that may still be checked */
};

/* Moves the window to `fd`, which remains the caller's. */
void spool_scan_init(struct spool_scan *scan, struct spool_window *window,
    int fd, const struct spool_head *head, uint32_t size);

/* The next valid frame at or after `*offset`, which moves there.  False when
 * there is none.  `body` (may be NULL): a view. */
bool spool_scan_next(struct spool_scan *scan, uint32_t *offset,
    struct spool_frame *frame, const unsigned char **body);

/* The end of a segment's frames, and its damage. */
struct spool_extent {
	uint32_t end;    /* frames count up to here */
	uint32_t commit; /* start of the last commit */
	uint32_t dirty;  /* every byte from here on is zero */
	uint32_t frames; /* valid frames before `end` (and the seal) */
	uint32_t crcs;   /* CRC32C of their checksums */
	uint32_t lost;   /* frames that the seal counted and that are missing */
	uint32_t tail;   /* bound on the frames lost after `end` */
	bool sealed;     /* ended by its own seal */
	bool damaged;
	bool
	    counted; /* damaged, but the seal gives the number of lost frames */
};

/* `last`: no later segment of its session has frames, so the tail may be torn.
 * `limit`: the end by the seal of a later segment, or 0. */
void spool_scan_extent(struct spool_scan *scan, bool last, uint32_t limit,
    struct spool_extent *extent);

#endif
