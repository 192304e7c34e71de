/*
 * sender - sends the batches of several streams until they are acknowledged.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/sender.h"

#include "agents/delivery/sender_stream.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
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
	new->start_count = options->start_count;
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

bool
sender_is_gap(const struct sender_batch *batch)
{
	return batch->reason != WIRE_REASON_NONE ||
	       batch->last_seq > batch->seq;
}

uint64_t
sender_chain_after(const struct sender_batch *batch)
{
	if (sender_is_gap(batch))
		return batch->chain_after;
	if (batch->chain == 0 && batch->seq > 1)
		return 0;
	return hash_chain(batch->chain,
	    crc32c(0, batch->body.at, batch->body.bytes), batch->body.bytes,
	    batch->records);
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

int
sender_restart(struct sender *sender, uint32_t stream, struct text partition,
    const struct session_id *session, uint64_t first, uint64_t chain,
    int64_t now_ns)
{
	struct sender_stream *s;
	uint32_t sessions = 0;
	struct sender_report denied = { 0, 0 }, boundary = { 0, 0 };
	int64_t wait_ns = 0;

	if (stream >= SENDER_STREAMS_MAX || first == 0 ||
	    text_check_name(partition) != TEXT_OK)
		return -1;
	s = sender->stream[stream];
	if (s == NULL) {
		s = sender->stream[stream] = memory_alloc(sizeof(*s));
		if (stream >= sender->streams)
			sender->streams = stream + 1;
	} else {
		sessions = s->sessions;
		if (session_equal(&s->session, session)) {
			denied = s->denied;
			boundary = s->boundary;
		}
	}
	/* An aggregator that calls every session diverged must not make us
	 * write new sessions as fast as it answers. */
	if (sessions > 1) {
		int64_t pause_ns = SENDER_TIMEOUT_MAX_NS;

		if (sessions < 8)
			pause_ns = SENDER_TIMEOUT_MIN_NS << (sessions - 2);
		wait_ns = now_ns + sender_jittered(sender, pause_ns);
	}
	memset(s, 0, sizeof(*s));
	s->number = stream;
	memcpy(s->partition, partition.at, partition.bytes);
	s->partition_bytes = partition.bytes;
	s->session = *session;
	s->first = first;
	s->chain = first == 1 ? 0 : chain;
	s->timeout_ns = SENDER_TIMEOUT_MIN_NS;
	s->sessions = sessions;
	s->denied = denied;
	s->boundary = boundary;
	sender_say_hello(s, wait_ns);
	return 0;
}

void
sender_reconnected(struct sender *sender, int64_t now_ns)
{
	(void)now_ns;
	sender->blocked_ns = sender->blocked_pause_ns = 0;
	for (uint32_t i = 0; i < sender->streams; i++) {
		struct sender_stream *s = sender->stream[i];

		if (s == NULL || s->state == SENDER_PARKED)
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

		if (s == NULL || s->state == SENDER_PARKED)
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
		else if (s->state == SENDER_PARKED ||
			 sender_read(sender, s, s->first, &batch) != 0)
			count++;
	}
	return count;
}

const struct sender_counters *
sender_counters(const struct sender *sender)
{
	return &sender->counters;
}
