/*
 * slice - the records of a slice of an hour, one by one: from row blocks, or
 * compacted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SLICE_H
#define AGGREGATOR_ARCHIVE_SLICE_H

#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_cursor.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/err.h"

/* A record; its key has partition, kind, hour, node and track.  Views, valid
 * during the call.  Other than 0 ends the walk, which returns it. */
typedef int slice_record(void *arg, const struct key_row_block *of,
    const struct row_block_item *item, struct err *err);

struct slice_reader {
	struct db_txn *txn;
	struct compacted_cursor_cache *cache;
	slice_record *call;
	void *arg;
	uint64_t damaged; /* rows that cannot be read, passed over */
};

/* The records of row blocks whose key begins with `front`, of row numbers
 * `first_row` to `last_row`: rows are numbered in the order in which they were
 * written, and never change. */
int slice_row_blocks(struct slice_reader *reader, struct text front,
    uint32_t first_row, uint32_t last_row, struct err *err);
/* The records of a compacted slice: `front` is the key up to it. */
enum { SLICE_FRONT_BYTES = 13 };
int slice_compacted(
    struct slice_reader *reader, struct text front, struct err *err);

#endif
