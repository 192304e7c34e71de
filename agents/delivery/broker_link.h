/*
 * broker_link - the line of a sender, to one of several brokers.
 *
 * One is used at a time, in the order in which they were given; when it gives
 * no sign of life the next one has its turn (failover.h).  A single one is
 * connected to anew after three time-outs.
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

/* Stays where it is: the list has a view of it. */
struct broker_link {
	struct opt_list list; /* as given, or the instance's */
	const struct client_key_values *key;
	char own[INSTANCE_PATH_BYTES];
	struct failover failover;
	uint64_t timeouts; /* when the last answer came */
	bool heard;        /* an answer, since the line was made */
};

/* -1: there are too many. */
int broker_link_check(const struct opt_list *given, struct err *err);
/* The endpoints and the key are not copied.  NULL or none: the instance's
 * broker. */
int broker_link_choose(struct broker_link *broker_link,
    const struct opt_list *given, const struct client_key_values *key,
    struct err *err);
/* Returns a new port in `*port`, connected to the first.  Each of them must be
 * one that we may go to. */
int broker_link_connect(const struct broker_link *broker_link,
    struct zsock **zsock, const struct zsock_options *options, struct err *err);

/* Something came. */
void broker_link_answered(struct broker_link *broker_link,
    const struct zsock *zsock, const struct sender *sender);
/* Look after the line: connect anew, or to the next one.  When to look again;
 * 0: there is no need to. */
int64_t broker_link_look(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender, int64_t now_ns);
/* The key's file was read again: connect anew if that is another key.  False:
 * it is not. */
bool broker_link_show_key(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender, int64_t now_ns);
/* The one in use does not let us in: on to the next.  False: each of them has
 * been tried since the last answer. */
bool broker_link_pass_by(struct broker_link *broker_link, struct zsock *zsock,
    struct sender *sender, int64_t now_ns);

#endif
