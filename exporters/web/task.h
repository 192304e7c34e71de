/*
 * web_task - a question that a worker answers, and its answer.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_TASK_H
#define EXPORTERS_WEB_TASK_H

#include "exporters/web/answers.h"
#include "exporters/web/cache.h"
#include "exporters/web/http/body.h"
#include "exporters/web/tag.h"

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

struct web_reader {
	const struct source_options *options;
	struct web_cache *cache;
	struct source *source;     /* NULL: not open */
	struct question_kept kept; /* of this source */
	bool is_store;
};

/* Answer it; opens the source when needed, and again after a failure. */
void web_ask(struct web_reader *reader, struct web_task *task);
void web_reader_close(struct web_reader *reader);

void web_task_free(struct web_task **task);

#endif
