/*
 * requests - what the agent does for its local clients.
 *
 * A put that came through the door goes to the gather; when it is settled the
 * client is answered, and answered once more when the aggregator has it, if it
 * asked for that.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_REQUESTS_H
#define AGENTS_ACCEPT_REQUESTS_H

#include "agents/accept/batcher.h"
#include "agents/accept/local_server.h"
#include "agents/spool/spool.h"

struct reception_options {
	struct loop *loop;
	struct gather *gather;
	struct spool *spool;
	const char *socket;
	struct text partition, node;

	/* The gather is due: commit it. */
	void *arg;
	void (*commit)(void *arg);
};

struct reception; /* opaque */

int reception_open(struct reception **reception,
    const struct reception_options *options, struct err *err);
void reception_close(struct reception **reception);

/* Take nothing more; who waits for an answer still gets it. */
void reception_stop(struct reception *reception);

/* What the courier reports; see delivery/spool_uplink.h. */
void reception_acked(
    struct reception *reception, uint32_t stream, uint64_t upto);
void reception_refused(struct reception *reception, uint32_t stream,
    uint64_t seq, enum wire_reason reason);
void reception_renumbered(struct reception *reception);

const struct door_counters *reception_counters(
    const struct reception *reception);
uint32_t reception_clients(const struct reception *reception);

#endif
