/*
 * import_send - brings rows to the aggregator.
 *
 * Reads as fast as acknowledgements come, and no faster: what is in memory is
 * bounded.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SEND_H
#define AGENTS_IMPORT_SEND_H

#include "agents/delivery/uplink_loop.h"
#include "agents/import/batches.h"
#include "agents/import/source.h"
#include "proto/base/err.h"

struct import_options {
	struct text partition; /* empty: the rows say theirs */
	struct text node;      /* who imports */
	int64_t timeout_ns;    /* without any progress */
	bool progress;
};

struct import_result {
	uint64_t events, already, bad;
};

/* Says on standard error which lines are bad (the first 50).  -1: not
 * everything is acknowledged. */
int import_send(const struct import_source *source,
    const struct import_options *options, struct uplink_loop *line,
    struct import_result *result, struct err *err);

/* Reads all rows without sending.  -1: some line is bad, and which. */
int import_check(const struct import_source *source, struct err *err);

#endif
