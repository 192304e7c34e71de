/*
 * nodes - which nodes of a pool are heard, and what is wrong with the others.
 *
 * The last sample of a node says when it was heard, how much its agent has not
 * sent yet, and how far its clock is off.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NODES_H
#define EXPORTERS_NODES_NODES_H

#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

enum nodes_sort {
	NODES_BY_STATE, /* the worst first */
	NODES_BY_NAME,
	NODES_BY_HEARD, /* the longest silence first */
	NODES_BY_SPOOL, /* the fullest first */
	NODES_BY_CLOCK, /* the furthest off first */
};

struct nodes_options {
	struct text node; /* pattern; empty: all */
	int64_t from_ns;  /* nodes that were heard from then on */
	enum nodes_sort sort;
};

/* Print a row for each node.  `*status` is what a monitor expects: 0 all is
 * well, 1 something needs attention, 2 a node is silent or gone.  -1 also when
 * no node was heard. */
int nodes_print(struct source *source, struct text partition,
    const struct nodes_options *options, enum stats_format format, FILE *file,
    int *status, struct err *err);

#endif
