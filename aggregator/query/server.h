/*
 * server - the query server: answers questions of remote readers (select,
 * stats, status, follow), a page at a time.
 *
 * One thread has the sockets and a loop, so a long question never delays an
 * acknowledgement.  It reads questions, refuses what is not permitted or not
 * valid, and keeps the others in a list (questions.h).  As many threads as
 * there are processors, from 2 to 4, make the pages (answerer.h); each costs
 * the memory of one page and one short snapshot.
 *
 * An answer has everything that was acknowledged before the question.  If that
 * is not indexed yet, the question stays in the list and keeps no thread from
 * answering others.  After two seconds it is answered all the same, and the
 * answer says up to when it is complete (WIRE_FLAG_INCOMPLETE).
 *
 * The pages of a reader leave in the order of its questions; a refusal leaves
 * at once.  When the list is full, or has 16 questions of this reader, the
 * answer is nack "busy".
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
	uint64_t busy; /* questions for which there was no room */
};

enum query_server_ready {
	QUERY_SERVER_READY,
	QUERY_SERVER_SOON,  /* indexing has not reached it yet */
	QUERY_SERVER_STUCK, /* indexing is paused: waiting is useless */
};

struct query_server_source {
	struct reader *reader; /* each thread opens one beside it */
	/* The journal entry that an answer about the partition must have
	 * (empty: about all), so that it has all that was acknowledged; and
	 * whether it is indexed.  NULL: answers wait for nothing. */
	uint64_t (*needs)(void *arg, struct text partition);
	enum query_server_ready (*is_indexed)(void *arg, uint64_t number);
	/* Append the status of the process after that of the store: a full
	 * context and a record.  Called in any thread of the query server, by
	 * several at a time. */
	void (*status)(void *arg, const struct query_server_status *status,
	    struct wire_writer *w);
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
/* Ends the threads after the current answers. */
void query_server_close(struct query_server **query_server);

#endif
