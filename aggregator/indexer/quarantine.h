/*
 * quarantine - give up a batch that crashed the indexer three times, or an
 * hour whose compaction did.
 *
 * Without it, one batch that meets a bug of ours would crash every start.
 * When the writer thread dies of a signal that it caused itself (SEGV, BUS,
 * FPE, ILL, ABRT), a handler writes the journal entries that it was working on
 * to a file of the store, or the hour to another one.  After the
 * next start these entries are indexed one per transaction, to find the one at
 * fault.  After its third crash it becomes a rejected batch without being
 * decoded.  A kill from outside writes no note and has no effect.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_QUARANTINE_H
#define AGGREGATOR_INDEXER_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { QUARANTINE_CRASHES = 3 };

struct quarantine {
	int fd;               /* of the file; -1: closed */
	uint64_t first, last; /* suspected entries; 0: none */
	uint64_t crashes;
};

/* The files, in the folder of the store. */
#define QUARANTINE_INDEXER "crashed_entry"
#define QUARANTINE_COMPACT "crashed_hour"

/* `file`: QUARANTINE_INDEXER or QUARANTINE_COMPACT. */
int quarantine_open(struct quarantine *quarantine, const char *store,
    const char *file, struct err *err);
void quarantine_close(struct quarantine *quarantine);

/* Must `number` have a transaction of its own? */
bool quarantine_suspects(const struct quarantine *quarantine, uint64_t number);
/* Has `number` alone crashed the indexer too often? */
bool quarantine_gives_up(const struct quarantine *quarantine, uint64_t number);

/* This thread works on entries first..last from now on.  Call again to
 * extend. */
void quarantine_enter(
    const struct quarantine *quarantine, uint64_t first, uint64_t last);
/* The work is done: all entries up to `reached` are in the tables. */
void quarantine_leave(struct quarantine *quarantine, uint64_t reached);

/* Install the signal handlers, once for the process; restore the previous
 * ones. */
void quarantine_watch(void);
void quarantine_unwatch(void);

#endif
