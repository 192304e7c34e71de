/*
 * rebuild_runs - runs again, from what is told of them besides events.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rebuild_runs.h"

#include "aggregator/rebuild.h"
#include "proto/pack.h"

/* Entities from `from` on, one transaction's worth; true: there are more. */
static bool
describe_some(struct fold *fold, struct db_txn *txn, uint32_t partition,
    struct buffer *from)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_ENTITIES);
	struct gather *gather = &fold->gather;
	struct text key, value, kind, id;
	bool more = db_seek(cursor, buffer_text(from), &key, &value);
	uint32_t rows = 0;

	for (; more && rows < REBUILD_ROWS && gather->arena.used < GATHER_BYTES;
	     rows++, more = db_next(cursor, &key, &value)) {
		if (partition != 0 && key.bytes >= 4 &&
		    get_u32_be(key.at) != partition) {
			more = false;
			break;
		}
		if (key.bytes <= 8 || !names_text(txn, get_u32_be(key.at),
					  get_u32_be(key.at + 4), &kind))
			continue;
		from->bytes = 0;
		put_bytes(from, key.at, key.bytes);
		/* Names are looked up, and written, while it is read. */
		id = (struct text){ key.at + 8, key.bytes - 8 };
		id = arena_text(&gather->arena, id);
		kind = arena_text(&gather->arena, kind);
		gather_run_entity(gather, txn, get_u32_be(key.at), kind, id);
	}
	if (more) {
		from->bytes = 0;
		put_bytes(from, key.at, key.bytes);
	}
	db_cursor_close(&cursor);
	return more;
}

enum db_result
rebuild_runs(struct fold *fold, uint32_t partition, struct err *err)
{
	struct buffer from = { NULL, 0, 0 };
	enum db_result result = DB_OK;
	bool more = fold->models.runs > 0;
	struct db_txn *txn;

	if (partition != 0) {
		put_u32_be(buffer_need(&from, 4), partition);
		from.bytes = 4;
	}
	while (more && result == DB_OK) {
		if (db_begin(fold->db, true, &txn, err) != 0) {
			result = DB_BROKEN;
			break;
		}
		gather_reset(&fold->gather);
		more = describe_some(fold, txn, partition, &from);
		store_runs(&fold->store, txn, &fold->gather);
		result = db_commit(&txn, err);
	}
	buffer_clear(&from);
	return result;
}
