/*
 * web_workers - threads that answer questions while the loop goes on.
 *
 * Each has a source of its own.  Of a store, which a process can have open
 * once, there is one worker at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_WORKERS_H
#define EXPORTERS_WEB_WORKERS_H

#include <stdint.h>

#include "exporters/mcp/mcp.h"
#include "exporters/web/answers.h"
#include "exporters/web/http.h"
#include "proto/net/loop/loop.h"

/* Answers that may be asked for again, by their tag; what a tag is
 * made from.
 *
 * What was not asked for longest is dropped when the bound is reached.  Any
 * thread may use it. */
struct web_cache; /* opaque */

enum { WEB_CACHE_ENTRIES_MAX = 512 };

struct web_cache *web_cache_new(uint64_t bytes_max);
void web_cache_free(struct web_cache **cache);

/* A body, which the caller drops; NULL: it is not there. */
struct web_body *web_cache_get(struct web_cache *cache, const char *tag);
/* Keep the body, too, if it takes at most a quarter of the bound. */
void web_cache_put(
    struct web_cache *cache, const char *tag, struct web_body *body);

/*
 * An ETag: equal for equal answers.
 *
 * Of a pool it is made from what the store says of the partition (its last
 * journal entry, how many records of each kind, their times) and from the
 * question, so that an answer need not be computed to see that it is known.
 * Answers that age with the clock have another one each second.
 */

enum { WEB_TAG_BYTES = 40 }; /* with quotes and NUL */

/* Does the header If-None-Match, or NULL, name the tag? */
bool web_tag_is_in(const char *tag, const char *none_match);

/* A question that a worker answers, and its answer. */

enum {
	WEB_NONE_MATCH_BYTES = 256, /* longer ones are not looked at */
	WEB_SHOWN_BYTES = 160,
};

struct web_task {
	struct web_task *next;
	struct web_url url; /* the texts of the question */
	struct web_question question;
	char none_match[WEB_NONE_MATCH_BYTES]; /* If-None-Match; "": none */
	void *data;                            /* of the caller */
	/* web_mcp_route: views of the request. */
	struct text message;
	struct mcp_fields fields;
	struct web_task *other; /* same */

	/* Set by the worker. */
	unsigned status;         /* of HTTP */
	struct web_body *body;   /* NULL: 304, or a problem that `err` says */
	char tag[WEB_TAG_BYTES]; /* "": none */
	char shown[WEB_SHOWN_BYTES]; /* Poolscope-Shows */
	struct err err;
};

void web_task_free(struct web_task **task);

struct web_workers; /* opaque */

/* `on_done` runs in the loop's thread. */
int web_workers_start(struct web_workers **workers, struct loop *loop,
    const struct source_options *options, struct web_cache *cache,
    void (*on_done)(void *arg, struct web_task *task), void *arg,
    struct err *err);
/* Tasks that were not answered come back with the status 503. */
void web_workers_stop(struct web_workers **workers);

/* Takes the task until `on_done`, and returns 0.  Else too many wait, of its
 * token or of all, and it was not taken: the status, and a sentence.  A token
 * has all workers but one at most. */
unsigned web_workers_begin(
    struct web_workers *workers, struct web_task *task, struct err *err);

#endif
