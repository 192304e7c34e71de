/*
 * clickhouse_private - shared by client.c (one request) and find.c (which
 * servers there are).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_CLIENT_PRIVATE_H
#define PROTO_CLICKHOUSE_CLIENT_PRIVATE_H

#include "proto/base/buffer.h"
#include "proto/clickhouse/client.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"

struct clickhouse {
	struct clickhouse_options options;
	struct clickhouse_url url;
	struct http_options http_options;
	struct http *http;
	unsigned char *key;      /* the header with the password, or NULL */
	struct buffer statement; /* a statement with its format */
	unsigned exception;
	struct clickhouse_cluster cluster, found; /* found: being asked for */
};

struct clickhouse_request {
	struct clickhouse_host to;
	const char *query;    /* NULL: the body is the statement */
	const char *settings; /* "&name=value...", or "" */
	struct text body;
	int64_t silence_ns;
};

/* Send it once; 0: the server did what the statement says, and `answer`, valid
 * until the next request, is whole. */
int clickhouse_send(struct clickhouse *clickhouse,
    const struct clickhouse_request *request, struct text *answer,
    struct err *err);
/* Ask a question of a server; the answer is TabSeparated. */
int clickhouse_ask_host(struct clickhouse *clickhouse,
    const struct clickhouse_host *host, const char *sql, struct text *answer,
    struct err *err);

#endif
