/*
 * outbox - answers to be sent.
 *
 * Those of a group are sent together once it is on disk.  If the queue of a
 * peer is full, its answers are retried for 200 ms, then dropped; the sender
 * resends its message.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OUTBOX_H
#define AGGREGATOR_INGEST_OUTBOX_H

#include <stdint.h>

#include "aggregator/ingest/replies.h"
#include "proto/net/loop/loop.h"

/* Messages of a group; the rest of the room is for late answers. */
enum { OUTBOX_GROUP = REPLIES_MAX / 2 };

struct outbox {
	struct replies replies;
	struct loop *loop;
	struct loop_timer late;
	uint32_t tries;
	uint64_t delayed; /* answers, counted each time that they had to wait */
	uint64_t dropped; /* the peer was gone, or its queue stayed full */
};

/* `on_late` is called when answers wait and outbox_send is due. */
void outbox_init(struct outbox *outbox, struct loop *loop,
    void (*on_late)(void *arg, struct loop_timer *timer), void *arg);
void outbox_send(struct outbox *outbox, struct zsock *zsock);
void outbox_stop(struct outbox *outbox);

#endif
