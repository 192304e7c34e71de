/*
 * restore_gaps - what a store that was restored lacks of the one before it.
 *
 * Senders were reported that it is kept.  Where the store before is still there
 * when a backup takes its place, it says how far each stream was kept: that is
 * missing, noted in the stream's row, and reported to its sender, who brings
 * again what its spool still has, or a gap.  What nobody brings in time (a
 * session that was given up, a program that ended) becomes gaps of the store's
 * own: so nothing is missed in silence, and who comes late may bring it after
 * all. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_RESTORE_GAPS_H
#define AGGREGATOR_INGEST_RESTORE_GAPS_H

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"

struct restore_gaps_sum {
	uint64_t streams, batches;
	uint64_t damaged; /* rows that could not be read */
};

/* Note in `to` what `from` has and `to` has not: when `to` is restored. */
int restore_gaps_carry(struct journal *to, struct journal *from, int64_t now_ns,
    struct restore_gaps_sum *sum, struct err *err);
/* Within a transaction of `txn`: a stream that owes came to this store. */
void restore_gaps_note(struct db_txn *txn, int64_t now_ns);
/* Since when there may be some; 0: there are none. */
int64_t restore_gaps_noted(struct db_txn *txn);

/* Plain values; the writer's thread only.  Begins as the first two. */
struct restore_gaps {
	struct journal *journal;
	int64_t wait_ns;

	int64_t since_ns; /* wall clock; 0: nothing is missing */
	uint64_t batches; /* so many, when it was last looked */
	uint64_t found;   /* of the pass under way */
	unsigned char at[DB_KEY_BYTES_MAX];
	uint32_t at_bytes; /* where it goes on */
};

/* Look how much it is.  Also after each transaction with restore_gaps_report.
 */
void restore_gaps_look(struct restore_gaps *restore_gaps);
/* Is it time to tell?  Then, within a transaction of the journal: some more
 * of it becomes gaps, as many as one transaction should have. */
bool restore_gaps_is_due(
    const struct restore_gaps *restore_gaps, int64_t now_ns);
void restore_gaps_report(struct restore_gaps *restore_gaps,
    struct receiver *receiver, int64_t now_ns);
/* After that transaction: look again, and say how many of `before` batches were
 * reported. */
uint64_t restore_gaps_reported(
    struct restore_gaps *restore_gaps, uint64_t before);

#endif
