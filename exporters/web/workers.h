/*
 * web_workers - threads that answer questions while the loop goes on.
 *
 * Each has a source of its own.  Of a store, which a process can have open
 * once, there is one worker at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_WORKERS_H
#define EXPORTERS_WEB_WORKERS_H

#include "exporters/web/answers.h"
#include "exporters/web/body.h"
#include "exporters/web/cache.h"
#include "proto/net/loop/loop.h"

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
	struct web_task *other;                /* same */

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

/* Takes the task until `on_done`.  False: WEB_TASKS_MAX wait already, and it
 * was not taken. */
bool web_workers_begin(struct web_workers *workers, struct web_task *task);

#endif
