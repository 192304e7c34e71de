/*
 * local_server - the agent's side of the local listener: clients, checks,
 * answers.
 *
 * A Unix SOCK_SEQPACKET of mode 0660.  Every packet passes wire_open and
 * wire_body here; what is bad is answered and counted.  At most
 * LOCAL_SERVER_CLIENTS_MAX clients: a further one waits in the backlog, or
 * takes the place of one that has been idle for some seconds.
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
	LOCAL_SERVER_CLIENTS_MAX = 256,
};

struct local_server_options {
	struct loop *loop;
	const char *path;
	struct text partition, node; /* said in answers */
	void *arg;
	/* A good put.  It is to be answered with local_server_answer, now or
	 * later; `client` names whom to answer, `uid` is the kernel's word. */
	void (*on_put)(void *arg, uint64_t client, uid_t uid,
	    const struct wire_header *header, struct text plain);
};

struct local_server_answer {
	uint64_t client;
	uint64_t seq;            /* of the put */
	int64_t sent_ns;         /* of the put */
	enum wire_reason reason; /* 0: taken */
	bool stored;             /* ... and kept by the aggregator */
};

struct local_server_counters {
	uint64_t accepted; /* clients, ever */
	uint64_t evicted;  /* idle ones, for others */
	uint64_t slow;     /* closed: did not read its answers */
	uint64_t puts, bytes;
	uint64_t refused; /* packets with a fault, in all */
	uint64_t faults[WIRE_FAULTS];
};

struct local_server; /* opaque */

/* Refuses a path that another process listens on. */
int local_server_open(struct local_server **local_server,
    const struct local_server_options *options, struct err *err);
void local_server_close(struct local_server **local_server);

/* An answer to a client that has gone is forgotten. */
void local_server_answer(struct local_server *local_server,
    const struct local_server_answer *answer);

/* Is this client still there? */
bool local_server_has(const struct local_server *local_server, uint64_t client);
uint32_t local_server_clients(const struct local_server *local_server);

/* Take no more clients and no more puts; answers still go out. */
void local_server_stop(struct local_server *local_server);

const struct local_server_counters *local_server_counters(
    const struct local_server *local_server);

#endif
