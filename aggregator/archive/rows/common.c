/*
 * common - facts of a store that the archive has for each partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/common.h"

#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/hash/hash.h"

/* Keys, and the fronts of keys, which end in ':'. */
static const char *const wanted[] = { "hash", FACT_MODELS, FACT_RETIRE_AFTER,
	"phase:", "run:" };

bool
common_is(struct text key)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		struct text want = text_of(wanted[i]), front = key;

		if (want.at[want.bytes - 1] == ':' && key.bytes > want.bytes)
			front.bytes = want.bytes;
		if (text_equal(front, want))
			return true;
	}
	return false;
}

int
common_each(struct db_txn *txn, common_row *call, void *arg, struct err *err)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_META);
	const struct text none = { NULL, 0 };
	struct text key, value;
	int rc = 0;

	for (bool more = db_seek(cursor, none, &key, &value); more && rc == 0;
	     more = db_next(cursor, &key, &value))
		if (common_is(key))
			rc = call(arg, key, value, err);
	db_cursor_close(&cursor);
	return rc;
}

static int
add(void *arg, struct text key, struct text value, struct err *err)
{
	const struct hash_key chain = { *(uint64_t *)arg, key.bytes };
	const struct hash_key again = { hash_bytes(chain, key.at, key.bytes),
		value.bytes };

	(void)err;
	*(uint64_t *)arg = hash_bytes(again, value.at, value.bytes);
	return 0;
}

uint64_t
common_hash(struct db_txn *txn)
{
	struct err err = { .text = "" };
	uint64_t hash = 1;

	(void)common_each(txn, add, &hash, &err);
	return hash;
}
