/*
 * otlp_http - HTTP/1.1 with bodies, for clients on this host.
 *
 * One thread serves all connections (libmicrohttpd); a request that is
 * complete is handed over, and its connection waits until it is answered.
 * Everything is bounded: connections, heads, bodies, all bodies together and
 * the time that a request may take to come.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_HTTP_H
#define AGENTS_RECEIVER_OTLP_HTTP_H

#include <stdbool.h>

#include "agents/receiver/otlp/request.h"
#include "proto/base/buffer.h"
#include "proto/base/err.h"

/* A request and its answer. */
struct otlp_exchange {
	struct otlp_exchange *next; /* for who has it */
	struct otlp_request request;
	struct buffer body, answer;
	enum otlp_status status;

	/* The connection's. */
	struct MHD_Connection *connection;
	size_t read; /* of the body */
	int64_t begun_ns;
	bool is_with_worker;
};

struct otlp_http; /* opaque */

struct otlp_http_options {
	int fd; /* listens; taken */
	bool logs;
	struct receiver_report *report;
	/* Takes the exchange until otlp_http_answer. */
	void (*on_request)(void *arg, struct otlp_exchange *exchange);
	void *arg;
};

int otlp_http_open(struct otlp_http **http,
    const struct otlp_http_options *options, struct err *err);
/* Every exchange that was handed over must have been answered. */
void otlp_http_close(struct otlp_http **http);

/* Serve until `stop_fd` is readable; then accept no more, and return. */
void otlp_http_run(struct otlp_http *http, int stop_fd);

/* The exchange has its answer.  From any thread. */
void otlp_http_answer(struct otlp_http *http, struct otlp_exchange *exchange);

#endif
