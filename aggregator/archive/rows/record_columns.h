/*
 * record_columns - records of the store as rows of the archive's tables.
 *
 * Each kind of record has a table.  All begin with the same columns; the first
 * eight are the identity of a record, and pos is when it was archived:
 *
 *	part UInt64, hour Int32, node UInt32, track UInt32, ts Int64,
 *	stream UInt32, seq UInt64, idx UInt32, recv Int64, pos UInt64
 *	events    source String, name String, uuid String (16 bytes or none),
 *	          keys Array(String), types String, vals Array(String)
 *	samples   types String, v Array(Float64), big Array(UInt64)
 *	spans     end_ns Int64, name String, category String,
 *	          keys Array(String), types String, vals Array(String)
 *	gaps      end_ns Int64, class String, reason String, count UInt64
 *	rejected  reason String, bytes UInt64, body String (first bytes),
 *	          sha256 String (hexadecimal, or empty)
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

/* What a name is, in table names_t. */
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

/* Numbers of the columns. */
enum archive_column {
	ARCHIVE_PART,
	ARCHIVE_HOUR,
	ARCHIVE_NODE,
	ARCHIVE_TRACK,
	ARCHIVE_TIME,
	ARCHIVE_STREAM,
	ARCHIVE_SEQ,
	ARCHIVE_INDEX,
	ARCHIVE_RECEIVED,
	ARCHIVE_POS,

	ARCHIVE_EVENT_SOURCE = 10,
	ARCHIVE_EVENT_NAME,
	ARCHIVE_EVENT_UUID,
	ARCHIVE_EVENT_KEYS,
	ARCHIVE_EVENT_TYPES,
	ARCHIVE_EVENT_VALUES,

	ARCHIVE_SAMPLE_TYPES = 10,
	ARCHIVE_SAMPLE_VALUES,
	ARCHIVE_SAMPLE_BIG,

	ARCHIVE_SPAN_END = 10,
	ARCHIVE_SPAN_NAME,
	ARCHIVE_SPAN_CATEGORY,
	ARCHIVE_SPAN_KEYS,
	ARCHIVE_SPAN_TYPES,
	ARCHIVE_SPAN_VALUES,

	ARCHIVE_GAP_END = 10,
	ARCHIVE_GAP_CLASS,
	ARCHIVE_GAP_REASON,
	ARCHIVE_GAP_COUNT,

	ARCHIVE_REJECTED_REASON = 10,
	ARCHIVE_REJECTED_BYTES,
	ARCHIVE_REJECTED_BODY,
	ARCHIVE_REJECTED_HASH,
};

/* Where a record is, and when it was archived. */
struct archive_row_id {
	uint64_t part; /* hash of the partition's name */
	int32_t hour;  /* of the store's key, as node and track */
	uint32_t node, track;
	uint64_t pos;
};

/* The columns of the table of a kind, and its name; NULL and 0: the kind has
 * none. */
const struct native_column *archive_columns(
    enum record_kind kind, unsigned *count);
const char *archive_table(enum record_kind kind);

/* Append a record to `block`, which has the columns of its kind.  `names` is in
 * use for its partition.  False: the body is malformed; no column has got
 * anything. */
bool archive_put_record(struct native_block *block, enum record_kind kind,
    const struct archive_row_id *id, const struct row_block_item *item,
    struct lookup *names);

/* The same for the typed table of the kind; `hash` is that of its identity. */
bool archive_put_typed(struct native_block *block, enum record_kind kind,
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
