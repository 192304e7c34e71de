/*
 * dead_letter_encode - dead letters: what is kept of a batch that cannot be
 * folded.
 *
 * Its body, as long as the dead letters of its partition have room (a quota),
 * so that nobody fills the store with what nobody can read; beyond that who
 * sent it, how long it was and its hash: what was lost is said.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_FOLD_DEAD_LETTER_H
#define AGGREGATOR_FOLD_DEAD_LETTER_H

#include <stdint.h>

#include "aggregator/journal/journal.h"
#include "aggregator/rows/sealed_row.h"
#include "proto/record/record.h"

enum {
	/* Of one: all of what our senders make, and what fits a page. */
	DEAD_LETTER_BYTES_MAX = 128 << 10,
	DEAD_LETTER_HASH_BYTES = 64, /* SHA-256 in hexadecimal digits */
};

/* The record of an entry, in whose partition there is room for `left` bytes:
 * the body up to DEAD_LETTER_BYTES_MAX, or nothing of it.  View of the entry,
 * of `reason` and of `hash`. */
struct record dead_letter_encode(const struct journal_entry *entry,
    const char *reason, uint64_t left,
    char hash[static DEAD_LETTER_HASH_BYTES + 1]);

/* Bytes of bodies that a row of heads has, which are dead letters; and a
 * sealed one, read into `room`.  What cannot be understood has none. */
uint64_t dead_letter_bytes_of_row(struct text value);
uint64_t dead_letter_bytes_of_chunk(
    struct sealed_row_rows *room, struct text value);

#endif
