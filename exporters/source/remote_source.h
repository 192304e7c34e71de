/*
 * remote_source - request pages from a query server.
 *
 * One query at a time.  The answer echoes the time of the query (sent_ns), so
 * a late answer is not mistaken for the next one.  A query whose answer does
 * not arrive is sent again: reading twice changes nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_REMOTE_SOURCE_H
#define EXPORTERS_SOURCE_REMOTE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/auth/client_key.h"
#include "proto/net/zsock.h"
#include "proto/wire/wire.h"

struct remote_source {
	struct zsock *zsock;
	struct zsock_message messages[2]; /* the last page, and the next one */
	unsigned at;                      /* index of the last page */
	bool is_ahead;                    /* a query was sent ahead */
	int64_t silence_ns; /* time to wait for an answer, without the time in
			       which the process was stopped */
	int64_t asked_ns;   /* sent_ns of the last query */
};

int remote_source_open(struct remote_source *remote_source,
    const struct client_key_values *key, const char *endpoint,
    int64_t silence_ns, struct err *err);
void remote_source_close(struct remote_source *remote_source);

/* Send a query and wait for its answer.  This call completes `header` (type,
 * flags, partition).  The answer is a page; its body is a view, valid until
 * the next query. */
int remote_source_ask(struct remote_source *remote_source,
    struct wire_header *header, const struct wire_query *query,
    struct wire_header *answer, struct text *body, struct err *err);

/* Send a query without waiting: the server makes the next page while the
 * caller reads the last one.  The next remote_source_ask must pass the same
 * query, unless the prefetch is dropped. */
void remote_source_ask_ahead(struct remote_source *remote_source,
    struct wire_header *header, const struct wire_query *query);
void remote_source_forget(struct remote_source *remote_source);

#endif
