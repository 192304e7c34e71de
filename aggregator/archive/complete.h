/*
 * complete - do the replicas that answer have what the aggregator counted?
 *
 * Of two replicas of a shard the one with more is complete.  Of a single one
 * that answers nobody knows: it may have lost rows that only the other one
 * has.  But how many records of each kind a store has is one of its own rows
 * (partition_counts), and was archived in the pass that had the records.  So
 * the archive has at least as many of the same hours.  It may have more, of
 * which retention has deleted some in the store; and hours that are gone there
 * are not counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_COMPLETE_H
#define AGGREGATOR_ARCHIVE_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/tables.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

struct complete {
	struct clickhouse *client;
	/* By shard: how often each replica did not answer. */
	const uint8_t (*silences)[CLICKHOUSE_REPLICAS_MAX];
	const char *name; /* of the partition */
	uint64_t part;
	struct partition_counts counted;    /* the newest row that counts */
	uint64_t found[RECORD_KINDS];       /* of hours from complete_from on */
	uint64_t newest_record, newest_row; /* their positions; 0: not known */
};

/* The first hour with records that are counted; INT32_MAX: none are. */
int32_t complete_from(const struct partition_counts *counted);

/* Does every replica answer? */
bool complete_all_answer(const struct complete *complete);

/* Count what there is into `found`, of each shard that of the replica with
 * most, and see to `newest_record`.  A record that was sent twice may count
 * twice.  `where`: condition of
 * the rows that count (epochs_sql).  -1: no replica of a shard answers. */
int complete_count(
    struct complete *complete, const char *where, struct err *err);

/* -1: records are lacking, or the rows of keys are older than the records; the
 * error names what, and the shards of which not all replicas answer.  What
 * `retain` may have deleted is not lacking. */
int complete_check(const struct complete *complete, struct err *err);

#endif
