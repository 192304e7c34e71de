/*
 * http_private - shared by http.c (one request with libcurl) and send.c
 * (retries).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HTTP_HTTP_PRIVATE_H
#define PROTO_HTTP_HTTP_PRIVATE_H

#include "proto/base/buffer.h"
#include "proto/http/http.h"
#include "proto/http/message.h"

enum { HTTP_WHY_BYTES = 256 };

struct http_bytes {
	struct buffer buffer;
	size_t limit;
	bool full; /* the answer exceeds a limit */
};

struct http {
	const struct http_options *options;
	void *easy, *multi;       /* list owned by curl */
	char why[HTTP_WHY_BYTES]; /* error message of curl */
	struct http_bytes body;
	size_t header_bytes; /* bytes of the last answer's headers, including
				interim answers */
	bool headers_end, headers_full;
	const char *address_fault; /* why the address is refused */
	char shown[HTTP_DISPLAY_URL_BYTES], excerpt[HTTP_EXCERPT_BYTES];
	int64_t warned_ns; /* 0: not yet */
};

enum http_outcome { HTTP_ANSWERED, HTTP_AGAIN, HTTP_OVER };

/* The pause that Retry-After of the last response asks for; 1 ns: retry at
 * once; 0: none is given. */
int64_t http_retry_ns(const struct http *http);

/* Send the request once.  For AGAIN and OVER `err` has the cause; `*status` is
 * 0 without an answer. */
enum http_outcome http_attempt(struct http *http,
    const struct http_request *request, long *status, struct err *err);

#endif
