/*
 * uplink_loop - a connection to a broker for rows, and its loop.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/uplink_loop.h"

#include <signal.h>

#include "proto/wire/wire.h"

enum {
	LINE_QUEUE = 8
}; /* messages: the sender bounds the window, not ZeroMQ */

static void
on_signal(void *arg, int signo)
{
	(void)signo;
	loop_quit(arg, 1);
}

int
uplink_loop_open(struct uplink_loop *uplink, const struct opt_list *brokers,
    const struct client_key_values *key, struct err *err)
{
	const struct zsock_options options = { .kind = ZSOCK_CONNECTION,
		.queue_messages = LINE_QUEUE,
		.reply_messages = 256,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };

	*uplink = (struct uplink_loop){ .loop = NULL, .zsock = NULL };
	if (broker_link_choose(&uplink->broker_link, brokers, key, err) != 0 ||
	    loop_new(&uplink->loop, err) != 0 ||
	    loop_add_signal(
		uplink->loop, SIGINT, on_signal, uplink->loop, err) != 0 ||
	    loop_add_signal(
		uplink->loop, SIGTERM, on_signal, uplink->loop, err) != 0)
		return -1;
	return broker_link_connect(
	    &uplink->broker_link, &uplink->zsock, &options, err);
}

void
uplink_loop_close(struct uplink_loop *uplink)
{
	zsock_close(&uplink->zsock);
	loop_free(&uplink->loop);
}
