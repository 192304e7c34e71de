/*
 * query_server - where readers ask: select, stats, status and follow, a page at
 * a time.
 *
 * A thread of its own with its own loop, so that a long question never delays
 * an acknowledgement, and one question at a time, so that a reader costs one
 * page of memory and one short snapshot.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERVER_H
#define AGGREGATOR_QUERY_SERVER_H

#include <stdint.h>

#include "aggregator/query/reader.h"
#include "proto/auth/auth.h"
#include "proto/config/opt.h"
#include "proto/os/thread.h"
#include "proto/wire/wire.h"

struct query_server; /* opaque */

struct query_server_options {
	const struct opt_list *listen; /* endpoints, at least one */
	uint32_t queue_messages;
	bool insecure;
	uint32_t connects_per_second; /* 0: any number */
	struct auth *auth;            /* who may ask; NULL: everybody */
	uint64_t generation;          /* of the store, for the answers */
};

struct query_server_source {
	struct reader *reader;
	/* Called before the first page of every answer: wait (a bounded time)
	 * until what was acknowledged before now can be read.  May be NULL. */
	void (*settle)(void *arg);
	/* Append what the process says of itself behind the store's status:
	 * full context and record.  From the query_server's thread. */
	void (*status)(void *arg, struct wire_writer *w);
	void *arg;
};

/* Binds; answers begin with query_server_start. */
int query_server_open(struct query_server **query_server,
    const struct query_server_options *options,
    const struct query_server_source *source, struct err *err);
/* `watcher` hears of the end of its thread. */
int query_server_start(struct query_server *query_server,
    const struct thread_watcher *watcher, struct err *err);
/* The listener's key is another one: its TCP endpoints are bound anew, soon.  A
 * failure of that is logged, and ends the query_server.  From any thread. */
void query_server_rekey(struct query_server *query_server);
/* Ends the thread after the answer under way. */
void query_server_close(struct query_server **query_server);

struct query_server_status {
	uint64_t selects, stats, statuses, follows;
	uint64_t pages_bytes; /* of frames sent */
	uint64_t refused;     /* questions that were not understood */
	uint64_t failed;      /* ... that the store could not answer */
	uint64_t unsent;      /* the reader was gone or did not take it */
	uint64_t forbidden;   /* questions that the reader may not ask */
	uint64_t unkeyed;     /* ... of nobody, at a listener with keys */
	uint64_t handshakes_failed;
};
/* From the callback `status` only. */
void query_server_status(const struct query_server *query_server,
    struct query_server_status *status);

#endif
