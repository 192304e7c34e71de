/*
 * batcher - collects submissions into batches, and commits many of them at
 * once.
 *
 * All records of a submission are in one batch, so it succeeds or fails with
 * that batch: every ticket and uuid of the round remembers the serial number
 * of its batch.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/batcher.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agents/dedup/dedup_load.h"
#include "agents/dedup/dedup_sequence.h"
#include "agents/dedup/dedup_uuid.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

enum {
	PENDING_BATCHES_MAX =
	    4, /* open at a time; the least recently used is written first */
	BATCHER_TICKETS_MAX = 1024, /* between two commits */
	BATCHER_FINGERPRINTS_MAX = 8192,
	/* A submission always fits in an empty batch, with a context record. */
	PENDING_BATCH_BYTES = WIRE_PUT_BYTES_MAX + 512,
};

struct pending_batch {
	bool open, urgent;
	uint32_t stream;
	uint64_t serial;
	uint64_t used_at;          /* turn of the last use */
	char node[NAME_BYTES_MAX]; /* in force for the next record */
	uint32_t node_bytes;
	struct wire_writer writer;
	unsigned char *buffer; /* retained for the next batch */
};

struct batcher_pending {
	struct batcher_ticket ticket;
	uint32_t stream;
	uint64_t serial; /* 0: no batch has new records of this submission */
	uint64_t seq;
	enum batcher_result result;
	/* The client's session and the number of the submission in it; zeros
	 * if it has none. */
	struct record_id put;
};

/* An event of this round, to be forgotten if its batch is not stored. */
struct batcher_fingerprint {
	uint64_t fingerprint, serial;
	uint64_t seq; /* 0: its batch is not in the spool */
	uint32_t stream;
};

struct batcher {
	struct batcher_options options;
	struct dedup_uuid *dedup_uuid;
	struct dedup_sequence *dedup_sequence;
	struct pending_batch batches[PENDING_BATCHES_MAX];
	uint64_t serials, turn;
	unsigned char *packed; /* compressed body */
	struct batcher_pending pending[BATCHER_TICKETS_MAX];
	uint32_t tickets;
	struct batcher_fingerprint fingerprints[BATCHER_FINGERPRINTS_MAX];
	uint32_t fingerprints_used;
	uint64_t round_bytes;
	bool appended;             /* since the last commit */
	enum batcher_result worst; /* of the batches of this round */
	struct batcher_counters counters;
	int64_t repeated_logged_ns, refused_logged_ns;
};

/* ---- results ---- */

enum {
	CONTEXT_BYTES = NAME_BYTES_MAX + 64, /* the longest context record */
};

static enum batcher_result
result_of(enum spool_result result)
{
	return result == SPOOL_OK     ? BATCHER_OK
	       : result == SPOOL_FULL ? BATCHER_FULL
				      : BATCHER_IO;
}

/* Set the result of the submissions that have records in a batch. */
static void
batcher_mark(struct batcher *batcher, const struct pending_batch *batch,
    enum batcher_result result, uint64_t seq)
{
	for (uint32_t i = 0; i < batcher->tickets; i++) {
		if (batcher->pending[i].serial != batch->serial)
			continue;
		batcher->pending[i].result = result;
		batcher->pending[i].seq = seq;
	}
	for (uint32_t i = 0; i < batcher->fingerprints_used; i++) {
		struct batcher_fingerprint *print = &batcher->fingerprints[i];

		if (print->serial != batch->serial)
			continue;
		print->seq = seq;
		print->stream = batch->stream;
		if (result != BATCHER_OK)
			dedup_uuid_forget(
			    batcher->dedup_uuid, print->fingerprint);
	}
	if (result > batcher->worst)
		batcher->worst = result;
}

/* The disk failed: the spool has discarded everything since its last commit,
 * which may be of this round, because its buffer was full: its batches are on
 * disk. */
static void
batcher_take_back(struct batcher *batcher)
{
	const struct spool *spool = batcher->options.spool;

	batcher->worst = BATCHER_IO;
	for (uint32_t i = 0; i < batcher->tickets; i++) {
		struct batcher_pending *pending = &batcher->pending[i];

		if (pending->seq >= spool_next_seq(spool, pending->stream))
			pending->result = BATCHER_IO;
	}
	for (uint32_t i = 0; i < batcher->fingerprints_used; i++) {
		const struct batcher_fingerprint *print =
		    &batcher->fingerprints[i];

		if (print->seq > 0 &&
		    print->seq >= spool_next_seq(spool, print->stream))
			dedup_uuid_forget(
			    batcher->dedup_uuid, print->fingerprint);
	}
}

