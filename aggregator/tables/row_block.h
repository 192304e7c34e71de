/*
 * row_block - records of one kind, hour, node and track that one transaction
 * has indexed, in time order, as one row of the store.
 *
 * A row has as many records as fit in a page of the store, which takes far less
 * space than a row for each record.  Names are numbers (dictionary.h); a name
 * beyond the limit is stored as text in the row.  proto/store.md, "Row blocks",
 * describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_ROW_BLOCK_H
#define AGGREGATOR_TABLES_ROW_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/dictionary.h"
#include "proto/base/varint.h"
#include "proto/record/record.h"

/* LMDB stores values up to about half a page in the page itself. */
enum { ROW_BLOCK_BYTES = 1900 };

/* A record in a row: its identity, and the bytes that depend on its kind. */
struct row_block_item {
	int64_t time_ns;
	int64_t receive_ns;
	uint64_t seq;
	uint32_t stream;
	uint32_t index;
	struct text body;
};

/* Compares (time, stream, seq, index): < 0, 0 or > 0; 0 means the same
 * record. */
int row_block_compare(
    const struct row_block_item *a, const struct row_block_item *b);

/* ---- the body of a record ---- */

/* A name: its number; with number 0 the text itself. */
struct row_block_name {
	uint32_t number;
	struct text text;
};

/* A decoded body; views into the row. */
struct row_block_body {
	struct row_block_name source, name, key; /* as in struct record */
	struct text uuid;                        /* event: 16 bytes, or empty */
	struct text hash;                        /* rejected batch */
	int64_t end_ns;                          /* span, gap */
	uint64_t count;                          /* gap, rejected batch */
	uint32_t values;                         /* sample */
	struct text value_bytes;
	/* Event, span, entity: for row_block_attribute_count. */
	struct text attributes;
};

struct row_block_writer {
	struct dictionary *dictionary;
	struct db_txn *txn;
	uint32_t partition;
};

/* What the indexer needs to know about an event that it has just encoded. */
struct row_block_event {
	uint32_t source, name; /* numbers; 0 beyond the limit */
	const unsigned char *attributes;
};

/* The maximum length of the body of this record. */
size_t row_block_body_bound(const struct record *record);
/* Write the body of a record of any kind but phase (entity: only the
 * attributes) to `to`, which has room for row_block_body_bound bytes.  Returns
 * the end of the body.  Fills in `event` if the record is an event. */
unsigned char *row_block_put_body(unsigned char *to,
    const struct record *record, const struct row_block_writer *writer,
    struct row_block_event *event);
/* Decode a body; `time_ns` is that of its record. */
bool row_block_get_body(struct text body, enum record_kind kind,
    int64_t time_ns, struct row_block_body *out);

/* An attribute; `value` is in MessagePack. */
struct row_block_attribute {
	struct row_block_name key;
	struct text value;
};
/* Attributes begin with their count: take it from the front of `attributes`,
 * then read them one by one. */
uint32_t row_block_attribute_count(struct text *attributes);
bool row_block_next_attribute(
    struct text *rest, struct row_block_attribute *attribute);
void row_block_put_attribute(
    struct buffer *to, const struct row_block_attribute *attribute);

/* ---- writing a row ---- */

struct row_block_builder {
	struct buffer bytes;
	uint64_t records;
	int64_t first_ns, last_ns;
};

void row_block_begin(struct row_block_builder *row);
/* Add a record.  Items come in row_block_compare order.  False: the row is
 * full; finish it, start a new one and add the record there. */
bool row_block_add(
    struct row_block_builder *row, const struct row_block_item *item);
/* Returns a view, valid until the next row_block_begin. */
struct text row_block_finish(struct row_block_builder *row);

/* ---- reading a row ---- */

/* A position in a row. */
struct row_block_reader {
	struct varint_reader bytes;
	uint64_t left;   /* records not yet returned */
	int64_t time_ns; /* of the record returned last; first: of the row */
	int64_t last_ns; /* of the last record of the row */
};

/* False when the row is damaged. */
bool row_block_open(
    struct row_block_reader *rows, struct text value, int64_t first_ns);
/* False at the end.  `rows->bytes.bad` is set when the row ended too early. */
bool row_block_next(struct row_block_reader *rows, struct row_block_item *item);
uint64_t row_block_count(struct text value);

#endif
