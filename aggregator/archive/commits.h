/*
 * commits - what two replicas have of each store: up to where, and how much.
 *
 * A commit is an INSERT of one block into table `commits`, so all of it is
 * there or nothing: the place up to which the store may forget that the archive
 * lacked it, and with it the number of facts by partition, table and hour.  If
 * these are too many for a block, those before it are INSERTs of their own.
 * Readers take no replica that has fewer (read/expected.h).  A row has what was
 * committed from position `since` on, so it is written again and again while an
 * hour grows, and the newest counts; rows with another `since` are added.  Of a
 * phase it has how many events the store has, under its form (part_list.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_COMMITS_H
#define AGGREGATOR_ARCHIVE_COMMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/position.h"
#include "aggregator/archive/schema/schema.h"
#include "proto/hash/string_table.h"

/* `hour` of the row of a phase of which a store could not read all. */
enum { COMMITS_LOST = -1 };

struct commits_count {
	uint64_t rows, hash;
	/* Of rows that replace others: they were counted there, or a commit
	 * says that they are to be. */
	bool is_counted, is_noted;
	/* Of facts: counted from the last commit on, not from `since`. */
	bool is_apart;
};

/* Counts by key. */
struct commits_table {
	struct string_table keys;
	struct commits_count *of; /* by number of the key */
	uint32_t room;
};

/* Zeroed: as after commits_clear. */
struct commits {
	uint64_t since, pos;
	struct commits_table sent;      /* since the last commit */
	struct commits_table committed; /* from `since` up to `pos` */
	/* Tables of which rows were replaced, and so must be counted there. */
	struct commits_table changed;
	struct commits_table tried; /* perhaps there, from `since` */
	int64_t count_ns;           /* monotonic: not before */
	bool is_whole; /* the next one repeats what was committed */
};

/* Begin at a position; nothing is known of what was before, but which counts
 * the commits of epoch `last` lack (0: none).  -1: `pos` is 0. */
int commits_begin(struct commits *commits, uint64_t since, uint32_t last,
    struct clickhouse *client, struct err *err);
void commits_clear(struct commits *commits);

/* A row was sent.  `is_again`: perhaps not for the first time; it counts if
 * nothing of its partition was ever committed. */
void commits_add(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part, int32_t hour, bool is_again,
    uint64_t hash);
/* The store has that many events of a phase. */
void commits_set_phase(struct commits *commits, uint64_t part,
    struct text phase, uint64_t form, uint64_t events);
/* Not all of them can be read: from now on nobody knows how many were sent. */
void commits_lose_phase(
    struct commits *commits, uint64_t part, struct text phase, uint64_t form);
/* Rows of a table were sent that replace others. */
void commits_change(struct commits *commits, unsigned shard,
    enum schema_number table, uint64_t part, int32_t hour);
/* Replicas may have lost commits: the next one has what was committed since
 * `since`, too. */
void commits_repeat(struct commits *commits);
/* What was sent will be sent again. */
void commits_forget(struct commits *commits);
/* Is it time for a commit of what was replaced, though nothing else was sent?
 */
bool commits_are_due(const struct commits *commits);

/* Commit all that was sent, up to a place.  0: two replicas have it, or the
 * only one; -1: perhaps they have, and it is to be repeated. */
int commits_write(struct commits *commits, struct clickhouse *client,
    uint32_t epoch, const struct pass_place *place, struct err *err);

/* The last commit of an epoch that a replica has. */
struct commits_end {
	uint32_t epoch;
	struct pass_place place;
	int64_t at_ns;
	unsigned copies; /* replicas that have it */
};
struct commits_ends {
	struct commits_end *at;
	uint32_t count, room;
};
/* Those of all epochs; free `at`. */
int commits_read(
    struct commits_ends *ends, struct clickhouse *client, struct err *err);
/* The place of an epoch; all zeros: it has committed nothing. */
struct pass_place commits_place(
    const struct commits_ends *ends, uint32_t epoch);

#endif
