/*
 * sequence - the sequence of its stream that a frame has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/sequence.h"

#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

bool
sequence_get(struct sequence *sequence, const struct wire_header *header,
    struct text body)
{
	*sequence = (struct sequence){ .first = header->seq,
		.last = header->seq,
		.before = header->chain };
	if (header->type == WIRE_BATCH)
		sequence->after =
		    hash_chain(header->chain, crc32c(0, body.at, body.bytes),
			body.bytes, header->records);
	if (header->type == WIRE_GAP) {
		sequence->last = header->last_seq;
		sequence->after = header->chain_after;
		if (body.bytes > 0)
			return false;
	}
	return sequence->first > 0 && sequence->first <= sequence->last &&
	       sequence->last <= SEQUENCE_MAX;
}

/* 0 before a number above 1 means "not known" and matches every running
 * hash. */
bool
sequence_diverges(
    const struct sequence *sequence, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, sequence->first - 1);

	if (sequence->first == 1)
		return sequence->before != 0;
	return ours != 0 && sequence->before != 0 && ours != sequence->before;
}

bool
sequence_agrees(
    const struct sequence *sequence, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, sequence->first - 1);

	return ours != 0 && ours == sequence->before;
}

bool
sequence_continues(
    const struct sequence *sequence, const struct journal_stream *stream)
{
	return stream->last_seq == 0 ||
	       (sequence->first == stream->last_seq + 1 &&
		   sequence_agrees(sequence, stream));
}

/* With the same content the running hash after it is the same, unless one of
 * the two is not known. */
bool
sequence_differs(
    const struct sequence *sequence, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, sequence->first);

	if (sequence->first > 1 && sequence->before == 0)
		return false;
	return ours != 0 && ours != sequence->after;
}
