/*
 * outbox - answers on their way out: those of a group leave together once it
 * is on disk, and those for whom a peer's queue has no room are tried again
 * for a fifth of a second, then dropped; their senders ask again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OUTBOX_H
#define AGGREGATOR_INGEST_OUTBOX_H

#include <stdint.h>

#include "aggregator/ingest/replies.h"
#include "proto/net/loop.h"

/* Of one group at most: the rest of the room is for those that are late. */
enum { OUTBOX_GROUP = REPLIES_MAX / 2 };

struct outbox {
	struct replies replies;
	struct loop *loop;
	struct loop_timer late;
	uint32_t tries;
	uint64_t delayed; /* answers, each time that they had to wait */
	uint64_t dropped; /* the peer was gone, or never took them */
};

/* `on_late`: answers wait, and it is time for outbox_send. */
void outbox_init(struct outbox *outbox, struct loop *loop,
    void (*on_late)(void *arg, struct loop_timer *timer), void *arg);
void outbox_send(struct outbox *outbox, struct zsock *zsock);
void outbox_stop(struct outbox *outbox);

#endif
