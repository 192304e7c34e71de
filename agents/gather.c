/*
 * gather - makes batches of what callers put, and commits many puts at once.
 *
 * A put lies whole in one batch, so its fate is that batch's: a lot is a batch
 * under construction, and every ticket and uuid of the round remembers its
 * lot's serial number.
 * SPDX-License-Identifier: MIT
 */
#include "agents/gather.h"

#include <assert.h>
#include <stdlib.h>

#include "agents/ids.h"
#include "agents/puts.h"
#include "agents/recall.h"

enum {
	LOTS_MAX = 4,       /* open at a time; the least recent is sealed */
	TICKETS_MAX = 1024, /* between two commits */
	PRINTS_MAX = 8192,
	CONTEXT_BYTES = NAME_BYTES_MAX + 64, /* a full one at its longest */
	ROUND_BYTES = 512 << 10,
	/* A put always fits an empty lot, with a context record. */
	LOT_BYTES = WIRE_PUT_BYTES_MAX + 512,
};

struct lot {
	bool open, urgent;
	uint32_t stream;
	uint64_t serial;
	uint64_t used_at;          /* turn of the last use */
	char node[NAME_BYTES_MAX]; /* in force for the next record */
	uint32_t node_bytes;
	struct wire_writer writer;
	unsigned char *buffer; /* kept for the next lot */
};

struct pending {
	struct gather_ticket ticket;
	uint32_t stream;
	uint64_t serial; /* 0: no new record of this put in any lot */
	uint64_t seq;
	enum gather_result result;
	/* The client's session and number of it; zeros when it has none. */
	struct record_id put;
};

/* An event of this round, in case it must be forgotten. */
struct print {
	uint64_t fingerprint, serial;
	uint64_t seq; /* 0: its lot is not in the spool */
	uint32_t stream;
};

struct gather {
	struct gather_options options;
	struct ids *ids;
	struct puts *puts;
	struct lot lots[LOTS_MAX];
	uint64_t serials, turn;
	unsigned char *packed; /* compressed body */
	struct pending pending[TICKETS_MAX];
	uint32_t tickets;
	struct print prints[PRINTS_MAX];
	uint32_t prints_used;
	uint64_t round_bytes;
	bool appended;            /* since the last commit */
	enum gather_result worst; /* of the lots of this round */
	struct gather_counters counters;
};

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
		gather->packed = malloc(LOT_BYTES);
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
	for (int i = 0; i < LOTS_MAX; i++)
		free(gather->lots[i].buffer);
	free(gather->packed);
	free(gather);
}

void
gather_recall(struct gather *gather)
{
	recall_spool(gather->options.spool, gather->ids, gather->puts);
}

static bool
has_uuid(const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       record->key.bytes == RECORD_ID_BYTES;
}

static enum gather_result
result_of(enum spool_result result)
{
	return result == SPOOL_OK     ? GATHER_OK
	       : result == SPOOL_FULL ? GATHER_FULL
				      : GATHER_IO;
}

