/*
 * archive_progress - what others see of the archiver.
 *
 * The archiver notes what it does; any thread may look.  Whether the archive
 * lacks something is asked of the store when somebody looks: a record counts
 * from its transaction on, not from the next pass.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ARCHIVE_PROGRESS_H
#define AGGREGATOR_ARCHIVE_ARCHIVE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/pass.h"
#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

enum { ARCHIVE_PROGRESS_PLACE_BYTES = CLICKHOUSE_HOST_BYTES + 24 };

/* A replica, and what it was found to have. */
struct archive_progress_replica {
	char place[ARCHIVE_PROGRESS_PLACE_BYTES]; /* HOST:PORT, or HOST:replicaN
						   */
	uint64_t change; /* all that its shard got up to this change; 0: not
			    known yet */
};

struct archive_progress_shard {
	unsigned replicas;
	struct archive_progress_replica replica[CLICKHOUSE_REPLICAS_MAX];
};

struct archive_progress_status {
	bool is_connected; /* the cluster was found */
	bool is_refused;   /* a partition belongs to another aggregator */
	bool is_one_copy;  /* what was sent is on one replica only */
	uint32_t epoch, shards;
	uint64_t entry;  /* the last one that was committed */
	uint64_t change; /* of the last commit */
	int64_t lag_ns;  /* age of the oldest change that is not committed, at
			    most 50 ms too high between passes, and a pass too
			    high after one; 0: none */
	int64_t failing_since_ns; /* wall time; 0: the last attempt succeeded */
	uint64_t passes, records, rows, bytes; /* sent since the start */
	uint64_t pending;         /* passes that are not yet committed */
	uint64_t records_pending; /* records of these */
	uint64_t resends;         /* blocks that a replica did not confirm */
	uint64_t damaged;         /* rows that could not be read */
	char problem[ERR_BYTES];  /* why it fails; "" */
	struct archive_progress_shard shard[CLICKHOUSE_SHARDS_MAX];
};

struct archive_progress {
	struct writer *writer; /* not owned */
	pthread_mutex_t lock;  /* protects the members below */
	struct archive_progress_status status;
	int64_t whole_ns; /* wall time: until then nothing was missing */
	uint64_t records_committed;
};

/* `writer` must outlive it. */
void archive_progress_init(
    struct archive_progress *progress, struct writer *writer);
void archive_progress_clear(struct archive_progress *progress);

/* An attempt failed; logs it, unless the last one had the same error. */
void archive_progress_fail(struct archive_progress *progress, bool is_connected,
    bool is_refused, const struct err *err);
void archive_progress_succeed(struct archive_progress *progress);
/* The cluster was found, and the last commit, `place`, read. */
void archive_progress_connect(struct archive_progress *progress,
    const struct clickhouse_cluster *cluster, uint32_t epoch,
    const struct pass_place *place);
/* A pass was sent; `pending` are not committed. */
void archive_progress_send(struct archive_progress *progress,
    const struct pass *pass, unsigned pending);
/* `pending` passes are sent, but the worst shard has `copies` of them. */
void archive_progress_wait(
    struct archive_progress *progress, unsigned pending, unsigned copies);
/* A replica has all that its shard got up to `change`. */
void archive_progress_find(struct archive_progress *progress, unsigned shard,
    unsigned replica, const struct clickhouse_replica *at, uint64_t change);
/* Committed up to `place`; the snapshot was taken at `sent_ns` (wall time). */
void archive_progress_commit(struct archive_progress *progress,
    const struct pass_place *place, int64_t sent_ns);

/* Look whether something is missing: notes the time until which nothing was.
 * -1: the store cannot be read. */
int archive_progress_look(struct archive_progress *progress, struct err *err);
/* From any thread. */
void archive_progress_status(
    struct archive_progress *progress, struct archive_progress_status *status);

#endif
