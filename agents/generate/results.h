/*
 * generate_results - generates results of benchmarks, as TestResults files.
 *
 * The same seed gives the same results on every machine (proto/hash/prng.h).
 * The tests alternate, one round every `spacing_s` seconds; only the first
 * entry of the first test takes an eighth longer in the last third of the
 * rounds.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_RESULTS_H
#define AGENTS_GENERATE_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { GENERATE_ENTRIES_MAX = 65536 }; /* of a file */

struct generate_results {
	uint64_t seed, files, entries, tests; /* only the seed may be 0 */
	uint64_t spacing_s;                   /* not 0 */
	int64_t base_s;                       /* first start, since the epoch */
};

/* The base with which the last round ends at `end_s`. */
int generate_results_base(
    struct generate_results *results, int64_t end_s, struct err *err);
/* Are all times within the range that a record can have? */
int generate_results_check(
    const struct generate_results *results, struct err *err);

/* Write one file for each result to `dir`, which is created if necessary.  Its
 * name is test and start, as benchmarks name theirs.  It appears complete,
 * with the end of its run as modification time; an existing file is an error
 * and is not changed. */
int generate_results(const struct generate_results *results, const char *dir,
    bool progress, struct err *err);

#endif
