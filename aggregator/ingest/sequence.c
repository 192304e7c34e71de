/*
 * sequence - which numbers of its stream a frame stands for.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/sequence.h"

#include "proto/base/crc32c.h"
#include "proto/base/hash.h"

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
		numbers->after = header->after;
		if (body.bytes > 0)
			return false;
	}
	return numbers->first > 0 && numbers->first <= numbers->last &&
	       numbers->last <= SEQUENCE_MAX;
}

/* 0 before a number above 1 is "not known" and agrees with everything. */
bool
sequence_diverge(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_chain(stream, numbers->first - 1);

	if (numbers->first == 1)
		return numbers->before != 0;
	return ours != 0 && numbers->before != 0 && ours != numbers->before;
}

bool
sequence_agree(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_chain(stream, numbers->first - 1);

	return ours != 0 && ours == numbers->before;
}

bool
sequence_follow(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	return stream->hwm == 0 || (numbers->first == stream->hwm + 1 &&
				       sequence_agree(numbers, stream));
}

/* A repetition brings content that we have: the chain after it must be ours,
 * unless one of the two does not know. */
bool
sequence_differ(
    const struct sequence *numbers, const struct journal_stream *stream)
{
	uint64_t ours = journal_chain(stream, numbers->first);

	if (numbers->first > 1 && numbers->before == 0)
		return false;
	return ours != 0 && ours != numbers->after;
}
