/*
 * sender_stream - what ship knows of one stream; shared by the parts of ship.
 *
 * sender_send.c sends, sender_replies.c and sender_hello.c read answers.  A
 * stream is in one of four states:
 *
 *     HELLO   the aggregator is asked where it stands; nothing else is sent
 *     PROBE   the aggregator holds other content under our numbers: further
 *             hellos find the last number in common
 *     OPEN    batches are under way
 *     PARKED  the owner was reported to rewind or to take a new session, and
 * has not called sender_restart yet
 *
 * Whatever looks wrong in OPEN leads to HELLO, so that decisions are made in
 * one place: at a welcome that answers our own last hello.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SENDER_STREAM_H
#define AGENTS_DELIVERY_SENDER_STREAM_H

#include "agents/delivery/sender.h"

#define SENDER_TIMEOUT_MIN_NS (INT64_C(1) * 1000000000)
#define SENDER_TIMEOUT_MAX_NS (INT64_C(60) * 1000000000)

enum {
	SENDER_RING = 32,    /* numbers whose chains an aggregator remembers */
	SENDER_REFUSALS = 3, /* answers before a batch counts as refused */
	SENDER_FORKS = 3,    /* nacks "diverged" before they are believed */
	SENDER_ANOMALIES =
	    4, /* hellos without progress before they slow down */
};

enum sender_state {
	SENDER_HELLO,
	SENDER_PROBE,
	SENDER_OPEN,
	SENDER_PARKED,
};

/* A batch that was sent and is not acknowledged. */
struct sender_entry {
	uint64_t seq, last;
	uint64_t after; /* chain after it; 0: not known */
	uint32_t bytes;
	bool gap;
	int64_t stamp_ns; /* sent_ns of its last frame: names the sending */
	int64_t sent_ns;  /* the same on the monotonic clock */
};

/* What a store (its generation) said of which number; gone back for once. */
struct sender_said {
	uint64_t seq, by;
};

struct sender_stream {
	uint32_t number;
	enum sender_state state;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	struct session_id session;

	uint64_t first; /* first unacknowledged */
	uint64_t chain; /* before it; 0 with first > 1: not known */
	uint64_t high;  /* last number ever sent in this session */
	uint64_t generation;
	uint64_t missing; /* the store before had all up to here; 0: no more
			  than this one has */
	uint64_t missing_chain; /* ... and this chain there */
	uint32_t credit;

	/* [0, sent) is under way, [sent, entries) waits to be sent again. */
	struct sender_entry entry[SENDER_WINDOW_BATCHES];
	uint32_t entries, sent;
	uint32_t next_bytes; /* of the batch that did not fit; 0: not known */
	bool ready;          /* there may be something to send */

	bool hello_out;
	int64_t hello_stamp_ns; /* of the hello under way; 0: none */
	int64_t hello_sent_ns;  /* when it left, monotonic */
	uint64_t probe_last;    /* PROBE: the candidate's last number ... */
	uint64_t probe_chain;   /* ... and our chain after it */
	bool tail;              /* PROBE: about the batch before a gap */
	uint64_t hwm;           /* PROBE: the aggregator's last number */

	int64_t deadline_ns; /* of the answer that we wait for */
	int64_t wait_ns;     /* nothing is sent before */
	int64_t timeout_ns;
	uint32_t silences; /* time-outs in a row */
	uint64_t hole;     /* the `expect` that was last gone back to */
	bool unfilled;     /* it is said to be there still: go back soon */
	uint32_t fillings; /* how often since that was first said */
	bool superseded;   /* a newer run of our session exists */
	uint32_t anomalies, forks, misreads; /* since the last progress */
	uint32_t sessions;           /* forks since the last acknowledgement */
	struct sender_said denied;   /* the chain before it is another */
	struct sender_said boundary; /* up to it, chains behind say nothing */
	uint64_t refused_seq;
	uint32_t refusals;
};

struct sender {
	struct sender_owner owner;
	char node[NAME_BYTES_MAX];
	uint32_t node_bytes;
	uint64_t run, random;
	bool derived;
	int64_t stamp_ns;   /* the last one given */
	int64_t sent_ns;    /* when the last frame left, monotonic */
	int64_t blocked_ns; /* the line took nothing: not before this */
	int64_t blocked_pause_ns;
	uint32_t streams; /* highest number in use + 1 */
	uint32_t turn;    /* who is served first next time */
	struct sender_stream *stream[SENDER_STREAMS_MAX];
	struct sender_counters counters;
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

/* `base_ns` and up to a quarter more. */
int64_t sender_jittered(struct sender *sender, int64_t base_ns);

/* Wait the time-out of the stream, and longer the next time. */
int64_t sender_back_off(struct sender *sender, struct sender_stream *s);

/* Ask the aggregator where it stands, not before `wait_ns`. */
void sender_say_hello(struct sender_stream *s, int64_t wait_ns);

/* The chain after a batch; 0 when it cannot be known. */
uint64_t sender_chain_after(const struct sender_batch *batch);

bool sender_is_gap(const struct sender_batch *batch);

/* What is left for a welcome and a nack to decide (sender_hello.c). */
void sender_on_welcome(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns);
void sender_on_hello_nack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns);

/* All up to `upto` are kept, and `chain` is ours after it. */
void sender_advance(struct sender *sender, struct sender_stream *s,
    uint64_t upto, uint64_t chain);

/* The numbers from the first unacknowledged on are used for something else. */
void sender_diverge(struct sender *sender, struct sender_stream *s);

/* Something does not add up: ask.  Not at the speed of an aggregator that keeps
 * saying such things. */
void sender_ask_again(
    struct sender *sender, struct sender_stream *s, int64_t now_ns);

/* The answer is to what was sent at `sent_ns` (monotonic). */
bool sender_probe(const struct sender *sender, const struct wire_header *h,
    int64_t sent_ns, int64_t now_ns);

/* The pause that a nack "busy" asks for. */
int64_t sender_retry_ns(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h);

/* Read the owner's batch that holds `seq`. */
int sender_read(const struct sender *sender, const struct sender_stream *s,
    uint64_t seq, struct sender_batch *batch);

#endif
