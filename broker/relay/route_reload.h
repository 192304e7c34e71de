/*
 * route_reload - the routes of a broker: those of the command line, those of
 * the partition table, and the default; and the table read again when it
 * changes.
 *
 * A table that is wrong, or older than the one in use, changes nothing and is
 * reported.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_ROUTE_RELOAD_H
#define BROKER_RELAY_ROUTE_RELOAD_H

#include "broker/relay/relay.h"
#include "broker/relay/routes.h"
#include "proto/config/opt.h"

struct route_reload_options {
	const struct opt_list *given; /* PATTERN=ENDPOINT */
	const char *fallback;         /* an endpoint, or NULL: none */
	const char *path;             /* of the table */
};

struct route_reload; /* opaque */

/* Reads the table, if there is one.  The options' texts must live on. */
int route_reload_open(struct route_reload **route_reload,
    const struct route_reload_options *options, struct err *err);
void route_reload_close(struct route_reload **route_reload);

/* The routes to begin with. */
const struct routes *route_reload_routes(
    const struct route_reload *route_reload);

/* From now on the relay follows the table: it is looked at once a second. */
void route_reload_start(
    struct route_reload *route_reload, struct relay *relay, struct loop *loop);
void route_reload_stop(struct route_reload *route_reload);

/* Read everything again, with `fallback` in the place of the one before; -1:
 * all stays as it was. */
int route_reload_reload(
    struct route_reload *route_reload, const char *fallback, struct err *err);
/* An aggregator said that our routes are wrong: look soon. */
void route_reload_doubt(struct route_reload *route_reload);

#endif
