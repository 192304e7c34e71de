/*
 * sequence - the numbers of its stream that a frame has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/sequence.h"

#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

bool
sequence_get(struct sequence *numbers, const struct wire_header *header,
    struct text body)
{
	*numbers = (struct sequence){ .first = header->seq,
		.last = header->seq,
		.before = header->chain };
	if (header->type == WIRE_BATCH)
		numbers->after =
		    hash_chain(header->chain, crc32c(0, body.at, body.bytes),
			body.bytes, header->records);
	if (header->type == WIRE_GAP) {
		numbers->last = header->last_seq;
		numbers->after = header->chain_after;
		if (body.bytes > 0)
			return false;
	}
	return numbers->first > 0 && numbers->first <= numbers->last &&
	       numbers->last <= SEQUENCE_MAX;
}

/* 0 before a number above 1 means "not known" and matches every running
 * hash. */
bool
sequence_diverge(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, numbers->first - 1);

	if (numbers->first == 1)
		return numbers->before != 0;
	return ours != 0 && numbers->before != 0 && ours != numbers->before;
}

bool
sequence_agree(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, numbers->first - 1);

	return ours != 0 && ours == numbers->before;
}

bool
sequence_follow(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	return stream->last_seq == 0 ||
	       (numbers->first == stream->last_seq + 1 &&
		   sequence_agree(numbers, stream));
}

/* A repetition has content that is stored: the running hash after it must be
 * the same, unless one of the two is not known. */
bool
sequence_differ(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_running_hash(stream, numbers->first);

	if (numbers->first > 1 && numbers->before == 0)
		return false;
	return ours != 0 && ours != numbers->after;
}
