/*
 * pass - send what the archive lacks of a snapshot of the store.
 *
 * A pass reads the marks (marks.h) that are newer than those of the pass before
 * it, and gives each row to the sender (typed_pass.h).  Its number is that of
 * the last change in the snapshot, so a pass that is sent twice sends the same
 * rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PASS_H
#define AGGREGATOR_ARCHIVE_PASS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/position.h"
#include "aggregator/archive/typed_pass.h"
#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_cursor.h"

struct pass {
	struct typed_pass typed;
	const atomic_bool *stop;
	struct pass_place from, to;
	bool is_again;
	/* What was sent of common.h: its hash, and to how many partitions; all
	 * zeros: nothing yet. */
	uint64_t common;
	uint32_t common_partitions;
	struct compacted_cursor_cache cache;
	uint64_t records, rows; /* sent */
};

/* The place of a snapshot. */
struct pass_place pass_place(struct db_txn *txn);

/* Send what was marked after `from`, and with pass->is_again all rows that have
 * a mark, but records.  -1: a shard takes nothing, or `stop` was set; what was
 * sent is sent again by the next pass. */
int pass_send(struct pass *pass, struct db_txn *txn,
    const struct pass_place *from, uint32_t epoch, struct err *err);
void pass_clear(struct pass *pass);

#endif
