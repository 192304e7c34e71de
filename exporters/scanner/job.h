/*
 * job - a job of Scanner, read from the store, and sums over its spans.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SCANNER_JOB_H
#define EXPORTERS_SCANNER_JOB_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"
#include "proto/record/scanner.h"

struct scanner_job_node {
	struct text name;
	int64_t worker; /* -1: the master */
	int64_t begin_ns, end_ns, intervals, damaged;
	uint32_t first, threads; /* indexes into the threads of the job */
};

struct scanner_job_thread {
	uint32_t node, order;
	enum scanner_role role;
	struct text track, name;
	int64_t sort, intervals;
	int64_t first_ns, last_ns; /* range of their begins */
};

struct scanner_job {
	struct session_id session; /* value of attribute job in its records */
	struct text id, name;      /* may be empty */
	int64_t base_ns, begin_ns, end_ns, intervals, damaged;
	struct text damage; /* lines; may be empty */
	struct scanner_job_node *nodes;
	struct scanner_job_thread *threads;
	uint32_t node_count, node_room, thread_count, thread_room;
	struct string_table texts;
};

/* Find the job with this id, else with this name.  -1 also when there is none,
 * or more than one with that name. */
int scanner_job_read(struct scanner_job *job, struct source *source,
    struct text partition, const char *which, struct err *err);
void scanner_job_clear(struct scanner_job *job);

/* The thread with these numbers (node, order), or NULL. */
const struct scanner_job_thread *scanner_job_thread(
    const struct scanner_job *job, const uint32_t numbers[static 2]);

/*
 * Sums of the intervals and counters of a job, for each group
 * of threads (process_job, load, eval, save, master) of each node, and of all
 * workers.
 */

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
