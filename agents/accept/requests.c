/*
 * requests - serves the agent's local clients.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/requests.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "agents/accept/definitions.h"
#include "agents/accept/put_check.h"
#include "agents/accept/submitter.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

/* ---- clients waiting for a stored acknowledgement ---- */

enum { PENDING_ACKS_MAX = 1024 };

struct pending_ack {
	uint64_t client, number; /* for the caller, as is sent_ns */
	int64_t sent_ns;
	uint32_t stream;
	uint64_t from, upto; /* batches; stored when `upto` is */
	bool repeated; /* ... and what earlier sessions have of the partition */
};

struct pending_acks {
	struct pending_ack at[PENDING_ACKS_MAX];
	uint32_t count;
};

/* False: the list is full. */
static bool
pending_acks_add(
    struct pending_acks *list, const struct pending_ack *pending_ack)
{
	if (list->count == PENDING_ACKS_MAX)
		return false;
	list->at[list->count++] = *pending_ack;
	return true;
}

/* Remove the entries for which `is_over` is true; it sends the answer. */
static void
pending_acks_sweep(struct pending_acks *list,
    bool (*is_over)(void *arg, struct pending_ack *pending_ack), void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++)
		if (!is_over(arg, &list->at[i]))
			list->at[kept++] = list->at[i];
	list->count = kept;
}

struct requests {
	struct requests_options options;
	struct local_server *local_server;
	struct submitter *submitter;
	struct definitions *definitions;
	struct pending_acks pending_acks;
	uint32_t
	    promised; /* submissions that will wait once they are settled */
};

static void
answer_wait(struct requests *requests, const struct pending_ack *pending_ack,
    enum wire_reason reason)
{
	struct local_server_answer answer = {
		.client = pending_ack->client,
		.seq = pending_ack->number,
		.sent_ns = pending_ack->sent_ns,
		.reason = reason,
		.stored = reason == WIRE_REASON_NONE,
	};

	local_server_answer(requests->local_server, &answer);
}

static enum wire_reason
reason_of(enum batcher_result result)
{
	switch (result) {
	case BATCHER_OK: return WIRE_REASON_NONE;
	case BATCHER_FULL:
	case BATCHER_REFUSED: return WIRE_NACK_FULL;
	case BATCHER_IO: return WIRE_NACK_IO;
	default: return WIRE_NACK_MALFORMED;
	}
}

/* Is everything of this partition that earlier sessions left stored? */
static bool
earlier_is_stored(const struct spool *spool, uint32_t stream)
{
	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		struct text partition = spool_partition(spool, i);

		if (i != stream && partition.at != NULL &&
		    text_equal(partition, spool_partition(spool, stream)) &&
		    spool_first_unacked(spool, i) < spool_next_seq(spool, i))
			return false;
	}
	return true;
}

static bool
is_over(const struct requests *requests, const struct pending_ack *pending_ack)
{
	const struct spool *spool = requests->options.spool;

	/* A stream that is gone was acknowledged whole. */
	if (spool_partition(spool, pending_ack->stream).at == NULL)
		return true;
	return pending_ack->upto <
		   spool_first_unacked(spool, pending_ack->stream) &&
	       (!pending_ack->repeated ||
		   earlier_is_stored(spool, pending_ack->stream));
}

static void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	struct requests *requests = ticket->arg;
	struct local_server_answer answer = {
		.client = ticket->client,
		.seq = ticket->number,
		.sent_ns = ticket->sent_ns,
		.reason = reason_of(outcome->result),
	};
	struct requests_options *options = &requests->options;
	struct pending_ack pending_ack = { ticket->client, ticket->number,
		ticket->sent_ns, outcome->stream, outcome->from, outcome->upto,
		outcome->repeated };

	if (outcome->result == BATCHER_OK)
		answer.detail = options->forbids(options->arg, outcome->stream);
	local_server_answer(requests->local_server, &answer);
	if (!ticket->wait)
		return;
	requests->promised--;
	if (outcome->result != BATCHER_OK)
		return;
	if (is_over(requests, &pending_ack))
		answer_wait(requests, &pending_ack, WIRE_REASON_NONE);
	else
		pending_acks_add(&requests->pending_acks, &pending_ack);
}

static bool
has_gone(void *arg, struct pending_ack *pending_ack)
{
	struct requests *requests = arg;

	return !local_server_has(requests->local_server, pending_ack->client);
}

/* Is there room for one more waiting client? */
static bool
can_wait(struct requests *requests)
{
	if (requests->pending_acks.count + requests->promised <
	    PENDING_ACKS_MAX)
		return true;
	pending_acks_sweep(&requests->pending_acks, has_gone, requests);
	return requests->pending_acks.count + requests->promised <
	       PENDING_ACKS_MAX;
}

/* The client shows its user the sentence. */
static void
refuse_content(struct requests *requests, struct local_server_answer *refusal,
    const struct err *err)
{
	refusal->reason = WIRE_NACK_MALFORMED;
	refusal->detail = text_of(err->text);
	local_server_refuse(requests->local_server, refusal, err->text);
}

static void
on_put(void *arg, uint64_t client, uid_t uid, const struct wire_header *header,
    struct text plain)
{
	struct requests *requests = arg;
	struct batcher_ticket ticket = {
		.on_settled = on_settled,
		.arg = requests,
		.client = client,
		.number = header->seq,
		.sent_ns = header->sent_ns,
		.wait = header->flags & WIRE_FLAG_WAIT,
		.uid = uid,
	};
	struct local_server_answer refusal = {
		.client = client, .seq = header->seq, .sent_ns = header->sent_ns
	};
	struct batcher *batcher = requests->options.batcher;
	enum batcher_result result = BATCHER_FULL;
	struct err err = { 0 };

