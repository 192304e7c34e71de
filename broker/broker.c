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

struct values {
	struct opt_list listen, route;
	struct client_key_values key; /* of the upstreams; its --insecure
					 applies to the listeners, too */
	const char *aggregator, *node, *partitions, *server_key;
	uint64_t queue, memory_max, connect_rate, ingest_rate;
};

static const struct values defaults = { .queue = QUEUE_DEFAULT,
	.memory_max = UINT64_C(1) << 30,
	.connect_rate = ZSOCK_CONNECTS_PER_SECOND,
	.ingest_rate = RATE_LIMIT_BYTES_PER_SECOND };

static const struct opt options[] = {
	{ "listen", 0, OPT_LIST, OPT_TO(struct values, listen), "ENDPOINT",
	    "listen on ENDPOINT for agents and readers; may be repeated "
	    "(default: ipc://DIR/run/broker.ipc)" },
	{ "aggregator", 0, OPT_TEXT, OPT_TO(struct values, aggregator),
	    "ENDPOINT",
	    "send partitions that match no route here; empty: reject them "
	    "(default: ipc://DIR/run/intake.ipc)",
	    .flags = OPT_RELOAD },
	{ "route", 0, OPT_LIST, OPT_TO(struct values, route),
	    "PATTERN=ENDPOINT",
	    "send partitions that match PATTERN to ENDPOINT; may be repeated, "
	    "the first match wins",
	    .flags = OPT_RELOAD },
	{ "partitions", 0, OPT_TEXT, OPT_TO(struct values, partitions), "FILE",
	    "read the partition table from FILE; routes take precedence "
	    "(default: DIR/partitions)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct values, node), "NODE",
	    "name this broker in status replies (default: the host name)" },
	{ "queue", 0, OPT_COUNT, OPT_TO(struct values, queue), "N",
	    "queue at most this many messages per peer and direction (default: "
	    "4)" },
	{ "memory-max", 0, OPT_BYTES, OPT_TO(struct values, memory_max),
	    "BYTES",
	    "warn when the queues of all peers could exceed this many bytes "
	    "(default: 1GiB)",
	    .flags = OPT_RELOAD },
	{ "server-key", 0, OPT_TEXT, OPT_TO(struct values, server_key), "FILE",
	    "use this private key for the TCP listeners (default: "
	    "DIR/keys/server.key)" },
	{ "key", 0, OPT_TEXT, OPT_TO(struct values, key.key), "FILE",
	    "use this key for connections to TCP aggregators (default: "
	    "DIR/keys/broker.key)" },
	{ "ingest-rate", 0, OPT_BYTES, OPT_TO(struct values, ingest_rate),
	    "BYTES",
	    "limit each key to this many bytes/s of batches, burst 10 s "
	    "(default: 64MiB; 0: no limit)",
	    .flags = OPT_RELOAD },
	{ "connect-rate", 0, OPT_COUNT, OPT_TO(struct values, connect_rate),
	    "N",
	    "accept at most this many TCP connections/s, burst 10 s (default: "
	    "100; 0: no limit)" },
	{ "insecure", 0, OPT_FLAG, OPT_TO(struct values, key.insecure), NULL,
	    "allow TCP without keys and encryption" },
	{ .name = NULL },
};

struct broker {
	struct values values;
	struct relay relay;
	struct route_reload *route_reload;
	char default_endpoint[INSTANCE_PATH_BYTES],
	    table_path[INSTANCE_PATH_BYTES];
	struct auth *auth;
	char node[INSTANCE_PATH_BYTES];
};

/* The target of partitions without a route; NULL: none. */
static int
find_fallback(struct broker *broker, const char **fallback, struct err *err)
{
	*fallback = broker->values.aggregator;
	if (broker->values.aggregator != NULL &&
	    broker->values.aggregator[0] == '\0')
		*fallback = NULL;
	if (broker->values.aggregator != NULL)
		return 0;
	*fallback = broker->default_endpoint;
	return instance_endpoint(broker->default_endpoint, "intake", err);
}

static int
open_routes(struct broker *broker, struct err *err)
{
	struct route_reload_options how = { .given = &broker->values.route,
		.path = broker->values.partitions };

	if (find_fallback(broker, &how.fallback, err) != 0)
		return -1;
	if (broker->values.partitions == NULL) {
		if (instance_path(broker->table_path, "partitions", err) != 0)
			return -1;
		how.path = broker->table_path;
	}
	return route_reload_open(&broker->route_reload, &how, err);
}

static void
on_misrouted(void *arg)
{
	struct broker *broker = arg;

	route_reload_soon(broker->route_reload);
}

static int
bind_listener(struct broker *broker, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	uint32_t i;

	for (i = 0; i < broker->values.listen.count; i++) {
		if (zsock_bind(broker->relay.listener,
			broker->values.listen.at[i], err) != 0)
			return -1;
		log_info(
		    "listening on %s", zsock_endpoint(broker->relay.listener));
	}
	if (broker->values.listen.count > 0)
		return 0;
	if (instance_path(path, "run", err) != 0 ||
	    instance_make_dir(path, err) != 0 ||
	    instance_endpoint(path, "broker", err) != 0 ||
	    zsock_bind(broker->relay.listener, path, err) != 0)
		return -1;
	log_info("listening on %s", zsock_endpoint(broker->relay.listener));
	return 0;
}

