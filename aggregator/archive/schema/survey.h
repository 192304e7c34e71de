/*
 * survey - what the replicas of an archive have, and what they lack.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_SURVEY_H
#define AGGREGATOR_ARCHIVE_SCHEMA_SURVEY_H

#include "aggregator/archive/schema/schema.h"
#include "aggregator/archive/schema/ttl.h"

struct survey_table {
	bool exists;
	bool read_only;   /* its ZooKeeper does not answer, or forgot it */
	bool is_unsynced; /* rows are confirmed before they are on the disk,
			     although the server could write them */
	enum ttl ttl;
	uint32_t lacks; /* bit n: column n of the schema, of its type */
	uint64_t rows, bytes;
	uint64_t queue;   /* what it has to fetch or merge */
	uint64_t delay_s; /* behind the other replicas */
	uint64_t fetches; /* parts that only other replicas have */
	uint64_t wait_s;  /* since when it wants the oldest of them */
};

struct survey_replica {
	bool up;
	char why[ERR_BYTES];     /* why it was not looked at, or "" */
	uint64_t format, shards; /* of its meta; 0: it has none */
	bool has_id;             /* archive_id.h */
	struct survey_table table[SCHEMA_TABLES];
};

struct survey {
	const struct clickhouse_cluster *cluster;
	struct survey_replica replica[CLICKHOUSE_SHARDS_MAX]
				     [CLICKHOUSE_REPLICAS_MAX];
};

/* Look at every replica that is up; what one of them does not answer is in
 * `why`. */
struct survey *survey_open(struct clickhouse *clickhouse);
void survey_close(struct survey **survey);

/* Replicas that have every part of a table of a shard that is known. */
unsigned survey_copies(
    const struct survey *survey, unsigned shard, unsigned table);

/* Is it an archive that this program may change?  -1: it has a newer format, or
 * another number of shards. */
int survey_check_format(
    const struct survey *survey, const char *database, struct err *err);

#endif
