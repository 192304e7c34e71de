/*
 * critical_bytes - how many bytes the phases of a start moved, and what a byte
 * cost.
 *
 * A model says which attribute has the bytes of a phase (poolscope-model(5),
 * bytes).  A phase without it has those of another one of its key: an image is
 * of one size, whoever pulls or loads it.
 *
 * How long a byte takes is the median of (d2 - d1) / (b2 - b1) over all pairs
 * of phases of one name on one node, with lengths d and bytes b: Theil (1950)
 * and Sen (1968), with each node as a stratum of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CRITICAL_BYTES_H
#define EXPORTERS_CRITICAL_BYTES_H

#include "exporters/critical/start.h"

struct critical_bytes {
	double *at; /* as in critical_waits; NaN: unknown */
};

/* What the attribute says, in bytes; NaN: it is not there, or no size. */
double critical_bytes_of(const struct record *record, const char *attribute);

/* The phases of the start that begin before `to_ns`.  Clear it in any case. */
int critical_bytes_read(struct critical_bytes *bytes,
    const struct critical_start *of, struct source *source,
    struct text partition, const struct start *start, int64_t to_ns,
    struct err *err);
void critical_bytes_clear(struct critical_bytes *bytes);

/* Of a phase, ns a byte; NaN: no node moved two different numbers of them. */
double critical_bytes_cost(const struct critical_bytes *bytes,
    const struct critical_waits *waits, uint32_t phase);

/* The most bytes a nanosecond that all of a phase moved together in 10 s, if
 * each moves its own evenly; NaN: none moved any. */
double critical_bytes_most(const struct critical_bytes *bytes,
    const struct critical_waits *waits, uint32_t phase);

#endif
