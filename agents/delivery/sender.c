/*
 * sender - sends the batches of several streams until they are acknowledged.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
#include "proto/base/memory.h"
#include "proto/hash/prng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int
sender_new(struct sender **sender, const struct sender_options *options,
    const struct sender_owner *owner, struct err *err)
{
	enum text_fault fault = text_check_name(options->node);
	struct sender *new;

	if (fault != TEXT_OK)
		return err_set(
		    err, "the name of the node %s", text_fault_words(fault));
	new = memory_zero(1, sizeof(*new));
	new->owner = *owner;
	memcpy(new->node, options->node.at, options->node.bytes);
	new->node_bytes = options->node.bytes;
	new->random = options->seed;
	new->derived = options->derived;
	new->batch_flags = options->batch_flags;
	*sender = new;
	return 0;
}

void
sender_free(struct sender **sender)
{
	if (*sender == NULL)
		return;
	for (uint32_t i = 0; i < (*sender)->streams; i++)
		free((*sender)->stream[i]);
	free(*sender);
	*sender = NULL;
}

int64_t
sender_jittered(struct sender *sender, int64_t base_ns)
{
	return base_ns + prng_between(&sender->random, 0, base_ns / 4);
}

int64_t
sender_back_off(struct sender *sender, struct sender_stream *s)
{
	int64_t wait_ns = sender_jittered(sender, s->timeout_ns);

	s->timeout_ns *= 2;
	if (s->timeout_ns > SENDER_TIMEOUT_MAX_NS)
		s->timeout_ns = SENDER_TIMEOUT_MAX_NS;
	return wait_ns;
}

void
sender_say_hello(struct sender_stream *s, int64_t wait_ns)
{
	s->state = SENDER_HELLO;
	s->entries = s->sent = 0;
	s->next_bytes = 0;
	s->hole = 0;
	s->hello_out = false;
	s->hello_stamp_ns = 0;
	s->wait_ns = wait_ns;
	s->ready = true;
}

uint64_t
sender_first(const struct sender *sender, const struct sender_stream *s)
{
	uint64_t first = sender->owner.first(sender->owner.arg, s->number);

	return s->pending.acked >= first ? s->pending.acked + 1 : first;
}

bool
sender_is_held(const struct sender_stream *s)
{
	return s->pending.act.action != SENDER_WAIT;
}

bool
sender_is_gap(const struct sender_batch *batch)
{
	return batch->reason != WIRE_REASON_NONE ||
	       batch->last_seq > batch->seq;
}

int
sender_read(const struct sender *sender, const struct sender_stream *s,
    uint64_t seq, struct sender_batch *batch)
{
	int there;

	memset(batch, 0, sizeof(*batch));
	there = sender->owner.read(sender->owner.arg, s->number, seq, batch);
	if (there != 1)
		return there;
	/* Only a gap may begin before the requested number. */
	if (batch->last_seq < batch->seq)
		batch->last_seq = batch->seq;
	if (seq < batch->seq || seq > batch->last_seq ||
	    (seq != batch->seq && !sender_is_gap(batch)))
		return -1;
	return 1;
}

/* An aggregator that calls every session diverged must not make us open new
 * ones as fast as it answers. */
static int64_t
pause_of(struct sender *sender, int64_t now_ns)
{
	int64_t pause_ns = SENDER_TIMEOUT_MAX_NS;

	if (sender->divergences < 2)
		return 0;
	if (sender->divergences < 8)
		pause_ns = SENDER_TIMEOUT_MIN_NS << (sender->divergences - 2);
	return now_ns + sender_jittered(sender, pause_ns);
}

int
sender_open(struct sender *sender, uint32_t stream, struct text partition,
    const struct session_id *session, uint64_t generation, int64_t now_ns)
{
	struct sender_stream *s;

	if (stream >= SENDER_STREAMS_MAX ||
	    text_check_name(partition) != TEXT_OK)
		return -1;
	assert(sender->stream[stream] == NULL);
	s = sender->stream[stream] = memory_zero(1, sizeof(*s));
	if (stream >= sender->streams)
		sender->streams = stream + 1;
	s->number = stream;
	memcpy(s->partition, partition.at, partition.bytes);
	s->partition_bytes = partition.bytes;
	s->session = *session;
	s->generation = generation;
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	sender_say_hello(s, pause_of(sender, now_ns));
	return 0;
}

