/*
 * sender_stream - the state of one stream; shared by the parts of the sender.
 *
 * sender_send.c sends; sender_replies.c and sender_hello.c read answers.  A
 * stream is in one of four states:
 *
 *     HELLO   the aggregator is asked for its position; nothing else is sent
 *     PROBE   the aggregator has other content under our numbers: further
 *             hellos find the last common number
 *     OPEN    batches are in flight
 *     PARKED  the owner was asked to resend from a number or to take a new
 *             session, and has not called sender_restart yet
 *
 * Every inconsistency in OPEN leads to HELLO, so that decisions are made in
 * one place: at a welcome that answers our own last hello.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_SENDER_STREAM_H
#define AGENTS_DELIVERY_SENDER_STREAM_H

#include "agents/delivery/sender.h"

#define SENDER_TIMEOUT_MIN_NS (INT64_C(1) * 1000000000)
#define SENDER_TIMEOUT_MAX_NS (INT64_C(60) * 1000000000)

enum {
	SENDER_RING =
	    32, /* numbers whose running hash an aggregator remembers */
	SENDER_REFUSALS = 3, /* refusals before a batch counts as refused */
	SENDER_DIVERGED_NACKS =
	    3, /* nacks "diverged" before they are believed */
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
	uint64_t chain_after; /* running hash after it; 0: not known */
	uint32_t bytes;
	bool gap;
	int64_t stamp_ns; /* sent_ns of its last frame: identifies the
			     transmission */
	int64_t sent_ns;  /* the same time on the monotonic clock */
};

/* A number that a store (its generation) has answered; resend once from
 * there. */
struct sender_report {
	uint64_t seq, by;
};

struct sender_stream {
	uint32_t number;
	enum sender_state state;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	struct session_id session;

	uint64_t first; /* first unacknowledged */
	uint64_t
	    chain;     /* running hash before it; 0 with first > 1: not known */
	uint64_t high; /* last number ever sent in this session */
	uint64_t generation;
	uint64_t missing; /* the previous store had all up to here; 0: no more
			     than this one has */
	uint64_t missing_chain; /* ... with this running hash there */
	uint32_t credit;

	/* [0, sent) is in flight, [sent, entries) waits to be sent again. */
	struct sender_entry entry[SENDER_WINDOW_BATCHES];
	uint32_t entries, sent;
	uint32_t
	    next_bytes; /* size of the batch that did not fit; 0: not known */
	bool ready;     /* there may be something to send */

	bool hello_out;
	int64_t hello_stamp_ns;   /* of the hello in flight; 0: none */
	int64_t hello_sent_ns;    /* when it was sent, monotonic */
	uint64_t probe_last;      /* PROBE: the candidate's last number ... */
	uint64_t probe_chain;     /* ... and our running hash after it */
	bool tail;                /* PROBE: about the batch before a gap */
	uint64_t aggregator_last; /* PROBE: the aggregator's last number */

	int64_t deadline_ns; /* when the expected answer is overdue */
	int64_t wait_ns;     /* send nothing before this time */
	int64_t timeout_ns;
	uint32_t silences; /* time-outs in a row */
	uint64_t hole;     /* the `expect` that the stream last resent from */
	bool unfilled;     /* the nack was repeated: resend soon */
	uint32_t fillings; /* resends since the first nack with this number */
	bool superseded;   /* a newer start of our session exists */
	uint32_t anomalies, diverged_nacks,
	    misreads; /* since the last progress */
	uint32_t
	    sessions; /* answers "diverged" since the last acknowledgement */
	struct sender_report
	    denied; /* nack "diverged": the running hash before it differs */
	struct sender_report
	    boundary;   /* up to here running hashes prove nothing */
	bool forbidden; /* by the last answer */
	uint64_t refused_seq;
	uint32_t refusals;
};

struct sender {
	struct sender_owner owner;
	char node[NAME_BYTES_MAX];
	uint32_t node_bytes;
	uint64_t start_count, random;
	bool derived;
	uint16_t batch_flags;
	/* The last nack "forbidden", and its detail. */
	char forbidden[3 * (NAME_BYTES_MAX + 1) + 64];
	char forbidden_why[NAME_BYTES_MAX + 1];
	int64_t stamp_ns; /* the last one assigned */
	int64_t sent_ns;  /* when the last frame was sent, monotonic */
	int64_t
	    blocked_ns; /* the connection took nothing: retry at this time */
	int64_t blocked_pause_ns;
	uint32_t streams; /* highest number in use + 1 */
	uint32_t turn;    /* the stream to serve first next time */
	struct sender_stream *stream[SENDER_STREAMS_MAX];
	struct sender_counters counters;
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

/* `base_ns` plus up to a quarter of it. */
int64_t sender_jittered(struct sender *sender, int64_t base_ns);

/* Wait for the time-out of the stream, and longer the next time. */
int64_t sender_back_off(struct sender *sender, struct sender_stream *s);

/* Ask the aggregator for its position, not before `wait_ns`. */
void sender_say_hello(struct sender_stream *s, int64_t wait_ns);

/* The running hash after a batch; 0 when it cannot be known. */
uint64_t sender_chain_after(const struct sender_batch *batch);

bool sender_is_gap(const struct sender_batch *batch);

/* Welcomes, and the nacks that need a decision (sender_hello.c). */
void sender_on_welcome(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns);
void sender_on_hello_nack(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h, int64_t now_ns);

/* All up to `upto` are stored, with this running hash of ours after it. */
void sender_advance(struct sender *sender, struct sender_stream *s,
    uint64_t upto, uint64_t chain);

/* The numbers from the first unacknowledged on get other content. */
void sender_diverge(struct sender *sender, struct sender_stream *s);

/* Something is inconsistent: ask the aggregator, but not as fast as it repeats
 * such answers. */
void sender_ask_again(
    struct sender *sender, struct sender_stream *s, int64_t now_ns);

/* The answer belongs to the frame sent at `sent_ns` (monotonic). */
bool sender_probe(const struct sender *sender, const struct wire_header *h,
    int64_t sent_ns, int64_t now_ns);

/* The pause that a nack "busy" asks for. */
int64_t sender_retry_ns(struct sender *sender, struct sender_stream *s,
    const struct wire_header *h);

/* Read the owner's batch that has number `seq`. */
int sender_read(const struct sender *sender, const struct sender_stream *s,
    uint64_t seq, struct sender_batch *batch);

#endif
