/*
 * journal_verify - is the journal what it promises to be?
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_VERIFY_H
#define AGGREGATOR_JOURNAL_VERIFY_H

#include "aggregator/journal/journal.h"

/* Every entry: checksum, frame, number, bytes before it; within each stream
 * the numbers go on without a hole; the state of each stream ends where its
 * last entry does.  `report` hears a sentence for each thing that is wrong.
 * How many there were, or -1 when the journal could not be read. */
int64_t journal_verify(struct journal *journal,
    void (*report)(void *arg, const char *sentence), void *arg,
    struct err *err);

#endif
