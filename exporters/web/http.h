/*
 * web_http - HTTP/1.1 connections, served in the thread of a loop.
 *
 * A request is presented when its head is there.  Who got it answers it, at
 * once or later; until then its connection waits.  An answer is a body, or a
 * stream that lasts.
 *
 * Everything is bounded: connections, the head of a request, the time in which
 * it comes, and the time that a client takes to fetch the answer.  A POST may
 * have a body, which comes in the same time.  When there are too many
 * connections, the host that has most of them loses the one that waits longest
 * for a request.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_HTTP_H
#define EXPORTERS_WEB_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/net/loop/loop.h"

/* The bytes of an answer, shared by those who get it.
 *
 * Nothing in it changes once it is made; any thread may hold and drop it. */
struct web_body {
	const unsigned char *at, *gzip; /* gzip: NULL if it is not smaller */
	size_t bytes, gzip_bytes;
	_Atomic uint32_t holders;
	bool is_static; /* `at` is not freed */
};

/* Takes `at`, and compresses it. */
struct web_body *web_body_new(char *at, size_t bytes);
/* Of bytes that live as long as the process. */
struct web_body *web_body_new_static(const unsigned char *at, size_t bytes);

void web_body_hold(struct web_body *body);
/* NULL is nothing; the last one frees it. */
void web_body_drop(struct web_body **body);

/* What it takes of memory, and what all take that are held. */
size_t web_body_memory(const struct web_body *body);
size_t web_body_memory_of_all(void);

struct web_http;         /* opaque */
struct web_http_request; /* opaque; valid until it is answered */
struct web_http_stream;  /* opaque; valid until `on_end` */

struct web_http_field {
	const char *name, *value;
};

struct web_http_options {
	int fd; /* listens; taken */
	void (*on_request)(void *arg, struct web_http_request *request);
	void *arg;
};

int web_http_open(struct web_http **http, struct loop *loop,
    const struct web_http_options *options, struct err *err);
/* Every request that was presented must have been answered. */
void web_http_close(struct web_http **http);
/* Accept no more connections. */
void web_http_quiesce(struct web_http *http);

const char *web_http_method(const struct web_http_request *request);
enum { WEB_HTTP_BODY_BYTES_MAX = 64 << 10 };
/* False: it has more bytes than that. */
bool web_http_body(const struct web_http_request *request, struct text *body);
/* The path and the parameters, as they came. */
struct text web_http_target(const struct web_http_request *request);
/* NULL: the request does not have this field. */
const char *web_http_header(
    const struct web_http_request *request, const char *name);
/* How many fields "Host" it has; more than one is wrong (RFC 9112, 3.2). */
uint32_t web_http_hosts(const struct web_http_request *request);
/* Kept for the caller while the request lives. */
void web_http_set_data(struct web_http_request *request, void *data);
void *web_http_data(const struct web_http_request *request);

/* `body` may be NULL; otherwise it is taken.  `fields` ends with a name that
 * is NULL.  From the loop's thread. */
void web_http_answer(struct web_http_request *request, unsigned status,
    const struct web_http_field *fields, struct web_body *body);

/* Begin a stream, with the status 200.  `on_end` is called once, when the
 * client has left or after web_http_stream_end. */
struct web_http_stream *web_http_answer_stream(struct web_http_request *request,
    const struct web_http_field *fields, void (*on_end)(void *arg), void *arg);
/* False: the client does not fetch what it was sent; the stream ends. */
bool web_http_stream_put(struct web_http_stream *stream, struct text t);
void web_http_stream_end(struct web_http_stream *stream);

#endif
