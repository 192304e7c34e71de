/*
 * uplink_loop - a connection to one of several brokers, on which rows are
 * sent, and its loop.
 *
 * INT and TERM end the loop.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_UPLINK_LOOP_H
#define AGENTS_DELIVERY_UPLINK_LOOP_H

#include "agents/delivery/broker_link.h"
#include "proto/net/loop/loop.h"
#include "proto/net/zsock.h"

/* Must not move. */
struct uplink_loop {
	struct loop *loop;
	struct zsock *zsock;
	struct broker_link broker_link;
};

/* `brokers`: none or NULL is the instance's.  Whatever this returns,
 * uplink_loop_close ends it. */
int uplink_loop_open(struct uplink_loop *uplink, const struct opt_list *brokers,
    const struct client_key_values *key, struct err *err);
void uplink_loop_close(struct uplink_loop *uplink);

#endif
