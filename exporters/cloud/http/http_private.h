/*
 * http_private - what http.c (one request with libcurl) and send.c (until
 * it is answered) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_HTTP_PRIVATE_H
#define EXPORTERS_CLOUD_HTTP_HTTP_PRIVATE_H

#include "proto/base/buffer.h"
#include "exporters/cloud/http/message.h"

enum { HTTP_WHY_BYTES = 256 };

struct http_bytes {
	struct buffer buffer;
	size_t limit;
	bool full; /* more came than there may be */
};

struct http {
	const struct http_options *options;
	void *easy, *multi;       /* curl's */
	char why[HTTP_WHY_BYTES]; /* what curl says */
	struct http_bytes body;
	size_t header_bytes; /* of the last answer, and those before it */
	bool headers_end, headers_full;
	const char *address_fault; /* of whom it would have connected to */
	char place[HTTP_PLACE_BYTES], said[HTTP_SAID_BYTES];
	int64_t warned_ns; /* 0: not yet */
};

enum http_outcome { HTTP_ANSWERED, HTTP_AGAIN, HTTP_OVER };

/* The pause that Retry-After of the last response asks for; 1 ns: retry at
 * once; 0: none is given. */
int64_t http_retry_ns(const struct http *http);

/* Send it once.  AGAIN and OVER: `err` says why; `*status` is 0 without an
 * answer. */
enum http_outcome http_attempt(struct http *http,
    const struct http_request *request, long *status, struct err *err);

#endif
