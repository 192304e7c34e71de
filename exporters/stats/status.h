/*
 * stats_status - what is known of a store and its services.
 *
 * They answer SOURCE_STATUS with their counters (proto/counter).  What these
 * mean together is status_verdict.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_H
#define EXPORTERS_STATS_STATUS_H

#include "exporters/source/source.h"
#include "exporters/stats/status_verdict.h"

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
