/*
 * batcher - makes batches of what callers put, and commits many puts at once.
 *
 * A put lies whole in one batch, so its fate is that batch's: every ticket and
 * uuid of the round remembers its lot's serial number.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/batcher.h"

#include <assert.h>
#include <stdlib.h>

#include "agents/accept/batcher_private.h"
#include "agents/accept/dedup_load.h"

enum { ROUND_BYTES = 512 << 10 };

void
gather_new(struct gather **made, const struct gather_options *options)
{
	struct gather *gather = calloc(1, sizeof(*gather));

	if (gather == NULL)
		abort();
	gather->options = *options;
	ids_new(&gather->ids);
	puts_new(&gather->puts);
	if (options->compress) {
		gather->packed = malloc(GATHER_LOT_BYTES);
		if (gather->packed == NULL)
			abort();
	}
	*made = gather;
}

void
gather_free(struct gather **gone)
{
	struct gather *gather = *gone;

	*gone = NULL;
	if (gather == NULL)
		return;
	ids_free(&gather->ids);
	puts_free(&gather->puts);
	for (int i = 0; i < GATHER_LOTS_MAX; i++)
		free(gather->lots[i].buffer);
	free(gather->packed);
	free(gather);
}

void
gather_recall(struct gather *gather)
{
	recall_spool(gather->options.spool, gather->ids, gather->puts);
}

/* Is every record of a kind that a sender makes?  Samples alone may be left
 * out when the spool is nearly full. */
static bool
look_over(const struct wire_header *header, struct text plain, bool *urgent)
{
	struct wire_cursor cursor;
	struct record record;

	*urgent = false;
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (record.kind < RECORD_EVENT || record.kind > RECORD_GAP)
			return false;
		*urgent |= record.kind != RECORD_SAMPLE;
	}
	return true;
}

/* A numbered put is taken once, whole or not at all. */
static bool
is_new(struct gather *gather, const struct wire_header *header)
{
	return !puts_is_numbered(&header->session, header->seq) ||
	       puts_take(gather->puts, &header->session, header->seq);
}

enum gather_result
gather_put(struct gather *gather, const struct gather_ticket *ticket,
    const struct wire_header *header, struct text plain, struct err *err)
{
	struct wire_header named = *header;
	struct gather_pending *pending;
	uint32_t stream;
	bool urgent;

	assert(!gather_is_due(gather));
	if (named.partition.bytes == 0)
		named.partition = gather->options.partition;
	if (named.node.bytes == 0)
		named.node = gather->options.node;
	if (!look_over(&named, plain, &urgent)) {
		err_set(err, "a put holds a record that is not for senders");
		return GATHER_MALFORMED;
	}
	if (spool_stream(
		gather->options.spool, named.partition, &stream, err) != 0)
		return GATHER_FULL;
	pending = &gather->pending[gather->tickets++];
	*pending = (struct gather_pending){
		.ticket = *ticket,
		.stream = stream,
		.put = { named.session, named.seq, 0 },
	};
	if (!is_new(gather, &named)) {
		gather->counters.repeated += named.records;
	} else if (named.records > 0) {
		struct gather_lot *lot =
		    gather_lot_for(gather, stream, urgent, plain.bytes, err);

		pending->serial =
		    gather_lot_copy(gather, lot, &named, plain) == named.records
			? lot->serial
			: 0;
	}
	gather->counters.puts++;
	return GATHER_OK;
}

bool
gather_is_due(const struct gather *gather)
{
	return gather->tickets == GATHER_TICKETS_MAX ||
	       gather->prints_used >
		   GATHER_PRINTS_MAX - WIRE_BATCH_BYTES / 32 ||
	       gather->round_bytes >= ROUND_BYTES;
}

void
gather_mark(struct gather *gather, const struct gather_lot *lot,
    enum gather_result result, uint64_t seq)
{
	for (uint32_t i = 0; i < gather->tickets; i++) {
		if (gather->pending[i].serial != lot->serial)
			continue;
		gather->pending[i].result = result;
		gather->pending[i].seq = seq;
	}
	for (uint32_t i = 0; i < gather->prints_used; i++) {
		struct gather_print *print = &gather->prints[i];

		if (print->serial != lot->serial)
			continue;
		print->seq = seq;
		print->stream = lot->stream;
		if (result != GATHER_OK)
			ids_forget(gather->ids, print->fingerprint);
	}
	if (result > gather->worst)
		gather->worst = result;
}

/* The spool may have committed within the round, when its buffer was full; what
 * that brought to disk stays good. */
void
gather_take_back(struct gather *gather)
{
	const struct spool *spool = gather->options.spool;

	gather->worst = GATHER_IO;
	for (uint32_t i = 0; i < gather->tickets; i++) {
		struct gather_pending *pending = &gather->pending[i];

		if (pending->seq >= spool_next_seq(spool, pending->stream))
			pending->result = GATHER_IO;
	}
	for (uint32_t i = 0; i < gather->prints_used; i++) {
		const struct gather_print *print = &gather->prints[i];

		if (print->seq > 0 &&
		    print->seq >= spool_next_seq(spool, print->stream))
			ids_forget(gather->ids, print->fingerprint);
	}
}

/* A put that was (partly) seen before is good when everything of this round
 * is: what it repeats may be in any lot. */
static struct gather_outcome
outcome_of(const struct gather *gather, const struct gather_pending *pending)
{
	const struct spool *spool = gather->options.spool;
	struct gather_outcome outcome = {
		.result = pending->result,
		.stream = pending->stream,
		.from = pending->seq,
		.upto = pending->seq,
	};

	if (pending->serial == 0) {
		outcome.result = gather->worst;
		outcome.from = spool_first_unacked(spool, pending->stream);
		outcome.upto = spool_next_seq(spool, pending->stream) - 1;
	}
	return outcome;
}

static void
settle(struct gather *gather)
{
	for (uint32_t i = 0; i < gather->tickets; i++) {
		const struct gather_pending *pending = &gather->pending[i];
		struct gather_outcome outcome = outcome_of(gather, pending);

		gather->counters.full += outcome.result == GATHER_FULL;
		gather->counters.failed += outcome.result == GATHER_IO;
		if (outcome.result != GATHER_OK &&
		    puts_is_numbered(&pending->put.session, pending->put.seq))
			puts_forget(gather->puts, &pending->put.session,
			    pending->put.seq);
		pending->ticket.on_settled(&pending->ticket, &outcome);
	}
}

enum gather_result
gather_commit(struct gather *gather, struct err *err)
{
	enum gather_result result;

	for (int i = 0; i < GATHER_LOTS_MAX; i++)
		if (gather->lots[i].open)
			gather_lot_seal(gather, &gather->lots[i], err);
	if (gather->appended) {
		gather->counters.commits++;
		if (spool_commit(gather->options.spool, err) != SPOOL_OK)
			gather_take_back(gather);
	}
	settle(gather);
	result = gather->worst;
	gather->worst = GATHER_OK;
	gather->appended = false;
	gather->tickets = gather->prints_used = 0;
	gather->round_bytes = 0;
	return result;
}

const struct gather_counters *
gather_counters(const struct gather *gather)
{
	return &gather->counters;
}
