/*
 * slices - of an hour that is being filled, and their compaction.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_SLICES_H
#define TESTS_UNIT_AGGREGATOR_SLICES_H

#include "tests/unit/aggregator/rig.h"

#include "aggregator/tables/tables.h"
#include "aggregator/writer/writer_private.h"

/* As if many records of other hours had arrived: begin another slice. */
static inline void
slices_begin(struct rig *of)
{
	struct err err = { 0 };
	struct db_txn *txn;

	rig_good(db_begin(writer_db(of->writer), true, &txn, &err), &err);
	tables_put_fact(
	    txn, FACT_RECORDS, tables_fact(txn, FACT_RECORDS) + (64 << 10));
	assert_int_equal(db_commit(&txn, &err), DB_OK);
}

/* As the writer does between its steps, until there is nothing to do. */
static inline void
slices_compact(struct rig *of)
{
	struct err err = { 0 };
	bool more = true;

	of->writer->compact.next_ns = 0;
	while (more)
		assert_int_equal(compact_step(of->writer, &more, &err), DB_OK);
}

#endif