	if (batcher_is_due(batcher))
		requests->options.commit(requests->options.arg);
	if (definitions_check(
		requests->definitions, uid, header, plain, &err) != 0 ||
	    put_check_user(uid, header, plain, &err) != 0) {
		refuse_content(requests, &refusal, &err);
		return;
	}
	if (!submitter_put(requests->submitter, uid, header, &plain))
		result = BATCHER_MALFORMED;
	else if (!ticket.wait || can_wait(requests))
		result = batcher_put(batcher, &ticket, header, plain, &err);
	if (result == BATCHER_OK) {
		definitions_note(requests->definitions, uid, header, plain);
		requests->promised += ticket.wait;
		return;
	}
	log_debug("put refused: %s", err.text);
	refusal.reason = reason_of(result);
	if (result == BATCHER_REFUSED)
		refusal.detail = text_of(err.text);
	local_server_answer(requests->local_server, &refusal);
}

int
requests_open(struct requests **made, const struct requests_options *options,
    struct err *err)
{
	struct requests *requests = memory_zero(1, sizeof(*requests));
	struct local_server_options listener = {
		.loop = options->loop,
		.path = options->socket,
		.partition = options->partition,
		.node = options->node,
		.arg = requests,
		.on_put = on_put,
	};

	requests->options = *options;
	if (local_server_open(&requests->local_server, &listener, err) != 0) {
		free(requests);
		return -1;
	}
	submitter_new(&requests->submitter);
	definitions_new(&requests->definitions);
	*made = requests;
	return 0;
}

void
requests_close(struct requests **requests)
{
	if (*requests == NULL)
		return;
	local_server_close(&(*requests)->local_server);
	submitter_free(&(*requests)->submitter);
	definitions_free(&(*requests)->definitions);
	free(*requests);
	*requests = NULL;
}

void
requests_stop(struct requests *requests)
{
	local_server_stop(requests->local_server);
}

/* Arguments of a sweep. */
struct sweep {
	struct requests *requests;
	uint32_t stream;
	uint64_t seq;
	enum wire_reason reason;
};

static bool
is_stored(void *arg, struct pending_ack *pending_ack)
{
	struct requests *requests = arg;

	if (!is_over(requests, pending_ack))
		return false;
	answer_wait(requests, pending_ack, WIRE_REASON_NONE);
	return true;
}

static bool
is_refused(void *arg, struct pending_ack *pending_ack)
{
	const struct sweep *sweep = arg;

	if (pending_ack->stream != sweep->stream ||
	    sweep->seq < pending_ack->from || sweep->seq > pending_ack->upto)
		return false;
	answer_wait(sweep->requests, pending_ack, sweep->reason);
	return true;
}

void
requests_acked(struct requests *requests)
{
	pending_acks_sweep(&requests->pending_acks, is_stored, requests);
}

void
requests_refused(struct requests *requests, uint32_t stream, uint64_t seq,
    enum wire_reason reason)
{
	struct sweep sweep = { requests, stream, seq, reason };

	pending_acks_sweep(&requests->pending_acks, is_refused, &sweep);
}

/* It waits for a batch that is gone. */
static bool
is_given_up(void *arg, struct pending_ack *pending_ack)
{
	struct requests *requests = arg;
	struct spool *spool = requests->options.spool;
	struct spool_batch batch;
	struct err err = { 0 };

	if (spool_partition(spool, pending_ack->stream).at == NULL ||
	    spool_read(spool, pending_ack->stream, pending_ack->from, &batch,
		&err) != 1 ||
	    batch.reason != WIRE_NACK_FORBIDDEN)
		return false;
	answer_wait(requests, pending_ack, WIRE_NACK_FORBIDDEN);
	return true;
}

void
requests_given_up(struct requests *requests)
{
	pending_acks_sweep(&requests->pending_acks, is_given_up, requests);
}

/* It waits on, and knows why. */
static bool
is_told(void *arg, struct pending_ack *pending_ack)
{
	const struct sweep *sweep = arg;
	struct requests *requests = sweep->requests;
	struct local_server_answer answer = {
		.client = pending_ack->client,
		.seq = pending_ack->number,
		.sent_ns = pending_ack->sent_ns,
	};

	if (pending_ack->stream != sweep->stream)
		return false;
	answer.detail =
	    requests->options.forbids(requests->options.arg, sweep->stream);
	local_server_answer(requests->local_server, &answer);
	return false;
}

void
requests_forbidden(struct requests *requests, uint32_t stream)
{
	struct sweep sweep = { requests, stream, 0, WIRE_REASON_NONE };

	pending_acks_sweep(&requests->pending_acks, is_told, &sweep);
}

void
requests_moved(struct requests *requests, uint32_t from, uint32_t to)
{
	const struct spool *spool = requests->options.spool;

	/* Which numbers the batches have now is not known: wait for all that
	 * the spool has at present. */
	for (uint32_t i = 0; i < requests->pending_acks.count; i++) {
		struct pending_ack *pending_ack = &requests->pending_acks.at[i];

		if (pending_ack->stream != from)
			continue;
		pending_ack->stream = to;
		pending_ack->from = spool_first_unacked(spool, to);
		pending_ack->upto = spool_next_seq(spool, to) - 1;
		pending_ack->repeated = true;
	}
}

const struct local_server_counters *
requests_counters(const struct requests *requests)
{
	return local_server_counters(requests->local_server);
}

uint32_t
requests_clients(const struct requests *requests)
{
	return local_server_clients(requests->local_server);
}
