/*
 * sender_send - the half of the sender that sends.
 *
 * It stores no batches: a batch is read from the owner and framed each time it
 * is sent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

#include <assert.h>

/* How long to pause after the connection took nothing, and the maximum: a
 * connection that is down costs one attempt a second. */
#define BLOCKED_MIN_NS (INT64_C(5) * 1000000)
#define BLOCKED_MAX_NS (INT64_C(1000) * 1000000)

/* The send time is the wall clock and identifies one frame: no two are
 * equal. */
static int64_t
next_stamp(struct sender *sender, int64_t wall_ns)
{
	int64_t ahead_ns = sender->stamp_ns - wall_ns;

	if (ahead_ns >= 0 && ahead_ns < NS_PER_SECOND)
		wall_ns = sender->stamp_ns + 1;
	sender->stamp_ns = wall_ns;
	return wall_ns;
}

/* Frame a message of the stream: it waits in sender->offer. */
static uint32_t
make_frame(struct sender *sender, struct sender_stream *s,
    struct wire_header *header, struct text body, int64_t now_ns,
    int64_t wall_ns)
{
	size_t bytes;

	header->partition = (struct text){ s->partition, s->partition_bytes };
	header->node = (struct text){ sender->node, sender->node_bytes };
	header->session = s->session;
	header->sent_ns = next_stamp(sender, wall_ns);
	if (sender->derived)
		header->flags |= WIRE_FLAG_DERIVED;
	bytes = wire_frame(sender->frame, sizeof(sender->frame), header, body);
	assert(bytes > 0);
	sender->sent_ns = sender->owner.clock == NULL
			      ? now_ns
			      : sender->owner.clock(sender->owner.arg);
	sender->offer.stream = s;
	sender->offer.is_hello = header->type == WIRE_HELLO;
	sender->offer.stamp_ns = header->sent_ns;
	sender->offer.bytes = (uint32_t)bytes;
	return (uint32_t)bytes;
}

static uint32_t
offer_hello(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	struct wire_header header = { .type = WIRE_HELLO };

	if (now_ns < (s->hello_out ? s->deadline_ns : s->wait_ns))
		return 0;
	header.seq = sender_first(sender, s);
	header.generation = s->generation;
	return make_frame(
	    sender, s, &header, (struct text){ NULL, 0 }, now_ns, wall_ns);
}

/* Does the window have room for `bytes` more?  One batch may always be sent
 * when none is in flight, so that a small credit, or none, cannot stop a
 * stream. */
static bool
has_room(const struct sender_stream *s, uint32_t bytes)
{
	uint64_t limit = SENDER_WINDOW_BYTES, under_way = bytes;

	if (s->sent == 0)
		return true;
	if (s->credit == 0)
		return false;
	/* After a second silence in a row send one batch, not a window, to see
	 * whether the peer is there. */
	if (s->sent == SENDER_WINDOW_BATCHES || s->silences > 1)
		return false;
	for (uint32_t i = 0; i < s->sent; i++)
		under_way += s->entry[i].bytes;
	if (s->credit < limit)
		limit = s->credit;
	return under_way <= limit;
}

/* The batch that is next can never be sent: when everything before it is
 * settled, the owner puts a gap in its place. */
static void
give_up(struct sender *sender, struct sender_stream *s, uint64_t seq,
    enum wire_reason reason, int64_t now_ns)
{
	s->entries = s->sent;
	if (s->sent > 0)
		return;
	s->wait_ns = now_ns + sender_back_off(sender, s);
	s->ready = true;
	s->pending.act = (struct sender_step){
		.action = SENDER_REFUSED, .seq = seq, .reason = reason
	};
}

/* The owner cannot read a batch that it should have: perhaps a momentary
 * error. */
static void
misread(struct sender *sender, struct sender_stream *s, uint64_t seq,
    int64_t now_ns)
{
	if (s->sent == 0 && ++s->misreads < SENDER_REFUSALS) {
		s->entries = 0;
		s->wait_ns = now_ns + sender_back_off(sender, s);
		s->ready = true;
		return;
	}
	if (s->sent == 0)
		s->misreads = 0;
	give_up(sender, s, seq, WIRE_GAP_DAMAGED, now_ns);
}

/* A body that fits in no frame will not get smaller. */
static bool
fits_a_frame(const struct sender_batch *batch)
{
	return batch->body.bytes <= WIRE_FRAME_BYTES_MAX - WIRE_FIXED_BYTES -
					WIRE_HEADER_BYTES_MAX &&
	       batch->records <= WIRE_RECORDS_MAX;
}

uint64_t
sender_hash_after(const struct sender_batch *batch)
{
	if (sender_is_gap(batch))
		return batch->chain_after;
	if (batch->chain == 0 && batch->seq > 1)
		return 0;
	return hash_chain(batch->chain,
	    crc32c(0, batch->body.at, batch->body.bytes), batch->body.bytes,
	    batch->records);
}

/* A gap has no body.  What is left of it from `seq` on begins at the number
 * that the aggregator expects. */
