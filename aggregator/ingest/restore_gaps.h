/*
 * restore_gaps - batches that a restored store lacks.
 *
 * Senders have acknowledgements for batches that the backup does not have.  If
 * the replaced store still exists, the restore reads the last seq of each
 * stream from it and notes it in the row of the stream.  The welcome to the
 * sender then asks for the missing numbers; the sender resends what its spool
 * still has, and a gap for the rest.  Numbers that nobody resends in time
 * (because the session was given up or the program has ended) are recorded in
 * gaps of the store's own, so no loss is silent; a sender that comes later may
 * still resend them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_RESTORE_GAPS_H
#define AGGREGATOR_INGEST_RESTORE_GAPS_H

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"

struct restore_gaps_sum {
	uint64_t streams, batches;
	uint64_t damaged; /* rows that could not be read */
};

/* When `to` is restored: note in it what `from` has and `to` lacks. */
int restore_gaps_carry(struct journal *to, struct journal *from, int64_t now_ns,
    struct restore_gaps_sum *sum, struct err *err);

/* Of the thread that writes the journal.  The caller sets the first two
 * members; the others are zero at first. */
struct restore_gaps {
	struct journal *journal;
	int64_t wait_ns;

	int64_t since_ns; /* wall clock; 0: nothing is missing */
	uint64_t batches; /* missing ones, when last counted */
	uint64_t found;   /* streams with some, found in the current pass */
	unsigned char at[DB_KEY_BYTES_MAX]; /* where the pass continues */
	uint32_t at_bytes;
};

/* Count the missing batches. */
void restore_gaps_count(struct restore_gaps *restore_gaps);
/* Is it time to record gaps?  Then restore_gaps_report records some of them, as
 * many as fit well into the open transaction of the journal. */
bool restore_gaps_is_due(
    const struct restore_gaps *restore_gaps, int64_t now_ns);
void restore_gaps_report(struct restore_gaps *restore_gaps,
    struct receiver *receiver, int64_t now_ns);
/* After that transaction: count again, and return (and log) how many of
 * `before` missing batches were recorded as gaps. */
uint64_t restore_gaps_reported(
    struct restore_gaps *restore_gaps, uint64_t before);

#endif
