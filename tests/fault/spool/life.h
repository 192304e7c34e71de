/*
 * life - one spool while it is open, and what its ledger has to know of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SPOOL_LIFE_H
#define TESTS_FAULT_SPOOL_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/fault/spool/ledger.h"

struct life {
	struct ledger *ledger;
	struct spool *spool;
	const char *dir;
	uint64_t *random;
	uint64_t pending[64]; /* facts since the last commit, by index */
	uint32_t pending_count;
	int64_t now_ns;
};

/* Did the disk, or the kill, give a reason for what went wrong? */
bool life_is_excused(void);
/* The spool broke a promise while it was running: ends the process. */
void life_die(const char *what, const struct err *err);

/* Open the spool, after failures and kills until it is open. */
void life_open(struct life *life);
/* What can be read may have been sent: from here on it must stay.  Batches
 * that were moved since `begun` get their place. */
void life_accept_readable(struct life *life, uint64_t begun);

#endif
