/*
 * status - what an aggregator says of itself: records of kind "entity", kind
 * "status", ids "aggregator" with the counters of intake, fold and desk, and
 * "aggregator:refused" with what was refused for which reason, if anything was.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_STATUS_H
#define AGGREGATOR_DAEMON_STATUS_H

#include "aggregator/ingest/ingest.h"
#include "aggregator/query/server.h"
#include "aggregator/writer/writer.h"

/* Append them (and their contexts) to a page; false when it does not fit. */
bool report_put(struct wire_writer *w, struct text node,
    const struct intake_status *intake, const struct fold_status *fold,
    const struct desk_status *desk, const struct gate_counters *gate,
    bool insecure);

#endif
