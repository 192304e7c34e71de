/*
 * http - HTTP requests to external services.
 *
 * libcurl does it (libcurl.h).  One connection per service is
 * kept open and reused.  Certificates are verified, optionally with a private
 * authority (--cacert).  Redirects are returned like other answers and never
 * followed.  Link-local addresses and those of cloud metadata services are
 * refused, also if a name resolves to them.  Proxies of the environment are
 * used as curl does.
 *
 * Temporary failures are retried: 408, 425, 429, 5xx but 501 and 505, a lost or
 * refused connection, an incomplete answer; after the time given in
 * Retry-After, otherwise after a pause that doubles, with jitter, until there
 * has been no answer for --retry-time.  Other answers, such as those of a
 * service that does not know the request, are returned to the caller at once.
 *
 * Headers and bodies may contain secrets: messages never quote them.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HTTP_HTTP_H
#define PROTO_HTTP_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/opt.h"
#include "proto/http/message.h"
#include "proto/os/clock.h"
#include "proto/service/sandbox.h"

struct http; /* opaque */

/* Initialize with HTTP_DEFAULT. */
struct http_options {
	const char *cacert; /* PEM file, or NULL */
	int64_t retry_ns;   /* how long a request is retried */
	/* With --dry-run nothing is sent: each request is printed on standard
	 * output (method, address, headers without secret values, body) and
	 * answered with an empty 200.  Callers that need the content of an
	 * answer test this. */
	bool dry_run;
	/* Retry until INT or TERM while a service does not answer, with a
	 * warning each minute; retry_ns then limits one attempt. */
	bool wait_out;
	/* Send once and return each answer, also those of temporary failures;
	 * retry_ns is not used. */
	bool once;
	bool direct; /* do not use the proxies of the environment */
	int64_t
	    once_ns; /* with `once`: all that a request may take; 0: 300 s */
	bool here;   /* only to loopback addresses */
	const char *socket; /* NULL, or connect to this Unix socket instead */
	bool compressed;    /* accept gzip; limits are for what it expands to */
	/* Timeout without a transferred byte; 0: 30 s.  It can be changed
	 * between requests. */
	int64_t silence_ns;
	uint32_t answer_bytes_max; /* 0: HTTP_ANSWER_BYTES_MAX */
	/* NULL, or set by another thread: a request ends within 200 ms, with
	 * ERR_INTERRUPTED.  With it, a handle belongs to a thread that is not
	 * the only one, and the process must ignore SIGPIPE. */
	const atomic_bool *stop;
};
#define HTTP_DEFAULT                                                           \
	{                                                                      \
		.retry_ns = 60 * NS_PER_SECOND                                 \
	}

/* --cacert FILE, --retry-time DURATION (60s), --dry-run; bound to struct
 * http_options. */
extern const struct opt http_options[];

/* --cacert, and the files for secrets and certificates that the environment
 * names. */
void http_sandbox(struct sandbox *sandbox, const struct http_options *options);

bool http_is_dry(const struct http *http);

/* May the same request get another answer than this status later? */
bool http_is_temporary(long status);

/* `options` must outlive the handle. */
int http_open(
    struct http **http, const struct http_options *options, struct err *err);
void http_close(struct http **http);

enum { HTTP_ANSWER_BYTES_MAX = 8 << 20 };

/* Views, valid until the next request. */
struct http_answer {
	int status; /* 200..499 except 429; any with http_options.once */
	struct text body;
};

/* Returns 0 for any answer, whatever its status.  Returns -1 if there was none
 * in time or the request is not allowed; `err` names the service and the cause
 * in one sentence. */
int http_send(struct http *http, const struct http_request *request,
    struct http_answer *answer, struct err *err);
/* A header of the last answer; empty if absent. */
struct text http_header(const struct http *http, const char *name);

/* Describe an unexpected status: "SERVICE answers STATUS: TEXT" with the
 * sanitized beginning of the body.  Returns -1. */
int http_refused(
    const struct http *http, const struct http_answer *answer, struct err *err);

/* Is the answer a page of HTML, as proxies and the networks of hotels give
 * instead of the service's? */
bool http_is_page(const struct http *http, const struct http_answer *answer);
/* Describe an answer of 2xx that does not confirm what was sent, as
 * http_refused.  Returns -1. */
int http_unconfirmed(
    const struct http *http, const struct http_answer *answer, struct err *err);

#endif
