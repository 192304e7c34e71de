/*
 * generate_results - made-up results of benchmarks, as TestResults files.
 *
 * The same for the same seed on every machine (proto/base/prng.h).  The tests
 * take turns, a round every `spacing_s` seconds; the first entry of the first
 * test takes an eighth longer in the last third of the rounds, and so does
 * nothing else.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_RESULTS_H
#define AGENTS_GENERATE_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { GENERATE_ENTRIES_MAX = 65536 }; /* of a file */

struct generate_results {
	uint64_t seed, files, entries, tests; /* none is 0 but the seed */
	uint64_t spacing_s;                   /* not 0 */
	int64_t base_s; /* since the epoch: when the first starts */
};

/* The base from which the last round has ended at `end_s`. */
int generate_results_base(
    struct generate_results *results, int64_t end_s, struct err *err);
/* Are all times within those that can be reported? */
int generate_results_check(
    const struct generate_results *results, struct err *err);

/* Write a file for each result into `dir`, made if it is not there, named as
 * the benchmarks do: test, start.  Each appears whole, last changed when its
 * run ended; one that is there already is not touched, and an error. */
int generate_results(const struct generate_results *results, const char *dir,
    bool progress, struct err *err);

#endif
