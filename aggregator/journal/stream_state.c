/*
 * journal_stream_state - how far each stream has come, and what its last
 * numbers contain.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/journal.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "aggregator/journal/journal_private.h"

enum {
	STREAM_KEY_BYTES_MAX = 16 + NAME_BYTES_MAX,
	HASHES_KEY_BYTES_MAX = STREAM_KEY_BYTES_MAX + 8,
	STREAM_FIXED_BYTES = 6 * 8 + 2,
	BLOCK = JOURNAL_STREAM_BLOCK,
	HASH_BYTES = 4,
};

static struct text
stream_key(unsigned char key[static STREAM_KEY_BYTES_MAX],
    const struct session_id *session, struct text partition)
{
	uint32_t bytes = sizeof(session->bytes) + partition.bytes;

	assert(bytes <= STREAM_KEY_BYTES_MAX);
	memcpy(key, session->bytes, sizeof(session->bytes));
	memcpy(key + sizeof(session->bytes), partition.at, partition.bytes);
	return (struct text){ (const char *)key, bytes };
}

/* The block of a number: 0 has numbers 1 .. BLOCK. */
static uint64_t
block_of(uint64_t seq)
{
	return (seq - 1) / BLOCK;
}

static struct text
hashes_key(unsigned char key[static HASHES_KEY_BYTES_MAX],
    const struct session_id *session, struct text partition, uint64_t block)
{
	struct text stream = stream_key(key, session, partition);

	block = htobe64(block);
	memcpy(key + stream.bytes, &block, sizeof(block));
	stream.bytes += sizeof(block);
	return stream;
}

bool
journal_stream_key(
    struct text key, struct session_id *session, struct text *partition)
{
	if (key.bytes <= sizeof(session->bytes) ||
	    key.bytes > STREAM_KEY_BYTES_MAX)
		return false;
	memcpy(session->bytes, key.at, sizeof(session->bytes));
	*partition = (struct text){ key.at + sizeof(session->bytes),
		key.bytes - (uint32_t)sizeof(session->bytes) };
	return true;
}

/* ---- the row ---- */

static uint64_t
get64(const char **at)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return le64toh(value);
}

static void
put64(unsigned char **at, uint64_t value)
{
	value = htole64(value);
	memcpy(*at, &value, sizeof(value));
	*at += sizeof(value);
}

