/*
 * uplink_loop - the line to a broker on which rows are sent, and its loop.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/uplink_loop.h"

#include <signal.h>

#include "proto/wire/wire.h"

enum { LINE_QUEUE = 8 }; /* messages: the window is ship's, not ZeroMQ's */

static void
on_signal(void *arg, int signo)
{
	(void)signo;
	loop_quit(arg, 1);
}

int
import_line_open(
    struct import_line *line, const struct opt_list *brokers, struct err *err)
{
	const struct port_options options = { .kind = PORT_LINE,
		.queue_messages = LINE_QUEUE,
		.answer_messages = 256,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };

	*line = (struct import_line){ .loop = NULL, .port = NULL };
	if (brokers_choose(&line->brokers, brokers, err) != 0 ||
	    loop_new(&line->loop, err) != 0 ||
	    loop_add_signal(line->loop, SIGINT, on_signal, line->loop, err) !=
		0 ||
	    loop_add_signal(line->loop, SIGTERM, on_signal, line->loop, err) !=
		0)
		return -1;
	return brokers_connect(&line->brokers, &line->port, &options, err);
}

void
import_line_close(struct import_line *line)
{
	port_close(&line->port);
	loop_free(&line->loop);
}
