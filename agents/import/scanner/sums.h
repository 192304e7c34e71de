/*
 * import_scanner_sums - sums of the intervals and counters of one thread, as
 * lines (proto/record/scanner.h) that are divided into rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_SUMS_H
#define AGENTS_IMPORT_SCANNER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/import/scanner/profile.h"
#include "proto/base/varint.h"

enum { SCANNER_PART_BYTES = 24 << 10 }; /* maximum bytes of lines in a row */

struct import_scanner_sums {
	uint64_t count[SCANNER_KEYS_MAX];
	__int128 sum_ns[SCANNER_KEYS_MAX];
	uint8_t seen[SCANNER_KEYS_MAX]; /* ids, in the order of first use */
	uint32_t keys;
	bool listed;         /* as lines */
	struct buffer lines; /* lines that no row has yet ... */
	size_t reported;     /* ... after these bytes */
	uint32_t part;       /* number of rows */
	uint64_t intervals;
	int64_t first_ns, last_ns; /* earliest and latest begin */
};

/* A thread begins.  Zero it before the first one. */
void import_scanner_sums_begin(struct import_scanner_sums *sums);

/* Add an interval with this id. */
static inline void
import_scanner_sums_add(struct import_scanner_sums *sums, uint8_t id,
    int64_t from_ns, int64_t to_ns)
{
	if (sums->count[id]++ == 0) {
		sums->seen[sums->keys++] = id;
		sums->sum_ns[id] = 0;
	}
	sums->sum_ns[id] += (__int128)to_ns - from_ns;
	if (sums->intervals++ == 0)
		sums->first_ns = sums->last_ns = from_ns;
	if (from_ns < sums->first_ns)
		sums->first_ns = from_ns;
	if (from_ns > sums->last_ns)
		sums->last_ns = from_ns;
}

/* All intervals were added: make their lines.  Call it once. */
void import_scanner_sums_list(
    struct import_scanner_sums *sums, const struct import_profile *profile);
/* Add a line for the counter that was read last, after the intervals. */
void import_scanner_sums_list_counter(
    struct import_scanner_sums *sums, const struct import_profile *profile);

static inline size_t
import_scanner_sums_left(const struct import_scanner_sums *sums)
{
	return sums->lines.bytes - sums->reported;
}

/* Complete lines for another row; a view, valid until the next line. */
struct text import_scanner_sums_take(struct import_scanner_sums *sums);

#endif
