/*
 * rejected_batch - what is stored of a batch that cannot be indexed.
 *
 * The body is stored as long as the rejected batches of the partition stay
 * below a limit, so that nobody can fill the store with data that nobody can
 * read.  Beyond the limit only the sender, the length and the hash of the body
 * are stored: they show what is missing.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_REJECTED_BATCH_H
#define AGGREGATOR_INDEXER_REJECTED_BATCH_H

#include <stdint.h>

#include "aggregator/journal/journal.h"
#include "aggregator/rows/compacted_row.h"
#include "proto/record/record.h"

enum {
	/* of one body: larger than any batch of our senders, and small enough
	 * for a page */
	REJECTED_BATCH_BYTES_MAX = 128 << 10,
	REJECTED_BATCH_HASH_BYTES = 64, /* SHA-256 in hexadecimal digits */
};

/* The record of a rejected entry, in whose partition `left` bytes are free.
 * It has the body up to REJECTED_BATCH_BYTES_MAX, or none of it.  A view of
 * the entry, of `reason` and of `hash`. */
struct record rejected_batch_encode(const struct journal_entry *entry,
    const char *reason, uint64_t left,
    char hash[static REJECTED_BATCH_HASH_BYTES + 1]);

/* The number of body bytes in a row block of rejected batches, and in a
 * compacted one, which is decoded into `room`; 0 when the row is damaged. */
uint64_t rejected_batch_bytes_of_row(struct text value);
uint64_t rejected_batch_bytes_of_chunk(
    struct compacted_row_rows *room, struct text value);

#endif
