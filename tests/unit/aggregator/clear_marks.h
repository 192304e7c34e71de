/*
 * clear_marks - as if the archive had got rows of the store of pool.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_CLEAR_MARKS_H
#define TESTS_UNIT_AGGREGATOR_CLEAR_MARKS_H

#include "aggregator/marks/marks.h"
#include "tests/unit/aggregator/pool.h"

/* `rows` in a transaction. */
static inline void
clear_marks(struct marks_clear clear, uint32_t rows)
{
	struct err err = { 0 };
	bool more = true;

	while (more)
		rig_good(marks_clear_step(writer_db(rig.writer), &clear, rows,
			     &more, &err) == DB_OK
			     ? 0
			     : -1,
		    &err);
}

/* All that there is now; of slices alone if not `with_others`, such as sums of
 * hours. */
static inline void
clear_marks_of_now(bool with_others)
{
	struct marks_clear clear = { .change = 0 };
	struct err err = { 0 };
	struct db_txn *txn;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	clear.change = marks_last_change(txn);
	clear.row = marks_last_row(txn);
	db_abort(&txn);
	clear.settled = with_others ? clear.change : 0;
	clear_marks(clear, 1000);
}

#endif
