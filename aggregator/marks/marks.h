/*
 * marks - which rows of the tables the archive lacks.
 *
 * Who changes a row marks it in the same transaction (db.h, struct
 * db_marking).  The archiver reads the marks of a snapshot, sends these rows,
 * and has the marks removed that are not newer than the snapshot.  A row that
 * is sent again is harmless: whoever stops in between does it again.
 *
 * A mark of TABLES_ROW_BLOCKS is that of a slice: the archive lacks its rows
 * from first_row on.  A mark of TABLES_CHUNKS is that of a slice too, and says
 * that the archive lacks all of it, compacted or not: it comes from the time
 * before the store had an archive, or is to be sent again
 * (archive/upkeep/repair.h).  If the row of another mark does not exist, it was
 * deleted.
 *
 * proto/store.md, "Marks", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MARKS_MARKS_H
#define AGGREGATOR_MARKS_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"

enum {
	/* Of the key of a row, in the mark of a slice: partition, kind, hour,
	 * slice. */
	MARKS_SLICE_BYTES = 13,
};

struct mark {
	unsigned table;
	struct text key; /* of the row, or of the slice; a view, valid until the
			    next one is read */
	uint64_t change; /* number of the last change, from 1 on */
	uint32_t first_row; /* of a slice of row blocks, from 1 on; else 0 */
};

/* Is a mark with this table that of a slice, not of a row that changes? */
bool marks_is_of_slice(unsigned table);
/* Read a row of TABLES_MARKS; false: malformed. */
bool marks_decode(struct text key, struct text value, struct mark *mark);

/* ---- reading, in the order of table and key ---- */

struct marks; /* opaque */
/* Close it before the transaction ends. */
struct marks *marks_open(struct db_txn *txn);
/* False at the end.  Damaged marks are passed over and counted (db.h),
 * malformed ones are passed over. */
bool marks_next(struct marks *marks, struct mark *mark);
void marks_close(struct marks **marks);

/* Of the snapshot: the number of the last change, and of the last row block:
 * what marks_clear takes after these rows were sent. */
uint64_t marks_last_change(struct db_txn *txn);
uint32_t marks_last_row(struct db_txn *txn);

/* Does the archive lack rows of these slices of an hour?  Of a table whose keys
 * begin with partition, kind, hour and slice; these must not be deleted or
 * compacted. */
bool marks_hold(struct db_txn *txn, unsigned table,
    const struct key_row_block *hour, uint32_t first, uint32_t last);
/* The same of all of its row blocks and chunks. */
bool marks_hold_records(struct db_txn *txn, const struct key_row_block *hour);

/* ---- writing ---- */

/* From this transaction on changes are marked; all that is in the store gets
 * marks with marks_all_step.  `entry`: the last one of the journal now.  Does
 * nothing if the store has an archive. */
void marks_begin(struct db_txn *txn, uint64_t entry);
/* The same of a store that has one already, and gets another archive. */
void marks_begin_again(struct db_txn *txn);
/* Has the store an archive? */
bool marks_are_kept(struct db_txn *txn);
/* Is everything marked that was in the store at marks_begin, and indexed what
 * its journal had then?  Until then the archive must not count as complete. */
bool marks_are_complete(struct db_txn *txn);
/* Mark some of it (at most `rows` rows are read) in one transaction; `*more`:
 * something is left. It goes on where it stopped, after a crash, too. */
enum db_result marks_all_step(
    struct db *db, uint32_t rows, bool *more, struct err *err);

/* A removal of marks; all zeros begins it. */
struct marks_clear {
	uint64_t change;  /* marks of slices up to this change are removed */
	uint64_t settled; /* ... and all others up to this one; 0: none */
	uint32_t row; /* slices changed since then lack rows after this one */
	/* The position. */
	uint32_t key_bytes;
	unsigned char key[DB_KEY_BYTES_MAX];
};
/* Remove some of them (at most `rows` are read) in one transaction. */
enum db_result marks_clear_step(struct db *db, struct marks_clear *clear,
    uint32_t rows, bool *more, struct err *err);

/* Remove at most `limit` marks of a partition; returns their number. */
uint64_t marks_drop_partition(
    struct db_txn *txn, uint32_t partition, uint64_t limit);

#endif
