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

	/* Of the writer: number of the first entry and of the next one, bytes
	 * of all entries so far; in the transaction and as committed. */
	struct db_txn *txn;
	uint64_t first, next, offset;
	uint64_t committed_first, committed_next, committed_offset;
};

#endif
