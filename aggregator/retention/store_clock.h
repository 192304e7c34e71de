/*
 * store_clock - may the wall clock be trusted to delete what is old?
 *
 * The store notes the time.  The noted time advances with the steady clock of
 * the kernel, which nobody sets, and never passes the wall clock.  While the
 * wall clock is more than an hour ahead of it or behind it, nothing is deleted
 * by age.  That ends in one of four ways:
 *
 * - The clock is set back.
 * - Batches of other nodes agree with the clock for an hour.  The node of this
 *   aggregator does not count, because it has the same clock.
 * - The aggregator runs as long as the clock is ahead: after a night without
 *   power, the noted time catches up an hour each hour.
 * - An administrator says that the clock is right (store_clock_confirm).
 *
 * A new store has no noted time and believes the clock, unless batches of other
 * nodes contradict it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_RETENTION_STORE_CLOCK_H
#define AGGREGATOR_RETENTION_STORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"

enum store_clock_doubt {
	STORE_CLOCK_TRUSTED,
	STORE_CLOCK_AHEAD,     /* of the noted time */
	STORE_CLOCK_BEHIND,    /* of the noted time */
	STORE_CLOCK_DISAGREES, /* ahead of the clocks of other nodes */
};

struct store_clock {
	int64_t noted_ns;      /* 0: a new store */
	bool confirmed;        /* by other nodes or by an administrator */
	int64_t stored_ns;     /* noted_ns as the tables have it */
	int64_t steady_ns;     /* of the last step; 0: none */
	bool agrees, differs;  /* batches since the last step did */
	bool disputed;         /* the last batches with a time differed */
	int64_t agreed_ns;     /* steady: they agree since then; 0: not */
	int64_t agreed_offset; /* wall minus steady clock, then */
	enum store_clock_doubt doubt;
};

/* A batch of another node arrived at `receive_ns` and left at `sent_ns` by the
 * clock of its sender. */
void store_clock_hear(struct store_clock *clock, int64_t wall_ns,
    int64_t receive_ns, int64_t sent_ns);

/* Advance the noted time, and judge the wall clock by it. */
enum store_clock_doubt store_clock_step(
    struct store_clock *clock, int64_t wall_ns, int64_t steady_ns);

/* How far the wall clock is ahead of the noted time; negative: behind it. */
int64_t store_clock_lead_ns(const struct store_clock *clock, int64_t wall_ns);

/* Take the noted time from the tables, if another process has confirmed the
 * clock or if this is the first call. */
void store_clock_load(struct store_clock *clock, struct db_txn *txn);
/* Put the noted time into the tables; after the commit call
 * store_clock_saved. */
void store_clock_save(const struct store_clock *clock, struct db_txn *txn);
void store_clock_saved(struct store_clock *clock);
/* Is the time in the tables old? */
bool store_clock_is_unsaved(const struct store_clock *clock);

/* Write to the tables that the wall clock is right. */
void store_clock_confirm(struct db_txn *txn, int64_t wall_ns);

#endif