/* Write it to the spool. */
static void
pending_batch_write(
    struct batcher *batcher, struct pending_batch *batch, struct err *err)
{
	struct text plain = { (const char *)batch->writer.at,
		(uint32_t)batch->writer.bytes };
	struct spool_batch content = {
		.records = batch->writer.records,
		.codec = WIRE_NONE,
		.body_bytes = plain.bytes,
		.body = plain,
	};
	enum batcher_result result;
	uint64_t seq = 0;
	size_t packed = 0;

	batch->open = false;
	if (content.records == 0)
		return;
	if (batcher->packed != NULL)
		packed =
		    wire_compress(batcher->packed, PENDING_BATCH_BYTES, plain);
	if (packed > 0) {
		content.codec = WIRE_ZSTD;
		content.body = (struct text){ (const char *)batcher->packed,
			(uint32_t)packed };
	}
	result = result_of(spool_append(batcher->options.spool, batch->stream,
	    &content, batch->urgent, &seq, err));
	if (result == BATCHER_OK) {
		batcher->appended = true;
		batcher->round_bytes += content.body.bytes;
	}
	batcher_mark(batcher, batch, result, seq);
	/* Now, not at the commit: the spool uses its numbers again. */
	if (result == BATCHER_IO)
		batcher_take_back(batcher);
}

/* The partition and node of the next record, unless a context record changes
 * them. */
static void
note_node(struct pending_batch *batch, struct text node)
{
	batch->node_bytes = node.bytes;
	memcpy(batch->node, node.at, node.bytes);
}

/* The pending batch of the stream, with room for `bytes` more. */
static struct pending_batch *
pending_batch_for(struct batcher *batcher, uint32_t stream, bool urgent,
    uint32_t bytes, struct err *err)
{
	struct pending_batch *batch = NULL, *unused = NULL, *stale = NULL;

	for (int i = 0; i < PENDING_BATCHES_MAX; i++) {
		struct pending_batch *at = &batcher->batches[i];

		if (!at->open)
			unused = at;
		else if (at->stream == stream)
			batch = at;
		else if (stale == NULL || at->used_at < stale->used_at)
			stale = at;
	}
	if (batch != NULL && (batch->urgent != urgent ||
				 batch->writer.room - batch->writer.bytes <
				     bytes + CONTEXT_BYTES)) {
		pending_batch_write(batcher, batch, err);
		unused = batch;
		batch = NULL;
	}
	if (batch == NULL) {
		batch = unused != NULL ? unused : stale;
		if (batch->open)
			pending_batch_write(batcher, batch, err);
		if (batch->buffer == NULL)
			batch->buffer = memory_alloc(PENDING_BATCH_BYTES);
		wire_writer_init(
		    &batch->writer, batch->buffer, PENDING_BATCH_BYTES);
		batch->open = true;
		batch->urgent = urgent;
		batch->stream = stream;
		batch->serial = ++batcher->serials;
		/* Without a context record readers assume this node. */
		note_node(batch, batcher->options.node);
	}
	batch->used_at = ++batcher->turn;
	return batch;
}

static bool
has_uuid(const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       record->key.bytes == RECORD_ID_BYTES;
}

/* Was this event seen before?  If not, remember it. */
static bool
is_repeated(struct batcher *batcher, struct pending_batch *batch, uid_t uid,
    const struct record *record)
{
	uint64_t fingerprint;

	if (!has_uuid(record))
		return false;
	fingerprint =
	    dedup_uuid_fingerprint(batcher->dedup_uuid, uid, record->key);
	if (!dedup_uuid_add(batcher->dedup_uuid, fingerprint))
		return true;
	batcher->fingerprints[batcher->fingerprints_used++] =
	    (struct batcher_fingerprint){ .fingerprint = fingerprint,
		    .serial = batch->serial };
	return false;
}

/* Store the submission's session, number and user (as the index) with its
 * records. */
static bool
put_submission_id(
    struct pending_batch *batch, uid_t uid, const struct wire_header *header)
{
	struct record record = { .node = header->node };

	record.id.session = header->session;
	record.id.seq = header->seq;
	record.id.index = (uint32_t)uid;
	note_node(batch, header->node);
	return wire_put_context_full(&batch->writer, &record);
}

/* As "poolscope job start" reports it; other nodes' jobs may be submitted, too.
 */
static bool
begins_job(const struct batcher *batcher, const struct record *record)
{
	return record->kind == RECORD_EVENT &&
	       text_equal(record->source, text_of("job")) &&
	       text_equal(record->name, text_of("start")) &&
	       text_equal(record->node, batcher->options.node);
}

