/*
 * epochs - the partitions of the archive, and how far each one counts.
 *
 * A row counts up to the last commit of the epoch that wrote it, and up to the
 * end of that epoch if another aggregator has taken over the partition.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_EPOCHS_H
#define AGGREGATOR_ARCHIVE_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/record/record.h"

/* An epoch, as far as it counts in a partition. */
struct epoch {
	uint64_t part;
	uint32_t epoch;
	uint64_t who;   /* generation of the store that has it */
	uint64_t until; /* the last position of it that counts; 0: none does */
	bool is_open;   /* nobody has taken over from it */
};

struct epochs_partition {
	uint64_t part; /* the hash of the name */
	char name[NAME_BYTES_MAX + 1];
	const struct epoch *epoch; /* a view into the claims */
	unsigned epochs;
};

struct epochs {
	struct epoch *epoch; /* by part and epoch */
	uint32_t epochs, epoch_room;
	struct epochs_partition *partition; /* in the byte order of the names */
	uint32_t partitions, partition_room;
};

/* Read them of the partitions whose names match (text_match_partition; NULL:
 * all).  What one replica of a shard has counts; a shard of which none answers
 * is an error. */
int epochs_read(struct epochs *claims, struct clickhouse *client,
    const char *pattern, struct err *err);
void epochs_clear(struct epochs *claims);

#endif
