/*
 * scanner_job - a profiled Scanner job, as stored (proto/record/scanner.h):
 * its nodes and threads, sorted.
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

/* Start to read the entities of one kind of the job. */
int scanner_job_select(const struct scanner_job *job, struct source *source,
    struct text partition, const char *kind, struct err *err);
/* Like source_next, for entities of the job only; sets `numbers` to the numbers
 * in the id, of which there are `levels`. */
int scanner_job_next(const struct scanner_job *job, struct source *source,
    struct record *record, uint32_t *numbers, uint32_t levels, struct err *err);

/* The thread with these numbers (node, order), or NULL. */
const struct scanner_job_thread *scanner_job_thread(
    const struct scanner_job *job, const uint32_t numbers[static 2]);

#endif
