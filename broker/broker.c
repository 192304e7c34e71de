/*
 * poolscope-broker - passes batches up and acknowledgements down.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "broker/relay.h"
#include "broker/routes.h"
#include "proto/instance.h"
#include "proto/log.h"
#include "proto/service.h"

enum { QUEUE_DEFAULT = 4, QUEUE_MAX = 1024 };

static struct {
	struct opt_list listen, route;
	const char *aggregator, *node;
	uint64_t queue, memory_max;
	bool insecure;
} values = { .queue = QUEUE_DEFAULT, .memory_max = UINT64_C(1) << 30 };

static const struct opt options[] = {
	{ "listen", 0, OPT_LIST, &values.listen, "ENDPOINT",
	    "door for agents and readers; may be repeated", NULL, false },
	{ "aggregator", 0, OPT_TEXT, &values.aggregator, "ENDPOINT",
	    "where partitions without a route go; empty: nowhere", NULL,
	    OPT_RELOAD },
	{ "route", 0, OPT_LIST, &values.route, "PATTERN=ENDPOINT",
	    "where partitions that match go; may be repeated, first wins", NULL,
	    OPT_RELOAD },
	{ "node", 'n', OPT_TEXT, &values.node, "NODE",
	    "name in answers to status, default the host's", NULL, false },
	{ "queue", 0, OPT_COUNT, &values.queue, "N",
	    "messages queued per peer and direction", NULL, false },
	{ "memory-max", 0, OPT_BYTES, &values.memory_max, "BYTES",
	    "warn when the queues of all peers could take more", NULL,
	    OPT_RELOAD },
	{ "insecure", 0, OPT_FLAG, &values.insecure, NULL,
	    "let a door without keys be open to the network", NULL, false },
	{ .name = NULL },
};

static struct relay relay;
static struct routes routes[2]; /* in force, and the next */
static unsigned routes_at;
static char node[INSTANCE_PATH_BYTES];

static int
add_default_route(struct routes *to, struct err *err)
{
	char intake[INSTANCE_PATH_BYTES];

	if (values.aggregator != NULL && values.aggregator[0] == '\0')
		return 0;
	if (values.aggregator != NULL)
		return routes_add(to, text_of("*"), values.aggregator, err);
	if (instance_endpoint(intake, "intake", err) != 0)
		return -1;
	return routes_add(to, text_of("*"), intake, err);
}

static int
read_routes(struct routes *to, struct err *err)
{
	for (uint32_t i = 0; i < values.route.count; i++)
		if (routes_parse(to, values.route.at[i], err) != 0)
			return -1;
	return add_default_route(to, err);
}

static int
bind_door(struct err *err)
{
	char place[INSTANCE_PATH_BYTES];
	uint32_t i;

	for (i = 0; i < values.listen.count; i++) {
		if (port_bind(relay.door, values.listen.at[i], err) != 0)
			return -1;
		log_info("listening on %s", port_endpoint(relay.door));
	}
	if (values.listen.count > 0)
		return 0;
	if (instance_path(place, "run", err) != 0 ||
	    instance_make_dir(place, err) != 0 ||
	    instance_endpoint(place, "broker", err) != 0 ||
	    port_bind(relay.door, place, err) != 0)
		return -1;
	log_info("listening on %s", port_endpoint(relay.door));
	return 0;
}

/* What is wrong with what was given, and not with the world. */
static int
check(struct err *err)
{
	uint64_t peer_bytes;

	if (values.queue < 1 || values.queue > QUEUE_MAX)
		return err_set(
		    err, "--queue is a number from 1 to %d", QUEUE_MAX);
	peer_bytes = relay_peer_bytes((uint32_t)values.queue);
	if (values.memory_max < peer_bytes)
		return err_set(err,
		    "--memory-max is less than the %llu bytes that the queues "
		    "of one peer can take",
		    (unsigned long long)peer_bytes);
	return read_routes(&(struct routes){ .count = 0 }, err);
}

static int
start(struct loop *loop, struct err *err)
{
	struct relay_options relay_options;
	const char *why;

	relay_options = (struct relay_options){ (uint32_t)values.queue,
		values.memory_max, values.insecure };
	if (instance_node(node, values.node, &why, err) != 0 ||
	    read_routes(&routes[routes_at], err) != 0)
		return -1;
	relay.node = text_of(node);
	if (relay_start(
		&relay, loop, &routes[routes_at], &relay_options, err) != 0)
		return -1;
	return bind_door(err);
}

static int
reload(struct loop *loop, struct err *err)
{
	struct routes *next = &routes[!routes_at];

	(void)loop;
	*next = (struct routes){ .count = 0 };
	if (read_routes(next, err) != 0 || relay_change(&relay, next, err) != 0)
		return -1;
	routes_at = !routes_at;
	relay_set_memory(&relay, values.memory_max);
	return 0;
}

static void
stop(struct loop *loop)
{
	relay_stop(&relay);
	loop_quit(loop, 0);
}

static void
clear(void)
{
	relay_clear(&relay);
}

int
main(int argc, char **argv)
{
	static const struct service service = { .name = "poolscope-broker",
		.summary = "pass batches up and acknowledgements down",
		.options = options,
		.check = check,
		.start = start,
		.stop = stop,
		.reload = reload,
		.clear = clear };

	return service_main(&service, argc, argv);
}
