/*
 * gateway - an aggregator without a store: readers read an archive through it.
 *
 * It receives nothing and stores nothing.  Readers have the listeners, keys and
 * patterns of an aggregator; the answers are made
 * of the archive (archive/read/read.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DAEMON_GATEWAY_H
#define AGGREGATOR_DAEMON_GATEWAY_H

#include "aggregator/daemon/settings.h"
#include "proto/net/loop/loop.h"

struct gateway; /* opaque */

/* Finds the archive of given->archive_only, binds the readers' listeners (the
 * instance's if there are none) and starts to answer.  `given` and `loop` must
 * outlive it. */
int gateway_open(struct gateway **gateway,
    struct aggregator_settings_given *given, struct loop *loop,
    struct err *err);
/* Ends the threads after the current answers. */
void gateway_close(struct gateway **gateway);

/* Read the authorized keys and the server key again. */
int gateway_renew_auth(struct gateway *gateway, struct err *err);

#endif
