/*
 * sender_world - an owner with two streams, and an aggregator's answers to what
 * it sends: for tests of the sender's rules, one by one.  What they add up to
 * is for tests/fault/simulate.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGENTS_DELIVERY_SENDER_WORLD_H
#define TESTS_UNIT_AGENTS_DELIVERY_SENDER_WORLD_H

#include "tests/unit/check.h"

#include "agents/delivery/sender.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

#define MS   INT64_C(1000000)
#define WALL INT64_C(1700000000000000000)

enum { BATCHES = 64, SENT = 256, AGGREGATOR_HAS = 20 };

struct sent {
	struct wire_header header;
	char partition[32];
	uint32_t bytes;
};

/* An owner with two streams of batches 1, 2, 3 ... and a line. */
static struct world {
	struct sender *sender;
	struct session_id session;
	int64_t now;
	uint64_t batches[2];       /* there are 1 .. batches */
	uint64_t gap_from, gap_to; /* of stream 0 */
	uint64_t unreadable;       /* stream 0: read says -1 */
	uint32_t body_bytes;
	bool line_is_full;
	uint64_t tries;
	struct sent sent[SENT];
	uint32_t count;
	uint64_t first[2], acked[2], refused, rewound, diverged, generation;
	enum wire_reason reason;
	uint32_t refusals, divergences;
	struct clock_offset_probe probe;
	uint32_t probes;
	bool wants_another;
	unsigned char body[200 << 10];
} w;

static inline struct text
body_of(uint64_t seq)
{
	memset(w.body, (int)seq, w.body_bytes);
	return (struct text){ (char *)w.body, w.body_bytes };
}

/* The running hash after `seq` batches. */
static inline uint64_t
chain_after(uint64_t seq)
{
	uint64_t chain = 0;

	for (uint64_t n = 1; n <= seq; n++)
		chain = hash_chain(chain,
		    crc32c(0, body_of(n).at, w.body_bytes), w.body_bytes, 3);
	return chain;
}

static inline bool
take_frame(struct text frame)
{
	struct sent *sent = &w.sent[w.count];
	struct text body;

	w.tries++;
	if (w.line_is_full)
		return false;
	assert_true(w.count < SENT);
	assert_int_equal(wire_open(frame, &sent->header, &body), WIRE_OK);
	memset(sent->partition, 0, sizeof(sent->partition));
	memcpy(sent->partition, sent->header.partition.at,
	    sent->header.partition.bytes);
	sent->bytes = body.bytes;
	w.count++;
	return true;
}

static inline uint64_t
on_first(void *arg, uint32_t stream)
{
	(void)arg;
	return w.first[stream];
}

static inline int
on_read(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	(void)arg;
	if (seq > w.batches[stream])
		return 0;
	if (stream == 0 && seq == w.unreadable)
		return -1;
	batch->seq = batch->last_seq = seq;
	batch->chain = chain_after(seq - 1);
	batch->records = 3;
	if (stream == 0 && seq >= w.gap_from && seq <= w.gap_to) {
		batch->seq = w.gap_from;
		batch->last_seq = w.gap_to;
		batch->reason = WIRE_GAP_DAMAGED;
		batch->chain = chain_after(w.gap_from - 1);
		batch->chain_after = chain_after(w.gap_to);
		return 1;
	}
	batch->body = body_of(seq);
	batch->body_bytes = w.body_bytes;
	return 1;
}

/* Do as the sender says. */
static inline void
act(const struct sender_step *step)
{
	switch (step->action) {
	case SENDER_WAIT: break;
	case SENDER_SEND:
		sender_sent(w.sender, take_frame(step->frame), w.now);
		break;
	case SENDER_WELCOMED: w.generation = step->generation; break;
	case SENDER_ACKED:
		assert_true(step->seq >= w.first[step->stream]);
		w.acked[step->stream] = step->seq;
		w.first[step->stream] = step->seq + 1;
		break;
	case SENDER_REWIND:
		assert_true(step->seq < w.first[step->stream]);
		w.rewound = step->seq;
		w.first[step->stream] = step->seq;
		break;
	case SENDER_REFUSED:
		assert_int_equal(step->seq, w.first[step->stream]);
		w.refused = step->seq;
		w.reason = step->reason;
		w.refusals++;
		w.unreadable = 0;
		w.gap_from = w.gap_to = step->seq;
		break;
	case SENDER_DIVERGED:
		assert_int_equal(step->seq, w.first[step->stream]);
		w.diverged = step->seq;
		w.divergences++;
		break;
	}
}

