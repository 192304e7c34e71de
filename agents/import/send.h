/*
 * import_send - sends rows to the aggregator.
 *
 * It reads as fast as acknowledgements arrive, so that memory is bounded.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SEND_H
#define AGENTS_IMPORT_SEND_H

#include "agents/delivery/uplink_loop.h"
#include "agents/import/batches.h"
#include "agents/import/source.h"
#include "proto/base/err.h"

struct import_options {
	struct text partition; /* empty: the rows name theirs */
	struct text node;      /* the node that imports */
	int64_t timeout_ns;    /* without progress */
	bool once; /* the store keeps equal rows of all imports once */
	/* The nodes are those of a demo: they are heard by it. */
	bool is_made_up;
	bool progress;
};

struct import_result {
	uint64_t events, already, bad;
};

/* Reports bad lines on standard error (the first 50).  -1: not everything is
 * acknowledged. */
int import_send(const struct import_source *source,
    const struct import_options *options, struct uplink_loop *uplink,
    struct import_result *result, struct err *err);

/* Reads all rows without sending.  -1: a line is bad; reports which. */
int import_check(const struct import_source *source, struct err *err);

#endif
