/*
 * expected - what replicas must have of a partition, as commits say
 * (archive/commits.h), and whether one has it.
 *
 * Who has fewer is not asked, and if nobody has all of it there is no answer:
 * records that are lacking are never left out in silence.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_EXPECTED_H
#define AGGREGATOR_ARCHIVE_READ_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/schema/schema.h"
#include "proto/base/text.h"
#include "proto/clickhouse/client.h"

/* Rows of an hour of a table in a shard; of phases: hour 0, and of one phase.
 */
struct expected_rows {
	uint32_t table, shard;
	int32_t hour;
	uint64_t name; /* of a phase: the hash of its id */
	uint64_t since, pos;
	uint64_t rows, hash;
	bool is_least;  /* perhaps there were more; the hash is unknown */
	uint64_t store; /* that committed it */
	/* How many rows a replica had when it had all of these. */
	uint64_t seen[CLICKHOUSE_REPLICAS_MAX];
};

struct expected {
	bool is_read;
	struct expected_rows *at; /* in the order of table, hour and shard */
	uint32_t count, room;
};

/* Read what all replicas know of it. */
int expected_read(struct expected *expected, struct clickhouse *client,
    uint64_t part, struct err *err);
/* Read by another reader, of the same version of the partition. */
void expected_take(
    struct expected *expected, const struct expected_rows *at, uint32_t count);
void expected_clear(struct expected *expected);

/* The first hour of a table from `from` on; INT32_MAX: none. */
int32_t expected_hour(
    const struct expected *expected, enum schema_number table, int32_t from);
/* What a shard must have of an hour; NULL: nothing. */
struct expected_rows *expected_of(const struct expected *expected,
    enum schema_number table, int32_t hour, unsigned shard);
/* Of how many events of a phase with this form it is known. */
uint64_t expected_events(
    const struct expected *expected, struct text phase, uint64_t form);

/* Has a phase fewer events there than its statistics, because a store could not
 * read all of them? */
bool expected_is_damaged(const struct expected *expected);

/* Has the replica all rows?  1, 0, or -1: it does not answer.  `has` gets how
 * many it has; NULL. */
int expected_is_there(struct expected_rows *rows, struct clickhouse *client,
    uint64_t part, unsigned replica, uint64_t *has, struct err *err);

#endif
