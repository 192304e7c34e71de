/*
 * route_reload - the routes of a broker: command line first, then the
 * partition table, then the default; reads the table again when it changes.
 *
 * A table that is malformed, or older than the one in use, changes nothing and
 * is logged.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_ROUTE_RELOAD_H
#define BROKER_RELAY_ROUTE_RELOAD_H

#include "broker/relay/relay.h"
#include "broker/relay/routes.h"
#include "proto/config/opt.h"

struct route_reload_options {
	const struct opt_list *given; /* PATTERN=ENDPOINT */
	const char *fallback;         /* default target; NULL: none */
	const char *path;             /* path of the partition table */
};

struct route_reload; /* opaque */

/* Reads the table if the file exists; -1 if it or a rule is malformed.  The
 * texts of the options must outlive the object. */
int route_reload_open(struct route_reload **route_reload,
    const struct route_reload_options *options, struct err *err);
void route_reload_close(struct route_reload **route_reload);

/* The initial routes. */
const struct routes *route_reload_routes(
    const struct route_reload *route_reload);

/* Follow the table from now on: checks the file once a second. */
void route_reload_start(
    struct route_reload *route_reload, struct relay *relay, struct loop *loop);
void route_reload_stop(struct route_reload *route_reload);

/* Read everything again with a new default target; -1: nothing was changed. */
int route_reload_reload(
    struct route_reload *route_reload, const char *fallback, struct err *err);
/* An aggregator answered "owner": check the file within 0.1 s. */
void route_reload_soon(struct route_reload *route_reload);

#endif
