/*
 * upstream - a broker's connection to one aggregator: its socket, its
 * reconnection, and whether the aggregator is slow or stuck.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_UPSTREAM_H
#define BROKER_RELAY_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/auth/client_key.h"
#include "proto/auth/reconnect.h"
#include "proto/net/loop/loop.h"
#include "proto/net/zsock.h"

struct upstream {
	struct zsock *zsock;
	struct reconnect *reconnect;
	bool stuck; /* full for longer than RELAY_FULL_NS_MAX */
};

/* Connects.  The caller adds the socket to the loop, which must outlive the
 * upstream, and removes it. */
int upstream_open(struct upstream *upstream, struct loop *loop,
    uint32_t queue_messages, const struct client_key_values *key,
    const char *endpoint, struct err *err);
/* Messages already passed on get at most `drain_ns` to leave. */
void upstream_close(struct upstream *upstream, int64_t drain_ns);

/* From the socket's callback: logs when the aggregator connects or
 * disconnects, and connects again when the listener has refused us. */
void upstream_check(struct upstream *upstream);
/* The key file was read again: connects again if the key differs.  Senders
 * repeat the messages that were in flight. */
void upstream_renew_key(struct upstream *upstream);

#endif
