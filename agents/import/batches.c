/*
 * import_batches - packs the rows of a file into batches, always in the same
 * way.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/batches.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agents/delivery/unacked.h"
#include "proto/base/memory.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

#include <sodium.h>

/* ---- how often a row has been seen in an input ----
 *
 * The store keeps equal rows of all imports once, so that a file may be
 * imported again after it has grown.  The second of two equal rows within one
 * file is a row of its own: the number of the occurrence distinguishes them.
 * Rows are distinguished by a hash of 64 bits.  After IMPORT_OCCURRENCES_MAX
 * different rows no further ones are remembered. */

enum { IMPORT_OCCURRENCES_MAX = 12 << 20 }; /* 256 MiB */

/* All zeros: empty. */
struct import_occurrences {
	struct import_occurrence {
		uint64_t hash; /* 0: free */
		uint64_t count;
	} * at;
	uint32_t count, room; /* room: a power of two */
};

enum { ROOM_BEGIN = 4096 };

static struct import_occurrence *
find(const struct import_occurrences *occurrences, uint64_t hash)
{
	uint32_t mask = occurrences->room - 1, i = (uint32_t)hash & mask;

	while (occurrences->at[i].hash != 0 && occurrences->at[i].hash != hash)
		i = (i + 1) & mask;
	return &occurrences->at[i];
}

static void
grow(struct import_occurrences *occurrences)
{
	const struct import_occurrences old = *occurrences;

	occurrences->room = old.room > 0 ? 2 * old.room : ROOM_BEGIN;
	occurrences->at =
	    memory_zero(occurrences->room, sizeof(*occurrences->at));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.at[i].hash != 0)
			*find(occurrences, old.at[i].hash) = old.at[i];
	free(old.at);
}

/* Count this row; returns how often it was seen before. */
static uint64_t
import_occurrences_add(struct import_occurrences *occurrences, uint64_t hash)
{
	struct import_occurrence *row;

	hash += hash == 0;
	if (occurrences->count >= occurrences->room / 4 * 3 &&
	    occurrences->count < IMPORT_OCCURRENCES_MAX)
		grow(occurrences);
	row = find(occurrences, hash);
	if (row->hash == 0) {
		if (occurrences->count == IMPORT_OCCURRENCES_MAX)
			return 0;
		occurrences->count++;
		row->hash = hash;
	}
	return row->count++;
}

static void
import_occurrences_clear(struct import_occurrences *occurrences)
{
	free(occurrences->at);
	*occurrences = (struct import_occurrences){ .at = NULL };
}

/* The packing rules are part of the session's name: change this number when
 * they change. */
static const char way[] = "poolscope import 1";

enum { RENAMES_MAX = 64 };

struct stream {
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	struct session_id session;
	uint64_t first; /* unacknowledged */
	uint64_t next;  /* next number to pack */
	uint64_t chain; /* running hash before it */
	/* The aggregator has all up to `claim`, with this running hash after
	 * it; 0: it claims nothing that was not compared. */
	uint64_t claim, claim_chain;
	bool is_other;   /* it has something else */
	uint8_t renamed; /* how often the session was replaced */
	struct unacked unacked;

	/* The incomplete batch. */
	struct wire_writer writer;
	char node[NAME_BYTES_MAX];
	uint32_t node_bytes;
	/* The record put last, if it has an identity (seq is not 0). */
	struct record_id id;
	int64_t receive_ns;
	uint64_t file_bytes;
	uint32_t rows;
	unsigned char body[IMPORT_BODY_BYTES_MAX];
};

struct import_batches {
	enum import_kind kind;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
	bool once, ended;
	struct import_occurrences seen; /* of once: rows of all streams */
	struct stream *stream[IMPORT_STREAMS_MAX];
	uint32_t streams, last; /* last: that of the previous row */
	uint64_t bytes;         /* of batches in memory */
	struct import_batches_counters counters;
};

struct import_batches *
import_batches_new(enum import_kind kind, struct text partition,
    const unsigned char digest[static IMPORT_DIGEST_BYTES], bool once)
{
	struct import_batches *batches = memory_zero(1, sizeof(*batches));

	assert(batches != NULL && partition.bytes <= NAME_BYTES_MAX);
	batches->kind = kind;
	batches->once = once;
	if (partition.bytes > 0)
		memcpy(batches->partition, partition.at, partition.bytes);
	batches->partition_bytes = partition.bytes;
	memcpy(batches->digest, digest, sizeof(batches->digest));
	return batches;
}