/* Checks the option values only, not the state of the system. */
static int
check(const void *values, struct err *err)
{
	const struct values *given = values;
	struct routes routes = { .count = 0 };
	uint64_t peer_bytes;

	if (given->connect_rate > ZSOCK_CONNECTS_MAX)
		return err_set_option(err, "connect-rate", "must be at most %d",
		    ZSOCK_CONNECTS_MAX);
	if (given->queue < 1 || given->queue > QUEUE_MAX)
		return err_set_option(
		    err, "queue", "must be a number from 1 to %d", QUEUE_MAX);
	peer_bytes = relay_peer_bytes((uint32_t)given->queue);
	if (given->memory_max < peer_bytes)
		return err_set_option(err, "memory-max",
		    "must be at least %llu bytes, the size of the queues of "
		    "one peer",
		    (unsigned long long)peer_bytes);
	for (uint32_t i = 0; i < given->route.count; i++)
		if (routes_parse(&routes, given->route.at[i], err) != 0)
			return -1;
	return 0;
}

static bool
declare_files(const void *values, struct sandbox *sandbox)
{
	const struct values *given = values;

	sandbox_sockets();
	sandbox_listeners(sandbox, &given->listen, "run/broker.ipc");
	sandbox_read_or(sandbox, given->partitions, "partitions");
	sandbox_read_or(sandbox, given->server_key, "keys/server.key");
	sandbox_read_or(sandbox, given->key.key, "keys/broker.key");
	return true;
}

static int
open_auth(struct broker *broker, struct loop *loop, struct err *err)
{
	const struct auth_options how = { .server_key =
					      broker->values.server_key,
		.listeners = true,
		.watcher = loop_watcher(loop) };

	if (broker->values.key.insecure ||
	    !endpoint_any_tcp(
		broker->values.listen.at, broker->values.listen.count))
		return 0;
	return auth_open(&broker->auth, &how, err);
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct broker *broker = arg;
	struct relay_options relay_options;
	const char *why;

	if (instance_node(broker->node, broker->values.node, &why, err) != 0 ||
	    open_routes(broker, err) != 0 || open_auth(broker, loop, err) != 0)
		return -1;
	relay_options = (struct relay_options){ (uint32_t)broker->values.queue,
		broker->values.memory_max, broker->values.key.insecure,
		on_misrouted, broker, broker->auth,
		(uint32_t)broker->values.connect_rate,
		broker->values.ingest_rate, &broker->values.key };
	broker->relay.node = text_of(broker->node);
	if (relay_start(&broker->relay, loop,
		route_reload_routes(broker->route_reload), &relay_options,
		err) != 0)
		return -1;
	route_reload_start(broker->route_reload, &broker->relay, loop);
	return bind_listener(broker, err);
}

/* Read the listeners' key and the authorized keys again. */
static int
renew_auth(void *arg, struct loop *loop, struct err *err)
{
	struct broker *broker = arg;
	bool rekeyed = false;

	if (broker->auth == NULL)
		return 0;
	if (auth_reload(broker->auth, &rekeyed, err) != 0)
		return -1;
	if (!rekeyed)
		return 0;
	log_info("the server key has changed: binding the TCP listeners again");
	if (relay_rekey(&broker->relay, err) == 0)
		return 0;
	log_error("exiting: %s", err->text);
	loop_quit(loop, EXIT_FAILURE);
	return 0;
}

static int
renew_client_key(void *arg, struct loop *loop, struct err *err)
{
	struct broker *broker = arg;
	int rc = client_key_renew(err);

	(void)loop;
	relay_renew_key(&broker->relay);
	return rc;
}

static const struct service_renewal renewals[] = {
	{ "authorized keys and server key", renew_auth },
	{ "client key", renew_client_key },
	{ .what = NULL },
};

static int
reload(void *arg, struct loop *loop, struct err *err)
{
	struct broker *broker = arg;
	const char *fallback;

	(void)loop;
	if (find_fallback(broker, &fallback, err) != 0 ||
	    route_reload_reload(broker->route_reload, fallback, err) != 0)
		return -1;
	relay_set_memory(&broker->relay, broker->values.memory_max);
	rate_limit_change(broker->relay.rate_limit, broker->values.ingest_rate);
	return 0;
}

static void
stop(void *arg, struct loop *loop)
{
	struct broker *broker = arg;

	route_reload_stop(broker->route_reload);
	relay_stop(&broker->relay);
	loop_quit(loop, 0);
}

static void
clear(void *arg)
{
	struct broker *broker = arg;

	relay_clear(&broker->relay);
	route_reload_close(&broker->route_reload);
	auth_close(&broker->auth);
}

int
main(int argc, char **argv)
{
	struct broker broker = { .values = defaults };
	const struct service service = { .name = "poolscope-broker",
		.summary = "pass batches up and acknowledgements down",
		.examples = "poolscope broker --listen tcp://0.0.0.0:5570\n"
			    "poolscope broker --aggregator tcp://head:5570\n",
		.options = options,
		.values = &broker.values,
		.arg = &broker,
		.check = check,
		.declare_files = declare_files,
		.start = start,
		.stop = stop,
		.renewals = renewals,
		.reload = reload,
		.clear = clear };

	return service_main(&service, argc, argv);
}
