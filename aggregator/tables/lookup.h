/*
 * lookup - numbers as names, for readers of rows.
 *
 * A cache of fixed size in front of dictionary_text, for one partition at a
 * time.  The cached copies outlive the transaction, so the next page finds them
 * here.  A name whose slot is taken by another name is looked up each time.
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
	uint32_t used; /* the last slot that got memory, plus 1; 0: none */
	struct buffer pairs; /* memory of lookup_pairs */
};

void lookup_clear(struct lookup *lookup);
/* Use this transaction and this partition from now on. */
void lookup_use(struct lookup *lookup, struct db_txn *txn, uint32_t partition);

/* A view, valid until the transaction ends or writes again; empty when the
 * number has no name, which counts as damage. */
struct text lookup_number(struct lookup *lookup, uint32_t number);
struct text lookup_name(
    struct lookup *lookup, const struct row_block_name *name);
/* The same of an attribute.  A lost name is "?" and its number, in `room`: its
 * value may still be of use. */
enum { LOOKUP_KEY_BYTES = 12 };
struct text lookup_key(struct lookup *lookup, const struct row_block_name *name,
    char room[static LOOKUP_KEY_BYTES]);
bool lookup_session(
    struct lookup *lookup, uint32_t stream, struct session_id *session);

/* The attributes of a record or state as MessagePack pairs: a view, valid
 * until the next call. */
struct text lookup_pairs(
    struct lookup *lookup, struct text attributes, uint32_t *count);

#endif
