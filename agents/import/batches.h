/*
 * import_batches - packs the rows of a file into batches, always in the same
 * way.
 *
 * One stream for each partition.  Session, batch boundaries and therefore the
 * running hashes follow from the content alone: importing a file twice sends
 * the same bytes, and the aggregator stores them once.  Unacknowledged batches
 * stay in memory; batches that the aggregator already has are packed, for
 * their running hash, and dropped.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_BATCHES_H
#define AGENTS_IMPORT_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/sender.h"
#include "agents/import/source.h"

enum {
	IMPORT_STREAMS_MAX = 64,
	/* Of a batch of one record; with its header it fits a frame. */
	IMPORT_BODY_BYTES_MAX = 240 << 10,
};

struct import_batches_counters {
	uint64_t events,
	    already; /* rows; of these, stored by an earlier import */
	uint64_t events_acked;
	uint64_t bytes_acked; /* of the file */
};

struct import_batches; /* opaque */

/* `partition` empty: the rows name theirs.  `once`: the batches are marked so
 * that the store keeps each of their records once, and an event that is equal
 * to earlier rows gets a uuid made from its content and their number. */
struct import_batches *import_batches_new(enum import_kind kind,
    struct text partition,
    const unsigned char digest[static IMPORT_DIGEST_BYTES], bool once);
void import_batches_free(struct import_batches **batches);

/* Add a row that was read from the next `bytes` of the file. */
int import_batches_add(struct import_batches *batches,
    const struct import_row *row, uint64_t bytes, struct err *err);
/* There are no more rows. */
void import_batches_end(struct import_batches *batches);
/* Full: add no more rows until some are acknowledged. */
bool import_batches_is_full(const struct import_batches *batches);

uint32_t import_batches_streams(const struct import_batches *batches);
struct text import_batches_partition(
    const struct import_batches *batches, uint32_t stream);
const struct session_id *import_batches_session(
    const struct import_batches *batches, uint32_t stream);
uint64_t import_batches_first(
    const struct import_batches *batches, uint32_t stream);

/* The callbacks of struct sender_owner. */
int import_batches_read(struct import_batches *batches, uint32_t stream,
    uint64_t seq, struct sender_batch *batch);
/* The batch was sent: its acknowledgement does not mean that it was stored
 * before. */
void import_batches_sent(
    struct import_batches *batches, uint32_t stream, uint64_t seq);
void import_batches_acked(
    struct import_batches *batches, uint32_t stream, uint64_t upto);
/* The aggregator claims to have all up to `upto`, with this running hash after
 * it.  import_batches_is_other: what it has is not what was packed. */
void import_batches_claimed(struct import_batches *batches, uint32_t stream,
    uint64_t upto, uint64_t chain);
bool import_batches_is_other(
    const struct import_batches *batches, uint32_t *stream);
/* Give the stream the next session of its content, and resend from
 * its begin.  False: there is
 * none, or (not `once`, and the rows of before are not `gone`) the store would
 * keep rows twice. */
bool import_batches_rename(
    struct import_batches *batches, uint32_t stream, bool gone);

/* Forget all rows: they are read again from the first one. */
void import_batches_rewind(struct import_batches *batches);

const struct import_batches_counters *import_batches_counters(
    const struct import_batches *batches);

#endif
