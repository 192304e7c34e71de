/*
 * used - what counts as used of a node, for all who show it.
 *
 * A processor is busy in all its time but `idle` and `iowait`: the kernel
 * counts processors that wait for I/O apart from those that are idle, and
 * neither does anything.  Used memory is system.memory.usage.used, without
 * buffers and caches.  The network of a node is that of its interfaces which no
 * other one carries: system.network.physical is 0 for the others, and their
 * bytes are counted below them.  An interface of which nothing is known counts.
 * Of disks the agent samples whole ones only, which add up; of several GPUs the
 * one that is used most counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_USED_H
#define EXPORTERS_SAMPLES_USED_H

#include <math.h>

#include "exporters/samples/series.h"
#include "proto/hash/string_table.h"

#define USED_CPUS         "system.cpu.logical.count"
#define USED_IDLE         "system.cpu.time.idle"
#define USED_IOWAIT       "system.cpu.time.iowait"
#define USED_MEMORY       "system.memory.usage.used"
#define USED_LIMIT        "system.memory.limit"
#define USED_PHYSICAL     "system.network.physical"
#define USED_RECEIVED     "system.network.io.receive"
#define USED_SENT         "system.network.io.transmit"
#define USED_DISK_READ    "system.disk.io.read"
#define USED_DISK_WRITTEN "system.disk.io.write"
#define USED_GPU          "hw.gpu.utilization"

/* The share of processors that did something, when of `all` their time they
 * were idle and waited for I/O so long, in any unit.  `iowait` NaN: it is not
 * counted apart.  NaN: unknown. */
static inline double
used_share(double all, double idle, double iowait)
{
	double share = 1 - (idle + (isnan(iowait) ? 0 : iowait)) / all;

	/* Beyond are only edges of time. */
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Can processors have worked these seconds in one?  More is that the host
 * slept, or was moved; half of them more is a matter of when they were read. */
static inline bool
used_is_possible(double seconds, double cpus)
{
	return !(seconds > 1.5 * cpus);
}

/* The interfaces that others carry, from the points of USED_PHYSICAL. */
struct used_carried {
	struct string_table names; /* node, NUL, group */
};

void used_carried_init(struct used_carried *carried);
void used_carried_clear(struct used_carried *carried);
void used_carried_take(struct used_carried *carried,
    const struct series_point *point, double physical);
bool used_carried_has(
    const struct used_carried *carried, const struct series_point *point);

#endif
