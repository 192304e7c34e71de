/*
 * local_server - the agent's side of the local door: clients, checks, answers.
 *
 * A Unix SOCK_SEQPACKET of mode 0660.  Every packet passes wire_open and
 * wire_body here; what is bad is answered and counted.  At most
 * DOOR_CLIENTS_MAX clients: a further one waits in the backlog, or takes the
 * place of one that has been idle for some seconds.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_LOCAL_SERVER_H
#define AGENTS_ACCEPT_LOCAL_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/net/loop.h"
#include "proto/wire/wire.h"

enum {
	DOOR_CLIENTS_MAX = 256,
};

struct door_options {
	struct loop *loop;
	const char *path;
	struct text partition, node; /* said in answers */
	void *arg;
	/* A good put.  It is to be answered with door_answer, now or later;
	 * `client` names whom to answer, `uid` is the kernel's word. */
	void (*on_put)(void *arg, uint64_t client, uid_t uid,
	    const struct wire_header *header, struct text plain);
};

struct door_answer {
	uint64_t client;
	uint64_t seq;            /* of the put */
	int64_t sent_ns;         /* of the put */
	enum wire_reason reason; /* 0: taken */
	bool stored;             /* ... and kept by the aggregator */
};

struct door_counters {
	uint64_t accepted; /* clients, ever */
	uint64_t evicted;  /* idle ones, for others */
	uint64_t slow;     /* closed: did not read its answers */
	uint64_t puts, bytes;
	uint64_t refused; /* packets with a fault, in all */
	uint64_t faults[WIRE_FAULTS];
};

struct door; /* opaque */

/* Refuses a path that another process listens on. */
int door_open(
    struct door **door, const struct door_options *options, struct err *err);
void door_close(struct door **door);

/* An answer to a client that has gone is forgotten. */
void door_answer(struct door *door, const struct door_answer *answer);

/* Is this client still there? */
bool door_has(const struct door *door, uint64_t client);
uint32_t door_clients(const struct door *door);

/* Take no more clients and no more puts; answers still go out. */
void door_stop(struct door *door);

const struct door_counters *door_counters(const struct door *door);

#endif
