/*
 * nth - the n-th operation of the disk, or the n-th allocation, fails.
 *
 * shim.c stands between the program and the C library; a scenario is run with
 * one fault, in a process of its own, and judged without any in another.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_NTH_NTH_H
#define TESTS_FAULT_NTH_NTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum nth_how {
	NTH_EIO,
	NTH_ENOSPC,
	NTH_EINTR, /* writes only: nothing was done, try again */
	NTH_SHORT, /* writes only: half of it is done */
	NTH_MALLOC,
	NTH_HOWS
};

/* From now on the n-th fails; with `sticky` all behind it, too. */
void nth_arm(enum nth_how how, uint64_t n, bool sticky);
void nth_disarm(void);
/* Let allocations be for a while: others' code is at work. */
void nth_spare_malloc(bool spare);
bool nth_was_hit(void);
/* Where else it is to be reported; stays. */
void nth_tell(atomic_bool *hit);
/* Can allocations be made to fail here?  Not under a sanitizer. */
bool nth_has_malloc(void);

enum { NTH_IDS = 64, NTH_STREAMS = 3 };

/* What was promised, in memory that outlives the process. */
struct nth_ledger {
	bool hit;
	bool submitted[NTH_IDS], accepted[NTH_IDS]; /* spool: by content */
	bool excused[NTH_IDS]; /* acknowledged, or refused */
	uint64_t sent[NTH_STREAMS], stored[NTH_STREAMS]; /* journal: numbers */
	uint64_t records;                                /* indexer */
};

struct nth_scenario {
	const char *name;
	/* Without faults; may be NULL. */
	void (*prepare)(const char *dir, struct nth_ledger *ledger);
	/* With them: 0, or -1 when it had to give up. */
	int (*run)(const char *dir, struct nth_ledger *ledger);
	/* Without: is everything there, once, and does it go on? */
	bool (*judge)(const char *dir, const struct nth_ledger *ledger);
};

extern const struct nth_scenario nth_spool, nth_journal, nth_indexer;

/* A sentence on standard error, and false. */
bool nth_wrong(const char *what, uint64_t got, uint64_t wanted);

#endif
