/*
 * spool_window - reads a segment through one bounded buffer.
 *
 * It reads ahead only while reads are sequential: the buffer grows from a page
 * to its bound while each view follows the previous one.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_WINDOW_H
#define AGENTS_SPOOL_WINDOW_H

#include <stdint.h>

#include "agents/spool/frame.h"

enum {
	SPOOL_WINDOW_BYTES = SPOOL_SPAN_MAX, /* 256 KiB and a frame's head */
};

struct spool_window {
	int fd;          /* not owned */
	uint64_t number; /* of the segment; set by the caller */
	unsigned char *at;
	uint32_t room;        /* of the buffer */
	uint32_t base, bytes; /* the part of the file in it */
	uint32_t ahead;       /* bytes to read at once */
};

/* `bytes` (<= SPOOL_WINDOW_BYTES) at `offset` of a file with `end` valid
 * bytes; a view, valid until the next call.  NULL: the file is shorter, or
 * cannot be read there (errno; 0: shorter). */
const unsigned char *spool_window_view(
    struct spool_window *window, uint32_t offset, uint32_t bytes, uint32_t end);

/* Discard the buffer and read from `fd` from now on. */
void spool_window_move(struct spool_window *window, int fd, uint64_t number);
void spool_window_clear(struct spool_window *window);

#endif
