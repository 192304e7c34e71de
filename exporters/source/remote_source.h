/*
 * remote_source - asks a process for a page and waits for it.
 *
 * One question at a time; the answer is known by the time of the question
 * (sent_ns), which answers echo, so that one that comes late is not taken for
 * the next.  A lost question or answer is asked for again: reading twice
 * changes nothing.
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
	struct zsock_message
	    messages[2];    /* the last answer, and the next one */
	unsigned at;        /* which is the last */
	bool is_ahead;      /* a question was asked ahead */
	int64_t silence_ns; /* waiting for an answer; stopped is not */
	int64_t asked_ns;   /* sent_ns of the last question */
};

int remote_source_open(struct remote_source *remote_source,
    const struct client_key_values *key, const char *endpoint,
    int64_t silence_ns, struct err *err);
void remote_source_close(struct remote_source *remote_source);

/* Ask and wait.  `header` (type, flags, partition) is completed here.  The
 * answer is a page; its body is a view, valid until the next question. */
int remote_source_ask(struct remote_source *remote_source,
    struct wire_header *header, const struct wire_query *query,
    struct wire_header *answer, struct text *body, struct err *err);

/* Ask without waiting: the next page is made while the last one is read.  The
 * next remote_source_ask must be this question, unless it is forgotten. */
void remote_source_ask_ahead(struct remote_source *remote_source,
    struct wire_header *header, const struct wire_query *query);
void remote_source_forget(struct remote_source *remote_source);

#endif
