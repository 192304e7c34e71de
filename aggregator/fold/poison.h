/*
 * poison - a batch that crashes the fold is given up after three times, and so
 * is an hour that crashes its sealing.
 *
 * Without it one batch that meets a bug of ours would crash every start.  When
 * the thread that folds dies of a signal of its own making (SEGV, BUS, FPE,
 * ILL, ABRT), a handler notes in STORE/poison which entries of the journal it
 * was at, or in STORE/poison_seal which hour.  After the next start entries are
 * taken one a transaction, so that the culprit is found; the third crash makes
 * it a dead letter, unread.  A kill from outside leaves no note and costs
 * nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_FOLD_POISON_H
#define AGGREGATOR_FOLD_POISON_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { POISON_CRASHES = 3 };

struct poison {
	int fd;               /* of the note; -1: closed */
	uint64_t first, last; /* suspected entries; 0: none */
	uint64_t crashes;
};

#define POISON_FOLD "poison"
#define POISON_SEAL "poison_seal"

/* `file`: one of those. */
int poison_open(struct poison *poison, const char *store, const char *file,
    struct err *err);
void poison_close(struct poison *poison);

/* Must `number` be in a transaction of its own? */
bool poison_suspects(const struct poison *poison, uint64_t number);
/* Has it crashed us too often? */
bool poison_convicts(const struct poison *poison, uint64_t number);

/* This thread works at entries first..last from now on; again to extend. */
void poison_enter(const struct poison *poison, uint64_t first, uint64_t last);
/* The work is done; all up to `reached` is in the tables. */
void poison_leave(struct poison *poison, uint64_t reached);

/* Install the handlers, once in the process; and put the old ones back. */
void poison_watch(void);
void poison_unwatch(void);

#endif
