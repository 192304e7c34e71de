/*
 * direct_uplink - a ship on a line to the brokers: what everybody shares who
 * sends batches out of memory and ends when they are acknowledged.
 *
 * Silence is reported after 2 s, and after the owner's time-out without
 * progress it is over. SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_DIRECT_UPLINK_H
#define AGENTS_DELIVERY_DIRECT_UPLINK_H

#include "agents/delivery/sender.h"
#include "agents/delivery/uplink_loop.h"

struct direct_uplink_options {
	struct sender_options ship;
	int64_t timeout_ns;
	bool progress;      /* a bar is shown: out of the way before words */
	const char *advice; /* for who waited too long: "..., goes on" */
	void *arg;
	void (*pump)(void *arg); /* there may be something to do */
	/* Now and then while the loop runs; may be NULL. */
	void (*look)(void *arg, int64_t now_ns);
};

/* Zeroed: not started. */
struct direct_uplink {
	struct direct_uplink_options options;
	struct loop *loop;
	struct zsock *zsock;
	struct broker_link *broker_link;
	struct sender *ship;
	struct zsock_message message;
	struct loop_timer push_timer, look_timer;
	bool added; /* the port, to the loop */
	bool waiting_reported;
	uint64_t busy;      /* answers before the last progress */
	uint64_t forbidden; /* answers to the key before */
	int64_t grace_ns;   /* until then they may be */
	int64_t progress_ns;
	struct err *err; /* why it failed; the owner sets it */
	int status;      /* -1: failed */
};

/* `owner` as ship wants it, but that direct_uplink_send sends.  Whatever comes
 * back, direct_uplink_stop ends it; loop and port stay. */
int direct_uplink_start(struct direct_uplink *d,
    const struct direct_uplink_options *options,
    const struct sender_owner *owner, struct uplink_loop *line,
    struct err *err);
void direct_uplink_stop(struct direct_uplink *d);

bool direct_uplink_send(struct direct_uplink *d, struct text frame);
/* Take in what came; does not pump. */
void direct_uplink_receive(struct direct_uplink *d);
/* Send what may be sent. */
void direct_uplink_push(struct direct_uplink *d);
/* pump again at `at_ns`, or 0: only when ship has to. */
void direct_uplink_pump_at(struct direct_uplink *d, int64_t at_ns);
/* Something was acknowledged, or time begins to count only now. */
void direct_uplink_progressed(struct direct_uplink *d);

/* The owner has said in `err` what is wrong: the loop ends. */
void direct_uplink_fail(struct direct_uplink *d);
void direct_uplink_fail_refused(
    struct direct_uplink *d, struct text partition, enum wire_reason reason);

#endif
