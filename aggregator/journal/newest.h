/*
 * newest - the newest journal entry of each partition, for other threads.
 *
 * Partitions share a bounded number of places, so the answer may be the entry
 * of another partition, but never one that is too old.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_NEWEST_H
#define AGGREGATOR_JOURNAL_NEWEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum { NEWEST_PLACES = 256 };

struct newest {
	_Atomic uint64_t number[NEWEST_PLACES];
	bool touched[NEWEST_PLACES]; /* by the open transaction */
};

/* `last`: the last entry; that of every partition may be it. */
void newest_init(struct newest *newest, uint64_t last);
/* The open transaction has an entry of the partition. */
void newest_touch(struct newest *newest, struct text partition);
/* It was committed, and `last` is now the last entry; or it has failed. */
void newest_committed(struct newest *newest, uint64_t last);
void newest_failed(struct newest *newest);

/* No entry of the partition is newer.  From any thread. */
uint64_t newest_get(const struct newest *newest, struct text partition);

#endif
