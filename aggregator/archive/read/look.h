/*
 * look - which partitions an archive has, and whether what was read of them is
 * old; for all readers next to each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_LOOK_H
#define AGGREGATOR_ARCHIVE_READ_LOOK_H

#include "aggregator/archive/read/fetch.h"
#include "aggregator/tables/tables.h"
#include "proto/base/arena.h"

struct look_partition {
	struct text name;
	uint64_t part;
	uint64_t pos;       /* of its last change */
	uint64_t committed; /* the position of the last commit */
	struct partition_counts counts;
	int64_t kept_hour; /* what is before it may be deleted */
	int64_t kept_ns;   /* monotonic: when it changed last */
	uint64_t version;  /* another one: what was read of it is old */
	bool is_found;     /* at this look */
	/* It was committed, and no replica has its row: it is not answered. */
	bool is_lost;
};

struct look {
	/* Those that were there keep their places. */
	struct look_partition *at;
	uint32_t count, room;
	uint64_t versions; /* given so far */
};

/* Look again, after clickhouse_find.  `next` gets what there is now; texts are
 * in the arena.  -1: nothing of it counts. */
int look_again(const struct look *before, struct look *next,
    struct fetch *fetch, struct arena *texts, struct err *err);
void look_clear(struct look *look);
/* -1: the sentence of a partition that is lost. */
int look_refuse(struct text name, struct err *err);

#endif
