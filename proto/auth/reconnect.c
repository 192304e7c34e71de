/*
 * reconnect - connects again when a listener refuses the key.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/reconnect.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/client_key.h"
#include "proto/auth/refusal.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define LOG_NS     (60 * NS_PER_SECOND)
#define AGAIN_NS   (5 * NS_PER_SECOND)
#define STARTUP_NS (5 * NS_PER_SECOND)

struct reconnect {
	struct loop *loop;
	struct zsock *zsock;
	struct reconnect_peer peer;
	struct loop_timer timer;
	int64_t reported_ns;
	/* Runs out when the peer has not answered since the start. */
	struct loop_timer startup_timer;
	char *connected; /* the connected endpoint; NULL: none */
};

static void
try_again(struct reconnect *reconnect)
{
	struct err err = { 0 };
	int rc;

	if (zsock_key_has_changed(reconnect->zsock))
		rc = zsock_use_key(reconnect->zsock, &err);
	else
		rc = zsock_reconnect(reconnect->zsock, &err);
	if (rc != 0)
		log_warn("%s", err.text);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct reconnect *reconnect = arg;
	struct err err = { 0 };

	(void)timer;
	if (zsock_trouble(reconnect->zsock) == ZSOCK_FINE)
		return;
	/* If this fails, the old key is tried again. */
	client_key_renew(&err);
	try_again(reconnect);
}

static void
on_startup_timer(void *arg, struct loop_timer *timer)
{
	struct reconnect *reconnect = arg;

	(void)timer;
	if (zsock_trouble(reconnect->zsock) == ZSOCK_FINE)
		log_warn("cannot reach %s at %s: is it running?  Until then %s",
		    reconnect->peer.name, zsock_endpoint(reconnect->zsock),
		    reconnect->peer.meanwhile);
}

struct reconnect *
reconnect_new(
    struct loop *loop, struct zsock *zsock, const struct reconnect_peer *peer)
{
	struct reconnect *reconnect = memory_zero(1, sizeof(*reconnect));

	*reconnect =
	    (struct reconnect){ .loop = loop, .zsock = zsock, .peer = *peer };
	reconnect->timer.on_timer = on_timer;
	reconnect->startup_timer.on_timer = on_startup_timer;
	reconnect->timer.arg = reconnect->startup_timer.arg = reconnect;
	loop_set_timer(loop, &reconnect->startup_timer,
	    clock_monotonic_ns() + STARTUP_NS, 0);
	return reconnect;
}

void
reconnect_free(struct reconnect **reconnect)
{
	if (*reconnect == NULL)
		return;
	loop_stop_timer((*reconnect)->loop, &(*reconnect)->timer);
	loop_stop_timer((*reconnect)->loop, &(*reconnect)->startup_timer);
	free((*reconnect)->connected);
	free(*reconnect);
	*reconnect = NULL;
}

static void
log_connection(struct reconnect *reconnect)
{
	bool connected = zsock_counters(reconnect->zsock)->peers > 0;

	if (connected == (reconnect->connected != NULL))
		return;
	if (!connected) {
		log_warn(
		    "lost %s %s", reconnect->peer.name, reconnect->connected);
		free(reconnect->connected);
		reconnect->connected = NULL;
		return;
	}
	loop_stop_timer(reconnect->loop, &reconnect->startup_timer);
	reconnect->connected = memory_string(zsock_endpoint(reconnect->zsock));
	log_info(
	    "connected to %s %s", reconnect->peer.name, reconnect->connected);
}

void
reconnect_check(struct reconnect *reconnect)
{
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { 0 };

	log_connection(reconnect);
	switch (refusal_get(reconnect->zsock, &err)) {
	case ZSOCK_FINE: return;
	case ZSOCK_TRY_NEXT: try_again(reconnect); return;
	default: break;
	}
	if (reconnect->reported_ns == 0 ||
	    now_ns - reconnect->reported_ns >= LOG_NS) {
		reconnect->reported_ns = now_ns;
		log_warn("%s", err.text);
	}
	if (reconnect->timer.at_ns == 0)
		loop_set_timer(
		    reconnect->loop, &reconnect->timer, now_ns + AGAIN_NS, 0);
}
