/*
 * local_server - the agent's side of the local listener: clients, checks,
 * answers.
 *
 * A Unix SOCK_SEQPACKET.  Every packet passes wire_open and
 * wire_body here; a malformed one is answered and counted, and after a few the
 * client is disconnected.  There are places for LOCAL_SERVER_CLIENTS_MAX
 * clients, or as many as descriptors permit, two thirds of them for one user.
 * Whoever comes when no place is left for him replaces a client that has been
 * idle for some seconds: of his own user if that one has his share, else of
 * any.  If there is none, the oldest client of the user who has most of them
 * makes room, but not for another one of that user, who is disconnected.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_LOCAL_SERVER_H
#define AGENTS_ACCEPT_LOCAL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/net/loop/loop.h"
#include "proto/wire/wire.h"

enum {
	LOCAL_SERVER_CLIENTS_MAX = 768,
	/* Kept for everything else, when descriptors are few. */
	LOCAL_SERVER_DESCRIPTORS_KEPT = 48,
	LOCAL_SERVER_CLIENTS_MIN = 6,
};

struct local_server_options {
	struct loop *loop;
	const char *path;
	struct text partition, node; /* reported in answers */
	void *arg;
	/* A valid submission.  It must be answered with local_server_answer,
	 * now or later; `client` names the client, `uid` comes from the
	 * kernel. */
	void (*on_put)(void *arg, uint64_t client, uid_t uid,
	    const struct wire_header *header, struct text plain);
};

struct local_server_answer {
	uint64_t client;
	uint64_t seq;            /* of the submission */
	int64_t sent_ns;         /* of the submission */
	enum wire_reason reason; /* 0: taken */
	bool stored;             /* ... and stored by the aggregator */
	/* With a reason: why, a name or empty; without: why the aggregator
	 * refuses it. */
	struct text detail;
};

struct local_server_counters {
	uint64_t accepted; /* clients, total */
	uint64_t evicted;  /* replaced by others, or disconnected at once */
	uint64_t slow;     /* disconnected: did not read their answers */
	uint64_t puts, bytes;
	uint64_t refused; /* for good, total */
	uint64_t faults[WIRE_FAULTS];
};

struct local_server; /* opaque */

/* -1 also when another process listens on the path. */
int local_server_open(struct local_server **local_server,
    const struct local_server_options *options, struct err *err);
void local_server_close(struct local_server **local_server);

/* An answer to a client that has gone is discarded. */
void local_server_answer(struct local_server *local_server,
    const struct local_server_answer *answer);
/* Refuse a submission for good: also count it, and log what is wrong, once a
 * minute at most. */
void local_server_refuse(struct local_server *local_server,
    const struct local_server_answer *answer, const char *what);

/* Is this client still connected? */
bool local_server_has(const struct local_server *local_server, uint64_t client);
uint32_t local_server_clients(const struct local_server *local_server);

/* Accept no more clients and submissions; answers are still sent. */
void local_server_stop(struct local_server *local_server);

const struct local_server_counters *local_server_counters(
    const struct local_server *local_server);

#endif
