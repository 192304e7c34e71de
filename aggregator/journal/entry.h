/*
 * journal_entry - the bytes of a journal entry, and the handle.
 *
 * Private to this folder; proto/store.md, "Journal", is normative.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_ENTRY_H
#define AGGREGATOR_JOURNAL_ENTRY_H

#include <stdatomic.h>

#include "aggregator/journal/journal.h"

enum { ENTRY_FIXED_BYTES = 32, ENTRY_KEY_BYTES = 8, ENTRY_REJECTED = 1 };

struct entry {
	bool dead;
	uint8_t fault;
	int64_t receive_ns;
	uint64_t offset; /* total bytes of all earlier entries */
	uint64_t seq;
	struct text frame;
};

struct journal {
	struct db *db;
	uint64_t generation;

	/* Of the writer; the first three also as committed, for
	 * journal_first. */
	struct db_txn *txn;
	uint64_t first, next, offset;
	uint64_t committed_first, committed_next, committed_offset;
};

struct text entry_key(
    unsigned char key[static ENTRY_KEY_BYTES], uint64_t number);
bool entry_number(struct text key, uint64_t *number);
void entry_put(unsigned char *to, const struct entry *entry);
bool entry_get(struct text value, struct entry *entry);

#endif
