/*
 * drop_pickup - takes what was left in the drop directory into the spool.
 *
 * One round is one function, so that nothing is sent in between: take, commit,
 * remove, sync.  A crash after the commit leaves the file, whose uuids the
 * spool then knows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DROP_PICKUP_H
#define AGENTS_ACCEPT_DROP_PICKUP_H

#include <stdint.h>

#include "agents/accept/batcher.h"
#include "proto/base/err.h"
#include "proto/net/loop.h"

struct drop_pickup_options {
	struct loop *loop;
	struct batcher *batcher;
	const char *dir;

	void *arg;
	/* Commit the gather. */
	void (*commit)(void *arg);
	/* A file that was taken cannot be removed (true): nothing that the
	 * spool holds may be sent until it can (false). */
	void (*hold)(void *arg, bool hold);
};

struct drop_pickup; /* opaque */

int drop_pickup_open(struct drop_pickup **drop_pickup,
    const struct drop_pickup_options *options, struct err *err);
void drop_pickup_close(struct drop_pickup **drop_pickup);

/* Look into the directory (at the start; later it is told by the kernel). */
void drop_pickup_round(struct drop_pickup *drop_pickup);

#endif
