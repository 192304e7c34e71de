/*
 * mirror_hours - hours of records: fetch them, and drop them when there are too
 * many.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <string.h>

#include "aggregator/archive/pull/pull_records.h"
#include "aggregator/rollup/rollup_list.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"
#include "aggregator/writer/compact_pass.h"
#include "proto/base/memory.h"

enum { ROWS_AT_ONCE = 10000 };

static struct key_row_block
key_of(const struct absent_hour *what)
{
	return (struct key_row_block){ .partition = what->partition,
		.kind = what->kind,
		.hour = what->hour };
}

/* ---- dropping ---- */

struct mirror_hour *
mirror_find_hour(struct mirror *mirror, const struct absent_hour *what)
{
	for (uint32_t i = 0; i < mirror->hours; i++)
		if (mirror_is_same(&mirror->hour[i].what, what))
			return &mirror->hour[i];
	return NULL;
}

static void
forget(struct mirror *mirror, struct mirror_hour *hour)
{
	uint32_t at = (uint32_t)(hour - mirror->hour);

	mirror->bytes -= hour->bytes;
	memmove(
	    hour, hour + 1, (mirror->hours - at - 1) * sizeof(*mirror->hour));
	mirror->hours--;
}

/* Readers see no row of it from the first transaction on. */
static int
remove_rows(struct mirror *mirror, const struct absent_hour *what,
    unsigned table, struct err *err)
{
	const struct key_row_block key = key_of(what);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text prefix = hour_cursor_key(bytes, &key);
	uint64_t removed = ROWS_AT_ONCE;

	prefix.bytes = KEY_HOUR_BYTES;
	while (removed == ROWS_AT_ONCE) {
		struct db_txn *txn;

		if (db_begin(mirror->tables, true, &txn, err) != 0)
			return -1;
		absent_put(txn, what);
		removed = tables_delete(txn, table, prefix, ROWS_AT_ONCE);
		if (db_commit(&txn, err) != DB_OK)
			return -1;
	}
	return 0;
}

int
mirror_drop(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct mirror_hour *hour = mirror_find_hour(mirror, what);

	if (hour != NULL)
		forget(mirror, hour);
	return remove_rows(mirror, what, TABLES_ROW_BLOCKS, err) == 0
		   ? remove_rows(mirror, what, TABLES_CHUNKS, err)
		   : -1;
}

/* A page needs no more than two hours at once, so some stay in any case. */
static int
make_room(struct mirror *mirror, struct err *err)
{
	uint64_t most = mirror->options.bytes;

	while (mirror->bytes > most && mirror->hours > MIRROR_HOURS_KEPT) {
		const struct absent_hour oldest = mirror->hour[0].what;

		if (mirror_drop(mirror, &oldest, err) != 0)
			return -1;
		mirror->dropped++;
	}
	return 0;
}

/* ---- fetching ---- */

/* Did the aggregator make rollups of the hour?  Then it had all samples in one
 * slice. */
static int
has_rollups(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct rollup_list *list = memory_zero(1, sizeof(struct rollup_list));
	struct key_row_block node = key_of(what);
	struct rollup_columns columns;
	struct db_txn *txn;
	int has = -1;

	if (db_begin(mirror->tables, false, &txn, err) == 0) {
		has = rollup_list_next(list, txn, ROLLUP_1MIN, &node, &columns);
		db_abort(&txn);
	}
	rollup_list_clear(list);
	free(list);
	return has;
}

/* As the aggregator does, so that answers are made of the same rollups. */
static int
compact(struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct compact compact = { .job = { .hour = key_of(what),
				       .choice = hour_cursor_all,
				       .level = COMPACTED_ROW_LEVEL_WHOLE,
				       .whole = true } };
	bool done = false;
	int has =
	    what->kind == RECORD_SAMPLE ? has_rollups(mirror, what, err) : 0;

	if (has <= 0)
		return has;
	while (!done && !mirror->stop)
		if (compact_pass(&compact, mirror->tables, &done, err) !=
		    DB_OK) {
			compact_clear(&compact);
			return -1;
		}
	compact_clear(&compact);
	return 0;
}

static int
put_present(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(mirror->tables, true, &txn, err) != 0)
		return -1;
	absent_delete(txn, what);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

int
mirror_fetch(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct mirror_partition *partition =
	    &mirror->partition[what->partition - 1];
	struct mirror_hour hour = { .what = *what };
	int rc;

	if (mirror_find_hour(mirror, what) != NULL)
		return 0;
	/* What an attempt that failed has left. */
	if (mirror_drop(mirror, what, err) != 0)
		return -1;
	mirror_begin(mirror, partition, &partition->claim);
	rc = pull_record_hour(&mirror->into, (enum record_kind)what->kind,
	    what->hour, &hour.bytes, err);
	mirror_end(mirror);
	if (rc == 0)
		rc = mirror_complete(mirror, partition, err);
	if (rc == 0)
		rc = compact(mirror, what, err);
	if (rc == 0)
		rc = put_present(mirror, what, err);
	if (rc != 0)
		return -1;
	mirror->hour = memory_grow(
	    mirror->hour, &mirror->hour_room, mirror->hours, sizeof(hour));
	mirror->hour[mirror->hours++] = hour;
	mirror->bytes += hour.bytes;
	mirror->fetched++;
	return make_room(mirror, err);
}
