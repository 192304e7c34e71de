/*
 * clickhouse_url - the address of an archive.
 *
 *     clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]...]/DATABASE
 *     clickhouses://...                                          by TLS
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets; the ports
 * are those of ClickHouse's HTTP interface (8123, by TLS 8443).  An address has
 * no password.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CLICKHOUSE_URL_H
#define PROTO_CLICKHOUSE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	CLICKHOUSE_NAME_BYTES = 65,  /* with the NUL */
	CLICKHOUSE_HOST_BYTES = 256, /* with the NUL */
	CLICKHOUSE_HOSTS_MAX = 64,
};

struct clickhouse_host {
	char name[CLICKHOUSE_HOST_BYTES]; /* of IPv6 with its brackets */
	uint16_t port;
};

struct clickhouse_url {
	bool tls;
	char
	    user[CLICKHOUSE_NAME_BYTES]; /* "default" if the address has none */
	char database[CLICKHOUSE_NAME_BYTES];
	struct clickhouse_host host[CLICKHOUSE_HOSTS_MAX];
	unsigned hosts; /* 1.. */
};

/* -1: not such an address; the sentence never quotes what may be a password. */
int clickhouse_url_parse(
    struct clickhouse_url *url, const char *text, struct err *err);

/* A name that may stand in a statement: [A-Za-z_][A-Za-z0-9_]*, at most 64
 * characters. */
bool clickhouse_name_is_good(struct text name);

/* Letters, digits, '.', '-', '_', or an IPv6 address in brackets. */
bool clickhouse_host_is_good(struct text name);

/* Does the host name this machine? */
bool clickhouse_host_is_here(const struct clickhouse_host *host);

#endif
