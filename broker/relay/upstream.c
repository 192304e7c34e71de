/*
 * upstream - a broker's line up to one aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/upstream.h"

#include "proto/auth/client_key.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

enum { ANSWERS = 256 }; /* queued, to all peers together */

static const struct knock_peer aggregator = { "aggregator",
	"senders are told to wait" };

int
relay_line_open(struct relay_line *line, struct loop *loop,
    uint32_t queue_messages, const char *endpoint, struct err *err)
{
	struct port_options how = { .kind = PORT_LINE,
		.queue_messages = queue_messages,
		.answer_messages = ANSWERS,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };

	*line = (struct relay_line){ .port = NULL };
	if (pass_show(&how, endpoint, "broker", err) != 0)
		return err_prefix(err, "aggregator");
	if (port_open(&line->port, &how, err) != 0)
		return -1;
	if (port_connect(line->port, endpoint, err) != 0) {
		port_close(&line->port);
		return err_prefix(err, "aggregator");
	}
	line->knock = knock_new(loop, line->port, &aggregator);
	return 0;
}

void
relay_line_close(struct relay_line *line, int64_t drain_ns)
{
	knock_free(&line->knock);
	port_finish(&line->port, drain_ns);
}

void
relay_line_look(struct relay_line *line)
{
	knock_look(line->knock);
}

void
relay_line_show_key(struct relay_line *line)
{
	struct err err = { "" };

	if (!port_has_other_key(line->port))
		return;
	log_info("another key: connecting anew to aggregator %s",
	    port_endpoint(line->port));
	if (port_show_key(line->port, &err) != 0)
		log_warn("%s", err.text);
}
