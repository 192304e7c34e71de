/*
 * stats_status - what is known of a store and its services, and what it means.
 *
 * They answer SOURCE_STATUS with their counters (proto/counter).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_STATUS_H
#define EXPORTERS_NODES_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/counter/counter.h"
#include "proto/record/record.h"

/*
 * What the counters of a store and its services mean.
 *
 * What is wrong now, or was lost, is a warning: a broker that ran and does not,
 * nodes that need attention, batches that were rejected.  Counters of what was
 * refused or repeated grow in normal operation, and a busy second is no
 * failure.  Which counter is a problem as such is in the table of all
 * (proto/counter).
 */

/*
 * What the files of an agent's spool say to whoever may read them.
 *
 * The agent writes what it accepts into segments, and into ACKED what the
 * aggregator has acknowledged, at most some seconds later (proto/spool.md).  So
 * a segment that was written long after ACKED has what nobody has acknowledged
 * for at least so long.
 */

struct status_spool {
	int64_t bytes;      /* of its segments, which have full size from the
			       first record on */
	int64_t unacked_ns; /* how long before the newest record something was
			       acknowledged; 0: just before, or none is there */
};

enum status_service {
	SERVICE_UNASKED, /* of another instance */
	SERVICE_STOPPED,
	SERVICE_SILENT, /* listens, but does not answer */
	SERVICE_RUNNING,
};

enum { STATUS_PROBLEM_BYTES = 256, STATUS_TEXTS = 4 };

struct status_facts {
	enum status_service aggregator, broker;
	bool broker_died; /* its socket is left */
	bool broker_ran;  /* poolscope up began one */
	/* The instance has an agent and no store: a node.  What its agent has
	 * not sent is in the spool. */
	bool is_node;
	enum status_service agent;
	bool has_spool; /* it can be read */
	struct status_spool spool;
	/* Nodes that need attention, of pools that are not at rest, and why, as
	 * words; a partition of them, and of how many others. */
	int64_t nodes_attended, pools_attended;
	char attended_why[STATUS_PROBLEM_BYTES];
	char attended_partition[STATUS_PROBLEM_BYTES];
	int64_t newest_ns; /* record of all partitions; 0: none */
	int64_t stores;    /* the sums are those of all; 0: none answered */
	/* Of all stores: sums; of times and durations the greatest, but of a
	 * gateways the oldest time up to which one has read it. */
	int64_t counters[COUNTERS];
	bool is_known[COUNTERS];
	/* The first texts NAME_problem. */
	struct {
		enum counter_number of;
		char text[STATUS_PROBLEM_BYTES];
	} texts[STATUS_TEXTS];
	uint32_t text_count;
};

/* What is wrong, and what is known of each part. */
struct status_line {
	enum verdict verdict; /* of a problem */
	const char *key;      /* of a problem; or the part */
	const char *state;    /* of a part: "running"; NULL: it has none */
	char *text;
};
struct status_lines {
	struct status_line *at;
	uint32_t count, room;
};
struct status_verdict {
	enum verdict verdict;
	struct status_lines problems; /* the worst first */
	struct status_lines parts;
};
/* Clear it. */
void status_judge(
    struct status_verdict *verdict, const struct status_facts *facts);
void status_verdict_clear(struct status_verdict *verdict);

/* "ok", "warning", "critical" */
const char *verdict_word(enum verdict verdict);
/* The worst problem, or that all is well. */
const char *status_verdict_words(
    const struct status_verdict *verdict, const struct status_facts *facts);

/* What is known of the source, and of the broker when it is the instance of
 * --dir; NULL: it could not be opened.  `limit` is that of source_limit: not
 * NULL, only sums of what is in these partitions.  -1 when it did not answer;
 * `facts` have that, too. */
int status_facts_read(struct status_facts *facts, struct source *source,
    const struct source_options *options, const char *limit, struct err *err);

/* Give the records of the source that are not of a partition; with the counters
 * of the broker, if it is the instance of --dir and its broker runs. */
int status_each(struct source *source, const struct source_options *options,
    void (*on_record)(
	void *arg, const struct record *record, struct text place),
    void *arg, struct err *err);

#endif
