/*
 * knock - a line that is not let in says why, and tries again.
 * SPDX-License-Identifier: MIT
 */
#include "proto/knock.h"

#include <stdlib.h>

#include "proto/clock.h"
#include "proto/log.h"
#include "proto/pass.h"

#define TELL_NS  (60 * NS_PER_SECOND)
#define AGAIN_NS (5 * NS_PER_SECOND)

struct knock {
	struct loop *loop;
	struct port *port;
	struct loop_timer timer;
	int64_t told_ns;
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

struct knock *
knock_new(struct loop *loop, struct port *port)
{
	struct knock *knock = calloc(1, sizeof(*knock));

	if (knock == NULL)
		abort();
	*knock = (struct knock){ .loop = loop, .port = port };
	knock->timer.on_timer = on_timer;
	knock->timer.arg = knock;
	return knock;
}

void
knock_free(struct knock **knock)
{
	if (*knock == NULL)
		return;
	loop_stop_timer((*knock)->loop, &(*knock)->timer);
	free(*knock);
	*knock = NULL;
}

void
knock_look(struct knock *knock)
{
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { "" };

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
