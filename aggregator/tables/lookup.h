/*
 * lookup - numbers as texts: what a reader of rows needs.
 *
 * A cache of fixed size over dictionary_text, for one partition at a time.  The
 * copies outlive the transaction that they were found in, so the next page
 * finds them here; what finds its slot taken is looked up each time.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_LOOKUP_H
#define AGGREGATOR_TABLES_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"
#include "proto/wire/wire.h"

enum { LOOKUP_SLOTS = 1 << 14 };

struct lookup_slot;

struct lookup {
	struct db_txn *txn;
	uint32_t partition;
	struct lookup_slot *slots;
	struct buffer pairs; /* room of lookup_pairs */
};

void lookup_clear(struct lookup *lookup);
/* Look up in this partition, with this transaction, from now on. */
void lookup_use(struct lookup *lookup, struct db_txn *txn, uint32_t partition);

/* View, valid until the end of the transaction, or its next write; empty when
 * there is no such number. */
struct text lookup_number(struct lookup *lookup, uint32_t number);
struct text lookup_name(
    struct lookup *lookup, const struct row_block_name *name);
bool lookup_session(
    struct lookup *lookup, uint32_t stream, struct session_id *session);

/* Attributes of a head or state as MessagePack pairs; view, valid until the
 * next call. */
struct text lookup_pairs(
    struct lookup *lookup, struct text attributes, uint32_t *count);

#endif
