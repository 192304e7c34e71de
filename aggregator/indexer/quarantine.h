/*
 * quarantine - a batch that crashes the indexer is given up after three times,
 * and so is an hour that crashes its sealing.
 *
 * Without it one batch that meets a bug of ours would crash every start.  When
 * the thread that folds dies of a signal of its own making (SEGV, BUS, FPE,
 * ILL, ABRT), a handler notes in STORE/quarantine which entries of the journal
 * it was at, or in STORE/quarantine_compact which hour.  After the next start
 * entries are taken one a transaction, so that the culprit is found; the third
 * crash makes it a dead letter, unread.  A kill from outside leaves no note and
 * costs nothing. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_QUARANTINE_H
#define AGGREGATOR_INDEXER_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { QUARANTINE_CRASHES = 3 };

struct quarantine {
	int fd;               /* of the note; -1: closed */
	uint64_t first, last; /* suspected entries; 0: none */
	uint64_t crashes;
};

#define QUARANTINE_INDEXER "poison"
#define QUARANTINE_COMPACT "poison_seal"

/* `file`: one of those. */
int quarantine_open(struct quarantine *quarantine, const char *store,
    const char *file, struct err *err);
void quarantine_close(struct quarantine *quarantine);

/* Must `number` be in a transaction of its own? */
bool quarantine_suspects(const struct quarantine *quarantine, uint64_t number);
/* Has it crashed us too often? */
bool quarantine_convicts(const struct quarantine *quarantine, uint64_t number);

/* This thread works at entries first..last from now on; again to extend. */
void quarantine_enter(
    const struct quarantine *quarantine, uint64_t first, uint64_t last);
/* The work is done; all up to `reached` is in the tables. */
void quarantine_leave(struct quarantine *quarantine, uint64_t reached);

/* Install the handlers, once in the process; and put the old ones back. */
void quarantine_watch(void);
void quarantine_unwatch(void);

#endif
