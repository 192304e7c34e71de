/*
 * web_reply - answers with the header fields that browsers heed, and errors as
 * JSON (RFC 9457, application/problem+json).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_REPLY_H
#define EXPORTERS_WEB_REPLY_H

#include "exporters/web/http.h"

enum web_status {
	WEB_OK = 200,
	WEB_ACCEPTED = 202,
	WEB_NOT_MODIFIED = 304,
	WEB_BAD = 400,
	WEB_UNAUTHORIZED = 401,
	WEB_FORBIDDEN = 403,
	WEB_MISSING = 404,
	WEB_NOT_ALLOWED = 405,
	WEB_GONE = 410,
	WEB_TOO_LONG = 413,
	WEB_TOO_MANY = 429,
	WEB_BROKEN = 500,
	WEB_UNAVAILABLE = 503,
};

/* `type` may be NULL; `tag` is an ETag, or ""; `shown` says what a part of
 * something has, or "".  Takes the body, or NULL. */
void web_reply(struct web_http_request *request, unsigned status,
    const char *type, const char *tag, const char *shown,
    struct web_body *body);

/* Is it sent to /mcp?  What is refused of it is an error of the protocol. */
bool web_is_message(struct web_http_request *request);

/* `detail` is one sentence that says what is wrong and what to do. */
void web_refuse(
    struct web_http_request *request, unsigned status, const char *detail);

/* The same: of a method that is not one of `allowed`; of a token that must wait
 * so long. */
void web_refuse_method(struct web_http_request *request, const char *allowed);
void web_refuse_rate(struct web_http_request *request, uint32_t wait_ms);

/* Server-sent events; as web_http_answer_stream. */
struct web_http_stream *web_reply_events(
    struct web_http_request *request, void (*on_end)(void *arg), void *arg);

#endif
