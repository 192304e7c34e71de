/*
 * sender - sends the batches of several streams until they are acknowledged.
 *
 * The sender's half of the delivery protocol (proto/delivery.md, "Sender") as
 * a state machine without clock, socket or disk, so that a simulation can run
 * it: the caller passes the time, a callback sends frames, and batches are
 * read again from where they are stored.  The agent uses it with the spool,
 * imports with a window in memory.
 *
 * Each stream is sent in order, with at most 8 batches and min(credit, 512
 * KiB) in flight.  After a silence of 1 s, doubling to 60 s with jitter, it
 * resends everything in flight (go-back-N).  After a nack "gap" it resends
 * from the expected number; if that is lost again it waits 25 ms, doubling,
 * since an aggregator that answers is not silent.  A nack "busy" makes it wait
 * as long as the nack asks.  Without credit it sends one batch at each
 * time-out.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SENDER_H
#define AGENTS_DELIVERY_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/clock/clock_offset.h"
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
	uint64_t chain_after; /* gap: the running hash after it; 0: not known */
	struct text body;     /* view, valid until the next call */
};

/* Callbacks to the caller, the owner of the batches. */
struct sender_owner {
	void *arg;
	/* Send one frame; false: not now (queue full, not connected). */
	bool (*send)(void *arg, struct text frame);
	/* As spool_read: 1 read, 0 not yet written, -1 no longer stored. */
	int (*read)(void *arg, uint32_t stream, uint64_t seq,
	    struct sender_batch *batch);
	/* All batches up to `upto` are stored. */
	void (*acked)(void *arg, uint32_t stream, uint64_t upto);
	/* Refused for good (forbidden, malformed, too big): put a gap there. */
	void (*refused)(
	    void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason);
	/* The aggregator has lost acknowledged batches, or `read` returned -1
	 * three times: resend from `seq`.  The owner calls sender_restart
	 * afterwards (now, or later). */
	void (*resend_from)(void *arg, uint32_t stream, uint64_t seq);
	/* This session has diverged: take a new one from `seq` on; the owner
	 * calls sender_restart for every stream afterwards. */
	void (*diverged)(void *arg, uint32_t stream, uint64_t seq);
	/* An answer came that is a clock probe.  True: send another one at
	 * once, since every process on the way to the aggregator is awake; an
	 * idle stream sends a hello then.  May be NULL, as may `clock`. */
	bool (*probed)(void *arg, const struct clock_offset_probe *probe);
	/* The monotonic clock just before a frame is sent: more precise than
	 * the time of sender_push, after which batches were read. */
	int64_t (*clock)(void *arg);
};

struct sender_options {
	struct text node;
	uint64_t start_count;
	uint64_t seed; /* seed of the jitter */
	/* Session ids are derived from the content: whatever the aggregator
	 * has of one is what we would send, even if `read` does not have it
	 * yet. */
	bool derived;
	uint16_t batch_flags; /* enum wire_flag, of each batch */
};

struct sender_counters {
	uint64_t batches, bytes, resent, acks, nacks[WIRE_REASONS];
	uint64_t timeouts;
	uint64_t rtt_ns; /* round trip of the last acknowledgement */
};

struct sender; /* opaque */

int sender_new(struct sender **sender, const struct sender_options *options,
    const struct sender_owner *owner, struct err *err);
void sender_free(struct sender **sender);

/* Start or restart a stream (the owner chooses its number, <
 * SENDER_STREAMS_MAX) with `first` as first unacknowledged number and the
 * running hash before it: sends a hello and waits for the welcome. */
int sender_restart(struct sender *sender, uint32_t stream,
    struct text partition, const struct session_id *session, uint64_t first,
    uint64_t chain, int64_t now_ns);

/* There may be more to send (after a commit, a freed queue, a time-out). */
void sender_push(struct sender *sender, int64_t now_ns, int64_t wall_ns);

/* Process a frame from the aggregator.  False: it was malformed or
 * unsolicited. There may be more to send: call sender_push afterwards. */
bool sender_receive(
    struct sender *sender, struct text frame, int64_t now_ns, int64_t wall_ns);

/* The connection was made again: resend from the first unacknowledged batch. */
void sender_reconnected(struct sender *sender, int64_t now_ns);

/* When sender_push must be called at the latest; 0: not before there is more
 * to send. */
int64_t sender_deadline_ns(const struct sender *sender);

/* The number of unacknowledged batches in flight; at least one while `read`
 * has unacknowledged batches, so 0 means that everything is stored. */
uint32_t sender_in_flight(const struct sender *sender);

/* The last answer "forbidden" (counters.nacks): what is refused, and what the
 * key may do; "" if there was none. */
const char *sender_forbidden(const struct sender *sender);
/* What the key may do, if the last answer to this stream was "forbidden"; else
 * NULL. */
const char *sender_forbids(const struct sender *sender, uint32_t stream);

const struct sender_counters *sender_counters(const struct sender *sender);

#endif