static void
make_gap(const struct sender_stream *s, uint64_t seq,
    struct sender_batch *batch, struct wire_header *header)
{
	header->type = WIRE_GAP;
	header->flags = 0;
	header->last_seq = batch->last_seq;
	header->reason = batch->reason;
	header->chain_after = batch->chain_after;
	batch->body = (struct text){ NULL, 0 };
	if (batch->seq < seq)
		header->chain =
		    s->sent > 0 ? s->entry[s->sent - 1].chain_after : 0;
}

/* Offer the next batch of the window.  0: there is none, or the window is
 * full. */
static uint32_t
offer_next(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	uint64_t seq = s->sent > 0 ? s->entry[s->sent - 1].last + 1
				   : sender_first(sender, s);
	struct wire_header header = {
		.type = WIRE_BATCH, .flags = sender->batch_flags, .seq = seq
	};
	struct sender_batch batch;
	int there;

	if (!has_room(s, s->next_bytes) ||
	    (seq == s->diverged_seq && s->sent > 0))
		return 0;
	there = sender_read(sender, s, seq, &batch);
	if (there < 0)
		misread(sender, s, seq, now_ns);
	if (there != 1)
		return 0;
	if (!fits_a_frame(&batch)) {
		give_up(sender, s, seq, WIRE_NACK_TOO_BIG, now_ns);
		return 0;
	}
	if (!has_room(s, batch.body.bytes)) {
		s->next_bytes = batch.body.bytes;
		return 0;
	}
	header.records = batch.records;
	header.codec = batch.codec;
	header.body_bytes = batch.body_bytes;
	header.chain = batch.chain;
	if (sender_is_gap(&batch))
		make_gap(s, seq, &batch, &header);
	sender->offer.entry = (struct sender_entry){
		.seq = seq,
		.last = batch.last_seq,
		.bytes = batch.body.bytes,
		.gap = header.type == WIRE_GAP,
		.chain_after = sender_hash_after(&batch),
	};
	return make_frame(sender, s, &header, batch.body, now_ns, wall_ns);
}

static void
note_silence(struct sender *sender, struct sender_stream *s)
{
	sender->counters.timeouts++;
	s->silences++;
	sender_back_off(sender, s);
	s->hole = 0;
	s->wait_ns = 0;
}

static uint32_t
offer_batch(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	if (s->sent > 0 && now_ns >= s->deadline_ns) {
		if (!s->unfilled)
			note_silence(sender, s);
		s->sent = 0;
	}
	if (s->sent == 0 && now_ns < s->wait_ns) {
		s->ready = true;
		return 0;
	}
	s->ready = false;
	return offer_next(sender, s, now_ns, wall_ns);
}

uint32_t
sender_offer(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	return s->state == SENDER_HELLO
		   ? offer_hello(sender, s, now_ns, wall_ns)
		   : offer_batch(sender, s, now_ns, wall_ns);
}

/* ---- after the frame was sent ---- */

static void
note_hello(struct sender *sender, struct sender_stream *s, int64_t now_ns)
{
	if (s->hello_out)
		sender->counters.timeouts++;
	s->hello_out = true;
	s->hello_stamp_ns = sender->offer.stamp_ns;
	s->hello_sent_ns = sender->sent_ns;
	s->deadline_ns = now_ns + sender_back_off(sender, s);
}

static void
note_batch(struct sender *sender, struct sender_stream *s, int64_t now_ns)
{
	struct sender_entry *entry = &sender->offer.entry;

	entry->stamp_ns = sender->offer.stamp_ns;
	entry->sent_ns = sender->sent_ns;
	if (s->sent == 0) {
		s->deadline_ns =
		    now_ns + sender_jittered(sender, s->timeout_ns);
		s->unfilled = false;
	}
	/* A gap may be longer than the batch that was sent in its place
	 * before. */
	if (s->sent < s->entries && s->entry[s->sent].last != entry->last)
		s->entries = s->sent;
	s->entry[s->sent++] = *entry;
	if (s->entries < s->sent)
		s->entries = s->sent;
	s->next_bytes = 0;
	s->misreads = 0;
	sender->counters.batches++;
	if (entry->seq <= s->high)
		sender->counters.resent++;
	if (entry->last > s->high)
		s->high = entry->last;
}

static void
note_blocked(struct sender *sender, int64_t now_ns)
{
	sender->blocked_pause_ns *= 2;
	if (sender->blocked_pause_ns < BLOCKED_MIN_NS)
		sender->blocked_pause_ns = BLOCKED_MIN_NS;
	if (sender->blocked_pause_ns > BLOCKED_MAX_NS)
		sender->blocked_pause_ns = BLOCKED_MAX_NS;
	sender->blocked_ns =
	    now_ns + sender_jittered(sender, sender->blocked_pause_ns);
}

void
sender_sent(struct sender *sender, bool taken, int64_t now_ns)
{
	struct sender_stream *s = sender->offer.stream;

	sender->offer.stream = NULL;
	if (s == NULL)
		return;
	if (!taken) {
		s->ready = true;
		note_blocked(sender, now_ns);
		return;
	}
	sender->blocked_ns = sender->blocked_pause_ns = 0;
	sender->counters.bytes += sender->offer.bytes;
	if (sender->offer.is_hello)
		note_hello(sender, s, now_ns);
	else
		note_batch(sender, s, now_ns);
}
