/*
 * sequence - which numbers of its stream a frame stands for, and whether
 * what it brings goes on from, or repeats, what is kept (the chain,
 * proto/delivery.md, "Terms").
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_SEQUENCE_H
#define AGGREGATOR_INGEST_SEQUENCE_H

#include "aggregator/journal/journal.h"
#include "proto/wire/wire.h"

/* Numbers beyond this never come about honestly, and sums of them are safe. */
#define SEQUENCE_MAX (UINT64_C(1) << 62)

struct sequence {
	uint64_t first, last;
	uint64_t before, after; /* chains; 0: not known */
};

/* Of a hello, batch or gap; false: no honest sender has such. */
bool sequence_get(struct sequence *numbers, const struct wire_header *header,
    struct text body);

/* Is the sender's chain before the first another than ours? */
bool sequence_diverge(
    const struct sequence *numbers, const struct journal_stream *stream);

/* Is it known to be ours? */
bool sequence_agree(
    const struct sequence *numbers, const struct journal_stream *stream);

/* Do they go on where the stream ends, as one life of the spool? */
bool sequence_follow(
    const struct sequence *numbers, const struct journal_stream *stream);

/* A batch that is kept already: has ours another content? */
bool sequence_differ(
    const struct sequence *numbers, const struct journal_stream *stream);

#endif
