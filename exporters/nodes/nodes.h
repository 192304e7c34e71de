/*
 * nodes - print which nodes of a pool are heard, and what is wrong with the
 * others.  node_states.h judges them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NODES_H
#define EXPORTERS_NODES_NODES_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

struct nodes_options {
	struct text node; /* list; empty: all */
	int64_t from_ns;  /* nodes that were heard from then on */
	/* Not sorted: the worst state first. */
	const struct order *order;
};

/* Print a row for each node.  `*status` is what a monitor expects: 0 all is
 * well, 1 something needs attention, 2 a node is silent or gone.  -1 also when
 * no node was heard. */
int nodes_print(struct source *source, struct text partition,
    const struct nodes_options *options, enum stats_format format, FILE *file,
    int *status, struct err *err);

/* What they can be sorted by: of heard the longest silence first, of clock the
 * furthest off. */
extern const char *const nodes_columns[];

#endif
