/*
 * otlp_request - from the body of a request to its answer.
 *
 * 200 says that all but what a partial success names is on the agent's disk;
 * 503 that the agent does not take it now, so that the client sends it again;
 * 400 that it will never be taken.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_REQUEST_H
#define AGENTS_RECEIVER_OTLP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/receiver/report.h"
#include "agents/submit/submit.h"
#include "proto/base/buffer.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	OTLP_BODY_BYTES_MAX = 4 << 20,
	OTLP_PLAIN_BYTES_MAX = 16 << 20, /* decompressed */
	OTLP_RATIO_MAX = 100,            /* decompressed : compressed */
};

enum otlp_status {
	OTLP_OK = 200,
	OTLP_BAD = 400,
	OTLP_FORBIDDEN = 403,
	OTLP_MISSING = 404,
	OTLP_NOT_ALLOWED = 405,
	OTLP_TOO_LONG = 413,
	OTLP_NOT_SUPPORTED = 415,
	OTLP_UNAVAILABLE = 503,
};

/* What a request is, by its head. */
struct otlp_request {
	const struct otlp_kind *kind;
	bool is_json;
	enum { OTLP_PLAIN, OTLP_GZIP, OTLP_DEFLATE } encoding;
};

/* The head of a request; NULL: it has no such field. */
struct otlp_head {
	const char *method, *path;
	const char *host, *origin, *type, *encoding;
};

/* What the request is; another status than OTLP_OK: `err` has the reason. */
enum otlp_status otlp_request_read(const struct otlp_head *head, bool logs,
    struct otlp_request *request, struct err *err);

struct otlp_worker; /* opaque: for one request at a time */

struct otlp_worker_options {
	struct receiver_report *report;
	const struct submit_options *submit;
	struct otlp_deltas *deltas; /* of all workers */
	uint64_t boot;
	const struct opt_list *keep; /* otlp_map.keep */
};

void otlp_worker_new(
    struct otlp_worker **worker, const struct otlp_worker_options *options);
void otlp_worker_free(struct otlp_worker **worker);

/* Answer the request: the status, and a body in the form of the request. */
enum otlp_status otlp_worker_answer(struct otlp_worker *worker,
    const struct otlp_request *request, struct text body,
    struct buffer *answer);

/* The body that says what is wrong. */
void otlp_put_error(struct buffer *answer, bool is_json, const struct err *err);

#endif
