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

#include "aggregator/query/server_source.h"
#include "proto/auth/auth.h"
#include "proto/config/opt.h"
#include "proto/os/thread.h"

struct query_server; /* opaque */

struct query_server_options {
	const struct opt_list *listen; /* endpoints; at least one */
	uint32_t queue_messages;
	bool insecure;
	uint32_t connects_per_second; /* 0: no limit */
	struct auth *auth;            /* who may ask; NULL: everybody */
	uint64_t generation;          /* of the store; part of each answer */
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
