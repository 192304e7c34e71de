/*
 * client_private - what requests and the search for replicas share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_CLIENT_PRIVATE_H
#define PROTO_CLICKHOUSE_CLIENT_PRIVATE_H

#include "proto/base/buffer.h"
#include "proto/clickhouse/client.h"
#include "proto/http/http.h"

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

/* Read the password again. */
int clickhouse_read_key(struct clickhouse *clickhouse, struct err *err);
/* Ask a question of a server; the answer is TabSeparated. */
int clickhouse_ask_host(struct clickhouse *clickhouse,
    const struct clickhouse_host *host, const char *sql, int64_t silence_ns,
    struct text *answer, struct err *err);

#endif
