/*
 * head - rows of records: what one transaction brought of one kind, hour,
 * node and track, in time order.
 *
 * A row holds as many records as stay in a page of the store, so that a row
 * costs far less than a record each would.  Names are numbers (dictionary.h);
 * beyond the limit of names a text stands in the row itself.  The bytes are
 * proto/store.md, "Row blocks".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_ROW_BLOCK_H
#define AGGREGATOR_TABLES_ROW_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/dictionary.h"
#include "proto/base/varint.h"
#include "proto/record/record.h"

/* LMDB keeps values in the page up to about half of it. */
enum { ROW_BLOCK_ROW_BYTES = 1900 };

/* One record in a row: who it is, and the bytes of its kind. */
struct row_block_item {
	int64_t time_ns;
	int64_t receive_ns;
	uint64_t seq;
	uint32_t stream;
	uint32_t index;
	struct text body;
};

/* By (time, stream, seq, index): <0, 0, >0; 0 is the same record. */
int row_block_compare(
    const struct row_block_item *a, const struct row_block_item *b);

/* ---- the body of a record ---- */

/* A name: its number, or when that is 0 the text itself. */
struct row_block_name {
	uint32_t number;
	struct text text;
};

/* Taken apart; views into the row. */
struct row_block_body {
	struct row_block_name source, name, key; /* as in struct record */
	struct text uuid;                        /* event: 16 bytes, or empty */
	struct text hash;                        /* dead */
	int64_t end_ns;                          /* span, gap */
	uint64_t count;                          /* gap, dead */
	uint32_t values;                         /* sample */
	struct text value_bytes;
	struct text
	    attributes; /* event, span, entity: row_block_next_attribute */
};

struct row_block_writer {
	struct dictionary *dictionary;
	struct db_txn *txn;
	uint32_t partition;
};

/* What the indexer wants to know of an event that it has just encoded. */
struct row_block_event {
	uint32_t source, name; /* numbers, 0 beyond the limit */
	const unsigned char *attributes;
};

/* No body of this record is longer. */
size_t row_block_body_bound(const struct record *record);
/* Write the body of a record of any kind but phase (entity: the attributes
 * alone) to `to`, which has row_block_body_bound bytes of room; returns its
 * end. `event` is filled for events. */
unsigned char *row_block_put_body(unsigned char *to,
    const struct record *record, const struct row_block_writer *writer,
    struct row_block_event *event);
/* `time_ns` of the item it belongs to. */
bool row_block_get_body(struct text body, enum record_kind kind,
    int64_t time_ns, struct row_block_body *out);

/* An attribute; `value` is its MessagePack. */
struct row_block_attribute {
	struct row_block_name key;
	struct text value;
};
/* Attributes begin with their count: take it off, then one after another. */
uint32_t row_block_attribute_count(struct text *attributes);
bool row_block_next_attribute(
    struct text *rest, struct row_block_attribute *attribute);
void row_block_put_attribute(
    struct buffer *to, const struct row_block_attribute *attribute);

/* ---- writing a row ---- */

struct row_block_row {
	struct buffer bytes;
	uint64_t records;
	int64_t first_ns, last_ns;
};

void row_block_row_start(struct row_block_row *row);
/* False when it does not fit behind what is there: finish the row, start a new
 * one and add it there.  Items come in row_block_compare order. */
bool row_block_row_add(
    struct row_block_row *row, const struct row_block_item *item);
/* View, valid until the next start. */
struct text row_block_row_finish(struct row_block_row *row);

/* ---- reading a row ---- */

struct row_block_rows { /* where we are in a row */
	struct unpack bytes;
	uint64_t left;   /* records not yet returned */
	int64_t time_ns; /* of the last one; the row's first at the start */
	int64_t last_ns; /* of the row */
};

/* False when the row cannot be understood. */
bool row_block_open(
    struct row_block_rows *rows, struct text value, int64_t first_ns);
/* False at the end; `rows->bytes.bad` when the end came too early. */
bool row_block_next(struct row_block_rows *rows, struct row_block_item *item);
uint64_t row_block_count(struct text value);

#endif
