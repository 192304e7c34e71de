/*
 * journal_verify - check the journal.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_VERIFY_H
#define AGGREGATOR_JOURNAL_VERIFY_H

#include "aggregator/journal/journal.h"

/* Check the checksum, frame, number and byte offset of every entry, and for
 * every stream that no number is missing and that its state matches its last
 * entry.  `report` gets a sentence for each error.  Returns the number of
 * errors, or -1 if the journal could not be read. */
int64_t journal_verify(struct journal *journal,
    void (*report)(void *arg, const char *sentence), void *arg,
    struct err *err);

#endif