static uint32_t
get32(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static void
put32(unsigned char *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

/* How many numbers of its block a stream has. */
static uint32_t
count_of(uint64_t last_seq)
{
	return last_seq == 0 ? 0 : (uint32_t)((last_seq - 1) % BLOCK) + 1;
}

bool
journal_stream_decode(struct text value, struct journal_stream *stream)
{
	const char *at = value.at;
	uint32_t count;
	uint8_t length;

	if (value.bytes < STREAM_FIXED_BYTES)
		return false;
	memset(stream, 0, sizeof(*stream));
	stream->last_seq = get64(&at);
	stream->hash = get64(&at);
	stream->first_ns = (int64_t)get64(&at);
	stream->last_ns = (int64_t)get64(&at);
	stream->forgotten = get64(&at);
	stream->owner = get64(&at);
	stream->derived = *at++ != 0;
	length = (uint8_t)*at++;
	stream->node = (struct text){ at, length };
	count = count_of(stream->last_seq);
	if (value.bytes != STREAM_FIXED_BYTES + length + count * HASH_BYTES)
		return false;
	at += length;
	for (uint32_t i = 0; i < count; i++)
		stream->block[i] = get32(at + i * HASH_BYTES);
	return true;
}

enum journal_found
journal_stream_get(struct journal *journal, const struct session_id *session,
    struct text partition, struct journal_stream *stream)
{
	unsigned char key[STREAM_KEY_BYTES_MAX];
	struct text value;

	memset(stream, 0, sizeof(*stream));
	if (!db_get(journal->txn, JOURNAL_STREAMS,
		stream_key(key, session, partition), &value))
		return db_was_damaged(journal->txn) ? JOURNAL_DAMAGED
						    : JOURNAL_ABSENT;
	return journal_stream_decode(value, stream) ? JOURNAL_FOUND
						    : JOURNAL_DAMAGED;
}

void
journal_stream_put(struct journal *journal, const struct session_id *session,
    struct text partition, const struct journal_stream *stream)
{
	unsigned char key[STREAM_KEY_BYTES_MAX];
	unsigned char
	    value[STREAM_FIXED_BYTES + NAME_BYTES_MAX + BLOCK * HASH_BYTES];
	unsigned char *at = value;

	assert(stream->node.bytes <= NAME_BYTES_MAX);
	put64(&at, stream->last_seq);
	put64(&at, stream->hash);
	put64(&at, (uint64_t)stream->first_ns);
	put64(&at, (uint64_t)stream->last_ns);
	put64(&at, stream->forgotten);
	put64(&at, stream->owner);
	*at++ = stream->derived;
	*at++ = (unsigned char)stream->node.bytes;
	memcpy(at, stream->node.at, stream->node.bytes);
	at += stream->node.bytes;
	for (uint32_t i = 0; i < count_of(stream->last_seq); i++) {
		put32(at, stream->block[i]);
		at += HASH_BYTES;
	}
	db_put(journal->txn, JOURNAL_STREAMS,
	    stream_key(key, session, partition),
	    (struct text){ (const char *)value, (uint32_t)(at - value) });
}

/* ---- what the last numbers contain ---- */

/* 0 stands for "not known": within a gap. */
static uint32_t
short_of(uint64_t hash)
{
	return (uint32_t)hash != 0 ? (uint32_t)hash : 1;
}

enum journal_content
journal_stream_compare(struct journal *journal,
    const struct session_id *session, struct text partition,
    const struct journal_stream *stream, uint64_t seq, uint64_t hash)
{
	unsigned char key[HASHES_KEY_BYTES_MAX];
	uint32_t ours = 0, i = (uint32_t)((seq - 1) % BLOCK);
	struct text value;

	if (stream->last_seq - seq >= JOURNAL_STREAM_REMEMBERED ||
	    seq <= stream->forgotten)
		return JOURNAL_FORGOTTEN;
	if (block_of(seq) == block_of(stream->last_seq))
		ours = stream->block[i];
	else if (db_get(journal->txn, JOURNAL_HASHES,
		     hashes_key(key, session, partition, block_of(seq)),
		     &value) &&
		 value.bytes == BLOCK * HASH_BYTES)
		ours = get32(value.at + i * HASH_BYTES);
	else if (db_was_damaged(journal->txn))
		return JOURNAL_FORGOTTEN;
	if (ours == 0)
		return JOURNAL_LOST;
	return ours == short_of(hash) ? JOURNAL_SAME : JOURNAL_OTHER;
}

/* The stream leaves its block: remember it, and forget the one that is too far
 * back. */
static void
put_block(struct journal *journal, const struct session_id *session,
    struct text partition, const struct journal_stream *stream)
{
	enum { BLOCKS = JOURNAL_STREAM_REMEMBERED / BLOCK + 1 };
	unsigned char key[HASHES_KEY_BYTES_MAX], value[BLOCK * HASH_BYTES];
	uint64_t block = block_of(stream->last_seq);

	for (uint32_t i = 0; i < BLOCK; i++)
		put32(value + i * HASH_BYTES, stream->block[i]);
	db_put(journal->txn, JOURNAL_HASHES,
	    hashes_key(key, session, partition, block),
	    (struct text){ (const char *)value, sizeof(value) });
	if (block >= BLOCKS)
		db_del(journal->txn, JOURNAL_HASHES,
		    hashes_key(key, session, partition, block - BLOCKS));
}

void
journal_stream_advance(struct journal *journal,
    const struct session_id *session, struct text partition,
    struct journal_stream *stream, uint64_t last, uint64_t hash)
{
	assert(last > stream->last_seq);
	if (stream->last_seq > 0 &&
	    block_of(last) != block_of(stream->last_seq)) {
		put_block(journal, session, partition, stream);
		memset(stream->block, 0, sizeof(stream->block));
	}
	stream->last_seq = last;
	stream->hash = hash;
	stream->block[(last - 1) % BLOCK] = hash != 0 ? short_of(hash) : 0;
}

/* ---- removal ---- */

static void
remove_hashes(struct db_txn *txn, struct text stream)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_HASHES);
	struct text key, value;

	while (db_seek(cursor, stream, &key, &value) &&
	       key.bytes == stream.bytes + 8 &&
	       memcmp(key.at, stream.at, stream.bytes) == 0) {
		unsigned char copy[HASHES_KEY_BYTES_MAX];

		memcpy(copy, key.at, key.bytes);
		db_del(txn, JOURNAL_HASHES,
		    (struct text){ (const char *)copy, key.bytes });
	}
	db_cursor_close(&cursor);
}

void
journal_stream_remove(struct db_txn *txn, struct text key)
{
	unsigned char copy[STREAM_KEY_BYTES_MAX];

	assert(key.bytes <= sizeof(copy));
	memcpy(copy, key.at, key.bytes);
	key.at = (const char *)copy;
	remove_hashes(txn, key);
	db_del(txn, JOURNAL_STREAMS, key);
}
