/*
 * archiver - the thread that copies the store to the archive.
 *
 * Every --archive-after it sends what has changed (pass.h), sees that two
 * replicas of each shard have it (verify.h), and commits that with a checkpoint
 * (owners.h); only then does the store forget that the archive lacked it.
 * Nobody waits for it.  While the archive cannot be reached, the store keeps
 * what the archive lacks.
 *
 * proto/archive.md describes the tables and the protocol.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ARCHIVER_H
#define AGGREGATOR_ARCHIVE_ARCHIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/os/thread.h"

struct archiver; /* opaque */

struct archiver_options {
	struct clickhouse_options clickhouse; /* without `stop` */
	const char *endpoint; /* of this aggregator, for its row in owners */
	uint64_t generation;  /* of the store */
	int64_t after_ns;     /* between the begins of two passes */
};

/* Checks the options; connects to nothing.  The store keeps marks from now on.
 * `writer` must outlive the archiver; the options are copied, their texts are
 * not. */
int archiver_open(struct archiver **archiver, struct writer *writer,
    const struct archiver_options *options, struct err *err);
int archiver_start(struct archiver *archiver,
    const struct thread_watcher *watcher, struct err *err);
/* Ends within a second; what was not committed is sent again. */
void archiver_close(struct archiver **archiver);

struct archiver_status {
	bool is_connected; /* the cluster was found */
	bool is_refused;   /* a partition belongs to another aggregator */
	bool is_one_copy;  /* what was sent is on one replica only */
	uint32_t epoch, shards;
	uint64_t entry; /* the last one before the checkpoint */
	int64_t lag_ns; /* since the checkpoint's snapshot, if something
			   changed since; else 0 */
	int64_t failing_since_ns; /* wall time; 0: the last attempt succeeded */
	uint64_t passes, records, rows, bytes; /* sent since the start */
	uint64_t pending; /* passes that were sent, but not yet committed */
	uint64_t resends; /* blocks that a replica did not confirm */
	uint64_t damaged; /* rows that could not be read */
	char problem[ERR_BYTES]; /* why it fails; "" */
};
/* From any thread. */
void archiver_status(struct archiver *archiver, struct archiver_status *status);

#endif
