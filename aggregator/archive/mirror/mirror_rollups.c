/*
 * mirror_rollups - read rollups, and find out which hours of samples they have
 * as a whole.
 *
 * A rollup counts the samples that it was made from.  If these are as many as
 * the archive has of the hour, none came later, and buckets need no samples.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include "aggregator/archive/pull/pull_state.h"
#include "aggregator/rollup/rollup_list.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

enum { ATTEMPTS = 5 };

/* ---- reading ---- */

/* 1: the archive has replaced rows since the partition was read. */
static int
pull(struct mirror *mirror, const struct absent_hour *first, int32_t hours,
    uint64_t *bytes, struct err *err)
{
	const struct mirror_partition *partition =
	    &mirror->partition[first->partition - 1];
	int rc;

	mirror_begin(mirror, partition, &partition->claim);
	rc = pull_state_rollups(&mirror->into,
	    tables_rollup(first->kind - ABSENT_ROLLUP), first->hour,
	    first->hour + hours, bytes, err);
	mirror_end(mirror);
	return rc;
}

static int
fetch_hours(struct mirror *mirror, const struct absent_hour *first,
    int32_t hours, uint64_t *bytes, struct err *err)
{
	struct mirror_hour hour = { .what = *first };
	int rc = pull(mirror, first, hours, &hour.bytes, err);

	for (int i = 1; rc > 0 && i < ATTEMPTS; i++) {
		if (mirror_follow(mirror, err) != 0)
			return -1;
		hour.bytes = 0;
		rc = pull(mirror, first, hours, &hour.bytes, err);
	}
	if (rc > 0)
		return err_set(err,
		    "the archive goes on faster than rollups of %s can be read",
		    mirror->partition[first->partition - 1].claim.name);
	*bytes = hour.bytes;
	if (rc < 0 || mirror_complete(mirror,
			  &mirror->partition[first->partition - 1], err) != 0)
		return -1;
	return mirror_add_hours(mirror, &hour, hours, err);
}

/* How many hours from `first` on, at most `most`, are absent. */
static int
hours_absent(struct mirror *mirror, const struct absent_hour *first,
    int32_t most, int32_t *hours, struct err *err)
{
	struct absent_hour what = *first;
	struct db_txn *txn;

	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	for (*hours = 0; *hours < most && absent_get(txn, &what); what.hour++)
		(*hours)++;
	db_abort(&txn);
	return 0;
}

/* The first hour shows how large they are. */
int
mirror_fetch_rollups(
    struct mirror *mirror, const struct absent_need *need, struct err *err)
{
	struct absent_hour more = need->first;
	uint64_t bytes = 0;
	int32_t hours;

	if (hours_absent(mirror, &need->first, 1, &hours, err) != 0)
		return -1;
	if (hours == 0)
		return 0;
	if (fetch_hours(mirror, &need->first, 1, &bytes, err) != 0)
		return -1;
	more.hour++;
	if (hours_absent(mirror, &more,
		mirror_more_hours(mirror, &need->first, need->end, bytes),
		&hours, err) != 0)
		return -1;
	return hours == 0 ? 0 : fetch_hours(mirror, &more, hours, &bytes, err);
}

/* ---- counting ---- */

/* How many samples the bucket of each node was made from: at least as many as
 * any of its metrics has. */
static uint64_t
samples_of(struct rollup_row *row)
{
	uint64_t most[ROLLUP_NODES] = { 0 }, sum = 0;

	for (uint32_t m = 0; m < row->metrics; m++) {
		const struct bucket *bucket = rollup_read(row, m);

		for (uint32_t k = 0; bucket != NULL && k < row->nodes; k++)
			for (uint32_t i = row->node[k].from;
			     i < row->node[k].to; i++)
				if (bucket[i].count > most[k])
					most[k] = bucket[i].count;
	}
	for (uint32_t k = 0; k < row->nodes; k++)
		sum += most[k];
	return sum;
}

/* Of all rows of an hour.  Further metrics of the same nodes, in rows behind
 * the first, do not add samples. */
static uint64_t
samples_in_rollups(struct db_txn *txn, const struct absent_hour *samples)
{
	struct rollup_row *row = memory_zero(1, sizeof(*row));
	const struct key_row_block first = { .partition = samples->partition,
		.kind = RECORD_SAMPLE,
		.hour = samples->hour,
		.slice = ROLLUP_1H,
		.first_ns = INT64_MIN };
	struct db_cursor *cursor =
	    db_cursor_open(txn, tables_rollup(ROLLUP_1H));
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block found;
	struct text key, value;
	uint64_t sum = 0;
	bool more =
	    db_seek(cursor, hour_cursor_key(bytes, &first), &key, &value);

	while (more && key_get_row_block(key, &found) &&
	       found.partition == first.partition && found.kind == first.kind &&
	       found.hour == first.hour) {
		if (found.row == 0 && rollup_open(row, value))
			sum += samples_of(row);
		more = db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
	rollup_row_clear(row);
	free(row);
	return sum;
}

/* ---- comparing ---- */

static int
compare(struct mirror *mirror, const struct absent_need *need, int32_t hours,
    const uint64_t *archived, struct err *err)
{
	struct absent_hour samples = need->first, rollups = need->first;
	struct db_txn *txn;

	rollups.kind = ABSENT_ROLLUP + ROLLUP_1H;
	if (db_begin(mirror->tables, true, &txn, err) != 0)
		return -1;
	for (int32_t i = 0; i < hours; i++, samples.hour++, rollups.hour++)
		if (absent_get(txn, &samples) == ABSENT_ALL &&
		    absent_get(txn, &rollups) == ABSENT_NOT &&
		    archived[i] == samples_in_rollups(txn, &samples))
			absent_put(txn, &samples, ABSENT_ROLLED_UP);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

int
mirror_roll_up(
    struct mirror *mirror, const struct absent_need *need, struct err *err)
{
	const struct absent_hour *first = &need->first;
	const struct mirror_partition *partition;
	struct absent_need rollups = *need;
	uint64_t archived[PULL_HOURS_MAX];
	int32_t hours = need->end - first->hour;
	int rc;

	if (hours > PULL_HOURS_MAX)
		hours = PULL_HOURS_MAX;
	rollups.first.kind = ABSENT_ROLLUP + ROLLUP_1H;
	if (mirror_fetch_rollups(mirror, &rollups, err) != 0)
		return -1;
	/* That may have found more partitions. */
	partition = &mirror->partition[first->partition - 1];
	mirror_begin(mirror, partition, &partition->claim);
	rc = mirror_ask_samples(mirror, first->hour, hours, archived, err);
	mirror_end(mirror);
	return rc != 0 ? -1 : compare(mirror, need, hours, archived, err);
}

int
mirror_has_rollups(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct rollup_list *list;
	const struct absent_hour rollups = { what->partition,
		ABSENT_ROLLUP + ROLLUP_1MIN, what->hour };
	struct key_row_block node = { .partition = what->partition,
		.kind = RECORD_SAMPLE,
		.hour = what->hour };
	struct rollup_columns columns;
	struct db_txn *txn;
	bool has;

	if (what->kind != RECORD_SAMPLE)
		return 0;
	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	list = memory_zero(1, sizeof(*list));
	has = absent_get(txn, &rollups) != ABSENT_NOT ||
	      rollup_list_next(list, txn, ROLLUP_1MIN, &node, &columns);
	rollup_list_clear(list);
	free(list);
	db_abort(&txn);
	return has;
}
