/*
 * import_batches - the rows of a file as batches, the same ones every time.
 *
 * One stream a partition.  Session, batch borders and so the chains follow
 * from the content alone: who imports a file twice says the same twice, and
 * the aggregator keeps it once.  Batches that are not acknowledged are kept in
 * memory; what the aggregator has already is packed, for its chain, and
 * dropped.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_BATCHES_H
#define AGENTS_IMPORT_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/sender.h"
#include "agents/import/file.h"
#include "agents/import/row.h"

enum {
	IMPORT_STREAMS_MAX = 64,
};

struct import_batches_counters {
	uint64_t events, already; /* rows; of them there before this import */
	uint64_t events_acked;
	uint64_t bytes_acked; /* of the file */
};

struct import_batches; /* opaque */

/* `partition` empty: the rows say theirs. */
struct import_batches *import_batches_new(enum import_kind kind,
    struct text partition,
    const unsigned char digest[static IMPORT_DIGEST_BYTES]);
void import_batches_free(struct import_batches **pack);

/* Take in a row that came from `bytes` of the file. */
int import_batches_add(struct import_batches *pack,
    const struct import_row *row, uint64_t bytes, struct err *err);
/* There are no more rows. */
void import_batches_end(struct import_batches *pack);
/* Holds as much as it should: nothing more, please, until acknowledged. */
bool import_batches_is_full(const struct import_batches *pack);

uint32_t import_batches_streams(const struct import_batches *pack);
struct text import_batches_partition(
    const struct import_batches *pack, uint32_t stream);
const struct session_id *import_batches_session(
    const struct import_batches *pack, uint32_t stream);
uint64_t import_batches_first(
    const struct import_batches *pack, uint32_t stream);

/* As struct sender_owner wants them. */
int import_batches_read(struct import_batches *pack, uint32_t stream,
    uint64_t seq, struct sender_batch *batch);
/* It is under way: when it is acknowledged it was not there before. */
void import_batches_sent(
    struct import_batches *pack, uint32_t stream, uint64_t seq);
void import_batches_acked(
    struct import_batches *pack, uint32_t stream, uint64_t upto);

/* Forget all rows: they come once more from the first on, because `seq` of
 * `stream` is wanted again. */
void import_batches_rewind(
    struct import_batches *pack, uint32_t stream, uint64_t seq);

const struct import_batches_counters *import_batches_counters(
    const struct import_batches *pack);

#endif
