/*
 * mirror_follow - what was added to the archive since it was read.
 *
 * Each position is read once: the rows between the bound of the last reading
 * and the present one.  All copies of a record have been committed together, so
 * none is on both sides of a bound, unless it was sent again for a replica that
 * had lost it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/pull/pull_state.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

/* ---- hours with new records ---- */

static void
touch(void *arg, uint8_t kind, int32_t hour)
{
	struct mirror *mirror = arg;
	const struct absent_hour what = { mirror->into.number, kind, hour };

	for (uint32_t i = 0; i < mirror->touches; i++)
		if (mirror_is_same(&mirror->touched[i], &what))
			return;
	mirror->touched = memory_grow(mirror->touched, &mirror->touch_room,
	    mirror->touches, sizeof(what));
	mirror->touched[mirror->touches++] = what;
}

/* Does the mirror know no later hour of that kind? */
static int
is_newest(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct absent_hour later = *what;
	struct db_cursor *cursor;
	struct db_txn *txn;
	bool is;

	for (uint32_t i = 0; i < mirror->hours; i++) {
		const struct absent_hour *other = &mirror->hour[i].what;

		if (other->partition == what->partition &&
		    other->kind == what->kind && other->hour > what->hour)
			return 0;
	}
	if (later.hour == INT32_MAX)
		return 1;
	later.hour++;
	if (db_begin(mirror->tables, false, &txn, err) != 0)
		return -1;
	cursor = db_cursor_open(txn, TABLES_META);
	is = absent_next(cursor, &later) == INT32_MAX;
	db_cursor_close(&cursor);
	db_abort(&txn);
	return is;
}

/* The newest hour grows.  Into others come few records, late ones, or some that
 * a replica had lost and that were sent again (verify --repair), which may be
 * here already: such an hour is read as a whole when somebody asks again.  So
 * is the newest one, if some were received before the newest that is here. */
static int
add_records(
    struct mirror *mirror, const struct absent_hour *what, struct err *err)
{
	struct mirror_hour *hour = mirror_find_hour(mirror, what);
	struct pull_hours got;
	int is;

	if (hour == NULL)
		return mirror_drop(mirror, what, err);
	is = is_newest(mirror, what, err);
	if (is <= 0)
		return is < 0 ? -1 : mirror_drop(mirror, what, err);
	/* Nobody reads it until it is known to have each record once. */
	if (mirror_put_state(mirror, what, ABSENT_ALL, err) != 0 ||
	    pull_record_hours(&mirror->into, (enum record_kind)what->kind,
		what->hour, 1, &got, err) != 0)
		return -1;
	hour->bytes += got.bytes;
	mirror->bytes += got.bytes;
	if (got.oldest_ns <= hour->last_ns)
		return mirror_drop(mirror, what, err);
	if (got.last_ns > hour->last_ns)
		hour->last_ns = got.last_ns;
	return mirror_put_state(mirror, what, ABSENT_NOT, err);
}

/* With rollups the aggregator has compacted the samples. */
static int
drop_rolled(
    struct mirror *mirror, const struct absent_hour *rollups, struct err *err)
{
	struct absent_hour samples = *rollups;

	samples.kind = RECORD_SAMPLE;
	return mirror_drop(mirror, rollups, err) == 0
		   ? mirror_drop(mirror, &samples, err)
		   : -1;
}

static int
drop_new_rollups(struct mirror *mirror, struct err *err)
{
	int rc = 0;

	mirror->touches = 0;
	for (unsigned i = ROLLUP_1MIN; rc == 0 && i < ROLLUPS; i++)
		rc = mirror_ask_hours(
		    mirror, (uint8_t)(ABSENT_ROLLUP + i), touch, mirror, err);
	for (uint32_t i = 0; rc == 0 && i < mirror->touches; i++)
		rc = drop_rolled(mirror, &mirror->touched[i], err);
	return rc;
}

static int
add_all_records(struct mirror *mirror, struct err *err)
{
	int rc = 0;

	mirror->touches = 0;
	for (unsigned i = 0; rc == 0 && i < ARCHIVE_KINDS; i++)
		rc = mirror_ask_hours(
		    mirror, (uint8_t)archive_kinds[i], touch, mirror, err);
	for (uint32_t i = 0; rc == 0 && i < mirror->touches; i++)
		rc = add_records(mirror, &mirror->touched[i], err);
	return rc;
}