/* Copy the records that are new from this user.  Returns their number. */
static uint32_t
pending_batch_copy(struct batcher *batcher, struct pending_batch *batch,
    uid_t uid, const struct wire_header *header, struct text plain)
{
	struct wire_cursor cursor;
	struct record record;
	uint32_t copied = 0;
	bool fits = true;

	if (dedup_sequence_is_numbered(&header->session, header->seq))
		fits = put_submission_id(batch, uid, header);
	wire_cursor_init(&cursor, header, plain);
	while (wire_next(&cursor, &record)) {
		if (is_repeated(batcher, batch, uid, &record)) {
			batcher->counters.repeated++;
			continue;
		}
		if (record.node.bytes != batch->node_bytes ||
		    memcmp(record.node.at, batch->node, batch->node_bytes) !=
			0) {
			fits &= wire_put_context(&batch->writer, record.node);
			note_node(batch, record.node);
		}
		fits &= wire_put_record(&batch->writer, &record);
		copied++;
		batcher->counters.jobs += begins_job(batcher, &record);
	}
	/* A copied record is not larger, and the room was checked. */
	assert(fits);
	batcher->counters.records += copied;
	return copied;
}

enum { ROUND_BYTES = 512 << 10 };

void
batcher_new(struct batcher **made, const struct batcher_options *options)
{
	struct batcher *batcher = memory_zero(1, sizeof(*batcher));

	batcher->options = *options;
	dedup_uuid_new(&batcher->dedup_uuid);
	dedup_sequence_new(&batcher->dedup_sequence);
	if (options->compress)
		batcher->packed = memory_alloc(PENDING_BATCH_BYTES);
	*made = batcher;
}

void
batcher_free(struct batcher **gone)
{
	struct batcher *batcher = *gone;

	*gone = NULL;
	if (batcher == NULL)
		return;
	dedup_uuid_free(&batcher->dedup_uuid);
	dedup_sequence_free(&batcher->dedup_sequence);
	for (int i = 0; i < PENDING_BATCHES_MAX; i++)
		free(batcher->batches[i].buffer);
	free(batcher->packed);
	free(batcher);
}

void
batcher_load_dedup(struct batcher *batcher)
{
	dedup_load_spool(batcher->options.spool, batcher->dedup_uuid,
	    batcher->dedup_sequence);
}

/* Is every record of a kind that senders may submit?  Only samples may be
 * refused early, when the spool is nearly full. */
static bool
check_kinds(const struct wire_header *header, struct text plain, bool *urgent)
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

/* A numbered submission is taken once, completely or not at all. */
static bool
is_new(struct batcher *batcher, uid_t uid, const struct wire_header *header)
{
	return !dedup_sequence_is_numbered(&header->session, header->seq) ||
	       dedup_sequence_take(
		   batcher->dedup_sequence, uid, &header->session, header->seq);
}

/* Repetitions are what a client does that got no answer: seldom many. */
static void
report_repeated(struct batcher *batcher, uint64_t before, uid_t uid)
{
	if (batcher->counters.repeated == before ||
	    !log_is_due(&batcher->repeated_logged_ns))
		return;
	log_info("skipped records that their user has submitted before: "
		 "uid=%ld repeated=%" PRIu64,
	    (long)uid, batcher->counters.repeated);
}

/* As long as an answer may be; not cut in the middle of a character. */
static void
cut_sentence(struct err *err)
{
	struct text sentence = { err->text, NAME_BYTES_MAX };

	if (strlen(err->text) < NAME_BYTES_MAX)
		sentence.bytes = (uint32_t)strlen(err->text);
	while (sentence.bytes > 0 && text_check_name(sentence) != TEXT_OK)
		sentence.bytes--;
	err->text[sentence.bytes] = '\0';
}

/* The stream of the partition, if there is room in it for `bytes` more. */
static int
find_stream(struct batcher *batcher, struct text partition, uint32_t bytes,
    uint32_t *stream, struct err *err)
{
	const struct batcher_options *options = &batcher->options;
	struct text why = { "", 0 };
	char shown[64];

	text_quote(shown, sizeof(shown), partition);
	if (spool_stream(options->spool, partition, stream, err) != 0)
		return err_set(err,
		    "no room for partition '%s': the agent had records of %d "
		    "since its start, the maximum; use one of them, or restart "
		    "it",
		    shown, SPOOL_STREAMS_MAX);
	if (spool_has_share(options->spool, *stream, bytes))
		return 0;
	if (options->forbids != NULL)
		why = options->forbids(options->arg, *stream);
	if (why.bytes == 0)
		why = text_of("no aggregator takes it");
	err_set(err,
	    "partition '%s' may not be sent, and its share of the spool is "
	    "full: permit it (poolscope keys), or use another one: %.*s",
	    shown, (int)why.bytes, why.at);
	cut_sentence(err);
	return -1;
}

