/*
 * sender_stream - the state of one stream; shared by the parts of the sender.
 *
 * sender_send.c sends; sender_replies.c reads answers.  A stream is in one of
 * two states:
 *
 *     HELLO   the aggregator is asked for its position; nothing else is sent
 *     OPEN    batches are in flight
 *
 * Every inconsistency in OPEN leads to HELLO, so that decisions are made in
 * one place: at a welcome that answers our own last hello.
 *
 * What the owner has to do waits in `pending` until sender_step returns it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SENDER_STREAM_H
#define AGENTS_DELIVERY_SENDER_STREAM_H

#include "agents/delivery/sender.h"

#define SENDER_TIMEOUT_MIN_NS (INT64_C(1) * 1000000000)
#define SENDER_TIMEOUT_MAX_NS (INT64_C(60) * 1000000000)

enum {
	SENDER_REFUSALS = 3, /* refusals before a batch counts as refused */
	SENDER_ANOMALIES =
	    4, /* hellos without progress before they slow down */
};

enum sender_state { SENDER_HELLO, SENDER_OPEN };

/* A batch that was sent and is not acknowledged. */
struct sender_entry {
	uint64_t seq, last;
	uint64_t chain_after; /* running hash after it; 0: not known */
	uint32_t bytes;
	bool gap;
	int64_t stamp_ns; /* sent_ns of its last frame: identifies the
			     transmission */
	int64_t sent_ns;  /* the same time on the monotonic clock */
};

/* What the owner does not know yet, in this order. */
struct sender_pending {
	uint64_t acked; /* all up to here is stored; 0: nothing */
	bool is_claim;  /* a welcome says so: what is there may not be ours */
	uint64_t chain; /* then: the running hash after it */
	struct sender_step act; /* SENDER_WAIT: none */
	bool welcomed;          /* by the store `generation` */
};

struct sender_stream {
	uint32_t number;
	enum sender_state state;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	struct session_id session;

	uint64_t high; /* last number sent since the stream was opened */
	/* Of the store that acknowledged what is acknowledged. */
	uint64_t generation;
	uint32_t credit;
	struct sender_pending pending;

	/* [0, sent) is in flight, [sent, entries) waits to be sent again. */
	struct sender_entry entry[SENDER_WINDOW_BATCHES];
	uint32_t entries, sent;
	uint32_t
	    next_bytes; /* size of the batch that did not fit; 0: not known */
	bool ready;     /* there may be something to send */

	bool hello_out;
	int64_t hello_stamp_ns; /* of the hello in flight; 0: none */
	int64_t hello_sent_ns;  /* when it was sent, monotonic */

	int64_t deadline_ns; /* when the expected answer is overdue */
	int64_t wait_ns;     /* send nothing before this time */
	int64_t timeout_ns;
	uint32_t silences; /* time-outs in a row */
	uint64_t hole;     /* the `expect` that the stream last resent from */
	bool unfilled;     /* the nack was repeated: resend soon */
	uint32_t fillings; /* resends since the first nack with this number */
	uint32_t anomalies, misreads; /* since the last progress */
	enum wire_reason
	    unwanted; /* the last answer: forbidden or owner, or 0 */
	uint64_t refused_seq;
	uint32_t refusals;
	/* Called diverged: sent again when all before it is settled. */
	uint64_t diverged_seq;
};

/* The frame that sender_step returned last. */
struct sender_offer {
	struct sender_stream *stream; /* NULL: none */
	bool is_hello;
	struct sender_entry entry;
	int64_t stamp_ns;
	uint32_t bytes;
};

struct sender {
	struct sender_owner owner;
	char node[NAME_BYTES_MAX];
	uint32_t node_bytes;
	uint64_t random;
	bool derived;
	uint16_t batch_flags;
	/* Answers "diverged" since the last acknowledgement of anything. */
	uint32_t divergences;
	/* The last nack "forbidden", and its detail. */
	char forbidden[3 * (NAME_BYTES_MAX + 1) + 64];
	char forbidden_why[NAME_BYTES_MAX + 1];
	int64_t stamp_ns; /* the last one assigned */
	int64_t sent_ns;  /* when the last frame was made, monotonic */
	int64_t
	    blocked_ns; /* the connection took nothing: retry at this time */
	int64_t blocked_pause_ns;
	uint32_t streams; /* highest number in use + 1 */
	uint32_t turn;    /* the stream to serve first next time */
	struct sender_stream *stream[SENDER_STREAMS_MAX];
	struct sender_counters counters;
	struct sender_offer offer;
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

/* `base_ns` plus up to a quarter of it. */
int64_t sender_jittered(struct sender *sender, int64_t base_ns);

/* Wait for the time-out of the stream, and longer the next time. */
int64_t sender_back_off(struct sender *sender, struct sender_stream *s);

/* Ask the aggregator for its position, not before `wait_ns`. */
void sender_say_hello(struct sender_stream *s, int64_t wait_ns);

/* The first unacknowledged number: what the owner does not know yet
 * counts. */
uint64_t sender_first(
    const struct sender *sender, const struct sender_stream *s);

/* The owner has something to do that changes what is to be sent. */
bool sender_is_held(const struct sender_stream *s);

bool sender_is_gap(const struct sender_batch *batch);

/* The running hash after a batch or gap; 0: not known. */
uint64_t sender_hash_after(const struct sender_batch *batch);

/* Read the owner's batch that has number `seq`. */
int sender_read(const struct sender *sender, const struct sender_stream *s,
    uint64_t seq, struct sender_batch *batch);

/* Make the next frame of the stream, sender->offer: its bytes in
 * sender->frame; 0: there is none to send now. */
uint32_t sender_offer(struct sender *sender, struct sender_stream *s,
    int64_t now_ns, int64_t wall_ns);

#endif
