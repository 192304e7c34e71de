/*
 * scanner_job - a profiled job of Scanner as the store has it
 * (proto/record/scanner.h): its nodes and threads, in their order.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SCANNER_JOB_H
#define EXPORTERS_TRACE_SCANNER_JOB_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"
#include "proto/record/scanner.h"

struct scanner_job_node {
	struct text name;
	int64_t worker; /* -1: the master */
	int64_t begin_ns, end_ns, intervals, damaged;
	uint32_t first, threads; /* of the job's threads */
};

struct scanner_job_thread {
	uint32_t node, order;
	enum scanner_role role;
	struct text track, name;
	int64_t sort, intervals;
	int64_t first_ns, last_ns; /* least and greatest begin of them */
};

struct scanner_job {
	struct session_id session; /* whose records are the job's */
	struct text id, name;      /* name: may be empty */
	int64_t base_ns, begin_ns, end_ns, intervals, damaged;
	struct text damage; /* lines; may be empty */
	struct scanner_job_node *nodes;
	struct scanner_job_thread *threads;
	uint32_t node_count, node_room, thread_count, thread_room;
	struct string_table texts;
};

/* The job of this id, else of this name.  -1 also when there is none, or more
 * than one of that name. */
int scanner_job_read(struct scanner_job *job, struct source *source,
    struct text partition, const char *which, struct err *err);
void scanner_job_clear(struct scanner_job *job);

/* Begin to read the job's entities of a kind. */
int scanner_job_select(const struct scanner_job *job, struct source *source,
    struct text partition, const char *kind, struct err *err);
/* As source_next, those of the job alone; `place` is the numbers in the id,
 * as many as `levels`. */
int scanner_job_next(const struct scanner_job *job, struct source *source,
    struct record *record, uint32_t *place, uint32_t levels, struct err *err);

/* The thread at a place (node, order), or NULL. */
const struct scanner_job_thread *scanner_job_thread(
    const struct scanner_job *job, const uint32_t place[static 2]);

#endif
