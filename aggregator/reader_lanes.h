/*
 * reader_lanes - the runs of one hour side by side, each with a cursor at its
 * place, so that they can be read as one.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_READER_LANES_H
#define AGGREGATOR_READER_LANES_H

#include "aggregator/reader_core.h"

/* A run. */
struct lane {
	struct db_cursor *cursor;
	struct text value;
	struct key_head head; /* of the row at hand */
	bool more;            /* it is there, and of this run */
};

struct lanes {
	struct lane *at; /* a heap by (node, track) */
	uint32_t count, room;
};

/* Open the runs of the hour of `first`, each at its (node, track). */
void lanes_open(struct lanes *lanes, struct page *page,
    struct db_cursor *cursor, const struct key_head *first);
void lanes_close(struct lanes *lanes);

/* Move a lane, at[0] usually, and then put it where it belongs. */
void lane_next(struct lane *lane);
/* To the first row of the run at or behind (node, track). */
void lane_seek(struct lane *lane, uint32_t node, uint32_t track);
void lanes_sink(struct lanes *lanes, uint32_t i);

/* A key as a text in `to`. */
struct text lane_key(
    unsigned char to[static KEY_HEAD_BYTES], const struct key_head *head);

#endif
