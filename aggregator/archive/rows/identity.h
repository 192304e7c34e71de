/*
 * identity - a hash of what identifies a row of the archive, the same here and
 * in ClickHouse.
 *
 * Sums of these hashes modulo 2^64, and counts, show whether a replica has the
 * rows that were sent, without reading them back.  The hash is no protection
 * against who chooses rows on purpose.
 *
 * Of each column, in order: h = intHash64(h xor column), starting at 0; the
 * column as UInt64, negative numbers modulo 2^64.  intHash64 is ClickHouse's,
 * equal in 18.16 and 26.7.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_IDENTITY_H
#define AGGREGATOR_ARCHIVE_ROWS_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/record_columns.h"

/* The number of a partition in the archive: SipHash-2-4 with a zero key of its
 * name, sipHash64(name) in ClickHouse. */
uint64_t archive_part(struct text partition);
/* The shard of the records of a node of a partition, in an archive of that
 * many. */
unsigned archive_shard(unsigned shards, uint64_t part, uint32_t node);

/* Of part, hour, node, track, ts, stream, seq and idx. */
uint64_t archive_identity_hash(
    const struct archive_row_id *id, const struct row_block_item *item);
/* The same as an expression of SQL over the columns of the table of a kind,
 * NULL if it has none; sum() of it wraps. */
const char *archive_identity_sql(enum record_kind kind);

/* A row of the tables with keys and values. */
struct archive_change {
	uint64_t part;
	uint8_t tbl;
	struct text k, v;
	bool del;
	uint64_t pos;
};

/* Of part, tbl, sipHash64(k), pos, del and sipHash64(v). */
uint64_t archive_change_hash(const struct archive_change *change);
const char *archive_change_sql(void);

#endif
