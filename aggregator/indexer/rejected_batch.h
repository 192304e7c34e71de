/*
 * rejected_batch_encode - dead letters: what is kept of a batch that cannot be
 * indexed.
 *
 * Its body, as long as the dead letters of its partition have room (a quota),
 * so that nobody fills the store with what nobody can read; beyond that who
 * sent it, how long it was and its hash: what was lost is said.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_REJECTED_BATCH_H
#define AGGREGATOR_INDEXER_REJECTED_BATCH_H

#include <stdint.h>

#include "aggregator/journal/journal.h"
#include "aggregator/rows/compacted_row.h"
#include "proto/record/record.h"

enum {
	/* Of one: all of what our senders make, and what fits a page. */
	REJECTED_BATCH_BYTES_MAX = 128 << 10,
	REJECTED_BATCH_HASH_BYTES = 64, /* SHA-256 in hexadecimal digits */
};

/* The record of an entry, in whose partition there is room for `left` bytes:
 * the body up to REJECTED_BATCH_BYTES_MAX, or nothing of it.  View of the
 * entry, of `reason` and of `hash`. */
struct record rejected_batch_encode(const struct journal_entry *entry,
    const char *reason, uint64_t left,
    char hash[static REJECTED_BATCH_HASH_BYTES + 1]);

/* Bytes of bodies that a row of heads has, which are dead letters; and a
 * compacted one, read into `room`.  What cannot be understood has none. */
uint64_t rejected_batch_bytes_of_row(struct text value);
uint64_t rejected_batch_bytes_of_chunk(
    struct compacted_row_rows *room, struct text value);

#endif
