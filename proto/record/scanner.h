/*
 * scanner - how the store represents a profiled job of Scanner: written by the
 * import, read by exporters.
 *
 * Intervals are spans: node is the worker's number or "master", track one of
 * "process_job/0", "load/N", "eval/P/pre", "eval/P/eval/G", "eval/P/post",
 * "save/N", "master/0", category the type of the thread.  The intervals of a
 * thread are in the order of (seq, index).  Entities of the same session
 * describe the job:
 *
 *   scanner         JOB               the job; written last, so a job that
 *                                     exists is complete
 *   scanner.node    JOB/NODE          a worker or the master
 *   scanner.thread  JOB/NODE/THREAD   one of its threads
 *   scanner.sums    JOB/NODE/THREAD/PART  lines: totals of its intervals and
 *                                     counters
 *
 * Numbers in ids have five digits, so that they sort in the order of the file;
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
	SCANNER_LINE_BYTES = 400, /* of sums, with a name of 255 bytes */
	SCANNER_KEYS_MAX = 256,   /* names of the intervals of a thread */
};

enum scanner_role {
	SCANNER_PROCESS_JOB,
	SCANNER_LOAD,
	SCANNER_EVAL,
	SCANNER_SAVE,
	SCANNER_IS_MASTER,
	SCANNER_ROLES
};
/* "process_job" ...: the type in the files and the category of the spans. */
extern const char *const scanner_roles[SCANNER_ROLES];

/* Number of threads of each role in a worker. */
struct scanner_shape {
	uint8_t readers, pipelines, stages, writers;
};

/* One thread: `position` within its role (reader, pipeline, writer), `stage`
 * in the pipeline; `number` is its name in the file. */
struct scanner_thread {
	enum scanner_role role;
	uint32_t order; /* in the file, from 0 */
	uint32_t position, stage;
	int64_t number;
};

/* The tag of a thread in the files. */
const char *scanner_tag(
    const struct scanner_thread *thread, const struct scanner_shape *shape);
void scanner_track(char to[static SCANNER_TRACK_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape);
/* "Reader[3]", "Pipeline[0]:Ops[1]" ... */
void scanner_thread_name(char to[static SCANNER_NAME_BYTES],
    const struct scanner_thread *thread, const struct scanner_shape *shape);
/* The sort key of a viewer's rows: event loop, readers, pipelines, writers. */
uint32_t scanner_thread_sort(
    const struct scanner_thread *thread, const struct scanner_shape *shape);

/* A line of sums: the name of an interval, how many there are and their total
 * length; or the name of a counter and its value. */
struct scanner_sum {
	bool is_counter;
	uint64_t count;
	double sum_ns;
	int64_t value;
	struct text name;
};
uint32_t scanner_put_sum(
    char to[static SCANNER_LINE_BYTES], const struct scanner_sum *sum);
/* Take the next line from the front of `rest`.  False at the end, with `rest`
 * empty, or at something that is not such a line, which stays in `rest`. */
bool scanner_next_sum(struct text *rest, struct scanner_sum *sum);

#endif
