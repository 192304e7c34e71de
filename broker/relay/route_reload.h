/*
 * route_reload - the routes of a broker: those of the command line, those of
 * the partition table, and the default; and the table read again when it
 * changes.
 *
 * A table that is wrong, or older than the one in use, changes nothing and is
 * told.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_ROUTE_RELOAD_H
#define BROKER_RELAY_ROUTE_RELOAD_H

#include "broker/relay/relay.h"
#include "broker/relay/routes.h"
#include "proto/config/opt.h"

struct guide_options {
	const struct opt_list *given; /* PATTERN=ENDPOINT */
	const char *fallback;         /* an endpoint, or NULL: none */
	const char *path;             /* of the table */
};

struct guide; /* opaque */

/* Reads the table, if there is one.  The options' texts must live on. */
int guide_open(
    struct guide **guide, const struct guide_options *options, struct err *err);
void guide_close(struct guide **guide);

/* The routes to begin with. */
const struct routes *guide_routes(const struct guide *guide);

/* From now on the relay follows the table: it is looked at once a second. */
void guide_start(struct guide *guide, struct relay *relay, struct loop *loop);
void guide_stop(struct guide *guide);

/* Read everything again, with `fallback` in the place of the one before; -1:
 * all stays as it was. */
int guide_reload(struct guide *guide, const char *fallback, struct err *err);
/* An aggregator said that our routes are wrong: look soon. */
void guide_doubt(struct guide *guide);

#endif
