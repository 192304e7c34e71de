/*
 * now - what is now of a partition that is watched: its nodes, the statistics
 * of its phases, the states of its runs, what the store has of it.
 *
 * The numbers are those that the commands print (node_states.h, phase_rows.h,
 * partition_rows.h), and are read by the same code.  A poll asks
 * one small question: which journal entry brought the partition its last
 * record.  Not the journal itself is followed, because it is ahead of the
 * tables that the numbers come from.  Only when something came they are read
 * again, and at the earliest after NOW_REST times as long as the last reading
 * took, but not later than NOW_REST_MAX_NS, so that a watcher takes a small
 * part of a processor and is not far behind on a busy machine.  The age of
 * nodes needs no reading.  Nodes are judged as of the last time at which all
 * that had come was read: a node is not late because its record is not read, or
 * not indexed, or because the source does not answer.
 *
 * Memory: some 600 bytes for each node, of at most NODE_STATES_MAX, and 500 for
 * each of at most NOW_PHASES_MAX phases; node_usage.h has
 * theirs.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NOW_H
#define EXPORTERS_NODES_NOW_H

#include <stdint.h>

#include "exporters/nodes/node_states.h"
#include "exporters/nodes/node_usage.h"
#include "exporters/nodes/partition_rows.h"
#include "exporters/phases/phase_rows.h"
#include "exporters/source/source.h"
#include "exporters/source/starts.h"
#include "proto/hash/string_table.h"
#include "proto/record/run.h"

/* The newest runs of a model, with the durations of their steps. */
enum { NEWEST_STEPS_MAX = 12 };

struct newest_run {
	struct text id, group;
	enum run_state state;
	bool is_error;
	int64_t begin_ns; /* INT64_MIN: unknown */
	/* Seconds, iterations added up; NaN: it does not have the step. */
	double steps[NEWEST_STEPS_MAX];
};

struct newest_runs {
	struct string_table texts;
	struct text steps[NEWEST_STEPS_MAX]; /* names */
	uint32_t step_count;
	struct newest_run *at; /* the newest first */
	uint32_t count;
};

/* Read at most `most` runs.  A partition without runs has none.  Clear it in
 * any case. */
int newest_runs_read(struct newest_runs *newest, struct source *source,
    struct text partition, const char *model, uint32_t most, struct err *err);
void newest_runs_clear(struct newest_runs *newest);

/* How many test runs of each group are in which state, of every model whose
 * runs the partition has; exporters/runs/groups.h computes the numbers. */
enum { RUN_GROUPS_MAX = 1000, RUN_GROUPS_STATES = RUN_STATES + 1 };

/* The words of the states; the last one: ended with an error. */
extern const char *const run_groups_states[RUN_GROUPS_STATES];

struct run_group {
	/* "(unknown)": of runs without a description.  "_other": of all groups
	 * beyond RUN_GROUPS_MAX of a partition. */
	struct text model, group;
	uint64_t runs[RUN_GROUPS_STATES];
};

struct run_groups {
	struct run_group *at; /* in the order of their appearance */
	uint32_t count, room;
	struct string_table keys;
};

struct now; /* opaque */

enum { NOW_REST = 20, NOW_PHASES_MAX = 1 << 16 };
#define NOW_REST_MAX_NS (10 * INT64_C(1000000000))

enum now_part {
	NOW_PARTITION = 1 << 0, /* always read */
	NOW_NODES = 1 << 1,
	NOW_PHASES = 1 << 2,
	NOW_RUNS = 1 << 3, /* needs NOW_PHASES */
	NOW_USAGE = 1 << 4,
	/* Reported as changed whenever it was read. */
	NOW_OPEN = 1 << 5,
	/* With NOW_USAGE: USAGE_LAST instead of USAGE_MEAN. */
	NOW_USAGE_LAST = 1 << 6,
	/* With when each node was ready; never reported as changed. */
	NOW_START = 1 << 7,
	/* With NOW_PHASES and NOW_START: those of the newest start, if there
	 * are several. */
	NOW_PHASES_NEWEST = 1 << 8,
};
/* The first parts: what changed is known by the sums of their numbers. */
enum { NOW_SUMMED = 5 };

/* Watch these parts of a partition.  Several may share a source, which must
 * outlive them, and be used for other questions between polls. */
struct now *now_new(
    struct source *source, struct text partition, unsigned parts);
void now_free(struct now **now);

/* Read again at the earliest after this many times as long as the last reading
 * took, instead of NOW_REST. */
void now_set_rest(struct now *now, unsigned rest);

/* Bring it up to the time `now_ns` (wall clock).  `*changed`: the parts whose
 * numbers are others than before, apart from ages.  -1: the source did not
 * answer; the numbers are those of before (the first time: none), and another
 * poll may succeed. */
int now_poll(
    struct now *now, int64_t now_ns, unsigned *changed, struct err *err);

/* Has something come that is not read yet, because the last reading was just
 * now?  Then poll again at this time of the monotonic clock. */
bool now_is_behind(const struct now *now, int64_t *next_ns);

/* As it was given to now_new. */
struct text now_name(const struct now *now);

/* Up to when it is known what came (wall clock): ages and conditions of nodes
 * are as of then. */
int64_t now_known_ns(const struct now *now);

/* Views, valid until the next poll. */
/* Its name is empty as long as the source does not have the partition. */
const struct partition_row *now_partition(const struct now *now);
const struct node_states *now_nodes(const struct now *now);
const struct open_phases *now_open(const struct now *now);
/* In the order of the store. */
const struct phase_row *now_phases(const struct now *now, uint32_t *count);
const struct run_groups *now_runs(const struct now *now);
const struct node_usages *now_usages(const struct now *now);
/* The newest start of the pool; NULL: no node has begun, by its models. */
const struct start *now_start(const struct now *now);
/* When the node was ready after it began last; START_UNKNOWN: it is not, or
 * nothing says that it began. */
int64_t now_ready_ns(const struct now *now, struct text node);

#endif
