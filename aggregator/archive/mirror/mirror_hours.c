/*
 * mirror_hours - which hours of records and rollups are here; too many are
 * dropped.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

enum {
	ROWS_AT_ONCE = 10000,
	/* That part of the bound is read at once. */
	SHARE = 16,
};

struct mirror_hour *
mirror_find_hour(struct mirror *mirror, const struct absent_hour *what)
{
	for (uint32_t i = 0; i < mirror->hours; i++)
		if (mirror->hour[i].node == 0 &&
		    mirror_is_same(&mirror->hour[i].what, what))
			return &mirror->hour[i];
	return NULL;
}

/* ---- what is absent ---- */

int
mirror_put_state(struct mirror *mirror, const struct absent_hour *what,
    enum absent_state state, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(mirror->tables, true, &txn, err) != 0)
		return -1;
	absent_put(txn, what, state);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

int
mirror_get_state(struct mirror *mirror, const struct absent_hour *what,
    enum absent_state *state, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	*state = absent_get(txn, what);
	db_abort(&txn);
	return 0;
}

/* ---- dropping ---- */

/* Forget all entries of the hour; did one have rollups? */
static bool
forget(struct mirror *mirror, const struct absent_hour *what)
{
	bool had_rollups = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < mirror->hours; i++) {
		const struct mirror_hour *hour = &mirror->hour[i];

		if (mirror_is_same(&hour->what, what)) {
			mirror->bytes -= hour->bytes;
			had_rollups |= hour->has_rollups;
		} else {
			mirror->hour[kept++] = *hour;
		}
	}
	mirror->hours = kept;
	return had_rollups;
}

/* Readers see no row of it from the first transaction on. */
static int
remove_rows(struct mirror *mirror, const struct absent_hour *what,
    unsigned table, struct err *err)
{
	const struct key_row_block key = { .partition = what->partition,
		.kind = what->kind > ABSENT_ROLLUP ? RECORD_SAMPLE : what->kind,
		.hour = what->hour };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text prefix = hour_cursor_key(bytes, &key);
	uint64_t removed = ROWS_AT_ONCE;

	prefix.bytes = KEY_HOUR_BYTES;
	while (removed == ROWS_AT_ONCE) {
		struct db_txn *txn;

		if (db_begin(mirror->tables, true, &txn, err) != 0)
			return -1;
		absent_put(txn, what, ABSENT_ALL);
		absent_forget_nodes(txn, what);
		removed = tables_delete(txn, table, prefix, ROWS_AT_ONCE);
		if (db_commit(&txn, err) != DB_OK)
			return -1;
	}
	return 0;
}

int
mirror_drop_rollups(
    struct mirror *mirror, const struct absent_hour *samples, struct err *err)
{
	struct absent_hour what = *samples;

	for (unsigned i = ROLLUP_1MIN; i < ROLLUPS; i++) {
		what.kind = (uint8_t)(ABSENT_ROLLUP + i);
		if (mirror_drop(mirror, &what, err) != 0)
			return -1;
	}
	return 0;
}

int
mirror_drop(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	bool had_rollups = forget(mirror, what);

	if (what->kind > ABSENT_ROLLUP)
		return remove_rows(mirror, what,
		    tables_rollup(what->kind - ABSENT_ROLLUP), err);
	if (remove_rows(mirror, what, TABLES_ROW_BLOCKS, err) != 0 ||
	    remove_rows(mirror, what, TABLES_CHUNKS, err) != 0)
		return -1;
	return had_rollups ? mirror_drop_rollups(mirror, what, err) : 0;
}

/* A page needs no more than these at once, so some stay in any case. */
static int
make_room(struct mirror *mirror, struct err *err)
{
	while (mirror->bytes > mirror->options.bytes &&
	       mirror->hours > MIRROR_HOURS_KEPT) {
		const struct absent_hour oldest = mirror->hour[0].what;

		if (mirror_drop(mirror, &oldest, err) != 0)
			return -1;
		mirror->dropped++;
	}
	return 0;
}

/* ---- adding ---- */

/* What is added at once must be much less than the bound: a page needs the
 * first of these hours. */
int32_t
mirror_more_hours(const struct mirror *mirror, const struct absent_hour *last,
    int32_t end, uint64_t bytes)
{
	uint64_t hours = mirror->options.bytes / SHARE / (bytes + 1);
	int32_t most = hours < PULL_HOURS_MAX ? (int32_t)hours : PULL_HOURS_MAX;

	return end - last->hour - 1 < most ? end - last->hour - 1 : most;
}

static int
note_here(struct mirror *mirror, const struct mirror_hour *hour, int32_t hours,
    struct err *err)
{
	struct absent_hour what = hour->what;
	struct db_txn *txn;

	if (db_begin(mirror->tables, true, &txn, err) != 0)
		return -1;
	for (int32_t i = 0; i < hours; i++, what.hour++)
		if (hour->node == 0)
			absent_put(txn, &what, ABSENT_NOT);
		else
			absent_put_node(txn, &what, hour->node);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

int
mirror_add_hours(struct mirror *mirror, const struct mirror_hour *first,
    int32_t hours, struct err *err)
{
	struct mirror_hour hour = *first;

	if (hours <= 0)
		return 0;
	if (note_here(mirror, first, hours, err) != 0)
		return -1;
	hour.bytes /= (uint64_t)hours;
	for (int32_t i = 0; i < hours; i++, hour.what.hour++) {
		mirror->hour = memory_grow(mirror->hour, &mirror->hour_room,
		    mirror->hours, sizeof(hour));
		mirror->hour[mirror->hours++] = hour;
		mirror->bytes += hour.bytes;
		mirror->fetched++;
	}
	return make_room(mirror, err);
}
