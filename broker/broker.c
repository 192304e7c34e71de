/*
 * poolscope-broker - passes batches up and acknowledgements down.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "broker/relay/relay.h"
#include "broker/relay/route_reload.h"
#include "broker/relay/routes.h"
#include "proto/auth/client_key.h"
#include "proto/config/instance.h"
#include "proto/net/endpoint.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

enum { QUEUE_DEFAULT = 4, QUEUE_MAX = 1024 };

static struct {
	struct opt_list listen, route;
	struct client_key_values key; /* of lines up; its --insecure is
					 of the listener, too */
	const char *aggregator, *node, *partitions, *server_key;
	uint64_t queue, memory_max, connects, key_bytes;
} values = { .queue = QUEUE_DEFAULT,
	.memory_max = UINT64_C(1) << 30,
	.connects = ZSOCK_CONNECTS_PER_SECOND,
	.key_bytes = RATE_LIMIT_BYTES_PER_SECOND };

static const struct opt options[] = {
	{ "listen", 0, OPT_LIST, &values.listen, "ENDPOINT",
	    "listen on ENDPOINT for agents and readers; may be repeated", NULL,
	    false },
	{ "aggregator", 0, OPT_TEXT, &values.aggregator, "ENDPOINT",
	    "send partitions that match no route here; empty: reject them",
	    NULL, OPT_RELOAD },
	{ "route", 0, OPT_LIST, &values.route, "PATTERN=ENDPOINT",
	    "send partitions that match PATTERN to ENDPOINT; may be repeated, "
	    "the first match wins",
	    NULL, OPT_RELOAD },
	{ "partitions", 0, OPT_TEXT, &values.partitions, "FILE",
	    "read the partition table from FILE; --route takes precedence "
	    "(default: DIR/partitions)",
	    NULL, false },
	{ "node", 'n', OPT_TEXT, &values.node, "NODE",
	    "name this broker in status replies (default: the host name)", NULL,
	    false },
	{ "queue", 0, OPT_COUNT, &values.queue, "N",
	    "queue at most this many messages per peer and direction", NULL,
	    false },
	{ "memory-max", 0, OPT_BYTES, &values.memory_max, "BYTES",
	    "warn when the queues of all peers could exceed this many bytes",
	    NULL, OPT_RELOAD },
	{ "server-key", 0, OPT_TEXT, &values.server_key, "FILE",
	    "private key of the TCP listeners (default: DIR/keys/server.key)",
	    NULL, false },
	{ "key", 0, OPT_TEXT, &values.key.key, "FILE",
	    "key for connections to TCP aggregators (default: "
	    "DIR/keys/broker.key)",
	    NULL, false },
	{ "ingest-rate", 0, OPT_BYTES, &values.key_bytes, "BYTES",
	    "ingest rate limit per key in bytes/s, burst 10 s (default: 64MiB; "
	    "0: no limit)",
	    NULL, OPT_RELOAD },
	{ "connect-rate", 0, OPT_COUNT, &values.connects, "N",
	    "accept at most this many TCP connections/s, burst 10 s (default: "
	    "100; 0: no limit)",
	    NULL, false },
	{ "insecure", 0, OPT_FLAG, &values.key.insecure, NULL,
	    "allow TCP without keys and encryption", NULL, false },
	{ .name = NULL },
};

static struct relay relay;
static struct route_reload *route_reload;
static char intake[INSTANCE_PATH_BYTES], table[INSTANCE_PATH_BYTES];
static struct auth *auth;
static char node[INSTANCE_PATH_BYTES];

/* The target of partitions without a route; NULL: none. */
static int
find_fallback(const char **fallback, struct err *err)
{
	*fallback = values.aggregator;
	if (values.aggregator != NULL && values.aggregator[0] == '\0')
		*fallback = NULL;
	if (values.aggregator != NULL)
		return 0;
	*fallback = intake;
	return instance_endpoint(intake, "intake", err);
}

static int
open_guide(struct err *err)
{
	struct route_reload_options how = { .given = &values.route,
		.path = values.partitions };

	if (find_fallback(&how.fallback, err) != 0)
		return -1;
	if (values.partitions == NULL) {
		if (instance_path(table, "partitions", err) != 0)
			return -1;
		how.path = table;
	}
	return route_reload_open(&route_reload, &how, err);
}

static void
on_strange(void)
{
	route_reload_doubt(route_reload);
}

