/*
 * requests - serves the agent's local clients.
 *
 * A submission from the listener goes to the batcher.  The client is answered
 * when it is settled, and, on request, once more when the aggregator has it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_REQUESTS_H
#define AGENTS_ACCEPT_REQUESTS_H

#include "agents/accept/batcher.h"
#include "agents/accept/local_server.h"
#include "agents/spool/spool.h"

struct requests_options {
	struct loop *loop;
	struct batcher *batcher;
	struct spool *spool;
	const char *socket;
	struct text partition, node;

	/* The batcher is due: commit it. */
	void *arg;
	void (*commit)(void *arg);
	/* Why the aggregator does not take this stream, empty if it does or
	 * that is not known; valid until the next call. */
	struct text (*forbids)(void *arg, uint32_t stream);
};

struct requests; /* opaque */

int requests_open(struct requests **requests,
    const struct requests_options *options, struct err *err);
void requests_close(struct requests **requests);

/* Accept nothing more; waiting clients still get their answers. */
void requests_stop(struct requests *requests);

/* Reports of the uplink; see delivery/spool_uplink.h. */
void requests_acked(struct requests *requests);
void requests_refused(struct requests *requests, uint32_t stream, uint64_t seq,
    enum wire_reason reason);
void requests_moved(struct requests *requests, uint32_t from, uint32_t to);
void requests_forbidden(struct requests *requests, uint32_t stream);
/* The spool gave up batches that are forbidden. */
void requests_given_up(struct requests *requests);

const struct local_server_counters *requests_counters(
    const struct requests *requests);
uint32_t requests_clients(const struct requests *requests);

#endif
