/*
 * journal_private - the handle of a journal, shared by the files of journal.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_JOURNAL_PRIVATE_H
#define AGGREGATOR_JOURNAL_JOURNAL_PRIVATE_H

#include "aggregator/journal/entry.h"
#include "aggregator/journal/journal.h"

struct journal {
	struct db *db;
	uint64_t generation;

	/* Of the writer; the first three also as committed, for
	 * journal_first. */
	struct db_txn *txn;
	uint64_t first, next, offset;
	uint64_t committed_first, committed_next, committed_offset;
};

#endif
