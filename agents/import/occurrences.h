/*
 * import_occurrences - counts how often a row has been seen in an input.
 *
 * The store keeps equal rows of all imports once, so that a file may be
 * imported again after it has grown.  The second of two equal rows within one
 * file is a row of its own: the number of the occurrence distinguishes them.
 * Rows are distinguished by a hash of 64 bits.  After IMPORT_OCCURRENCES_MAX
 * different rows no further ones are remembered.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_OCCURRENCES_H
#define AGENTS_IMPORT_OCCURRENCES_H

#include <stdint.h>

enum { IMPORT_OCCURRENCES_MAX = 12 << 20 }; /* 256 MiB */

/* All zeros: empty. */
struct import_occurrences {
	struct import_occurrence {
		uint64_t hash; /* 0: free */
		uint64_t count;
	} * at;
	uint32_t count, room; /* room: a power of two */
};

/* Count this row; returns how often it was seen before. */
uint64_t import_occurrences_add(
    struct import_occurrences *occurrences, uint64_t hash);
void import_occurrences_clear(struct import_occurrences *occurrences);

#endif
