/*
 * direct_uplink - a sender on a connection to the brokers, shared by all
 * programs that send batches from memory and end when they are acknowledged.
 *
 * Reports silence after 2 s; fails after the owner's time-out without
 * progress.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_DIRECT_UPLINK_H
#define AGENTS_DELIVERY_DIRECT_UPLINK_H

#include "agents/delivery/sender.h"
#include "agents/delivery/uplink_loop.h"

struct direct_uplink_options {
	struct sender_options sender;
	int64_t timeout_ns;
	bool progress; /* a progress bar is shown: clear it before a message */
	const char *advice; /* ends the message of the time-out: what to do */
	void *arg;
	void (*pump)(void *arg); /* check `is_done`, or send */
	/* Do what a step of the sender says: SENDER_ACKED, _REWIND, _REFUSED,
	 * _DIVERGED; or note that a batch was sent (_SEND). */
	void (*act)(void *arg, const struct sender_step *step);
	/* Called regularly while the loop runs; may be NULL. */
	void (*poll)(void *arg, int64_t now_ns);
};

/* All zero: not started. */
struct direct_uplink {
	struct direct_uplink_options options;
	struct loop *loop;
	struct zsock *zsock;
	struct broker_link *broker_link;
	struct sender *sender;
	struct zsock_message message;
	struct loop_timer push_timer, poll_timer;
	bool added; /* the socket was added to the loop */
	bool waiting_reported;
	uint64_t busy; /* nacks "busy" before the last progress */
	/* Refusals up to here, or until `grace_ns`, answer a previous key. */
	uint64_t forbidden;
	int64_t grace_ns;
	int64_t progress_ns;
	struct err *err; /* why it failed; set by the owner */
	int status;      /* -1: failed */
};

/* `owner` as for sender_new.  Whatever this returns, the caller ends it with
 * direct_uplink_stop, and closes loop and socket itself. */
int direct_uplink_start(struct direct_uplink *d,
    const struct direct_uplink_options *options,
    const struct sender_owner *owner, struct uplink_loop *uplink,
    struct err *err);
void direct_uplink_stop(struct direct_uplink *d);

/* Process the frames that arrived; does not send. */
void direct_uplink_receive(struct direct_uplink *d);
/* Send what the window permits. */
void direct_uplink_push(struct direct_uplink *d);
/* Send again at `at_ns`; 0: only when the sender requires it. */
void direct_uplink_pump_at(struct direct_uplink *d, int64_t at_ns);
/* Something was acknowledged: the time-out begins again. */
void direct_uplink_progressed(struct direct_uplink *d);

/* The owner has set `err`: end the loop. */
void direct_uplink_fail(struct direct_uplink *d);
void direct_uplink_fail_refused(
    struct direct_uplink *d, struct text partition, enum wire_reason reason);

#endif
