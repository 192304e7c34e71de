/*
 * http - requests to services outside, and their answers.
 *
 * The only file that knows libcurl.  One connection to a service is kept open
 * and used for one request after another.  Certificates are verified, also
 * with an authority of one's own (--cacert); redirects are answers like any
 * other and never followed; a link-local address and those of cloud metadata
 * services are refused whatever a name resolves to; proxies of the environment
 * are used as curl does.
 *
 * What may work the next time is tried again: 429, 5xx, a lost or refused
 * connection, half an answer; after what Retry-After says, else after a pause
 * that doubles, with jitter, until --retry-time is over without an answer.  4xx
 * is never tried again: it is the caller's to judge.
 *
 * Headers and bodies may hold secrets: neither is ever part of a message.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_HTTP_H
#define EXPORTERS_CLOUD_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/service/sandbox.h"

struct http; /* opaque */

/* Begins as HTTP_DEFAULT. */
struct http_options {
	const char *cacert;  /* PEM file, or NULL */
	int64_t patience_ns; /* a request is tried again for so long */
	/* Nothing is sent: each request is shown on standard output, method,
	 * address, headers without the values of secret ones, body; and
	 * answered with an empty 200.  Who needs something of an answer
	 * asks. */
	bool dry_run;
	/* A service that does not answer is waited for until INT or TERM, with
	 * a warning a minute; the patience is of one try then. */
	bool wait_out;
};
#define HTTP_DEFAULT                                                           \
	{                                                                      \
		.patience_ns = 60 * NS_PER_SECOND                              \
	}

/* --cacert FILE, --retry-time DURATION (60s), --dry-run; bound to struct
 * http_options. */
extern const struct opt http_options[];

/* --cacert, and the files that the environment names for secrets and
 * certificates. */
void http_sandbox(struct sandbox *sandbox, const struct http_options *options);

bool http_is_dry(const struct http *http);

/* The options are not copied. */
int http_open(
    struct http **http, const struct http_options *options, struct err *err);
void http_close(struct http **http);

enum { HTTP_HEADERS_MAX = 24, HTTP_ANSWER_BYTES_MAX = 8 << 20 };

struct http_request {
	const char *method; /* "GET", "PUT", "POST", "HEAD", "DELETE" */
	const char *url;    /* http:// or https:// */
	/* "Name: value"; NULL ends them. */
	const char *headers[HTTP_HEADERS_MAX + 1];
	struct text body;
	/* NULL, or called before each attempt: makes the headers anew that say
	 * when it is sent and by whom, since a signature is too old after some
	 * minutes and --retry-time may be hours.  -1: nothing is sent. */
	int (*sign)(void *arg, struct err *err);
	void *sign_arg;
};

/* Views, valid until the next request. */
struct http_answer {
	int status; /* 200..499 but for 429 */
	struct text body;
};

/* 0: an answer, whatever it says.  -1: none in time, or none that may be had;
 * `err` names the service and says why, in one sentence. */
int http_send(struct http *http, const struct http_request *request,
    struct http_answer *answer, struct err *err);
/* The same, but any answer other than 2xx is a failure. */
int http_deliver(
    struct http *http, const struct http_request *request, struct err *err);
/* A header of the last answer; empty when it has none. */
struct text http_header(const struct http *http, const char *name);

/* For a status that is not wanted: "SERVICE answers STATUS: what it says",
 * the first words of its body made fit for a message.  Returns -1. */
int http_refused(
    const struct http *http, const struct http_answer *answer, struct err *err);

/* Percent-encode all but unreserved characters (RFC 3986) and those in `keep`;
 * 0: no room.  `to` gets a NUL. */
size_t http_encode(char *to, size_t room, struct text text, const char *keep);

#endif