void
import_batches_free(struct import_batches **batches)
{
	if (*batches == NULL)
		return;
	for (uint32_t i = 0; i < (*batches)->streams; i++) {
		unacked_clear(&(*batches)->stream[i]->unacked);
		free((*batches)->stream[i]);
	}
	import_occurrences_clear(&(*batches)->seen);
	free(*batches);
	*batches = NULL;
}

/* ---- packing ---- */

static void
name_session(const struct import_batches *batches, struct stream *s,
    struct text partition)
{
	crypto_generichash_state state;
	unsigned char kind = (unsigned char)batches->kind;

	crypto_generichash_init(&state, NULL, 0, sizeof(s->session.bytes));
	/* With their NULs, so that different lists of parts give different
	 * texts. */
	crypto_generichash_update(
	    &state, (const unsigned char *)way, sizeof(way));
	crypto_generichash_update(&state, &kind, sizeof(kind));
	crypto_generichash_update(
	    &state, batches->digest, sizeof(batches->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)partition.at, partition.bytes);
	/* A partition has no NUL. */
	if (s->renamed > 0)
		crypto_generichash_update(
		    &state, (const unsigned char[]){ 0, s->renamed }, 2);
	crypto_generichash_final(
	    &state, s->session.bytes, sizeof(s->session.bytes));
}

static bool
is_partition(const struct stream *s, struct text partition)
{
	return text_equal(
	    partition, (struct text){ s->partition, s->partition_bytes });
}

static struct stream *
get_stream(
    struct import_batches *batches, struct text partition, struct err *err)
{
	struct stream *s;

	if (batches->streams > 0 &&
	    is_partition(batches->stream[batches->last], partition))
		return batches->stream[batches->last];
	for (uint32_t i = 0; i < batches->streams; i++)
		if (is_partition(batches->stream[i], partition)) {
			batches->last = i;
			return batches->stream[i];
		}
	if (batches->streams == IMPORT_STREAMS_MAX) {
		err_set(err, "the file has more than %d partitions",
		    IMPORT_STREAMS_MAX);
		return NULL;
	}
	s = memory_zero(1, sizeof(*s));
	memcpy(s->partition, partition.at, partition.bytes);
	s->partition_bytes = partition.bytes;
	s->first = s->next = 1;
	name_session(batches, s, partition);
	wire_writer_init(&s->writer, s->body, UNACKED_BODY_BYTES);
	batches->last = batches->streams;
	batches->stream[batches->streams++] = s;
	return s;
}

/* Is it our content that the aggregator has?  What it does not know counts as
 * other content. */
static void
compare(struct stream *s, uint64_t chain)
{
	s->is_other = chain != s->claim_chain || s->claim_chain == 0;
	s->claim = 0;
}

/* Close the incomplete batch. */
static void
close_batch(struct import_batches *batches, struct stream *s)
{
	uint32_t bytes = (uint32_t)s->writer.bytes;
	uint32_t records = s->writer.records;

	if (records == 0)
		return;
	if (s->next >= s->first) {
		const struct batch batch = { .seq = s->next,
			.chain = s->chain,
			.file_bytes = s->file_bytes,
			.records = records,
			.rows = s->rows,
			.body_bytes = bytes };

		unacked_add(&s->unacked, &batch,
		    (struct text){ (const char *)s->body, bytes });
		batches->bytes += bytes;
	} else {
		batches->counters.already += s->rows;
		batches->counters.events_acked += s->rows;
		batches->counters.bytes_acked += s->file_bytes;
	}
	s->chain =
	    hash_chain(s->chain, crc32c(0, s->body, bytes), bytes, records);
	if (s->claim == s->next)
		compare(s, s->chain);
	s->next++;
	s->rows = 0;
	s->file_bytes = 0;
	s->node_bytes = 0;
	wire_writer_init(&s->writer, s->body, UNACKED_BODY_BYTES);
}

/* Is it the next record of the batch that it had in another store? */
static bool
continues(const struct stream *s, const struct record *record)
{
	return session_equal(&record->id.session, &s->id.session) &&
	       record->id.seq == s->id.seq &&
	       record->id.index == s->id.index + 1 &&
	       record->receive_ns == s->receive_ns;
}