/* Tell those who have records in a lot what became of it. */
static void
mark(struct gather *gather, const struct lot *lot, enum gather_result result,
    uint64_t seq)
{
	for (uint32_t i = 0; i < gather->tickets; i++) {
		if (gather->pending[i].serial != lot->serial)
			continue;
		gather->pending[i].result = result;
		gather->pending[i].seq = seq;
	}
	for (uint32_t i = 0; i < gather->prints_used; i++) {
		struct print *print = &gather->prints[i];

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

/* The disk refused: what the spool had taken since its last commit is not
 * there any more.  It may have committed within the round, when its buffer was
 * full; what that brought to disk stays good. */
static void
take_back(struct gather *gather)
{
	const struct spool *spool = gather->options.spool;

	gather->worst = GATHER_IO;
	for (uint32_t i = 0; i < gather->tickets; i++) {
		struct pending *pending = &gather->pending[i];

		if (pending->seq >= spool_next_seq(spool, pending->stream))
			pending->result = GATHER_IO;
	}
	for (uint32_t i = 0; i < gather->prints_used; i++) {
		const struct print *print = &gather->prints[i];

		if (print->seq > 0 &&
		    print->seq >= spool_next_seq(spool, print->stream))
			ids_forget(gather->ids, print->fingerprint);
	}
}

static void
seal(struct gather *gather, struct lot *lot, struct err *err)
{
	struct text plain = { (const char *)lot->writer.at,
		(uint32_t)lot->writer.bytes };
	struct spool_batch batch = {
		.records = lot->writer.records,
		.codec = WIRE_NONE,
		.body_bytes = plain.bytes,
		.body = plain,
	};
	enum gather_result result;
	uint64_t seq = 0;
	size_t packed = 0;

	lot->open = false;
	if (batch.records == 0)
		return;
	if (gather->packed != NULL)
		packed = wire_compress(gather->packed, LOT_BYTES, plain);
	if (packed > 0) {
		batch.codec = WIRE_ZSTD;
		batch.body = (struct text){ (const char *)gather->packed,
			(uint32_t)packed };
	}
	result = result_of(spool_append(gather->options.spool, lot->stream,
	    &batch, lot->urgent, &seq, err));
	if (result == GATHER_OK) {
		gather->appended = true;
		gather->round_bytes += batch.body.bytes;
	}
	mark(gather, lot, result, seq);
	/* At once: its numbers are given again. */
	if (result == GATHER_IO)
		take_back(gather);
}

/* What the next record is of, unless a context says otherwise. */
static void
note_node(struct lot *lot, struct text node)
{
	lot->node_bytes = node.bytes;
	memcpy(lot->node, node.at, node.bytes);
}

/* A lot for `bytes` more of the stream. */
static struct lot *
lot_for(struct gather *gather, uint32_t stream, bool urgent, uint32_t bytes,
    struct err *err)
{
	struct lot *lot = NULL, *free_lot = NULL, *stale = NULL;

	for (int i = 0; i < LOTS_MAX; i++) {
		struct lot *at = &gather->lots[i];

		if (!at->open)
			free_lot = at;
		else if (at->stream == stream)
			lot = at;
		else if (stale == NULL || at->used_at < stale->used_at)
			stale = at;
	}
	if (lot != NULL &&
	    (lot->urgent != urgent ||
		lot->writer.room - lot->writer.bytes < bytes + CONTEXT_BYTES)) {
		seal(gather, lot, err);
		free_lot = lot;
		lot = NULL;
	}
	if (lot == NULL) {
		lot = free_lot != NULL ? free_lot : stale;
		if (lot->open)
			seal(gather, lot, err);
		if (lot->buffer == NULL &&
		    (lot->buffer = malloc(LOT_BYTES)) == NULL)
			abort();
		wire_writer_init(&lot->writer, lot->buffer, LOT_BYTES);
		lot->open = true;
		lot->urgent = urgent;
		lot->stream = stream;
		lot->serial = ++gather->serials;
		/* What readers assume without a context record. */
		note_node(lot, gather->options.node);
	}
	lot->used_at = ++gather->turn;
	return lot;
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

/* Was this event seen?  If not, it is now. */
static bool
is_repeated(struct gather *gather, struct lot *lot, const struct record *record)
{
	uint64_t fingerprint;

	if (!has_uuid(record))
		return false;
	fingerprint = ids_fingerprint(gather->ids, record->key);
	if (!ids_add(gather->ids, fingerprint))
		return true;
	gather->prints[gather->prints_used++] =
	    (struct print){ .fingerprint = fingerprint, .serial = lot->serial };
	return false;
}

/* Have it on disk with the records which put they came in. */
static bool
name_put(struct lot *lot, const struct wire_header *header)
{
	struct record record = { .node = header->node };

	record.id.session = header->session;
	record.id.seq = header->seq;
	note_node(lot, header->node);
	return wire_put_context_full(&lot->writer, &record);
}

/* Copy the records that are new.  Returns how many. */
static uint32_t
copy_records(struct gather *gather, struct lot *lot,
    const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t copied = 0;
	bool fits = true;

	if (puts_is_numbered(&header->session, header->seq))
		fits = name_put(lot, header);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (is_repeated(gather, lot, &record)) {
			gather->counters.repeated++;
			continue;
		}
		if (record.node.bytes != lot->node_bytes ||
		    memcmp(record.node.at, lot->node, lot->node_bytes) != 0) {
			fits &= wire_put_context(&lot->writer, record.node);
			note_node(lot, record.node);
		}
		fits &= wire_put_record(&lot->writer, &record);
		copied++;
	}
	/* No record grows by being copied, and the room was measured. */
	assert(fits);
	gather->counters.records += copied;
	return copied;
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
	struct pending *pending;
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
	*pending = (struct pending){
		.ticket = *ticket,
		.stream = stream,
		.put = { named.session, named.seq, 0 },
	};
	if (!is_new(gather, &named)) {
		gather->counters.repeated += named.records;
	} else if (named.records > 0) {
		struct lot *lot =
		    lot_for(gather, stream, urgent, plain.bytes, err);

		pending->serial =
		    copy_records(gather, lot, &named, plain) == named.records
			? lot->serial
			: 0;
	}
	gather->counters.puts++;
	return GATHER_OK;
}

bool
gather_is_due(const struct gather *gather)
{
	return gather->tickets == TICKETS_MAX ||
	       gather->prints_used > PRINTS_MAX - WIRE_BATCH_BYTES / 32 ||
	       gather->round_bytes >= ROUND_BYTES;
}

/* A put that was (partly) seen before is good when everything of this round
 * is: what it repeats may be in any lot. */
static struct gather_outcome
outcome_of(const struct gather *gather, const struct pending *pending)
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
		const struct pending *pending = &gather->pending[i];
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

	for (int i = 0; i < LOTS_MAX; i++)
		if (gather->lots[i].open)
			seal(gather, &gather->lots[i], err);
	if (gather->appended) {
		gather->counters.commits++;
		if (spool_commit(gather->options.spool, err) != SPOOL_OK)
			take_back(gather);
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
