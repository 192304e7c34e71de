/*
 * status - the status reply of an aggregator.
 *
 * Entities of kind "status": "aggregator" has the counters of ingest, indexer
 * and query server, and, with an archive (`archiver` is not NULL), those of the
 * archiver; "aggregator:refused", if anything was refused, has counts
 * by reason.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_STATUS_H
#define AGGREGATOR_DAEMON_STATUS_H

#include "aggregator/archive/archiver.h"
#include "aggregator/archive/read/read.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/query/server.h"
#include "aggregator/writer/writer.h"

/* Append the records and their contexts to a page; false if they do not fit. */
bool status_put(struct wire_writer *w, struct text node,
    const struct ingest_status *ingest, const struct writer_status *indexer,
    const struct query_server_status *query_server,
    const struct auth_counters *auth,
    const struct archive_progress_status *archiver, bool insecure);

/* The same of a gateway: "aggregator" has what it knows of its readers,
 * "aggregator:read" what it has of the archive. */
bool status_put_gateway(struct wire_writer *w, struct text node,
    const struct archive_read_status *read,
    const struct query_server_status *query_server,
    const struct auth_counters *auth, bool insecure);

#endif
