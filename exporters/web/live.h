/*
 * web_live - streams of server-sent events: what came in a pool.
 *
 * Each pool that somebody watches is asked about four times a second, however
 * many watch: its last journal entry, its newest record, its records by kind.
 * When these changed, an event `tick` says which answers may be others than
 * before; at the beginning, and after the source was silent, an event `reset`
 * says that all may.  A token that was revoked, or a client that does not fetch
 * its events, ends a stream.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_LIVE_H
#define EXPORTERS_WEB_LIVE_H

#include "exporters/web/http.h"
#include "exporters/web/workers.h"

struct web_live; /* opaque */

enum { WEB_LIVE_STREAMS_MAX = 64 };

struct web_live *web_live_new(struct loop *loop, struct web_workers *workers,
    struct web_access *access, const struct source_options *options);
/* Ends the streams; before the workers are stopped, and before web_live_free.
 */
void web_live_stop(struct web_live *live);
void web_live_free(struct web_live **live);

/* Answer a request by a stream; refuses it when the pool does not exist, or
 * there are too many streams. */
void web_live_add(struct web_live *live, struct web_http_request *request,
    struct text partition, const struct web_right *right);

/* Is it a question of ours?  Then take the answer, and free it. */
bool web_live_take(struct web_live *live, struct web_task *task);

#endif
