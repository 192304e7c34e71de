/*
 * requests - what the agent does for its local clients.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/requests.h"

#include <stdlib.h>

#include "agents/accept/pending_acks.h"
#include "agents/accept/submitter.h"
#include "proto/os/log.h"

struct reception {
	struct reception_options options;
	struct door *door;
	struct stamp *stamp;
	struct wait_list waits;
	uint32_t promised; /* puts that will wait once they are settled */
};

static void
answer_wait(struct reception *reception, const struct wait *wait,
    enum wire_reason reason)
{
	struct door_answer answer = {
		.client = wait->client,
		.seq = wait->number,
		.sent_ns = wait->sent_ns,
		.reason = reason,
		.stored = reason == WIRE_REASON_NONE,
	};

	door_answer(reception->door, &answer);
}

static enum wire_reason
reason_of(enum gather_result result)
{
	switch (result) {
	case GATHER_OK: return WIRE_REASON_NONE;
	case GATHER_FULL: return WIRE_NACK_FULL;
	case GATHER_IO: return WIRE_NACK_IO;
	default: return WIRE_NACK_MALFORMED;
	}
}

static void
on_settled(
    const struct gather_ticket *ticket, const struct gather_outcome *outcome)
{
	struct reception *reception = ticket->arg;
	struct door_answer answer = {
		.client = ticket->client,
		.seq = ticket->number,
		.sent_ns = ticket->sent_ns,
		.reason = reason_of(outcome->result),
	};
	struct wait wait = { ticket->client, ticket->number, ticket->sent_ns,
		outcome->stream, outcome->from, outcome->upto };

	door_answer(reception->door, &answer);
	if (!ticket->wait)
		return;
	reception->promised--;
	if (outcome->result != GATHER_OK)
		return;
	if (outcome->upto <
	    spool_first_unacked(reception->options.spool, outcome->stream))
		answer_wait(reception, &wait, WIRE_REASON_NONE);
	else
		wait_add(&reception->waits, &wait);
}

static bool
has_gone(void *arg, struct wait *wait)
{
	struct reception *reception = arg;

	return !door_has(reception->door, wait->client);
}

/* Is there room to remember one more who waits? */
static bool
can_wait(struct reception *reception)
{
	if (reception->waits.count + reception->promised < WAIT_MAX)
		return true;
	wait_sweep(&reception->waits, has_gone, reception);
	return reception->waits.count + reception->promised < WAIT_MAX;
}

static void
on_put(void *arg, uint64_t client, uid_t uid, const struct wire_header *header,
    struct text plain)
{
	struct reception *reception = arg;
	struct gather_ticket ticket = {
		.on_settled = on_settled,
		.arg = reception,
		.client = client,
		.number = header->seq,
		.sent_ns = header->sent_ns,
		.wait = header->flags & WIRE_FLAG_WAIT,
	};
	struct door_answer refusal = { client, header->seq, header->sent_ns,
		WIRE_NACK_FULL, false };
	struct gather *gather = reception->options.gather;
	enum gather_result result = GATHER_FULL;
	struct err err = { "" };

	if (gather_is_due(gather))
		reception->options.commit(reception->options.arg);
	if (!stamp_put(reception->stamp, uid, header, &plain))
		result = GATHER_MALFORMED;
	else if (!ticket.wait || can_wait(reception))
		result = gather_put(gather, &ticket, header, plain, &err);
	if (result == GATHER_OK) {
		reception->promised += ticket.wait;
		return;
	}
	log_debug("put refused: %s", err.text);
	refusal.reason = reason_of(result);
	door_answer(reception->door, &refusal);
}

int
reception_open(struct reception **made, const struct reception_options *options,
    struct err *err)
{
	struct reception *reception = calloc(1, sizeof(*reception));
	struct door_options door = {
		.loop = options->loop,
		.path = options->socket,
		.partition = options->partition,
		.node = options->node,
		.arg = reception,
		.on_put = on_put,
	};

	if (reception == NULL)
		abort();
	reception->options = *options;
	if (door_open(&reception->door, &door, err) != 0) {
		free(reception);
		return -1;
	}
	stamp_new(&reception->stamp);
	*made = reception;
	return 0;
}

void
reception_close(struct reception **reception)
{
	if (*reception == NULL)
		return;
	door_close(&(*reception)->door);
	stamp_free(&(*reception)->stamp);
	free(*reception);
	*reception = NULL;
}

void
reception_stop(struct reception *reception)
{
	door_stop(reception->door);
}

/* What a sweep is about. */
struct news {
	struct reception *reception;
	uint32_t stream;
	uint64_t seq;
	enum wire_reason reason;
};

static bool
is_stored(void *arg, struct wait *wait)
{
	const struct news *news = arg;

	if (wait->stream != news->stream || wait->upto > news->seq)
		return false;
	answer_wait(news->reception, wait, WIRE_REASON_NONE);
	return true;
}

static bool
is_refused(void *arg, struct wait *wait)
{
	const struct news *news = arg;

	if (wait->stream != news->stream || news->seq < wait->from ||
	    news->seq > wait->upto)
		return false;
	answer_wait(news->reception, wait, news->reason);
	return true;
}

void
reception_acked(struct reception *reception, uint32_t stream, uint64_t upto)
{
	struct news news = { reception, stream, upto, WIRE_REASON_NONE };

	wait_sweep(&reception->waits, is_stored, &news);
}

void
reception_refused(struct reception *reception, uint32_t stream, uint64_t seq,
    enum wire_reason reason)
{
	struct news news = { reception, stream, seq, reason };

	wait_sweep(&reception->waits, is_refused, &news);
}

void
reception_renumbered(struct reception *reception)
{
	const struct spool *spool = reception->options.spool;

	/* Where each put went is not known any more; it is not behind what is
	 * there now. */
	for (uint32_t i = 0; i < reception->waits.count; i++) {
		struct wait *wait = &reception->waits.at[i];

		wait->from = spool_first_unacked(spool, wait->stream);
		wait->upto = spool_next_seq(spool, wait->stream) - 1;
	}
}

const struct door_counters *
reception_counters(const struct reception *reception)
{
	return door_counters(reception->door);
}

uint32_t
reception_clients(const struct reception *reception)
{
	return door_clients(reception->door);
}