static int
bind_listener(struct err *err)
{
	char place[INSTANCE_PATH_BYTES];
	uint32_t i;

	for (i = 0; i < values.listen.count; i++) {
		if (zsock_bind(relay.listener, values.listen.at[i], err) != 0)
			return -1;
		log_info("listening on %s", zsock_endpoint(relay.listener));
	}
	if (values.listen.count > 0)
		return 0;
	if (instance_path(place, "run", err) != 0 ||
	    instance_make_dir(place, err) != 0 ||
	    instance_endpoint(place, "broker", err) != 0 ||
	    zsock_bind(relay.listener, place, err) != 0)
		return -1;
	log_info("listening on %s", zsock_endpoint(relay.listener));
	return 0;
}

/* Checks the option values only, not the state of the system. */
static int
check(struct err *err)
{
	struct routes given = { .count = 0 };
	uint64_t peer_bytes;

	if (values.connects > ZSOCK_CONNECTS_MAX)
		return err_set_option(err, "connect-rate", "must be at most %d",
		    ZSOCK_CONNECTS_MAX);
	if (values.queue < 1 || values.queue > QUEUE_MAX)
		return err_set_option(
		    err, "queue", "must be a number from 1 to %d", QUEUE_MAX);
	peer_bytes = relay_peer_bytes((uint32_t)values.queue);
	if (values.memory_max < peer_bytes)
		return err_set_option(err, "memory-max",
		    "must be at least %llu bytes, the size of the queues of "
		    "one peer",
		    (unsigned long long)peer_bytes);
	for (uint32_t i = 0; i < values.route.count; i++)
		if (routes_parse(&given, values.route.at[i], err) != 0)
			return -1;
	return 0;
}

static bool
fence(struct sandbox *sandbox)
{
	sandbox_sockets();
	sandbox_doors(sandbox, &values.listen, "run/broker.ipc");
	sandbox_read_or(sandbox, values.partitions, "partitions");
	sandbox_read_or(sandbox, values.server_key, "keys/server.key");
	sandbox_read_or(sandbox, values.key.key, "keys/broker.key");
	return true;
}

static int
open_gate(struct loop *loop, struct err *err)
{
	const struct auth_options how = { .server_key = values.server_key,
		.doors = true,
		.watcher = loop_watcher(loop) };

	if (values.key.insecure ||
	    !endpoint_any_tcp(values.listen.at, values.listen.count))
		return 0;
	return auth_open(&auth, &how, err);
}

static int
start(struct loop *loop, struct err *err)
{
	struct relay_options relay_options;
	const char *why;

	if (instance_node(node, values.node, &why, err) != 0 ||
	    open_guide(err) != 0 || open_gate(loop, err) != 0)
		return -1;
	relay_options = (struct relay_options){ (uint32_t)values.queue,
		values.memory_max, values.key.insecure, on_strange, auth,
		(uint32_t)values.connects, values.key_bytes, &values.key };
	relay.node = text_of(node);
	if (relay_start(&relay, loop, route_reload_routes(route_reload),
		&relay_options, err) != 0)
		return -1;
	route_reload_start(route_reload, &relay, loop);
	return bind_listener(err);
}

/* The key of the listeners. */
static int
renew_gate(struct loop *loop, struct err *err)
{
	bool rekeyed = false;

	if (auth == NULL)
		return 0;
	if (auth_reload(auth, &rekeyed, err) != 0)
		return -1;
	if (!rekeyed)
		return 0;
	log_info("the server key has changed: binding the TCP listeners again");
	if (relay_rekey(&relay, err) == 0)
		return 0;
	loop_quit(loop, EXIT_FAILURE);
	return -1;
}

/* Keys first: a revoked key must lose access even if the rest of the reload
 * fails. */
static int
renew(struct loop *loop, struct err *err)
{
	if (renew_gate(loop, err) != 0 || client_key_renew(err) != 0)
		return -1;
	relay_show_key(&relay);
	return 0;
}

static int
reload(struct loop *loop, struct err *err)
{
	const char *fallback;

	(void)loop;
	if (find_fallback(&fallback, err) != 0 ||
	    route_reload_reload(route_reload, fallback, err) != 0)
		return -1;
	relay_set_memory(&relay, values.memory_max);
	rate_limit_change(relay.rate_limit, values.key_bytes);
	return 0;
}

static void
stop(struct loop *loop)
{
	route_reload_stop(route_reload);
	relay_stop(&relay);
	loop_quit(loop, 0);
}

static void
clear(void)
{
	relay_clear(&relay);
	route_reload_close(&route_reload);
	auth_close(&auth);
}

int
main(int argc, char **argv)
{
	static const struct service service = { .name = "poolscope-broker",
		.summary = "pass batches up and acknowledgements down",
		.options = options,
		.check = check,
		.fence = fence,
		.start = start,
		.stop = stop,
		.renew = renew,
		.reload = reload,
		.clear = clear };

	return service_main(&service, argc, argv);
}
