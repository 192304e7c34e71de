/*
 * move_state - the state of a move in both stores, and the checks before it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/move_private.h"

#include <string.h>

#include "aggregator/rollup/rollup.h"
#include "proto/base/varint.h"
#include "proto/os/clock.h"

/* ---- reading and writing rows ---- */

int
move_put_owner(struct move_end *end, struct db_txn *txn, struct text partition,
    const struct owner *owner, struct err *err)
{
	struct owner before;

	if (!owner_get(txn, partition, &before) ||
	    before.state != end->owner.state ||
	    !owner_same_move(&before, &end->owner)) {
		db_abort(&txn);
		return err_set(err,
		    "%s: another process has changed the partition meanwhile: "
		    "run the command again",
		    end->path);
	}
	owner_put(txn, partition, owner);
	if (db_commit(&txn, err) != DB_OK)
		return err_prefix(err, "%s", end->path);
	end->owner = *owner;
	return 0;
}

void
move_set_other_store(struct owner *owner, const struct move_end *other)
{
	_Static_assert(sizeof(owner->other_store) >= sizeof(other->path),
	    "the path of a store is too long");
	strcpy(owner->other_store, other->path);
	owner->since_ns = clock_wall_ns();
}

uint64_t
move_last_entry(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	uint64_t number = 0;
	struct text key;

	if (db_last_key(cursor, &key) && key.bytes == 8)
		number = varint_get_u64_be(key.at);
	db_cursor_close(&cursor);
	return number;
}

/* What the streams of the partition contain, by number. */
static void
copy_hashes(struct db_txn *txn, struct text partition, struct db_txn *to)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_HASHES);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		if (key.bytes == 16 + partition.bytes + 8 &&
		    memcmp(key.at + 16, partition.at, partition.bytes) == 0)
			db_put(to, JOURNAL_HASHES, key, value);
	db_cursor_close(&cursor);
}

uint64_t
move_each_stream(struct db_txn *txn, struct text partition, struct db_txn *to)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value, all = { NULL, 0 }, name;
	bool more = db_seek(cursor, all, &key, &value);
	uint64_t count = 0;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (key.bytes <= 16)
			continue;
		name = (struct text){ key.at + 16, key.bytes - 16 };
		if (!text_equal(name, partition))
			continue;
		count++;
		if (to != NULL)
			db_put(to, JOURNAL_STREAMS, key, value);
	}
	db_cursor_close(&cursor);
	if (to != NULL)
		copy_hashes(txn, partition, to);
	return count;
}

static int
count_streams(struct move_end *end, struct text partition, uint64_t *count,
    struct err *err)
{
	struct db_txn *txn;

	if (db_begin(journal_db(end->journal), false, &txn, err) != 0)
		return -1;
	*count = move_each_stream(txn, partition, NULL);
	db_abort(&txn);
	return 0;
}

/* ---- checks ---- */

int
move_check_target(struct move *move, struct err *err)
{
	struct move_end *to = &move->to;
	uint64_t streams = 0;
	bool named = false;

	if (to->owner.state == OWNER_GONE && to->owner.cleaned)
		return 0;
	if (to->owner.state == OWNER_GONE)
		return err_set(err,
		    "%s still has rows from before the partition was moved to "
		    "%s: run that move again to delete them",
		    to->path, to->owner.other_store);
	if (to->owner.state != OWNER_NONE)
		return err_set(err,
		    "%s has records of this partition (%s) that do not come "
		    "from this move",
		    to->path, owner_state_name(to->owner.state));
	if (count_streams(to, move->partition, &streams, err) != 0 ||
	    move_is_named(to, move->partition, &named, err) != 0)
		return -1;
	if (streams > 0 || named)
		return err_set(err,
		    "%s has records of this partition that do not come from "
		    "this move",
		    to->path);
	return 0;
}

int
move_check_source(struct move *move, struct err *err)
{
	uint64_t streams = 0;
	bool named = false;

	if (count_streams(&move->from, move->partition, &streams, err) != 0 ||
	    move_is_named(&move->from, move->partition, &named, err) != 0)
		return -1;
	if (streams > 0 || named || move->from.owner.state == OWNER_OWN)
		return 0;
	return err_set(
	    err, "%s has no records of this partition", move->from.path);
}

/* Readers assume that samples before the retention limits of a store exist as
 * rollups only. */
int
move_check_cuts(struct move *move, struct err *err)
{
	struct db_txn *from, *to;
	char when[CLOCK_TEXT_BYTES];
	int rc = 0;

	if (db_begin(move->from.tables, false, &from, err) != 0)
		return -1;
	if (db_begin(move->to.tables, false, &to, err) != 0) {
		db_abort(&from);
		return -1;
	}
	for (unsigned rollup = 0; rollup < ROLLUPS && rc == 0; rollup++) {
		int32_t hour = tables_cut(from, rollup);

		if (hour > tables_cut(to, rollup) &&
		    tables_fact(to, FACT_ROW) > 0)
			rc = err_set(err,
			    "%s has deleted %s before %s, and %s keeps them: "
			    "start its aggregator with the same --retain "
			    "options first",
			    move->from.path,
			    rollup == 0 ? "samples" : "rollups",
			    clock_text(when, hour * (3600 * NS_PER_SECOND), 0),
			    move->to.path);
	}
	db_abort(&from);
	db_abort(&to);
	return rc;
}
