/*
 * top_collector - the thread that reads what the screen shows.
 *
 * It makes a snapshot every second.  Reading again what has changed takes a
 * small part of a processor, however large the pool is: NOW_REST and
 * COLLECTOR_REST.  What only one view shows is read while that one is shown.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_COLLECTOR_H
#define EXPORTERS_TOP_COLLECTOR_H

#include "exporters/source/source.h"
#include "exporters/top/snapshot.h"

struct collector; /* opaque */

enum {
	COLLECTOR_REST = 60,  /* times as long as a reading took */
	COLLECTOR_RUNS = 200, /* the newest that are read */
};

enum collector_part {
	COLLECT_RUNS = 1 << 0,
	COLLECT_POOLS = 1 << 1,
	COLLECT_LINES = 1 << 2,
};

struct collector_options {
	struct source *source; /* belongs to the collector from now on */
	const struct source_options *source_options;
	const char *partition, *model;
	/* Called in its thread after each snapshot. */
	void (*on_snapshot)(void *arg);
	void *arg;
};

int collector_start(struct collector **collector,
    const struct collector_options *options, struct err *err);
/* Ask it to end.  False: it waits for an answer; then the process ends without
 * it. */
bool collector_stop(struct collector **collector);

/* The newest snapshot, if it was not taken yet; NULL: it was. */
struct top_snapshot *collector_take(struct collector *collector);
/* Read these parts from now on (bits). */
void collector_want(struct collector *collector, unsigned parts);
/* Read another partition from now on. */
void collector_change(struct collector *collector, struct text partition);

#endif
