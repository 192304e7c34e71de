/*
 * position - when something was sent to the archive: an epoch, and the number
 * of a change in its store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_POSITION_H
#define AGGREGATOR_ARCHIVE_ROWS_POSITION_H

#include <stdint.h>

/* The position in the archive of a change of an epoch. */
enum { PASS_CHANGE_BITS = 48 };
static inline uint64_t
pass_position(uint32_t epoch, uint64_t change)
{
	return (uint64_t)epoch << PASS_CHANGE_BITS | change;
}
static inline uint32_t
pass_epoch(uint64_t position)
{
	return (uint32_t)(position >> PASS_CHANGE_BITS);
}

static inline uint64_t
pass_change(uint64_t position)
{
	return position & ((UINT64_C(1) << PASS_CHANGE_BITS) - 1);
}

/* A place in the history of the store. */
struct pass_place {
	uint64_t change; /* marks up to this number were sent */
	uint32_t row;    /* and row blocks */
	uint64_t entry;  /* entries of the journal that these contain */
};

#endif
