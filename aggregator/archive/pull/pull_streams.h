/*
 * pull_streams - what a store that was read from the archive accepts next.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_STREAMS_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_STREAMS_H

#include "aggregator/db/db.h"
#include "aggregator/journal/journal.h"

/* Make the streams of the journal from how far the tables have them: senders
 * bring what comes after, and what is gone counts as lost. */
int pull_streams(struct db *tables, struct journal *journal, struct err *err);

#endif