static inline bool
on_probed(void *arg, const struct clock_offset_probe *probe)
{
	(void)arg;
	w.probe = *probe;
	w.probes++;
	return w.wants_another;
}

static const char *const partitions[] = { "acct$a", "acct$b" };

static inline void
restart(uint32_t stream, uint64_t first)
{
	sender_close(w.sender, stream);
	w.first[stream] = first;
	assert_int_equal(
	    sender_open(w.sender, stream, text_of(partitions[stream]),
		&w.session, first > 1 ? 5 : 0, w.now),
	    0);
}

static inline int
begin_as(void **state, bool derived)
{
	struct sender_options options = {
		.node = text_of("n1"), .seed = 1, .derived = derived
	};
	struct sender_owner owner = { NULL, on_first, on_read, on_probed,
		NULL };
	struct err err;

	(void)state;
	memset(&w, 0, sizeof(w));
	memset(w.session.bytes, 9, sizeof(w.session.bytes));
	w.now = 1000 * MS;
	w.body_bytes = 100;
	w.first[0] = w.first[1] = 1;
	return sender_new(&w.sender, &options, &owner, &err);
}

static inline int
begin(void **state)
{
	return begin_as(state, false);
}

static inline int
end(void **state)
{
	(void)state;
	sender_free(&w.sender);
	return 0;
}

/* ---- talking ------------------------------------------------------------ */

static inline void
push(void)
{
	struct sender_step step;

	do {
		step = sender_step(w.sender, w.now, WALL + w.now);
		act(&step);
	} while (step.action != SENDER_WAIT);
}

static inline void
wait_ms(int64_t ms)
{
	w.now += ms * MS;
	push();
}

static inline const struct sent *
last(void)
{
	assert_true(w.count > 0);
	return &w.sent[w.count - 1];
}

/* An answer to the frame `to`, as this aggregator (generation 5) gives it. */
static inline struct wire_header
answer(enum wire_type type, const struct sent *to)
{
	return (struct wire_header){ .type = type,
		.partition = text_of(to->partition),
		.node = text_of("head"),
		.session = w.session,
		.seq = to->header.seq,
		.sent_ns = to->header.sent_ns,
		.generation = 5,
		.credit_bytes = 512 << 10 };
}

static inline bool
give(struct wire_header h)
{
	unsigned char frame[2048];
	size_t bytes =
	    wire_frame(frame, sizeof(frame), &h, (struct text){ NULL, 0 });
	bool taken;

	assert_true(bytes > 0);
	taken = sender_receive(
	    w.sender, (struct text){ (char *)frame, (uint32_t)bytes }, w.now);
	push();
	return taken;
}

static inline void
welcome(const struct sent *to, uint64_t expect_seq)
{
	struct wire_header h = answer(WIRE_WELCOME, to);

	h.expect = expect_seq;
	assert_true(give(h));
}

static inline void
ack(uint64_t seq)
{
	struct wire_header h = answer(WIRE_ACK, last());

	h.seq = seq;
	assert_true(give(h));
}

static inline void
nack(const struct sent *to, enum wire_reason reason, uint64_t expect_seq)
{
	struct wire_header h = answer(WIRE_NACK, to);

	h.reason = reason;
	h.expect = expect_seq;
	assert_true(give(h));
}

/* Stream 0 with `batches` batches says hello at `first`. */
static inline void
ask_with(uint64_t batches, uint64_t first)
{
	w.batches[0] = batches;
	restart(0, first);
	push();
	assert_int_equal(last()->header.type, WIRE_HELLO);
	assert_int_equal(last()->header.seq, first);
}

/* ... and is welcomed there. */
static inline void
open_with(uint64_t batches, uint64_t first)
{
	ask_with(batches, first);
	welcome(last(), first);
}

static inline void
put_gap(uint64_t from, uint64_t to)
{
	w.gap_from = from;
	w.gap_to = to;
}

static inline int
begin_derived(void **state)
{
	return begin_as(state, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
