/*
 * sender - sends the batches of several streams until they are acknowledged.
 *
 * The sender's half of the delivery protocol (proto/delivery.md, "Sender") as
 * a state machine without clock, socket or disk, so that a simulation can run
 * it.  It decides, its owner acts: sender_step returns one thing to do at a
 * time.  The owner has the batches and knows the first one that is not
 * acknowledged; the sender asks for both and keeps no copy.  The agent uses it
 * with the spool, imports with a window in memory.
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
	SENDER_STREAMS_MAX = 512,
};

struct sender_batch {
	uint64_t seq, last_seq; /* last_seq > seq or reason != 0: a gap */
	uint32_t reason, records, codec, body_bytes;
	uint64_t chain;       /* running hash before seq; 0: not known */
	uint64_t chain_after; /* gap: the running hash after it; 0: not known */
	struct text body;     /* view, valid until the next call */
};

/* What the sender asks its owner.  None of these may call the sender. */
struct sender_owner {
	void *arg;
	/* The first number of the stream that is not acknowledged. */
	uint64_t (*first)(void *arg, uint32_t stream);
	/* As spool_read: 1 read, 0 not yet written, -1 unreadable. */
	int (*read)(void *arg, uint32_t stream, uint64_t seq,
	    struct sender_batch *batch);
	/* An answer came that is a clock probe.  True: send another one at
	 * once, since every process on the way to the aggregator is awake; an
	 * idle stream sends a hello then.  May be NULL, as may `clock`. */
	bool (*probed)(void *arg, const struct clock_offset_probe *probe);
	/* The monotonic clock just before a frame is sent: more precise than
	 * the time of sender_step, after which batches were read. */
	int64_t (*clock)(void *arg);
};

enum sender_action {
	SENDER_WAIT, /* nothing, until sender_deadline_ns */
	/* Send `frame` (batch or gap `seq`; 0: a hello), then say with
	 * sender_sent whether it was taken. */
	SENDER_SEND,
	/* The aggregator has answered the hello: its store is `generation`, and
	 * has everything before the first unacknowledged number.  It comes
	 * after a SENDER_REWIND. */
	SENDER_WELCOMED,
	/* All up to `seq` is stored.  With `is_claim` the welcome says so (of
	 * options.derived alone): the owner compares the running hash after it
	 * (0: not known), before it believes that. */
	SENDER_ACKED,
	/* The store lacks acknowledged batches: the first unacknowledged
	 * number is `seq` again.  What cannot be read any more becomes a
	 * gap. */
	SENDER_REWIND,
	/* Put a gap in the place of `seq`: the aggregator refuses it for good
	 * (`reason`), or it cannot be read (WIRE_GAP_DAMAGED). */
	SENDER_REFUSED,
	/* The store has other content under `seq`, the first unacknowledged
	 * number: another life of this session goes on there.  Or (`reason`
	 * forbidden) another key or node began the session, or (`is_dropped`)
	 * what it had was dropped.  The batches from `seq` on need another
	 * session. */
	SENDER_DIVERGED,
};

struct sender_step {
	enum sender_action action;
	uint32_t stream;
	uint64_t seq, generation, chain;
	bool is_claim, is_dropped;
	enum wire_reason reason;
	struct text frame; /* view, valid until the next call */
};

struct sender_options {
	struct text node;
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

/* Begin with a stream (the owner chooses its number, < SENDER_STREAMS_MAX; it
 * must be closed): it sends a hello and waits for the welcome.  `generation`
 * is that of the store that acknowledged what is acknowledged; 0: nothing, or
 * not known.  -1: the partition is not a name, or the number too high. */
int sender_open(struct sender *sender, uint32_t stream, struct text partition,
    const struct session_id *session, uint64_t generation, int64_t now_ns);
/* Forget a stream; answers to what it sent are ignored. */
void sender_close(struct sender *sender, uint32_t stream);
bool sender_is_open(const struct sender *sender, uint32_t stream);

/* The next thing to do.  The owner has done it when it calls this again. */
struct sender_step sender_step(
    struct sender *sender, int64_t now_ns, int64_t wall_ns);

/* The frame of the last step was sent, or (`taken` false) the connection took
 * nothing: queue full, not connected. */
void sender_sent(struct sender *sender, bool taken, int64_t now_ns);

/* Process a frame from the aggregator.  False: it was malformed or
 * unsolicited.  There may be more to do: call sender_step afterwards. */
bool sender_receive(struct sender *sender, struct text frame, int64_t now_ns);

/* The connection was made again: resend from the first unacknowledged batch. */
void sender_reconnected(struct sender *sender);

/* When sender_step must be called at the latest; 0: not before there is more
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
/* Or if the last answer was "owner": nobody takes what the stream has. */
bool sender_is_unwanted(const struct sender *sender, uint32_t stream);

const struct sender_counters *sender_counters(const struct sender *sender);

#endif
