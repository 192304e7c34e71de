/*
 * uplink_loop - the line to a broker, one of several, on which rows are sent,
 * and its loop.
 *
 * INT and TERM make the loop end.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_UPLINK_LOOP_H
#define AGENTS_DELIVERY_UPLINK_LOOP_H

#include "agents/delivery/broker_link.h"
#include "proto/net/loop.h"
#include "proto/net/zsock.h"

/* Stays where it is. */
struct import_line {
	struct loop *loop;
	struct port *port;
	struct brokers brokers;
};

/* `brokers`: none or NULL is the instance's.  Whatever comes back,
 * import_line_close ends it. */
int import_line_open(
    struct import_line *line, const struct opt_list *brokers, struct err *err);
void import_line_close(struct import_line *line);

#endif
