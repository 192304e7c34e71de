/*
 * archiver - the thread that copies the store to the archive.
 *
 * Every --archive-after it sends what has changed (pass.h), sees that two
 * replicas of each shard have it (verify.h), and commits that (commits.h); only
 * then does the store forget that the archive lacked it.
 * Nobody waits for it.  While the archive cannot be reached, the store keeps
 * what the archive lacks.
 *
 * proto/archive.md describes the tables and the protocol.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ARCHIVER_H
#define AGGREGATOR_ARCHIVE_ARCHIVER_H

#include <stdint.h>

#include "aggregator/archive/archive_progress.h"
#include "aggregator/writer/writer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/os/thread.h"

struct archiver; /* opaque */

struct archiver_options {
	struct clickhouse_options clickhouse; /* without `stop` */
	const char *endpoint; /* of this aggregator, for its claim */
	const char *store;    /* its directory */
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

/* From any thread. */
void archiver_status(
    struct archiver *archiver, struct archive_progress_status *status);

#endif
