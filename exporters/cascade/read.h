/*
 * cascade_read - read the startup of a partition from a source.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_READ_H
#define EXPORTERS_CASCADE_READ_H

#include "exporters/cascade/cascade.h"
#include "exporters/source/source.h"
#include "proto/base/err.h"

/* The nodes that started in this time; TIME_MIN_NS, TIME_MAX_NS: all nodes,
 * also those whose start is not known. */
struct cascade_window {
	int64_t from_ns, to_ns;
};

/* Fill and finish an initialized cascade.  -1 also when there is no node: "no
 * cascade events of partition ... in ...".  What a node did before the window
 * does not count: it may have started before, too. */
int cascade_read(struct cascade *cascade, struct source *source,
    struct text partition, const struct cascade_window *window,
    struct err *err);

#endif