void
sender_close(struct sender *sender, uint32_t stream)
{
	struct sender_stream *s =
	    stream < sender->streams ? sender->stream[stream] : NULL;

	if (s == NULL)
		return;
	if (sender->offer.stream == s)
		sender->offer.stream = NULL;
	free(s);
	sender->stream[stream] = NULL;
}

bool
sender_is_open(const struct sender *sender, uint32_t stream)
{
	return stream < sender->streams && sender->stream[stream] != NULL;
}

/* What the owner has to do because of an answer. */
static bool
take_pending(struct sender_stream *s, struct sender_step *step)
{
	struct sender_pending *pending = &s->pending;

	*step =
	    (struct sender_step){ .action = SENDER_WAIT, .stream = s->number };
	if (pending->acked > 0) {
		step->action = SENDER_ACKED;
		step->seq = pending->acked;
		step->is_claim = pending->is_claim;
		step->chain = pending->chain;
		pending->acked = pending->chain = 0;
		pending->is_claim = false;
	} else if (pending->act.action != SENDER_WAIT) {
		*step = pending->act;
		step->stream = s->number;
		pending->act.action = SENDER_WAIT;
	} else if (pending->welcomed) {
		step->action = SENDER_WELCOMED;
		step->generation = s->generation;
		pending->welcomed = false;
	}
	return step->action != SENDER_WAIT;
}

struct sender_step
sender_step(struct sender *sender, int64_t now_ns, int64_t wall_ns)
{
	struct sender_step step = { .action = SENDER_WAIT };

	sender->offer.stream = NULL;
	for (uint32_t i = 0; i < sender->streams; i++)
		if (sender->stream[i] != NULL &&
		    take_pending(sender->stream[i], &step))
			return step;
	/* A stream that always has more must not use the whole connection
	 * before the others had their turn. */
	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *s =
		    sender->stream[(sender->turn + i) % sender->streams];
		uint32_t bytes;

		if (s == NULL || now_ns < sender->blocked_ns)
			continue;
		bytes = sender_offer(sender, s, now_ns, wall_ns);
		/* It could not be read: the owner puts a gap there. */
		if (take_pending(s, &step))
			return step;
		if (bytes == 0)
			continue;
		step.action = SENDER_SEND;
		step.stream = s->number;
		step.seq = sender->offer.is_hello ? 0 : sender->offer.entry.seq;
		step.frame =
		    (struct text){ (const char *)sender->frame, bytes };
		return step;
	}
	sender->turn++;
	return step;
}

void
sender_reconnected(struct sender *sender)
{
	sender->blocked_ns = sender->blocked_pause_ns = 0;
	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *s = sender->stream[i];

		if (s == NULL)
			continue;
		/* A stream with nothing to send asks whether the aggregator
		 * still has everything. */
		if (s->state == SENDER_OPEN && s->entries == 0)
			sender_say_hello(s, s->wait_ns);
		s->sent = 0;
		s->hole = 0;
		s->ready = true;
		s->hello_out = false;
	}
}

int64_t
sender_deadline_ns(const struct sender *sender)
{
	int64_t at_ns = 0;

	for (uint32_t i = 0; i < sender->streams; i++) {
		const struct sender_stream *s = sender->stream[i];
		int64_t due_ns = 0;

		if (s == NULL)
			continue;
		if (s->state != SENDER_OPEN)
			due_ns = s->hello_out ? s->deadline_ns : s->wait_ns;
		else if (s->ready && s->sent == 0)
			due_ns = s->wait_ns;
		else if (s->ready)
			due_ns = 1;
		else if (s->sent > 0)
			due_ns = s->deadline_ns;
		else
			continue;
		if (due_ns < sender->blocked_ns)
			due_ns = sender->blocked_ns;
		if (due_ns < 1)
			due_ns = 1; /* at once */
		if (at_ns == 0 || due_ns < at_ns)
			at_ns = due_ns;
	}
	return at_ns;
}

uint32_t
sender_in_flight(const struct sender *sender)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sender->streams; i++) {
		const struct sender_stream *s = sender->stream[i];
		struct sender_batch batch;

		if (s == NULL)
			continue;
		if (s->entries > 0)
			count += s->entries;
		else if (sender_is_held(s) ||
			 sender_read(
			     sender, s, sender_first(sender, s), &batch) != 0)
			count++;
	}
	return count;
}

const struct sender_counters *
sender_counters(const struct sender *sender)
{
	return &sender->counters;
}
