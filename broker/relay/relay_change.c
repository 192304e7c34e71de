/*
 * relay_change - changes routes, limits and keys while the relay runs.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/relay.h"

#include <assert.h>
#include <string.h>

#define DRAIN_NS INT64_C(1000000000)

/* The present upstream to that endpoint, or NULL. */
static const struct upstream *
find_upstream(const struct relay *relay, const char *endpoint)
{
	for (uint32_t i = 0; i < relay->upstreams; i++)
		if (strcmp(relay->routes->endpoint[i], endpoint) == 0)
			return &relay->upstream[i];
	return NULL;
}

static void
close_upstreams(struct upstream *upstreams, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		upstream_close(&upstreams[i], 0);
}

/* Close the upstreams that no route uses any more. */
static void
close_unused(struct relay *relay, const struct routes *routes)
{
	for (uint32_t i = 0; i < relay->upstreams; i++) {
		bool needed = false;

		for (uint32_t j = 0; j < routes->targets; j++)
			if (strcmp(relay->routes->endpoint[i],
				routes->endpoint[j]) == 0)
				needed = true;
		if (needed)
			continue;
		relay->counters.invalid +=
		    zsock_counters(relay->upstream[i].zsock)->malformed;
		loop_remove_zsock(relay->loop, relay->upstream[i].zsock);
		upstream_close(&relay->upstream[i], DRAIN_NS);
	}
}

int
relay_change(struct relay *relay, const struct routes *routes, struct err *err)
{
	struct upstream fresh[ROUTES_TARGETS_MAX],
	    upstreams[ROUTES_TARGETS_MAX];
	uint32_t opened = 0, at = 0;

	for (uint32_t i = 0; i < routes->targets; i++) {
		const char *endpoint = routes->endpoint[i];

		if (find_upstream(relay, endpoint) != NULL)
			continue;
		if (upstream_open(&fresh[opened], relay->loop,
			relay->queue_messages, relay->key, endpoint,
			err) != 0) {
			close_upstreams(fresh, opened);
			return -1;
		}
		opened++;
	}
	/* Nothing can fail from here on: the loop has slots for a listener and
	 * for as many upstreams as routes may have targets. */
	relay_stop_waiting(relay);
	for (uint32_t i = 0; i < routes->targets; i++) {
		const struct upstream *same =
		    find_upstream(relay, routes->endpoint[i]);

		upstreams[i] = same ? *same : fresh[at++];
	}
	close_unused(relay, routes);
	memcpy(
	    relay->upstream, upstreams, routes->targets * sizeof(*upstreams));
	relay->upstreams = routes->targets;
	relay->routes = routes;
	for (uint32_t i = 0; i < opened; i++)
		if (relay_add_upstream(relay, fresh[i].zsock, err) != 0)
			assert(!"the loop has no slot for an upstream");
	return 0;
}

void
relay_set_memory(struct relay *relay, uint64_t bytes_max)
{
	relay->peers_max =
	    (uint32_t)(bytes_max / relay_peer_bytes(relay->queue_messages));
}

int
relay_rekey(struct relay *relay, struct err *err)
{
	return zsock_rekey(relay->listener, auth_secret(relay->auth), err);
}
