/*
 * series_limit - how many series programs may define.
 *
 * A series is a column of a metric group, but for the boot that the others
 * belong to.  What was defined in the last hour counts: for the origin of the
 * group, which is its name up to the last slash, and for all.  Two users, or
 * two partitions, have origins of their own. Built-in groups do not count.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_SERIES_LIMIT_H
#define AGENTS_ACCEPT_SERIES_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	SERIES_LIMIT_ORIGIN = 10000, /* of an origin, however many groups */
	SERIES_LIMIT_ALL = 100000,   /* of all origins */
};

struct series_limit; /* opaque */

void series_limit_new(struct series_limit **limit);
void series_limit_free(struct series_limit **limit);

/* Count a group with this many columns, or that it has more of them, or that it
 * is there still.  -1: one too many, which does not count; the sentence names
 * group and limit. */
int series_limit_take(struct series_limit *limit, uid_t uid,
    struct text partition, struct text group, uint32_t columns, int64_t now_ns,
    struct err *err);

#endif