/* Begin with the node of the record, and its identity, unless they follow from
 * the record before. */
static bool
put_context(struct stream *s, const struct record *record)
{
	bool same =
	    text_equal(record->node, (struct text){ s->node, s->node_bytes });

	if (record->id.seq == 0)
		return same || wire_put_context(&s->writer, record->node);
	return (same && continues(s, record)) ||
	       wire_put_context_full(&s->writer, record);
}

/* A batch may take a record, unless it is one large record or its records do
 * not have identities, or have, like this one. */
static bool
may_take(const struct stream *s, const struct record *record)
{
	if (s->writer.records == 0)
		return true;
	return s->writer.records < WIRE_RECORDS_MAX &&
	       s->writer.bytes < UNACKED_BODY_BYTES &&
	       (s->id.seq == 0) == (record->id.seq == 0);
}

/* Add the record, after its context if that has changed.  False: full. */
static bool
put(struct stream *s, const struct record *record)
{
	struct wire_writer before = s->writer;

	if (!may_take(s, record))
		return false;
	if (!put_context(s, record) || !wire_put_record(&s->writer, record)) {
		s->writer = before;
		return false;
	}
	s->id = record->id;
	s->receive_ns = record->receive_ns;
	memcpy(s->node, record->node.at, record->node.bytes);
	s->node_bytes = record->node.bytes;
	return true;
}

/* A record that is larger than a usual batch. */
static bool
put_alone(struct stream *s, const struct record *record)
{
	wire_writer_init(&s->writer, s->body, sizeof(s->body));
	if (put(s, record))
		return true;
	wire_writer_init(&s->writer, s->body, UNACKED_BODY_BYTES);
	return false;
}

/* ---- equal rows ---- */

/* The record in the form in which it is sent, after its node and partition. */
static uint64_t
fingerprint(const struct stream *s, const struct record *record, bool *fits)
{
	static const struct hash_key fixed = { 0, 0 };
	unsigned char bytes[UNACKED_BODY_BYTES];
	struct wire_writer w;

	wire_writer_init(&w, bytes, sizeof(bytes));
	*fits = wire_put_context(
		    &w, (struct text){ s->partition, s->partition_bytes }) &&
		wire_put_context(&w, record->node) &&
		wire_put_record(&w, record);
	return *fits ? hash_bytes(fixed, bytes, w.bytes) : 0;
}

/* The uuid of an event that is equal to `before` earlier rows. */
static void
name_repeated(
    unsigned char uuid[static RECORD_ID_BYTES], uint64_t hash, uint64_t before)
{
	static const char words[] = "poolscope repeated row";
	uint64_t numbers[] = { hash, before };
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, RECORD_ID_BYTES);
	crypto_generichash_update(
	    &state, (const unsigned char *)words, sizeof(words));
	crypto_generichash_update(
	    &state, (const unsigned char *)numbers, sizeof(numbers));
	crypto_generichash_final(&state, uuid, RECORD_ID_BYTES);
}

/* Tell the event from equal ones before it. */
static struct record
tell_apart(struct import_batches *batches, const struct stream *s,
    const struct import_row *row, unsigned char uuid[static RECORD_ID_BYTES])
{
	struct record record = row->record;
	uint64_t hash, before;
	bool fits;

	if (!batches->once || record.kind != RECORD_EVENT ||
	    record.key.bytes > 0 || record.id.seq > 0)
		return record;
	hash = fingerprint(s, &record, &fits);
	before = fits ? import_occurrences_add(&batches->seen, hash) : 0;
	if (before > 0) {
		name_repeated(uuid, hash, before);
		record.key =
		    (struct text){ (const char *)uuid, RECORD_ID_BYTES };
	}
	return record;
}

int
import_batches_add(struct import_batches *batches, const struct import_row *row,
    uint64_t bytes, struct err *err)
{
	struct text partition = row->partition;
	unsigned char uuid[RECORD_ID_BYTES];
	struct record record;
	struct stream *s;

	if (batches->partition_bytes > 0)
		partition = (struct text){ batches->partition,
			batches->partition_bytes };
	s = get_stream(batches, partition, err);
	if (s == NULL)
		return -1;
	record = tell_apart(batches, s, row, uuid);
	if (!put(s, &record)) {
		close_batch(batches, s);
		if (!put(s, &record) && !put_alone(s, &record))
			return err_set(err, "the row does not fit in a batch");
	}
	s->file_bytes += bytes;
	s->rows += !row->aside;
	batches->counters.events += !row->aside;
	return 0;
}

