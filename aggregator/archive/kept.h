/*
 * kept - from which hour on an archive keeps records.
 *
 * Rows of table meta: `kept_from` for all partitions, `kept_from:PART` for one.
 * The value is the first hour (of 1970) whose records are kept; it only rises,
 * so of several rows the highest counts.  And the TTL of the tables of records,
 * which says what the servers delete by themselves (schema/ttl.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_KEPT_H
#define AGGREGATOR_ARCHIVE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

struct kept_part {
	uint64_t part; /* 0: all */
	int64_t hour;
};

struct kept {
	struct kept_part *part; /* in the order of their numbers */
	uint32_t parts, room;
	int64_t ttl_hour; /* of all partitions, by TTL; INT64_MIN: none */
};

/* What one replica has counts; a shard of which none answers is an error. */
int kept_read(struct kept *kept, struct clickhouse *client, struct err *err);
void kept_clear(struct kept *kept);

/* The first hour of a partition that is kept; INT64_MIN: all are. */
int64_t kept_from(const struct kept *kept, uint64_t part);
/* Nothing is deleted of any partition. */
bool kept_is_all(const struct kept *kept);

/* Note that records of hours before `hour` are not kept (part 0: of all
 * partitions), on one replica of each shard.  Does nothing if a later hour is
 * noted. */
int kept_write(
    struct clickhouse *client, uint64_t part, int64_t hour, struct err *err);

#endif
