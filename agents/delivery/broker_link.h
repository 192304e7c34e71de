/*
 * broker_link - the connection of a sender to one of several brokers.
 *
 * It uses one broker at a time, in the given order, and connects to the next
 * one when the current one gives no sign of life (failover.h).  With a single
 * broker it reconnects after three time-outs.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_BROKER_LINK_H
#define AGENTS_DELIVERY_BROKER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/failover.h"
#include "agents/delivery/sender.h"
#include "proto/base/err.h"
#include "proto/auth/client_key.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/net/zsock.h"

/* Must not move in memory: `list` points into it. */
struct broker_link {
	struct opt_list list; /* as given, or the instance's */
	const struct client_key_values *key;
	char own[INSTANCE_PATH_BYTES];
	struct failover failover;
	uint64_t timeouts; /* the sender's count at the last answer */
	bool heard;        /* the broker has answered on this connection */
	int64_t warned_ns; /* of a frame of another version */
};

/* -1: more endpoints than the limit. */
int broker_link_check(const struct opt_list *given, struct err *err);
/* Does not copy the endpoints and the key.  NULL or none: the instance's
 * broker. */
int broker_link_choose(struct broker_link *broker_link,
    const struct opt_list *given, const struct client_key_values *key,
    struct err *err);
/* Open a new socket in `*zsock`, connected to the first broker.  -1 also when
 * the key is missing for any of the brokers. */
int broker_link_connect(const struct broker_link *broker_link,
    struct zsock **zsock, const struct zsock_options *options, struct err *err);

/* The sender cannot read the frame that arrived. */
void broker_link_unread(struct broker_link *broker_link,
    const struct zsock *zsock, struct text frame);
/* A frame arrived. */
void broker_link_answered(struct broker_link *broker_link,
    const struct zsock *zsock, const struct sender *sender);
/* Check the connection; reconnect, or connect to the next broker.  Returns
 * when to check again; 0: no check is needed. */
int64_t broker_link_poll(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender, int64_t now_ns);
/* The key file was read again: reconnect if the key has changed.  False: it
 * has not. */
bool broker_link_renew_key(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender);
/* The current broker refuses the connection: use the next one.  False: every
 * broker was tried since the last answer. */
bool broker_link_skip(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender);

#endif
