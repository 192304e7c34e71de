/*
 * zsock_private - what the files of port share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_PRIVATE_H
#define PROTO_NET_ZSOCK_PRIVATE_H

#include "proto/net/endpoint.h"
#include "proto/net/zsock.h"
#include "proto/net/zsock_socket.h"

enum { PORT_BINDS_MAX = 8 };

struct port {
	struct port_socket socket;
	struct port_options options;
	struct port_counters counters;
	bool blocked; /* a line answered PORT_AGAIN */
	char endpoint[PORT_ENDPOINT_BYTES_MAX];
	uint32_t doors;
	struct {
		struct endpoint_claim claim;            /* of a Unix socket */
		char endpoint[PORT_ENDPOINT_BYTES_MAX]; /* as bound */
	} door[PORT_BINDS_MAX];
};

#endif
