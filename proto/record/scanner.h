/*
 * scanner - how a profiled job of Scanner lies in the store: what an import
 * says and exporters read.
 *
 * Intervals are spans: node is the worker's number or "master", track one of
 * "process_job/0", "load/N", "eval/P/pre", "eval/P/eval/G", "eval/P/post",
 * "save/N", "master/0", category the type of the thread.  In a thread they
 * stand in the order of (seq, index).  Around them are entities of one session,
 * that of the spans:
 *
 * scanner         JOB               the job; comes last, so that a job that is
 *                                   there is whole
 * scanner.node    JOB/NODE          a worker or the master
 * scanner.thread  JOB/NODE/THREAD   one of its threads
 * scanner.sums    JOB/NODE/THREAD/PART  lines: what its intervals and counters
 *                                   come to
 *
 * Numbers in ids have five digits, so that their order is that of the file;
 * the master is node 00000, worker N is node N + 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_SCANNER_H
#define PROTO_RECORD_SCANNER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

#define SCANNER_JOB    "scanner"
#define SCANNER_NODE   "scanner.node"
#define SCANNER_THREAD "scanner.thread"
#define SCANNER_SUMS   "scanner.sums"
#define SCANNER_MASTER "master" /* the node's name */

enum {
	SCANNER_WORKERS_MAX = 99998,
	SCANNER_ID_BYTES = 48,
	SCANNER_TRACK_BYTES = 24,
	SCANNER_NAME_BYTES = 64,  /* of a thread */
	SCANNER_LINE_BYTES = 400, /* of sums, with a name of 255 */
	SCANNER_KEYS_MAX = 256,   /* names of intervals of a thread */
};

enum scanner_role {
	SCANNER_PROCESS_JOB,
	SCANNER_LOAD,
	SCANNER_EVAL,
	SCANNER_SAVE,
	SCANNER_IS_MASTER,
	SCANNER_ROLES
};
/* "process_job" ...: the type in the files, the category of the spans. */
extern const char *const scanner_roles[SCANNER_ROLES];

/* How many threads of each role a worker has. */
struct scanner_shape {
	uint8_t readers, pipelines, stages, writers;
};

/* One thread: `position` of its role (reader, pipeline, writer), `stage` in
 * the pipeline; `number` is what the file calls it. */
struct scanner_thread {
	enum scanner_role role;
	uint32_t order; /* in the file, from 0 */
	uint32_t position, stage;
	int64_t number;
};

/* The tag that a thread has in the files. */
const char *scanner_tag(
    const struct scanner_thread *thread, const struct scanner_shape *shape);
void scanner_track(char to[static SCANNER_TRACK_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape);
/* "Reader[3]", "Pipeline[0]:Ops[1]" ... */
void scanner_thread_name(char to[static SCANNER_NAME_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape);
/* Rows of a viewer sort by it: event loop, readers, pipelines, writers. */
uint32_t scanner_thread_sort(
    const struct scanner_thread *thread, const struct scanner_shape *shape);

/* A line of sums: an interval's name, how many there are and their length
 * together; or a counter's name and its value. */
struct scanner_sum {
	bool is_counter;
	uint64_t count;
	double sum_ns;
	int64_t value;
	struct text name;
};
uint32_t scanner_put_sum(
    char to[static SCANNER_LINE_BYTES], const struct scanner_sum *sum);
/* Take the next line off the front of `rest`.  False at the end, and then
 * `rest` is empty unless it is no such line. */
bool scanner_next_sum(struct text *rest, struct scanner_sum *sum);

#endif
