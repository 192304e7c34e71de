/*
 * sender - sends the batches of some streams until they are acknowledged.
 *
 * The sender's half of the delivery protocol (proto/delivery.md, "Sender") as
 * a state machine without clock, socket or disk, so that a simulation can run
 * it: time comes in, frames go out through a callback, batches are read again
 * from where they lie.  Used by the agent (spool) and by imports (window).
 *
 * In order per stream; at most 8 batches and min(credit, 512 KiB) under way
 * per stream; go-back-N after a silence of 1 s doubling to 60 s with jitter; a
 * nack "gap" rewinds to what is expected, and when that is lost again 25 ms
 * later, doubling: an aggregator that answers is no silence; "busy" waits as
 * long as it says; with no credit one batch probes at each time-out.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SENDER_H
#define AGENTS_DELIVERY_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/clock_offset.h"
#include "proto/base/err.h"
#include "proto/record/record.h"
#include "proto/wire/wire.h"

enum {
	SENDER_WINDOW_BATCHES = 8,
	SENDER_WINDOW_BYTES = 512 << 10,
	SENDER_STREAMS_MAX = 256,
};

struct sender_batch {
	uint64_t seq, last_seq; /* last_seq > seq or reason != 0: a gap */
	uint32_t reason, records, codec, body_bytes;
	uint64_t chain;
	uint64_t after;   /* gap: the chain behind it; 0: not known */
	struct text body; /* view, valid until the next call */
};

/* What ship asks of its owner. */
struct sender_owner {
	void *arg;
	/* Send one frame; false: not now (queue full, not connected). */
	bool (*send)(void *arg, struct text frame);
	/* As spool_read: 1 there, 0 not yet, -1 no longer there. */
	int (*read)(void *arg, uint32_t stream, uint64_t seq,
	    struct sender_batch *batch);
	/* All up to `upto` are kept. */
	void (*acked)(void *arg, uint32_t stream, uint64_t upto);
	/* Finally refused (forbidden, malformed, too big): put a gap there. */
	void (*refused)(
	    void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason);
	/* The aggregator is behind what it acknowledged, or `read` said -1
	 * three times: go back.  The owner calls sender_restart afterwards
	 * (now, or later). */
	void (*rewind)(void *arg, uint32_t stream, uint64_t seq);
	/* This session has a double: take a new one from `seq` on; the owner
	 * calls sender_restart for every stream afterwards. */
	void (*diverged)(void *arg, uint32_t stream, uint64_t seq);
	/* An answer came that is a clock probe (may be NULL, as the next).
	 * True: another one right now would be welcome, since everything on
	 * the way to the aggregator is awake; an idle stream says hello then.
	 */
	bool (*probed)(void *arg, const struct clock_offset_probe *probe);
	/* The monotonic clock, right before a frame is sent: better than the
	 * time of sender_push, since when batches were read. */
	int64_t (*clock)(void *arg);
};

struct sender_options {
	struct text node;
	uint64_t run;
	uint64_t seed; /* of the jitter */
	/* Sessions follow from the content: whatever the aggregator has of one
	 * is what we would send, also where `read` has it not yet. */
	bool derived;
};

struct sender_counters {
	uint64_t batches, bytes, resent, acks, nacks[WIRE_REASONS];
	uint64_t timeouts;
	uint64_t rtt_ns; /* of the last acknowledgement */
};

struct sender; /* opaque */

int sender_new(struct sender **sender, const struct sender_options *options,
    const struct sender_owner *owner, struct err *err);
void sender_free(struct sender **sender);

/* A stream (number chosen by the owner, < SENDER_STREAMS_MAX) begins or begins
 * anew with `first` as first unacknowledged and `chain` before it: says hello
 * and waits for the welcome. */
int sender_restart(struct sender *sender, uint32_t stream,
    struct text partition, const struct session_id *session, uint64_t first,
    uint64_t chain, int64_t now_ns);

/* There may be more to send (after a commit, a freed queue, a time-out). */
void sender_push(struct sender *sender, int64_t now_ns, int64_t wall_ns);

/* A frame came from the aggregator.  False when it was not understood.  There
 * may be more to send afterwards: sender_push follows. */
bool sender_receive(
    struct sender *sender, struct text frame, int64_t now_ns, int64_t wall_ns);

/* The connection was made anew: send again from the first unacknowledged. */
void sender_reconnected(struct sender *sender, int64_t now_ns);

/* When sender_push must be called at the latest; 0: only when there is more. */
int64_t sender_deadline_ns(const struct sender *sender);

/* Unacknowledged batches under way; at least one as long as `read` has any
 * that are not acknowledged, so 0 means that everything is kept. */
uint32_t sender_in_flight(const struct sender *sender);

const struct sender_counters *sender_counters(const struct sender *sender);

#endif
