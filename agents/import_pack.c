/*
 * import_pack - the rows of a file as batches, the same ones every time.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_pack.h"

#include "proto/crc32c.h"
#include "proto/hash.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* The way rows become batches is part of the session's name: another way is
 * another number here. */
static const char way[] = "poolscope import 1";

struct batch {
	struct batch *next;
	uint64_t seq, chain;
	uint64_t file_bytes;
	uint32_t records, bytes;
	uint32_t rows; /* of the records, those that count */
	bool sent;     /* in this import: it was not there before */
	unsigned char body[];
};

struct stream {
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	struct session_id session;
	uint64_t first; /* unacknowledged */
	uint64_t next;  /* to be packed */
	uint64_t chain; /* before it */
	struct batch *oldest, *newest;
	struct batch *at; /* the last one that was read */

	/* The batch in the making. */
	struct wire_writer writer;
	char node[NAME_BYTES_MAX];
	uint32_t node_bytes;
	uint64_t file_bytes;
	uint32_t rows;
	unsigned char body[IMPORT_BATCH_BYTES];
};

struct import_pack {
	enum import_kind kind;
	char partition[NAME_BYTES_MAX];
	uint32_t partition_bytes;
	unsigned char digest[IMPORT_DIGEST_BYTES];
	struct stream *stream[IMPORT_STREAMS_MAX];
	uint32_t streams, last; /* last: of the row before */
	uint64_t bytes;         /* of batches in memory */
	struct import_pack_counters counters;
};

struct import_pack *
import_pack_new(enum import_kind kind, struct text partition,
    const unsigned char digest[static IMPORT_DIGEST_BYTES])
{
	struct import_pack *pack = calloc(1, sizeof(*pack));

	assert(pack != NULL && partition.bytes <= NAME_BYTES_MAX);
	pack->kind = kind;
	if (partition.bytes > 0)
		memcpy(pack->partition, partition.at, partition.bytes);
	pack->partition_bytes = partition.bytes;
	memcpy(pack->digest, digest, sizeof(pack->digest));
	return pack;
}

static void
drop_oldest(struct import_pack *pack, struct stream *s)
{
	struct batch *batch = s->oldest;

	s->oldest = batch->next;
	if (s->oldest == NULL)
		s->newest = NULL;
	if (s->at == batch)
		s->at = NULL;
	pack->bytes -= batch->bytes;
	free(batch);
}

void
import_pack_free(struct import_pack **pack)
{
	if (*pack == NULL)
		return;
	for (uint32_t i = 0; i < (*pack)->streams; i++) {
		while ((*pack)->stream[i]->oldest != NULL)
			drop_oldest(*pack, (*pack)->stream[i]);
		free((*pack)->stream[i]);
	}
	free(*pack);
	*pack = NULL;
}

/* ---- packing ------------------------------------------------------------ */