/* Some hours may have a part of the new records, which will be read again. */
static void
give_up(struct mirror *mirror)
{
	struct err err;

	for (uint32_t i = 0; i < mirror->touches; i++)
		if (mirror_find_hour(mirror, &mirror->touched[i]) != NULL)
			(void)mirror_drop(mirror, &mirror->touched[i], &err);
}

/* ---- partitions ---- */

static const struct pull_epoch *
find_epoch(const struct pull_partition *claim, const struct pull_epoch *like)
{
	for (unsigned i = 0; i < claim->epochs; i++)
		if (claim->epoch[i].epoch == like->epoch &&
		    claim->epoch[i].who == like->who)
			return &claim->epoch[i];
	return NULL;
}

/* Begin each epoch where the last reading ended; returns whether there is
 * something new.  -1: less counts than was read. */
static int
set_begin(const struct pull_partition *old, const struct pull_partition *new,
    struct pull_epoch *epoch, struct err *err)
{
	int is_new = 0;

	for (unsigned i = 0; i < old->epochs; i++)
		if (old->epoch[i].until > 0 &&
		    find_epoch(new, &old->epoch[i]) == NULL)
			return err_set(err,
			    "archive: another archive has taken its place; "
			    "start again");
	for (unsigned i = 0; i < new->epochs; i++) {
		const struct pull_epoch *before =
		    find_epoch(old, &new->epoch[i]);

		epoch[i] = new->epoch[i];
		epoch[i].from = before != NULL ? before->until : 0;
		if (epoch[i].until < epoch[i].from)
			return err_set(err,
			    "archive: less of %s counts than before; start "
			    "again",
			    new->name);
		is_new |= epoch[i].until > epoch[i].from;
	}
	return is_new;
}

/* 1: the archive has gone on meanwhile; the next time is early enough. */
static int
read_later(struct mirror *mirror, struct mirror_partition *partition,
    struct pull_partition *later, struct err *err)
{
	int rc;

	mirror_begin(mirror, partition, later);
	rc = pull_state(&mirror->into, err);
	if (rc == 0)
		rc = drop_new_rollups(mirror, err);
	if (rc == 0) {
		rc = add_all_records(mirror, err);
		if (rc == 0)
			rc = mirror_complete(mirror, partition, err);
		if (rc != 0)
			give_up(mirror);
	}
	mirror_end(mirror);
	return rc;
}

static int
follow_partition(struct mirror *mirror, struct mirror_partition *partition,
    const struct pull_partition *claim, struct err *err)
{
	struct pull_epoch *epoch =
	    memory_zero(claim->epochs + 1, sizeof(*epoch));
	struct pull_partition later = *claim;
	int rc = set_begin(&partition->claim, claim, epoch, err);

	later.epoch = epoch;
	if (rc > 0)
		rc = read_later(mirror, partition, &later, err);
	if (rc == 0) {
		for (unsigned i = 0; i < claim->epochs; i++)
			epoch[i].from = 0;
		free(partition->epoch);
		partition->claim = later;
		partition->epoch = epoch;
		return 0;
	}
	free(epoch);
	return rc < 0 ? -1 : 0;
}

/* ---- what was deleted ---- */

/* Records of hours that the archive does not keep are read again by whoever
 * asks for them: servers delete them within minutes, and some may come late. */
static int
drop_deleted(struct mirror *mirror, struct err *err)
{
	struct kept kept;
	int rc = 0;

	if (kept_read(&kept, mirror->client, err) != 0)
		return -1;
	for (uint32_t i = 0; i < mirror->hours && rc == 0;) {
		const struct absent_hour what = mirror->hour[i].what;
		uint64_t part =
		    mirror->partition[what.partition - 1].claim.part;

		if (what.kind < ABSENT_ROLLUP &&
		    what.hour < kept_from(&kept, part))
			rc = mirror_drop(mirror, &what, err);
		else
			i++;
	}
	kept_clear(&kept);
	return rc;
}

int
mirror_follow(struct mirror *mirror, struct err *err)
{
	memset(mirror->into.silences, 0, sizeof(mirror->into.silences));
	if (mirror_list(mirror, err) != 0 || drop_deleted(mirror, err) != 0)
		return -1;
	for (uint32_t i = 0; i < mirror->claims.partitions; i++) {
		const struct pull_partition *claim =
		    &mirror->claims.partition[i];

		for (uint32_t k = 0; k < mirror->partitions; k++) {
			struct mirror_partition *partition =
			    &mirror->partition[k];

			if (partition->is_read &&
			    partition->claim.part == claim->part &&
			    follow_partition(mirror, partition, claim, err) !=
				0)
				return -1;
		}
	}
	return 0;
}
