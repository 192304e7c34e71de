/*
 * sequence - the numbers of its stream that a frame has, and whether its
 * content continues or repeats the stored one, by the running hash
 * (proto/delivery.md, "Terms").
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_SEQUENCE_H
#define AGGREGATOR_INGEST_SEQUENCE_H

#include "aggregator/journal/journal.h"
#include "proto/wire/wire.h"

/* No honest sender reaches higher numbers, and sums of these cannot
 * overflow. */
#define SEQUENCE_MAX (UINT64_C(1) << 62)

struct sequence {
	uint64_t first, last;
	uint64_t before, after; /* running hashes; 0: not known */
};

/* Of a hello, batch or gap; false: no honest sender sends this. */
bool sequence_get(struct sequence *numbers, const struct wire_header *header,
    struct text body);

/* Does the sender's running hash before the first number differ from ours? */
bool sequence_diverge(
    const struct sequence *numbers, const struct journal_stream *stream);

/* Is it known and equal to ours? */
bool sequence_agree(
    const struct sequence *numbers, const struct journal_stream *stream);

/* Do they continue the stream, as one life of the spool? */
bool sequence_follow(
    const struct sequence *numbers, const struct journal_stream *stream);

/* A batch that is already stored: does ours have other content? */
bool sequence_differ(
    const struct sequence *numbers, const struct journal_stream *stream);

#endif
