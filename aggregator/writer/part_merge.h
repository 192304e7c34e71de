/*
 * part_merge - merge the parts of phases, so that readers have few of them.
 *
 * Parts have a level by their number of events.  When a phase has
 * PART_MERGE_PARTS of one level, they become one part.  Each transaction writes
 * some rows of it; nobody reads them before the last one puts it into the list
 * in the place of the others.  A merge that was interrupted is done again.
 *
 * The rows of a transaction are planned first: read from a snapshot, in any
 * thread, and encoded.  A plan holds while its parts are in the list as they
 * were.  Only the newest part grows, while it is small (part_list.h): it is
 * left out.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_PART_MERGE_H
#define AGGREGATOR_WRITER_PART_MERGE_H

#include "aggregator/phases/part_cursor.h"
#include "proto/base/arena.h"

enum {
	PART_MERGE_PARTS = 8,
	PART_MERGE_PARTS_MAX = 64,     /* in one merge */
	PART_MERGE_EVENTS = 128 << 10, /* read by a transaction */
	PART_MERGE_BYTES = 16 << 20,   /* of their attributes */
};

/* A planned row: its key without the number of the part, and its value in the
 * buffer. */
struct part_merge_row {
	struct part_row_key key;
	size_t at;
	uint32_t bytes;
};

struct part_merge {
	/* The search. */
	int64_t next_ns; /* monotonic: when it begins again */
	bool searching;
	uint32_t partition, phase; /* continue with this one */

	/* The merge that is under way. */
	bool busy;
	struct part_info part[PART_MERGE_PARTS_MAX];
	uint32_t count;
	struct part_info made;
	bool begun;
	/* Events up to and including this one are written. */
	uint64_t key_hash;
	uint32_t scope;
	struct phase_entry last;

	/* The plan of a transaction. */
	bool is_planned, is_readable;
	bool through; /* it has the last rows */
	struct part_merge_row *row;
	uint32_t rows, row_room;
	struct buffer value;

	struct part_cursor cursor;
	struct compacted_row_writer *columns;
	struct part_row_item *item;
	uint32_t items, item_room;
	struct arena arena;
	uint32_t step_events; /* 0: PART_MERGE_EVENTS; tests use less */
};
void part_merge_clear(struct part_merge *merge);

#endif
