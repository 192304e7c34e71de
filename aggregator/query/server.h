/*
 * server - the query server: answers questions of remote readers (select,
 * stats, status, follow), a page at a time.
 *
 * It has its own thread and loop, so a long question never delays an
 * acknowledgement. It answers one question at a time, so readers cost one page
 * of memory and one short snapshot.
 *
 * An answer has everything that was acknowledged before the question.  If that
 * is not indexed yet, the question waits in a list (waiting.h) and others are
 * answered meanwhile.  After two seconds it is answered all the same, and the
 * answer says up to when it is complete (WIRE_FLAG_INCOMPLETE).
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
	const struct opt_list *listen; /* endpoints; at least one */
	uint32_t queue_messages;
	bool insecure;
	uint32_t connects_per_second; /* 0: no limit */
	struct auth *auth;            /* who may ask; NULL: everybody */
	uint64_t generation;          /* of the store; part of each answer */
};

enum query_server_ready {
	QUERY_SERVER_READY,
	QUERY_SERVER_SOON,  /* indexing has not reached it yet */
	QUERY_SERVER_STUCK, /* indexing is paused: waiting is useless */
};

struct query_server_source {
	struct reader *reader;
	/* The journal entry that an answer about the partition must have
	 * (empty: about all), so that it has all that was acknowledged; and
	 * whether it is indexed.  NULL: answers wait for nothing. */
	uint64_t (*needs)(void *arg, struct text partition);
	enum query_server_ready (*is_indexed)(void *arg, uint64_t number);
	/* Append the status of the process after that of the store: a full
	 * context and a record.  Called in the thread of the query server. */
	void (*status)(void *arg, struct wire_writer *w);
	void *arg;
};

/* Bind the endpoints; answers begin with query_server_start. */
int query_server_open(struct query_server **query_server,
    const struct query_server_options *options,
    const struct query_server_source *source, struct err *err);
/* `watcher` is notified when the thread ends. */
int query_server_start(struct query_server *query_server,
    const struct thread_watcher *watcher, struct err *err);
/* The key of the listener has changed: bind its TCP endpoints again soon.  If
 * that fails, the query server logs the error and ends.  From any thread. */
void query_server_rekey(struct query_server *query_server);
/* Ends the thread after the current answer. */
void query_server_close(struct query_server **query_server);

struct query_server_status {
	uint64_t selects, stats, statuses, follows;
	uint64_t pages_bytes; /* of frames sent */
	uint64_t refused;     /* questions that could not be decoded */
	uint64_t failed;      /* questions that failed in the store */
	/* Answers that could not be delivered. */
	uint64_t unsent;
	/* Questions that the reader is not authorized to ask. */
	uint64_t forbidden;
	uint64_t unkeyed; /* questions without a key, on a listener that
			     requires keys */
	uint64_t handshakes_failed;
};
/* Only from the callback `status`. */
void query_server_status(const struct query_server *query_server,
    struct query_server_status *status);

#endif
