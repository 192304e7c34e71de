/*
 * scanner_sums - sums of the intervals and counters of a job, for each group
 * of threads (process_job, load, eval, save, master) of each node, and of all
 * workers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SCANNER_SUMS_H
#define EXPORTERS_SCANNER_SUMS_H

#include "exporters/scanner/job.h"

enum { SCANNER_DIGITS = 48 };

/* Names in the order of their first use. */
struct scanner_total {
	uint32_t scope; /* 0: all workers; else 1 + the node */
	enum scanner_role role;
	struct text name;
	bool is_interval, is_counter; /* a name may be both */
	uint64_t count;
	double sum_ns;
	__int128 value;
};

struct scanner_sums {
	struct scanner_total *at;
	uint32_t count, room;
	/* The sums of a scope are in [first, last). */
	struct scanner_range {
		uint32_t first, last;
	} * ranges;
	struct string_table keys;
};

int scanner_sums_read(struct scanner_sums *sums, const struct scanner_job *job,
    struct source *source, struct text partition, struct err *err);
void scanner_sums_clear(struct scanner_sums *sums);

/* The next sum of a scope and role, from `*at` on (initially 0); NULL at the
 * end. */
const struct scanner_total *scanner_sums_next(const struct scanner_sums *sums,
    uint32_t scope, enum scanner_role role, uint32_t *at);

const char *scanner_digits(char to[static SCANNER_DIGITS], __int128 value);

#endif
