/*
 * sequence - the sequence of its stream that a frame has, and whether its
 * content continues or repeats the stored one, by the running hash
 * (proto/delivery.md, "Terms").
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_SEQUENCE_H
#define AGGREGATOR_INGEST_SEQUENCE_H

#include "aggregator/journal/journal.h"
#include "proto/wire/wire.h"

/* No honest sender reaches higher sequence, and sums of these cannot
 * overflow. */
#define SEQUENCE_MAX (UINT64_C(1) << 62)

struct sequence {
	uint64_t first, last;
	uint64_t before, after; /* running hashes; 0: not known */
};

/* The numbers of a hello, batch or gap; false: no honest sender sends such
 * numbers. */
bool sequence_get(struct sequence *sequence, const struct wire_header *header,
    struct text body);

/* Does the sender's running hash before the first number differ from ours? */
bool sequence_diverges(
    const struct sequence *sequence, const struct journal_stream *stream);

/* Is that running hash known and equal to ours? */
bool sequence_agrees(
    const struct sequence *sequence, const struct journal_stream *stream);

/* Do they continue the stream, as one life of the spool? */
bool sequence_continues(
    const struct sequence *sequence, const struct journal_stream *stream);

/* Of a batch that is already stored: is the stored content different? */
bool sequence_differs(
    const struct sequence *sequence, const struct journal_stream *stream);

#endif
