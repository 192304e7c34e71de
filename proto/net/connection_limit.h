/*
 * connection_limit - bounds what a connection to a listener can cost.
 *
 * libzmq has neither of these bounds, so the connections are watched from
 * outside:
 *
 * Descriptors.  When they run out, accept fails and the listener stays
 * readable: libzmq's thread would spin and nobody could connect.  So a listener
 * has a share of the descriptors; above it the oldest connection that has never
 * sent a message is evicted.
 *
 * Memory.  libzmq collects a multipart message until its last part has arrived,
 * whatever its size.  So a connection that has sent more bytes than a message
 * may have, without completing one, is dropped.
 *
 * The descriptors belong to libzmq; its monitor reports when one opens and,
 * before the close, when it closes.  Dropping uses shutdown(2): libzmq sees
 * the end of the stream and cleans up.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_CONNECTION_LIMIT_H
#define PROTO_NET_CONNECTION_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/os/clock.h"

#define CONNECTION_LIMIT_CHECK_NS (NS_PER_SECOND / 4)

struct connection_limit_peer {
	bool known;
	bool proven;         /* has ever sent a message */
	bool delivered;      /* has sent a message since the last check */
	int older, younger;  /* unproven neighbours by age; -1: none */
	uint64_t mark_bytes; /* read from it until its last message */
};

struct connection_limit {
	uint32_t peers_max;
	uint32_t peers;
	struct connection_limit_peer *at; /* by descriptor */
	uint32_t room;
	int oldest, youngest; /* unproven; -1: none */
	bool trim;        /* memory of dropped connections may be returned */
	uint64_t evicted; /* connections, for lack of descriptors */
	uint64_t dropped; /* connections, for unfinished data */
};

/* peers_max 0: a third of the descriptors of this process. */
void connection_limit_init(
    struct connection_limit *connection_limit, uint32_t peers_max);
void connection_limit_clear(struct connection_limit *connection_limit);

/* The memory of Unix sockets is not bounded: nothing counts what was read. */
void connection_limit_accepted(
    struct connection_limit *connection_limit, int fd);
void connection_limit_closed(struct connection_limit *connection_limit, int fd);
/* The connection has sent a message. */
void connection_limit_delivered(
    struct connection_limit *connection_limit, int fd);

/* Call it every CONNECTION_LIMIT_CHECK_NS.  Drops each connection that has sent
 * more than `bytes_max`, heartbeats excluded, since its last message. */
void connection_limit_check(
    struct connection_limit *connection_limit, uint64_t bytes_max);

#endif
