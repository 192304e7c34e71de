/*
 * record_columns - records of the store as rows of the archive's tables, and
 * what they have in common with other rows.
 *
 * `types` has a letter for each attribute or value, so that whoever reads the
 * row gets back what was recorded, bit for bit:
 *
 *       type     in vals: of an attribute    in v and big: of a sample
 *   n   nil      empty                       NaN
 *   b   boolean  true, false                 -
 *   i   integer  decimal, within int64       v
 *   l   integer  -                           v nearest, big modulo 2^64
 *   u   integer  decimal, above int64        v nearest, big
 *   f   float    shortest that reads back,   v
 *                inf, -inf, nan; another
 *                NaN is nan: and its bits,
 *                16 hexadecimal digits
 *   t   text     as it is                    -
 *
 * So vals[indexOf(keys, 'job')] is an attribute as text, and v[3] the third
 * number of a sample.  `big` has only those that a double may not hold, in
 * order.  Texts are bytes, UTF-8 but for uuid and body.  A name that the store
 * has lost is what commands print: "?" and its number as a key, otherwise
 * empty.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_RECORD_COLUMNS_H
#define AGGREGATOR_ARCHIVE_ROWS_RECORD_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/typed.h"
#include "aggregator/archive/rows/value_text.h"
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/row_block.h"
#include "proto/clickhouse/native.h"
#include "proto/record/record.h"

/* What a name is, in table names. */
enum archive_name_kind {
	ARCHIVE_NAME,
	ARCHIVE_NAME_NODE,
	ARCHIVE_NAME_HOST, /* only imports events: no node of the pool */
	ARCHIVE_NAME_RUN,
};
/* The role of an event in table phases: ends come first. */
enum archive_role { ARCHIVE_END, ARCHIVE_END_MEASURED, ARCHIVE_START };

/* The kinds that have a table. */
enum { ARCHIVE_KINDS = 5 };
extern const enum record_kind archive_kinds[ARCHIVE_KINDS];

/* Where a record is, and when it was archived. */
struct archive_row_id {
	uint64_t part; /* hash of the partition's name */
	int32_t hour;  /* of the store's key, as node and track */
	uint32_t node, track;
	uint64_t pos;
};

/* Append a record to `block`, which has the columns of its kind (typed.h);
 * `names` is in use for its partition, `hash` is that of its identity.  False:
 * the body is malformed; no column has got anything. */
bool archive_put_record(struct native_block *block, enum record_kind kind,
    const struct archive_row_id *id, const struct row_block_item *item,
    struct lookup *names, uint64_t *hash);
/* A session by its number: 16 bytes, zeros if it has no name. */
void archive_put_session(
    struct typed *row, struct lookup *names, uint32_t stream);
/* Append a number to the arrays `values` and, if no double holds it, `big`;
 * returns its letter. */
char archive_put_number(struct native_block *block, unsigned values,
    unsigned big, const struct value *value);
/* Columns of a typed row: session, seq, idx and recv; keys, types and vals of a
 * body (false: it is malformed, and nothing was put). */
void archive_put_sent(
    struct typed *row, const struct row_block_item *item, struct lookup *names);
bool archive_put_attributes(
    struct typed *row, struct text attributes, struct lookup *names);

#endif
