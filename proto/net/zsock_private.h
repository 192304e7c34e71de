/*
 * zsock_private - what the files of zsock share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_PRIVATE_H
#define PROTO_NET_ZSOCK_PRIVATE_H

#include "proto/net/endpoint.h"
#include "proto/net/zsock.h"
#include "proto/net/zsock_socket.h"

enum { ZSOCK_BINDS_MAX = 8 };

struct zsock {
	struct zsock_socket socket;
	struct zsock_options options;
	struct zsock_counters counters;
	bool blocked; /* a connection returned ZSOCK_AGAIN */
	char endpoint[ZSOCK_ENDPOINT_BYTES_MAX];
	uint32_t bound;
	struct {
		struct endpoint_claim claim;             /* of a Unix socket */
		char endpoint[ZSOCK_ENDPOINT_BYTES_MAX]; /* as bound */
	} listener[ZSOCK_BINDS_MAX];
};

#endif
