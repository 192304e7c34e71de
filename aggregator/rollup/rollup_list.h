/*
 * rollup_list - the rows of a rollup, found by node and metric group.
 *
 * Some rows stay unpacked: the next node is mostly in the same one.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_LIST_H
#define AGGREGATOR_ROLLUP_ROLLUP_LIST_H

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "aggregator/rollup/rollup.h"

enum { ROLLUP_LIST_ROWS = 4 };

struct rollup_list {
	struct rollup_list_row {
		bool is_open;
		unsigned char key[KEY_ROW_BLOCK_BYTES];
		struct rollup_row row;
	} * row[ROLLUP_LIST_ROWS];
};
void rollup_list_clear(struct rollup_list *list);
/* Another transaction begins, or rows were changed. */
void rollup_list_forget(struct rollup_list *list);

/* The key of the row that has the `part`-th metrics of a node (partition, kind,
 * hour, node and track). */
struct key_row_block rollup_list_key(
    enum rollup_step rollup, const struct key_row_block *node, uint32_t part);
/* That row: valid until the list forgets it, or four others were found.  NULL:
 * there is none, or it is damaged. */
struct rollup_row *rollup_list_find(struct rollup_list *list,
    struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *node, uint32_t part);

/* Has the rollup this node?  Gets what its buckets were made from. */
bool rollup_list_has(struct rollup_list *list, struct db_txn *txn,
    enum rollup_step rollup, const struct key_row_block *node,
    struct rollup_columns *columns);
/* Move to the first node of the rollup at or after (track, node) in the hour.
 * False: there is none. */
bool rollup_list_next(struct rollup_list *list, struct db_txn *txn,
    enum rollup_step rollup, struct key_row_block *node,
    struct rollup_columns *columns);
#endif
