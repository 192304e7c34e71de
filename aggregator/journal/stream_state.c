/*
 * journal_stream_state - the rows with the last seq of each stream.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/journal.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "aggregator/journal/journal_private.h"

enum {
	STREAM_KEY_BYTES_MAX = 16 + NAME_BYTES_MAX,
	STREAM_FIXED_BYTES = 4 * 8 + JOURNAL_RING * 8 + 1,
	/* After the node, if something is missing or there is a boundary ... */
	STREAM_MISSING_BYTES = 2 * 8,
	STREAM_BOUNDARY_BYTES =
	    8, /* ... and after that, if there is a boundary */
};

uint64_t
journal_running_hash(const struct journal_stream *stream, uint64_t seq)
{
	if (seq == 0 || seq > stream->last_seq ||
	    stream->last_seq - seq >= JOURNAL_RING)
		return 0;
	return stream->ring[seq % JOURNAL_RING];
}

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

bool
journal_stream_decode(struct text value, struct journal_stream *stream)
{
	const char *at = value.at;
	uint32_t more;
	uint8_t length;

	if (value.bytes < STREAM_FIXED_BYTES)
		return false;
	stream->last_seq = get64(&at);
	stream->start_count = get64(&at);
	stream->first_ns = (int64_t)get64(&at);
	stream->last_ns = (int64_t)get64(&at);
	for (unsigned i = 0; i < JOURNAL_RING; i++)
		stream->ring[i] = get64(&at);
	length = (uint8_t)*at++;
	stream->node = (struct text){ at, length };
	stream->missing = stream->missing_hash = stream->boundary = 0;
	if (value.bytes < STREAM_FIXED_BYTES + (uint32_t)length)
		return false;
	more = value.bytes - STREAM_FIXED_BYTES - length;
	if (more == 0)
		return true;
	if (more != STREAM_MISSING_BYTES &&
	    more != STREAM_MISSING_BYTES + STREAM_BOUNDARY_BYTES)
		return false;
	at += length;
	stream->missing = get64(&at);
	stream->missing_hash = get64(&at);
	if (more > STREAM_MISSING_BYTES)
		stream->boundary = get64(&at);
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
	unsigned char value[STREAM_FIXED_BYTES + NAME_BYTES_MAX +
			    STREAM_MISSING_BYTES + STREAM_BOUNDARY_BYTES];
	unsigned char *at = value;
	bool has_missing;

	assert(stream->node.bytes <= NAME_BYTES_MAX);
	put64(&at, stream->last_seq);
	put64(&at, stream->start_count);
	put64(&at, (uint64_t)stream->first_ns);
	put64(&at, (uint64_t)stream->last_ns);
	for (unsigned i = 0; i < JOURNAL_RING; i++)
		put64(&at, stream->ring[i]);
	*at++ = (unsigned char)stream->node.bytes;
	memcpy(at, stream->node.at, stream->node.bytes);
	at += stream->node.bytes;
	has_missing = stream->missing > stream->last_seq;
	if (has_missing || stream->boundary > 0) {
		put64(&at, has_missing ? stream->missing : 0);
		put64(&at, has_missing ? stream->missing_hash : 0);
	}
	if (stream->boundary > 0)
		put64(&at, stream->boundary);
	db_put(journal->txn, JOURNAL_STREAMS,
	    stream_key(key, session, partition),
	    (struct text){ (const char *)value, (uint32_t)(at - value) });
}
