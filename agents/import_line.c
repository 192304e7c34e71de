/*
 * import_line - the line to a broker on which rows are sent, and its loop.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_line.h"

#include <signal.h>

#include "proto/instance.h"
#include "proto/pass.h"
#include "proto/wire.h"

enum { LINE_QUEUE = 8 }; /* messages: the window is ship's, not ZeroMQ's */

static void
on_signal(void *arg, int signo)
{
	(void)signo;
	loop_quit(arg, 1);
}

int
import_line_open(struct import_line *line, const char *connect, struct err *err)
{
	char endpoint[INSTANCE_PATH_BYTES];
	struct port_options options = { .kind = PORT_LINE,
		.queue_messages = LINE_QUEUE,
		.answer_messages = 256,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };

	*line = (struct import_line){ NULL, NULL };
	if (connect == NULL) {
		if (instance_endpoint(endpoint, "broker", err) != 0)
			return -1;
		connect = endpoint;
	}
	if (loop_new(&line->loop, err) != 0 ||
	    loop_add_signal(line->loop, SIGINT, on_signal, line->loop, err) !=
		0 ||
	    loop_add_signal(line->loop, SIGTERM, on_signal, line->loop, err) !=
		0 ||
	    pass_show(&options, connect, "agent", err) != 0 ||
	    port_open(&line->port, &options, err) != 0)
		return -1;
	return port_connect(line->port, connect, err);
}

void
import_line_close(struct import_line *line)
{
	port_close(&line->port);
	loop_free(&line->loop);
}
