/*
 * repair - have hours that the archive lacks sent again.
 *
 * Their slices are marked (marks.h) as if the archive had never had them: the
 * archiver sends them with its next pass, and until then they are neither
 * compacted nor deleted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_REPAIR_H
#define AGGREGATOR_ARCHIVE_UPKEEP_REPAIR_H

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "proto/base/err.h"

/* Zeroed: no hours. */
struct repair {
	struct key_row_block *hour; /* of each partition, kind and hour */
	uint32_t hours, room;
};

/* Of the key only partition, kind and hour count. */
void repair_add(struct repair *repair, const struct key_row_block *hour);
void repair_clear(struct repair *repair);

/* Mark all slices of the hours, an hour in a transaction.  The caller holds the
 * lock of the store.  -1: the store has no archive, or cannot be written. */
int repair_mark(struct repair *repair, struct db *db, struct err *err);

#endif
