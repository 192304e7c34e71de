/*
 * direct_uplink - a ship on a line to the brokers: what everybody shares who
 * sends batches out of memory and ends when they are acknowledged.
 *
 * Silence is told after 2 s, and after the owner's time-out without progress
 * it is over.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_DIRECT_UPLINK_H
#define AGENTS_DELIVERY_DIRECT_UPLINK_H

#include "agents/delivery/sender.h"
#include "agents/delivery/uplink_loop.h"

struct deliver_options {
	struct ship_options ship;
	int64_t timeout_ns;
	bool progress;      /* a bar is shown: out of the way before words */
	const char *advice; /* for who waited too long: "..., goes on" */
	void *arg;
	void (*pump)(void *arg); /* there may be something to do */
	/* Now and then while the loop runs; may be NULL. */
	void (*look)(void *arg, int64_t now_ns);
};

/* Zeroed: not started. */
struct deliver {
	struct deliver_options options;
	struct loop *loop;
	struct port *port;
	struct brokers *brokers;
	struct ship *ship;
	struct message message;
	struct loop_timer push_timer, look_timer;
	bool added; /* the port, to the loop */
	bool waiting_told;
	uint64_t busy;      /* answers before the last progress */
	uint64_t forbidden; /* answers to the key before */
	int64_t grace_ns;   /* until then they may be */
	int64_t progress_ns;
	struct err *err; /* why it failed; the owner sets it */
	int status;      /* -1: failed */
};

/* `owner` as ship wants it, but that deliver_send sends.  Whatever comes back,
 * deliver_stop ends it; loop and port stay. */
int deliver_start(struct deliver *d, const struct deliver_options *options,
    const struct ship_owner *owner, struct import_line *line, struct err *err);
void deliver_stop(struct deliver *d);

bool deliver_send(struct deliver *d, struct text frame);
/* Take in what came; does not pump. */
void deliver_receive(struct deliver *d);
/* Send what may be sent. */
void deliver_push(struct deliver *d);
/* pump again at `at_ns`, or 0: only when ship has to. */
void deliver_pump_at(struct deliver *d, int64_t at_ns);
/* Something was acknowledged, or time begins to count only now. */
void deliver_progressed(struct deliver *d);

/* The owner has said in `err` what is wrong: the loop ends. */
void deliver_fail(struct deliver *d);
void deliver_fail_refused(
    struct deliver *d, struct text partition, enum wire_reason reason);

#endif
