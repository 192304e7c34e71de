/*
 * commits - how many facts were committed, by partition, table and hour.
 *
 * Rows of table `commits`: readers take no replica that has fewer
 * (read/expected.h).  A row has what was committed from position `since` on, so
 * it is written again and again while an hour grows, and the newest counts;
 * rows with another `since` are added.  Of a phase it has how many events the
 * store has, under its form (part_list.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_COMMITS_H
#define AGGREGATOR_ARCHIVE_COMMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/schema/schema.h"
#include "proto/hash/string_table.h"

struct commits_count {
	uint64_t rows, hash;
	bool is_written;
};

/* Counts by key. */
struct commits_table {
	struct string_table keys;
	struct commits_count *of; /* by number of the key */
	uint32_t room;
};

/* Zeroed: as after commits_clear. */
struct commits {
	uint64_t since;
	struct commits_table sent;      /* since the last commit */
	struct commits_table committed; /* since `since` */
	/* Tables of which rows were replaced, and so must be counted there. */
	struct commits_table changed;
	int64_t count_ns; /* monotonic: not before */
	bool has_more;    /* that is not written */
};

/* Begin at a position; nothing is known of what was before. */
void commits_begin(struct commits *commits, uint64_t since);
void commits_clear(struct commits *commits);

/* A row was sent.  `is_again`: perhaps not for the first time; it counts if
 * nothing of its partition was ever committed. */
void commits_add(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part, int32_t hour, bool is_again,
    uint64_t hash);
/* The store has that many events of a phase. */
void commits_set_phase(struct commits *commits, uint64_t part,
    struct text phase, uint64_t form, uint64_t events);
/* Rows of a table were sent that replace others. */
void commits_change(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part);
/* What was sent will be sent again. */
void commits_forget(struct commits *commits);
/* All that was sent is committed. -1: it is not known which partitions are in
 * the archive; what may have been sent before is not counted. */
int commits_commit(
    struct commits *commits, struct clickhouse *client, struct err *err);
/* Write what was not; `pos`: of the last commit. */
int commits_write(struct commits *commits, struct clickhouse *client,
    uint64_t pos, struct err *err);

#endif
