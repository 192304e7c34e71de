/*
 * upstream - a broker's connection to one aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/upstream.h"

#include "proto/os/log.h"
#include "proto/wire/wire.h"

enum { REPLIES = 256 }; /* queued for all peers together */

static const struct reconnect_peer aggregator = { "aggregator",
	"senders are asked to wait" };

int
upstream_open(struct upstream *upstream, struct loop *loop,
    uint32_t queue_messages, const struct client_key_values *key,
    const char *endpoint, struct err *err)
{
	struct zsock_options how = { .kind = ZSOCK_CONNECTION,
		.queue_messages = queue_messages,
		.reply_messages = REPLIES,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };

	*upstream = (struct upstream){ .zsock = NULL };
	if (client_key_load(&how, key, endpoint, "broker", err) != 0)
		return err_prefix(err, "aggregator");
	if (zsock_open(&upstream->zsock, &how, err) != 0)
		return -1;
	if (zsock_connect(upstream->zsock, endpoint, err) != 0) {
		zsock_close(&upstream->zsock);
		return err_prefix(err, "aggregator");
	}
	upstream->reconnect = reconnect_new(loop, upstream->zsock, &aggregator);
	return 0;
}

void
upstream_close(struct upstream *upstream, int64_t drain_ns)
{
	reconnect_free(&upstream->reconnect);
	zsock_finish(&upstream->zsock, drain_ns);
}

void
upstream_check(struct upstream *upstream)
{
	reconnect_check(upstream->reconnect);
}

void
upstream_renew_key(struct upstream *upstream)
{
	struct err err = { 0 };

	if (!zsock_key_has_changed(upstream->zsock))
		return;
	log_info("the key has changed: reconnecting to aggregator %s",
	    zsock_endpoint(upstream->zsock));
	if (zsock_use_key(upstream->zsock, &err) != 0)
		log_warn("%s", err.text);
}
