/*
 * sender_send - the half of the sender that sends.
 *
 * It stores no batches: a batch is read from the owner and framed each time it
 * is sent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
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

static bool
send_frame(struct sender *sender, const struct sender_stream *s,
    struct wire_header *header, struct text body, int64_t now_ns,
    int64_t wall_ns)
{
	struct text frame = { (const char *)sender->frame, 0 };

	header->partition = (struct text){ s->partition, s->partition_bytes };
	header->node = (struct text){ sender->node, sender->node_bytes };
	header->session = s->session;
	header->sent_ns = next_stamp(sender, wall_ns);
	header->start_count = sender->start_count;
	frame.bytes = (uint32_t)wire_frame(
	    sender->frame, sizeof(sender->frame), header, body);
	assert(frame.bytes > 0);
	sender->sent_ns = sender->owner.clock == NULL
			      ? now_ns
			      : sender->owner.clock(sender->owner.arg);
	if (sender->owner.send(sender->owner.arg, frame)) {
		sender->blocked_ns = sender->blocked_pause_ns = 0;
		sender->counters.bytes += frame.bytes;
		return true;
	}
	sender->blocked_pause_ns *= 2;
	if (sender->blocked_pause_ns < BLOCKED_MIN_NS)
		sender->blocked_pause_ns = BLOCKED_MIN_NS;
	if (sender->blocked_pause_ns > BLOCKED_MAX_NS)
		sender->blocked_pause_ns = BLOCKED_MAX_NS;
	sender->blocked_ns =
	    now_ns + sender_jittered(sender, sender->blocked_pause_ns);
	return false;
}

static void
push_hello(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	struct wire_header header = { .type = WIRE_HELLO };

	if (now_ns < (s->hello_out ? s->deadline_ns : s->wait_ns))
		return;
	header.seq = s->first;
	header.chain = s->chain;
	if (s->state == SENDER_PROBE) {
		header.seq = s->probe_last + 1;
		header.chain = s->probe_chain;
	}
	if (!send_frame(
		sender, s, &header, (struct text){ NULL, 0 }, now_ns, wall_ns))
		return;
	if (s->hello_out)
		sender->counters.timeouts++;
	s->hello_out = true;
	s->hello_stamp_ns = header.sent_ns;
	s->hello_sent_ns = sender->sent_ns;
	s->deadline_ns = now_ns + sender_back_off(sender, s);
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

/* The owner cannot read a batch that it should have: perhaps a momentary
 * error; otherwise ask the owner to resend from there, which puts a gap in its
 * place. */
static void
misread(struct sender *sender, struct sender_stream *s, uint64_t seq,
    int64_t now_ns)
{
	s->entries = s->sent;
	if (s->sent > 0)
		return; /* again when everything before it is settled */
	s->misreads++;
	s->wait_ns = now_ns + sender_back_off(sender, s);
	s->ready = true;
	if (s->misreads < SENDER_REFUSALS)
		return;
	s->misreads = 0;
	s->state = SENDER_PARKED;
	sender->owner.resend_from(sender->owner.arg, s->number, seq);
}

/* A body that fits in no frame will not get smaller. */
static bool
fits_a_frame(const struct sender_batch *batch)
{
	return batch->body.bytes <= WIRE_FRAME_BYTES_MAX - WIRE_FIXED_BYTES -
					WIRE_HEADER_BYTES_MAX &&
	       batch->records <= WIRE_RECORDS_MAX;
}

static void
note_sent(struct sender *sender, struct sender_stream *s,
    const struct sender_entry *entry, int64_t now_ns)
{
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
		    s->sent > 0 ? s->entry[s->sent - 1].chain_after : s->chain;
}

/* Send the next batch of the window.  False: there is none, the window is
 * full, or the connection takes nothing. */
static bool
send_next(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	uint64_t seq = s->sent > 0 ? s->entry[s->sent - 1].last + 1 : s->first;
	struct wire_header header = {
		.type = WIRE_BATCH, .flags = sender->batch_flags, .seq = seq
	};
	struct sender_entry entry = { .seq = seq, .sent_ns = now_ns };
	struct sender_batch batch;
	int there;

	if (!has_room(s, s->next_bytes))
		return false;
	there = sender_read(sender, s, seq, &batch);
	if (there < 0)
		misread(sender, s, seq, now_ns);
	if (there != 1)
		return false;
	if (!fits_a_frame(&batch)) {
		s->entries = s->sent;
		if (s->sent == 0) {
			s->wait_ns = now_ns + sender_back_off(sender, s);
			s->ready = true;
			sender->owner.refused(sender->owner.arg, s->number, seq,
			    WIRE_NACK_TOO_BIG);
		}
		return false;
	}
	if (!has_room(s, batch.body.bytes)) {
		s->next_bytes = batch.body.bytes;
		return false;
	}
	header.records = batch.records;
	header.codec = batch.codec;
	header.body_bytes = batch.body_bytes;
	header.chain = batch.chain;
	header.generation = s->generation;
	if (sender_is_gap(&batch))
		make_gap(s, seq, &batch, &header);
	if (!send_frame(sender, s, &header, batch.body, now_ns, wall_ns)) {
		s->ready = true;
		return false;
	}
	entry.last = batch.last_seq;
	entry.bytes = batch.body.bytes;
	entry.gap = header.type == WIRE_GAP;
	entry.chain_after = sender_chain_after(&batch);
	entry.stamp_ns = header.sent_ns;
	entry.sent_ns = sender->sent_ns;
	note_sent(sender, s, &entry, now_ns);
	return true;
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

static void
push_batches(struct sender *sender, struct sender_stream *s, int64_t now_ns,
    int64_t wall_ns)
{
	if (s->sent > 0 && now_ns >= s->deadline_ns) {
		if (!s->unfilled)
			note_silence(sender, s);
		s->sent = 0;
	}
	if (s->sent == 0 && now_ns < s->wait_ns) {
		s->ready = true;
		return;
	}
	s->ready = false;
	while (s->state == SENDER_OPEN && now_ns >= sender->blocked_ns &&
	       (s->sent > 0 || now_ns >= s->wait_ns) &&
	       send_next(sender, s, now_ns, wall_ns))
		;
}

void
sender_push(struct sender *sender, int64_t now_ns, int64_t wall_ns)
{
	/* Begin with another stream each time: a stream that always has more
	 * must not use the whole connection before the others had their turn.
	 */
	uint32_t turn = sender->turn++;

	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *s =
		    sender->stream[(turn + i) % sender->streams];

		if (s == NULL)
			continue;
		if (now_ns < sender->blocked_ns)
			return;
		if (s->state == SENDER_HELLO || s->state == SENDER_PROBE)
			push_hello(sender, s, now_ns, wall_ns);
		if (s->state == SENDER_OPEN)
			push_batches(sender, s, now_ns, wall_ns);
	}
}
