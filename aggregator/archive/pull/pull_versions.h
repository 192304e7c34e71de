/*
 * pull_versions - the newest version of each row, of an answer that has all of
 * them in the order of the keys, the newest first.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_VERSIONS_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/pull/pull_sum.h"
#include "proto/base/buffer.h"
#include "proto/base/text.h"

struct pull_versions {
	struct buffer key; /* of the last row; empty: none yet */
	uint64_t pos;      /* of that row */
	struct pull_sum sum;
};

enum pull_version {
	PULL_NEWEST, /* use this one */
	PULL_OLDER,  /* the row was there already */
	PULL_WRONG,  /* not in order */
};

/* The next row of the answer. */
enum pull_version pull_versions_next(
    struct pull_versions *versions, struct text key, uint64_t pos);
void pull_versions_clear(struct pull_versions *versions);

#endif
