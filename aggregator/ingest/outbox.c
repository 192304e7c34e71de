/*
 * outbox - answers to be sent.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/outbox.h"

#include "proto/os/clock.h"

enum { TRIES = 100 };
#define LATE_NS (NS_PER_SECOND / 500)

void
outbox_init(struct outbox *outbox, struct loop *loop,
    void (*on_late)(void *arg, struct loop_timer *timer), void *arg)
{
	replies_init(&outbox->replies);
	outbox->loop = loop;
	outbox->late = (struct loop_timer){ .on_timer = on_late, .arg = arg };
	outbox->tries = 0;
	outbox->delayed = outbox->dropped = 0;
}

void
outbox_send(struct outbox *outbox, struct zsock *zsock)
{
	struct replies *replies = &outbox->replies;

	replies_send(replies, zsock, &outbox->dropped);
	if (replies->count == 0) {
		outbox->tries = 0;
		outbox_stop(outbox);
		return;
	}
	if (++outbox->tries > TRIES ||
	    replies->count > REPLIES_MAX - OUTBOX_GROUP) {
		outbox->dropped += replies->count;
		replies_clear(replies);
		outbox->tries = 0;
		return;
	}
	outbox->delayed += replies->count;
	loop_set_timer(
	    outbox->loop, &outbox->late, clock_monotonic_ns() + LATE_NS, 0);
}

void
outbox_stop(struct outbox *outbox)
{
	loop_stop_timer(outbox->loop, &outbox->late);
}
