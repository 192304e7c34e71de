/*
 * connection_limit - what strangers may cost a listener of TCP: its connections
 * are looked at from outside, since libzmq has no bound for these two.
 *
 * Out of descriptors, accept fails and its listener stays readable, so that
 * libzmq's thread spins and nobody comes in any more: a listener has a share of
 * the descriptors, and beyond it the oldest connection goes that never brought
 * a message.  A message of many parts is kept whole until its last part has
 * come, whatever its size: a connection of which more came than a message has,
 * and no message came of it, is cut.
 *
 * The descriptors are libzmq's; the monitor's events say when one comes and,
 * before it is closed, when it goes.  "Cut" is shutdown(2): libzmq sees the
 * end of the stream and cleans up.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_CONNECTION_LIMIT_H
#define PROTO_NET_CONNECTION_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/os/clock.h"

#define CONNECTION_LIMIT_LOOK_NS (NS_PER_SECOND / 4)

struct connection_limit_peer {
	bool there;
	bool proven;         /* brought a message, ever */
	bool delivered;      /* ... since the last look */
	int older, younger;  /* of those that are not proven; -1: none */
	uint64_t mark_bytes; /* received when a message was last seen of it */
};

struct connection_limit {
	uint32_t peers_max;
	uint32_t peers;
	struct connection_limit_peer *at; /* by descriptor */
	uint32_t room;
	int oldest, youngest; /* not proven; -1: none */
	bool trim;            /* memory of what was cut may be given back */
	uint64_t
	    connections_evicted; /* connections for which there was no room */
	uint64_t cut;            /* connections that held back too much */
};

/* peers_max 0: as many as a third of the descriptors of this process. */
void connection_limit_init(
    struct connection_limit *connection_limit, uint32_t peers_max);
void connection_limit_clear(struct connection_limit *connection_limit);

/* Connections that are not of TCP are nobody's business. */
void connection_limit_accepted(
    struct connection_limit *connection_limit, int fd);
void connection_limit_gone(struct connection_limit *connection_limit, int fd);
/* A message of it arrived. */
void connection_limit_delivered(
    struct connection_limit *connection_limit, int fd);

/* Every CONNECTION_LIMIT_LOOK_NS: cut the connections of which more than
 * `bytes_max` came, heartbeats aside, since the last look that found a message
 * of theirs. */
void connection_limit_look(
    struct connection_limit *connection_limit, uint64_t bytes_max);

#endif
