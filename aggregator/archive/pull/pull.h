/*
 * pull - make a store of what the archive has.
 *
 * The store is made in DIR.restoring, which becomes DIR when it is complete:
 * after a crash DIR is a complete store, or there is none.  Everything comes
 * from one replica of a shard that has what the most complete one has, and is
 * counted; what cannot be read whole is an error, never a smaller store.
 *
 * proto/archive.md describes the tables, and which rows count.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_H

#include <stdint.h>

#include "aggregator/db/durable_dir.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

struct pull_options {
	const char *pattern; /* of partitions (text_match_partition); NULL */
	int64_t since_ns;    /* records of hours before stay away; INT64_MIN */
	bool progress;       /* to standard error */
	/* Records are lacking that the aggregator counted: go on after this.
	 * NULL: that is an error. */
	void (*on_lack)(const char *sentence);
};

struct pull_report {
	uint32_t partitions;
	uint64_t records, rows; /* rows: of everything else */
	int64_t last_ns; /* the newest record was received; INT64_MIN: none */
};

struct pull_place {
	char dir[DURABLE_DIR_PATH_BYTES];
	char copy[DURABLE_DIR_PATH_BYTES]; /* the store is made there */
	char made[DURABLE_DIR_PATH_BYTES]; /* the first new one of the path */
};

/* Refuses a directory with files; makes one that is not there. */
int pull_place(struct pull_place *place, const char *dir, struct err *err);
/* Make the store.  After clickhouse_find. */
int pull_store(struct clickhouse *client, const char *copy,
    const struct pull_options *options, struct pull_report *report,
    struct err *err);
/* It is complete: give it its name. */
int pull_install(const struct pull_place *place, struct err *err);
/* Remove the store, and the directories that pull_place made. */
void pull_give_up(const struct pull_place *place);

#endif
