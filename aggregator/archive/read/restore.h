/*
 * restore - make a store of what the archive has.
 *
 * The store gets the rows that the archive's readers get (read.h): what can be
 * read can be restored.  It is made in DIR.restoring, which becomes DIR when it
 * is complete: after a crash DIR is a complete store, or there is none.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_RESTORE_H
#define AGGREGATOR_ARCHIVE_READ_RESTORE_H

#include <stdint.h>

#include "aggregator/db/durable_dir.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

struct restore_options {
	struct clickhouse_options archive;
	const char *pattern; /* of partitions (text_match_partition); NULL */
	int64_t since_ns;    /* records of hours before stay away; INT64_MIN */
	bool progress;       /* to standard error */
	/* Records are lacking that the aggregator counted: go on after this.
	 * NULL: that is an error. */
	void (*on_lack)(const char *sentence);
};

struct restore_report {
	uint32_t partitions;
	uint64_t records, rows; /* rows: of everything else */
	int64_t last_ns;  /* the newest record was received; INT64_MIN: none */
	bool is_short;    /* on_lack was called */
	uint64_t lacking; /* records that were counted and are not there */
	/* Rows of a pass that was not committed are there, and events from
	 * which all could be derived again are not. */
	bool is_behind;
};

struct restore_place {
	char dir[DURABLE_DIR_PATH_BYTES];
	char copy[DURABLE_DIR_PATH_BYTES]; /* the store is made there */
	char made[DURABLE_DIR_PATH_BYTES]; /* the first new one of the path */
};

/* Refuses a directory with files; makes one that is not there. */
int restore_place(
    struct restore_place *place, const char *dir, struct err *err);
/* After clickhouse_find. */
int restore_store(struct clickhouse *client, const char *copy,
    const struct restore_options *options, struct restore_report *report,
    struct err *err);
/* It is complete: give it its name. */
int restore_install(const struct restore_place *place, struct err *err);
/* Remove the store, and the directories that restore_place made. */
void restore_give_up(const struct restore_place *place);

#endif