static void
name_session(
    const struct import_pack *pack, struct stream *s, struct text partition)
{
	crypto_generichash_state state;
	unsigned char kind = (unsigned char)pack->kind;

	crypto_generichash_init(&state, NULL, 0, sizeof(s->session.bytes));
	/* With their NULs, so that no two lists of parts are one text. */
	crypto_generichash_update(
	    &state, (const unsigned char *)way, sizeof(way));
	crypto_generichash_update(&state, &kind, sizeof(kind));
	crypto_generichash_update(&state, pack->digest, sizeof(pack->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)partition.at, partition.bytes);
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
get_stream(struct import_pack *pack, struct text partition, struct err *err)
{
	struct stream *s;

	if (pack->streams > 0 &&
	    is_partition(pack->stream[pack->last], partition))
		return pack->stream[pack->last];
	for (uint32_t i = 0; i < pack->streams; i++)
		if (is_partition(pack->stream[i], partition)) {
			pack->last = i;
			return pack->stream[i];
		}
	if (pack->streams == IMPORT_STREAMS_MAX) {
		err_set(err, "the file has more than %d partitions",
		    IMPORT_STREAMS_MAX);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	assert(s != NULL);
	memcpy(s->partition, partition.at, partition.bytes);
	s->partition_bytes = partition.bytes;
	s->first = s->next = 1;
	name_session(pack, s, partition);
	wire_writer_init(&s->writer, s->body, sizeof(s->body));
	pack->last = pack->streams;
	pack->stream[pack->streams++] = s;
	return s;
}

/* The batch in the making is done. */
static void
seal(struct import_pack *pack, struct stream *s)
{
	uint32_t bytes = (uint32_t)s->writer.bytes;
	uint32_t records = s->writer.records;
	struct batch *batch;

	if (records == 0)
		return;
	if (s->next >= s->first) {
		batch = malloc(sizeof(*batch) + bytes);
		assert(batch != NULL);
		*batch = (struct batch){ .seq = s->next,
			.chain = s->chain,
			.file_bytes = s->file_bytes,
			.records = records,
			.rows = s->rows,
			.bytes = bytes };
		memcpy(batch->body, s->body, bytes);
		if (s->newest != NULL)
			s->newest->next = batch;
		else
			s->oldest = batch;
		s->newest = batch;
		pack->bytes += bytes;
	} else {
		pack->counters.already += s->rows;
		pack->counters.events_acked += s->rows;
		pack->counters.bytes_acked += s->file_bytes;
	}
	s->chain =
	    hash_chain(s->chain, crc32c(0, s->body, bytes), bytes, records);
	s->next++;
	s->rows = 0;
	s->file_bytes = 0;
	s->node_bytes = 0;
	wire_writer_init(&s->writer, s->body, sizeof(s->body));
}

/* Add the record, behind its node when that is another one.  False: full. */
static bool
put(struct stream *s, const struct record *record)
{
	struct wire_writer before = s->writer;

	if (s->writer.records == WIRE_RECORDS_MAX)
		return false;
	if (!text_equal(
		record->node, (struct text){ s->node, s->node_bytes })) {
		if (!wire_put_context(&s->writer, record->node)) {
			s->writer = before;
			return false;
		}
	}
	if (!wire_put_record(&s->writer, record)) {
		s->writer = before;
		return false;
	}
	memcpy(s->node, record->node.at, record->node.bytes);
	s->node_bytes = record->node.bytes;
	return true;
}

int
import_pack_add(struct import_pack *pack, const struct import_row *row,
    uint64_t bytes, struct err *err)
{
	struct text partition = row->partition;
	struct stream *s;

	if (pack->partition_bytes > 0)
		partition =
		    (struct text){ pack->partition, pack->partition_bytes };
	s = get_stream(pack, partition, err);
	if (s == NULL)
		return -1;
	if (!put(s, &row->record)) {
		seal(pack, s);
		if (!put(s, &row->record))
			return err_set(err, "the row does not fit a batch");
	}
	s->file_bytes += bytes;
	s->rows += !row->aside;
	pack->counters.events += !row->aside;
	return 0;
}

void
import_pack_end(struct import_pack *pack)
{
	for (uint32_t i = 0; i < pack->streams; i++)
		seal(pack, pack->stream[i]);
}

bool
import_pack_is_full(const struct import_pack *pack)
{
	return pack->bytes >= IMPORT_WINDOW_BYTES;
}

/* ---- what ship asks ----------------------------------------------------- */

uint32_t
import_pack_streams(const struct import_pack *pack)
{
	return pack->streams;
}

struct text
import_pack_partition(const struct import_pack *pack, uint32_t stream)
{
	const struct stream *s = pack->stream[stream];

	return (struct text){ s->partition, s->partition_bytes };
}

const struct session_id *
import_pack_session(const struct import_pack *pack, uint32_t stream)
{
	return &pack->stream[stream]->session;
}

uint64_t
import_pack_first(const struct import_pack *pack, uint32_t stream)
{
	return pack->stream[stream]->first;
}

static struct batch *
find_batch(struct stream *s, uint64_t seq)
{
	struct batch *b = s->oldest;

	if (s->at != NULL && s->at->seq <= seq)
		b = s->at;
	while (b != NULL && b->seq < seq)
		b = b->next;
	if (b != NULL)
		s->at = b;
	return b;
}

int
import_pack_read(struct import_pack *pack, uint32_t stream, uint64_t seq,
    struct ship_batch *batch)
{
	struct stream *s = pack->stream[stream];
	const struct batch *b;

	if (seq < s->first)
		return -1;
	b = find_batch(s, seq);
	if (b == NULL)
		return 0;
	*batch = (struct ship_batch){ .seq = seq,
		.last_seq = seq,
		.records = b->records,
		.body_bytes = b->bytes,
		.chain = b->chain,
		.body = { (const char *)b->body, b->bytes } };
	return 1;
}

void
import_pack_sent(struct import_pack *pack, uint32_t stream, uint64_t seq)
{
	struct batch *b = find_batch(pack->stream[stream], seq);

	if (b != NULL)
		b->sent = true;
}

void
import_pack_acked(struct import_pack *pack, uint32_t stream, uint64_t upto)
{
	struct stream *s = pack->stream[stream];

	s->first = upto + 1;
	while (s->oldest != NULL && s->oldest->seq <= upto) {
		if (!s->oldest->sent)
			pack->counters.already += s->oldest->rows;
		pack->counters.events_acked += s->oldest->rows;
		pack->counters.bytes_acked += s->oldest->file_bytes;
		drop_oldest(pack, s);
	}
}

void
import_pack_rewind(struct import_pack *pack, uint32_t stream, uint64_t seq)
{
	for (uint32_t i = 0; i < pack->streams; i++) {
		struct stream *s = pack->stream[i];

		while (s->oldest != NULL)
			drop_oldest(pack, s);
		s->next = 1;
		s->chain = 0;
		s->rows = 0;
		s->file_bytes = 0;
		s->node_bytes = 0;
		wire_writer_init(&s->writer, s->body, sizeof(s->body));
	}
	pack->stream[stream]->first = seq;
	memset(&pack->counters, 0, sizeof(pack->counters));
}

const struct import_pack_counters *
import_pack_counters(const struct import_pack *pack)
{
	return &pack->counters;
}
