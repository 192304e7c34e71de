/*
 * stats_status - the state of the store and its services, and what is in it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_H
#define EXPORTERS_STATS_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/stats/status_verdict.h"

/* Query the store or aggregator of the options and, when that is the one of
 * --dir, its broker too (for at most a second), and print the answers: in a
 * table first what is wrong (status_verdict.h), with `verbose` all counters.
 * `add_nodes` adds to the facts what the nodes say (pools.h).  With a table
 * `*status` becomes 0, or 3 with a warning or worse, which is an answer: also
 * that the first does not answer, and why that is is logged.  Else -1 when it
 * did not. */
int stats_status(const struct source_options *options,
    int (*add_nodes)(
	struct status_facts *facts, struct source *source, struct err *err),
    bool json, bool verbose, FILE *file, int *status, struct err *err);
/* The same as JSON, of a source that is open already: a process can have a
 * store open once.  `limit` is that of source_limit: not NULL, only what is in
 * these partitions (status_limited.h). */
int stats_status_json(struct source *source, const char *limit,
    const struct source_options *options, FILE *file, struct err *err);

/* What is known of the source, and of the broker when it is the instance of
 * --dir; NULL: it could not be opened.  -1 when it did not answer; `facts` have
 * that, too. */
int status_facts_read(struct status_facts *facts, struct source *source,
    const struct source_options *options, struct err *err);

#endif
