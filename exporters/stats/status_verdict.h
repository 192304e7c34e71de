/*
 * status_verdict - what the counters of a store and its services mean.
 *
 * What is wrong now, or was lost, is a warning: a broker that ran and does not,
 * nodes that are not heard, batches that were rejected.  Counters of what was
 * refused or repeated grow in normal operation, and a busy second is no
 * failure.  The age of the newest record is printed in any case.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_VERDICT_H
#define EXPORTERS_STATS_STATUS_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/stats/status_spool.h"
#include "proto/counter/counter.h"

enum status_service {
	SERVICE_UNASKED, /* of another instance */
	SERVICE_STOPPED,
	SERVICE_SILENT, /* listens, but does not answer */
	SERVICE_RUNNING,
};

enum { STATUS_PROBLEM_BYTES = 256 };

struct status_facts {
	enum status_service aggregator, broker;
	bool broker_died; /* its socket is left */
	bool broker_ran;  /* poolscope up began one */
	/* A broker of this host brought a batch to the aggregator at this time,
	 * the last one since that started; 0: none. */
	int64_t broker_ns;
	/* The instance has an agent and no store: a node.  What its agent has
	 * not sent is in the spool. */
	bool is_node;
	enum status_service agent;
	bool has_spool; /* it can be read */
	struct status_spool spool;
	bool no_models;
	/* Nodes that are silent or gone, of pools that are not at rest; a
	 * partition of them, and of how many others. */
	int64_t nodes_lost, pools_lost;
	char lost_partition[STATUS_PROBLEM_BYTES];
	int64_t newest_ns; /* record of all partitions; 0: none */
	bool full, index_paused, retention_stopped, insecure, behind;
	double indexing_rate; /* bytes a second */
	bool rebuilding, has_store;
	bool limited;   /* by the key: to some partitions */
	int64_t stores; /* the sums are those of all */
	int64_t damaged, clock_ahead_ns;
	int64_t partitions, nodes, records, bytes, lag, peers, broker_peers;
	int64_t rejected, rejected_bytes, groups_refused;
	/* Of the archive, if an aggregator has one: what it lacks came in the
	 * last N ns; why. */
	bool has_archive, archive_failing, archive_one_copy;
	int64_t archive_lag_ns, archive_lag;
	char full_problem[STATUS_PROBLEM_BYTES];
	char archive_problem[STATUS_PROBLEM_BYTES];
	/* Of a gateway to an archive: the oldest time up to which one has read
	 * it (wall clock), and what fails since then; "": nothing. */
	bool has_mirror;
	int64_t mirror_until_ns;
	char mirror_problem[STATUS_PROBLEM_BYTES];
};

/* Add a record of an answer to the question SOURCE_STATUS, also of several
 * stores. */
void status_facts_take(struct status_facts *facts, const struct record *record);

/* Print the problems, one in a line, the worst first, or that all is well;
 * then the store and the services, a line each.  Returns the worst. */
enum verdict status_verdict_print(const struct status_facts *facts, FILE *file);

/* "12.3 MiB": powers of 1024, as all tables. */
void status_put_bytes(FILE *file, double bytes);
/* "1.5 s", "3.0 d" */
void status_put_time(FILE *file, double ns);

#endif
