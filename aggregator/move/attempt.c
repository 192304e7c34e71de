/*
 * move_attempt - the row of an attempt to copy a partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/attempt.h"

#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

#define MOVING "moving:"

enum {
	ROW_BYTES = 4 + 1 + OWNER_MOVE_BYTES,
};

struct move_attempt
move_attempt_get(struct db_txn *txn, struct text partition)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	struct move_attempt attempt = { 0 };
	struct text value;

	if (!db_need(txn, TABLES_META, db_word_key(key, MOVING, partition),
		&value) ||
	    value.bytes != ROW_BYTES)
		return attempt;
	attempt.number = varint_get_u32_be(value.at);
	attempt.whole = value.at[4] != 0;
	memcpy(attempt.move, value.at + 5, OWNER_MOVE_BYTES);
	return attempt;
}

void
move_attempt_put(struct db_txn *txn, struct text partition,
    const struct move_attempt *attempt)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	unsigned char value[ROW_BYTES];

	varint_put_u32_be(value, attempt->number);
	value[4] = attempt->whole;
	memcpy(value + 5, attempt->move, OWNER_MOVE_BYTES);
	db_put(txn, TABLES_META, db_word_key(key, MOVING, partition),
	    (struct text){ (const char *)value, sizeof(value) });
}

void
move_attempt_remove(struct db_txn *txn, struct text partition)
{
	unsigned char key[DB_KEY_BYTES_MAX];

	db_del(txn, TABLES_META, db_word_key(key, MOVING, partition));
}