void
import_batches_end(struct import_batches *batches)
{
	for (uint32_t i = 0; i < batches->streams; i++) {
		struct stream *s = batches->stream[i];

		close_batch(batches, s);
		if (s->claim >= s->next) /* more than there is */
			s->is_other = true;
	}
	batches->ended = true;
}

bool
import_batches_is_full(const struct import_batches *batches)
{
	return batches->bytes >= UNACKED_WINDOW_BYTES;
}

/* ---- callbacks of the sender ---- */

uint32_t
import_batches_streams(const struct import_batches *batches)
{
	return batches->streams;
}

struct text
import_batches_partition(const struct import_batches *batches, uint32_t stream)
{
	const struct stream *s = batches->stream[stream];

	return (struct text){ s->partition, s->partition_bytes };
}

const struct session_id *
import_batches_session(const struct import_batches *batches, uint32_t stream)
{
	return &batches->stream[stream]->session;
}

uint64_t
import_batches_first(const struct import_batches *batches, uint32_t stream)
{
	return batches->stream[stream]->first;
}

int
import_batches_read(struct import_batches *batches, uint32_t stream,
    uint64_t seq, struct sender_batch *batch)
{
	struct stream *s = batches->stream[stream];

	return unacked_read(&s->unacked, s->first, seq, batch);
}

void
import_batches_sent(
    struct import_batches *batches, uint32_t stream, uint64_t seq)
{
	struct batch *b = unacked_find(&batches->stream[stream]->unacked, seq);

	if (b != NULL)
		b->sent = true;
}

void
import_batches_acked(
    struct import_batches *batches, uint32_t stream, uint64_t upto)
{
	struct stream *s = batches->stream[stream];
	const struct batch *b;

	s->first = upto + 1;
	while ((b = s->unacked.oldest) != NULL && b->seq <= upto) {
		if (!b->sent)
			batches->counters.already += b->rows;
		batches->counters.events_acked += b->rows;
		batches->counters.bytes_acked += b->file_bytes;
		batches->bytes -= b->bytes;
		unacked_drop_oldest(&s->unacked);
	}
}

/* The running hash after a number that was packed and is not acknowledged. */
static uint64_t
chain_after(struct stream *s, uint64_t seq)
{
	const struct batch *b = unacked_find(&s->unacked, seq + 1);

	return b != NULL ? b->chain : s->chain;
}

void
import_batches_claimed(struct import_batches *batches, uint32_t stream,
    uint64_t upto, uint64_t chain)
{
	struct stream *s = batches->stream[stream];

	s->claim = upto;
	s->claim_chain = chain;
	if (upto < s->next)
		compare(s, chain_after(s, upto));
	else if (batches->ended) /* more than there is */
		s->is_other = true;
}

bool
import_batches_is_other(const struct import_batches *batches, uint32_t *stream)
{
	for (*stream = 0; *stream < batches->streams; ++*stream)
		if (batches->stream[*stream]->is_other)
			return true;
	return false;
}

bool
import_batches_rename(
    struct import_batches *batches, uint32_t stream, bool gone)
{
	struct stream *s = batches->stream[stream];

	if ((!batches->once && !gone) || s->renamed == RENAMES_MAX)
		return false;
	s->renamed++;
	name_session(batches, s, import_batches_partition(batches, stream));
	import_batches_rewind(batches);
	return true;
}

void
import_batches_rewind(struct import_batches *batches)
{
	for (uint32_t i = 0; i < batches->streams; i++) {
		struct stream *s = batches->stream[i];

		unacked_clear(&s->unacked);
		s->first = s->next = 1;
		s->claim = 0;
		s->is_other = false;
		s->chain = 0;
		s->rows = 0;
		s->file_bytes = 0;
		s->node_bytes = 0;
		wire_writer_init(&s->writer, s->body, UNACKED_BODY_BYTES);
	}
	batches->bytes = 0;
	batches->ended = false;
	import_occurrences_clear(&batches->seen);
	memset(&batches->counters, 0, sizeof(batches->counters));
}

const struct import_batches_counters *
import_batches_counters(const struct import_batches *batches)
{
	return &batches->counters;
}
