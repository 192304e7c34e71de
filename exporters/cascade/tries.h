/*
 * cascade_tries - which try of its start each node is shown with.
 *
 * A node may begin more than once: it reboots, or its pool is created again.
 * A try is what it did from one nodeprep:start until the next one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_TRIES_H
#define EXPORTERS_CASCADE_TRIES_H

#include "exporters/cascade/cascade.h"

/* Of each node keep the pairs of the newest try that began in [from_ns, to_ns),
 * and of earlier ones since from_ns the starts without an end; set `once` and
 * the counts of `run`.  Nodes without such a try are removed, unless the times
 * are TIME_MIN_NS and TIME_MAX_NS: then all of their pairs are kept. */
void cascade_choose_tries(
    struct cascade *cascade, int64_t from_ns, int64_t to_ns);

#endif