/* Others may have room. */
static enum batcher_result
refuse(struct batcher *batcher, const struct batcher_ticket *ticket,
    const struct err *err)
{
	batcher->counters.full++;
	if (log_is_due(&batcher->refused_logged_ns))
		log_warn("refusing records: uid=%ld: %s", (long)ticket->uid,
		    err->text);
	return BATCHER_REFUSED;
}

enum batcher_result
batcher_put(struct batcher *batcher, const struct batcher_ticket *ticket,
    const struct wire_header *header, struct text plain, struct err *err)
{
	struct wire_header named = *header;
	struct batcher_pending *pending;
	uint64_t repeated = batcher->counters.repeated;
	uint32_t stream;
	bool urgent;

	assert(!batcher_is_due(batcher));
	if (named.partition.bytes == 0)
		named.partition = batcher->options.partition;
	if (named.node.bytes == 0)
		named.node = batcher->options.node;
	if (!check_kinds(&named, plain, &urgent)) {
		err_set(err, "the submission has a record of a kind that "
			     "clients may not send");
		return BATCHER_MALFORMED;
	}
	if (find_stream(batcher, named.partition, plain.bytes, &stream, err) !=
	    0)
		return refuse(batcher, ticket, err);
	pending = &batcher->pending[batcher->tickets++];
	*pending = (struct batcher_pending){
		.ticket = *ticket,
		.stream = stream,
		.put = { named.session, named.seq, 0 },
	};
	if (!is_new(batcher, ticket->uid, &named)) {
		batcher->counters.repeated += named.records;
	} else if (named.records > 0) {
		struct pending_batch *batch = pending_batch_for(
		    batcher, stream, urgent, plain.bytes, err);

		pending->serial =
		    pending_batch_copy(batcher, batch, ticket->uid, &named,
			plain) == named.records
			? batch->serial
			: 0;
	}
	report_repeated(batcher, repeated, ticket->uid);
	batcher->counters.puts++;
	return BATCHER_OK;
}

bool
batcher_is_due(const struct batcher *batcher)
{
	return batcher->tickets == BATCHER_TICKETS_MAX ||
	       batcher->fingerprints_used >
		   BATCHER_FINGERPRINTS_MAX - WIRE_BATCH_BYTES / 32 ||
	       batcher->round_bytes >= ROUND_BYTES;
}

/* A submission that repeats earlier records succeeds when everything of this
 * round does: the repeated records may be in any of its batches. */
static struct batcher_outcome
outcome_of(const struct batcher *batcher, const struct batcher_pending *pending)
{
	const struct spool *spool = batcher->options.spool;
	struct batcher_outcome outcome = {
		.result = pending->result,
		.stream = pending->stream,
		.from = pending->seq,
		.upto = pending->seq,
	};

	if (pending->serial == 0) {
		outcome.result = batcher->worst;
		outcome.from = spool_first_unacked(spool, pending->stream);
		outcome.upto = spool_next_seq(spool, pending->stream) - 1;
		outcome.repeated = true;
	}
	return outcome;
}

static void
settle(struct batcher *batcher)
{
	for (uint32_t i = 0; i < batcher->tickets; i++) {
		const struct batcher_pending *pending = &batcher->pending[i];
		struct batcher_outcome outcome = outcome_of(batcher, pending);

		batcher->counters.full += outcome.result == BATCHER_FULL;
		batcher->counters.failed += outcome.result == BATCHER_IO;
		if (outcome.result != BATCHER_OK &&
		    dedup_sequence_is_numbered(
			&pending->put.session, pending->put.seq))
			dedup_sequence_forget(batcher->dedup_sequence,
			    pending->ticket.uid, &pending->put.session,
			    pending->put.seq);
		pending->ticket.on_settled(&pending->ticket, &outcome);
	}
}

enum batcher_result
batcher_commit(struct batcher *batcher, struct err *err)
{
	enum batcher_result result;

	for (int i = 0; i < PENDING_BATCHES_MAX; i++)
		if (batcher->batches[i].open)
			pending_batch_write(batcher, &batcher->batches[i], err);
	if (batcher->appended) {
		batcher->counters.commits++;
		if (spool_commit(batcher->options.spool, err) != SPOOL_OK)
			batcher_take_back(batcher);
	}
	settle(batcher);
	result = batcher->worst;
	batcher->worst = BATCHER_OK;
	batcher->appended = false;
	batcher->tickets = batcher->fingerprints_used = 0;
	batcher->round_bytes = 0;
	return result;
}

const struct batcher_counters *
batcher_counters(const struct batcher *batcher)
{
	return &batcher->counters;
}
