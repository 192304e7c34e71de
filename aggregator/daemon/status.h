/*
 * status - what an aggregator says of itself: records of kind "entity", kind
 * "status", ids "aggregator" with the counters of intake, indexer and
 * query_server, and "aggregator:refused" with what was refused for which
 * reason, if anything was. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_STATUS_H
#define AGGREGATOR_DAEMON_STATUS_H

#include "aggregator/ingest/ingest.h"
#include "aggregator/query/server.h"
#include "aggregator/writer/writer.h"

/* Append them (and their contexts) to a page; false when it does not fit. */
bool status_put(struct wire_writer *w, struct text node,
    const struct ingest_status *intake, const struct writer_status *indexer,
    const struct query_server_status *query_server,
    const struct auth_counters *gate, bool insecure);

#endif
