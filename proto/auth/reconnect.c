/*
 * reconnect - a line that is not let in says why, and tries again.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/reconnect.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/client_key.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define TELL_NS  (60 * NS_PER_SECOND)
#define AGAIN_NS (5 * NS_PER_SECOND)
#define ALONE_NS (5 * NS_PER_SECOND)

struct knock {
	struct loop *loop;
	struct port *port;
	struct knock_peer peer;
	struct loop_timer timer;
	int64_t told_ns;
	struct loop_timer alone; /* at the beginning, until somebody is there */
	char *connected;         /* to which endpoint; NULL: to none */
};

static void
try_again(struct knock *knock)
{
	struct err err = { "" };
	int rc;

	if (port_has_other_key(knock->port))
		rc = port_show_key(knock->port, &err);
	else
		rc = port_reconnect(knock->port, &err);
	if (rc != 0)
		log_warn("%s", err.text);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct knock *knock = arg;
	struct err err = { "" };

	(void)timer;
	if (port_trouble(knock->port, &err) == PORT_FINE)
		return;
	/* A key that cannot be read stays as it was, and was told of. */
	pass_renew(&err);
	try_again(knock);
}

static void
on_alone(void *arg, struct loop_timer *timer)
{
	struct knock *knock = arg;
	struct err err = { "" };

	(void)timer;
	if (port_trouble(knock->port, &err) == PORT_FINE)
		log_warn("no %s at %s: is it running?  Until then %s",
		    knock->peer.name, port_endpoint(knock->port),
		    knock->peer.meanwhile);
}

struct knock *
knock_new(struct loop *loop, struct port *port, const struct knock_peer *peer)
{
	struct knock *knock = calloc(1, sizeof(*knock));

	if (knock == NULL)
		abort();
	*knock = (struct knock){ .loop = loop, .port = port, .peer = *peer };
	knock->timer.on_timer = on_timer;
	knock->alone.on_timer = on_alone;
	knock->timer.arg = knock->alone.arg = knock;
	loop_set_timer(loop, &knock->alone, clock_monotonic_ns() + ALONE_NS, 0);
	return knock;
}

void
knock_free(struct knock **knock)
{
	if (*knock == NULL)
		return;
	loop_stop_timer((*knock)->loop, &(*knock)->timer);
	loop_stop_timer((*knock)->loop, &(*knock)->alone);
	free((*knock)->connected);
	free(*knock);
	*knock = NULL;
}

static void
look_who_is_there(struct knock *knock)
{
	bool connected = port_counters(knock->port)->peers > 0;

	if (connected == (knock->connected != NULL))
		return;
	if (!connected) {
		log_warn("lost %s %s", knock->peer.name, knock->connected);
		free(knock->connected);
		knock->connected = NULL;
		return;
	}
	loop_stop_timer(knock->loop, &knock->alone);
	knock->connected = strdup(port_endpoint(knock->port));
	if (knock->connected == NULL)
		abort();
	log_info("connected to %s %s", knock->peer.name, knock->connected);
}

void
knock_look(struct knock *knock)
{
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { "" };

	look_who_is_there(knock);
	switch (port_trouble(knock->port, &err)) {
	case PORT_FINE: return;
	case PORT_TRY_NEXT: try_again(knock); return;
	default: break;
	}
	if (knock->told_ns == 0 || now_ns - knock->told_ns >= TELL_NS) {
		knock->told_ns = now_ns;
		log_warn("%s", err.text);
	}
	if (knock->timer.at_ns == 0)
		loop_set_timer(
		    knock->loop, &knock->timer, now_ns + AGAIN_NS, 0);
}
