/*
 * upstream - a broker's line up to one aggregator: its port, who knocks on
 * that listener again, and what is known of the other side.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_UPSTREAM_H
#define BROKER_RELAY_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/auth/client_key.h"
#include "proto/auth/reconnect.h"
#include "proto/net/loop.h"
#include "proto/net/zsock.h"

struct upstream {
	struct zsock *zsock;
	struct reconnect *reconnect;
	bool stuck; /* full for longer than patience lasts */
};

/* Connects; the port's place in the loop, which must outlive the line, is the
 * caller's to give and to take. */
int upstream_open(struct upstream *line, struct loop *loop,
    uint32_t queue_messages, const struct client_key_values *key,
    const char *endpoint, struct err *err);
/* What was passed on before may still leave, for at most `drain_ns`. */
void upstream_close(struct upstream *line, int64_t drain_ns);

/* From the port's callback: says that the aggregator came or went, and knocks
 * again when the listener is closed to us. */
void upstream_look(struct upstream *line);
/* The key's file was read again: connects anew if that is another key.  What
 * was on its way is sent again by who sent it. */
void upstream_show_key(struct upstream *line);

#endif
