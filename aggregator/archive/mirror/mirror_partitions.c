/*
 * mirror_partitions - the partitions of the archive, and what it has of them as
 * keys and values.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/mirror/mirror_counts.h"
#include "aggregator/archive/pull/pull_state.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

enum { ATTEMPTS = 5 };

/* ---- the list ---- */

static struct mirror_partition *
find(struct mirror *mirror, uint64_t part)
{
	for (uint32_t i = 0; i < mirror->partitions; i++)
		if (mirror->partition[i].claim.part == part)
			return &mirror->partition[i];
	return NULL;
}

static void
set_claim(
    struct mirror_partition *partition, const struct pull_partition *claim)
{
	size_t bytes = claim->epochs * sizeof(*claim->epoch);
	struct pull_epoch *epoch = memory_alloc(bytes);

	memcpy(epoch, claim->epoch, bytes);
	free(partition->epoch);
	partition->claim = *claim;
	partition->claim.epoch = partition->epoch = epoch;
}

static int
add(struct mirror *mirror, const struct pull_partition *claim, struct err *err)
{
	struct mirror_partition made = { .is_read = false };
	struct db_txn *txn;

	if (db_begin(mirror->tables, true, &txn, err) != 0)
		return -1;
	dictionary_set_sender(mirror->dictionary, 0, text_of(""));
	made.number =
	    dictionary_number(mirror->dictionary, txn, 0, text_of(claim->name));
	if (db_commit(&txn, err) != DB_OK)
		return -1;
	if (made.number != mirror->partitions + 1)
		return err_set(err, "archive: too many partitions");
	set_claim(&made, claim);
	mirror->partition = memory_grow(mirror->partition,
	    &mirror->partition_room, mirror->partitions, sizeof(made));
	mirror->partition[mirror->partitions++] = made;
	return 0;
}

struct listing {
	struct mirror *mirror;
	struct db_txn *txn;
};

static void
put_counts(void *arg, uint32_t at, struct text value)
{
	const struct listing *listing = arg;
	struct mirror *mirror = listing->mirror;
	unsigned char key[DB_KEY_BYTES_MAX];
	const struct mirror_partition *partition =
	    find(mirror, mirror->claims.partition[at].part);

	db_put(listing->txn, TABLES_META,
	    tables_counts_key(key, partition->number), value);
}

static int
read_counts(struct mirror *mirror, struct err *err)
{
	struct listing listing = { .mirror = mirror };

	if (db_begin(mirror->tables, true, &listing.txn, err) != 0)
		return -1;
	if (mirror_counts(mirror->client, &mirror->claims, put_counts, &listing,
		err) == 0)
		return db_commit(&listing.txn, err) == DB_OK ? 0 : -1;
	db_abort(&listing.txn);
	return -1;
}

int
mirror_list(struct mirror *mirror, struct err *err)
{
	pull_claims_clear(&mirror->claims);
	if (pull_claims_read(&mirror->claims, mirror->client,
		mirror->options.pattern, err) != 0)
		return -1;
	for (uint32_t i = 0; i < mirror->claims.partitions; i++) {
		const struct pull_partition *claim =
		    &mirror->claims.partition[i];
		struct mirror_partition *known = find(mirror, claim->part);

		if (known == NULL && add(mirror, claim, err) != 0)
			return -1;
		/* What was read is as far as it was read. */
		if (known != NULL && !known->is_read)
			set_claim(known, claim);
	}
	return read_counts(mirror, err);
}

/* ---- one partition ---- */

void
mirror_begin(struct mirror *mirror, const struct mirror_partition *partition,
    const struct pull_partition *claim)
{
	struct pull_into *into = &mirror->into;

	into->client = mirror->client;
	into->tables = mirror->tables;
	into->is_mirror = true;
	into->records_only = mirror->options.records_only;
	into->is_later = partition->is_read;
	into->from_hour = INT32_MIN;
	into->partition = claim;
	into->number = partition->number;
	into->where = mirror->where = pull_claims_sql(claim);
}

void
mirror_end(struct mirror *mirror)
{
	free(mirror->where);
	mirror->into.where = mirror->where = NULL;
}

static void
note_hour(void *arg, uint8_t kind, int32_t hour)
{
	const struct listing *listing = arg;
	const struct absent_hour absent = { listing->mirror->into.number, kind,
		hour };

	absent_put(listing->txn, &absent, ABSENT_ALL);
}

static int
note_hours(struct mirror *mirror, struct err *err)
{
	struct listing listing = { .mirror = mirror };
	int rc = db_begin(mirror->tables, true, &listing.txn, err);

	if (rc != 0)
		return -1;
	for (unsigned i = 0; rc == 0 && i < ARCHIVE_KINDS; i++)
		rc = mirror_ask_hours(mirror, (uint8_t)archive_kinds[i],
		    note_hour, &listing, err);
	for (unsigned i = ROLLUP_1MIN; rc == 0 && i < ROLLUPS; i++)
		rc = mirror_ask_hours(mirror, (uint8_t)(ABSENT_ROLLUP + i),
		    note_hour, &listing, err);
	if (rc == 0)
		return db_commit(&listing.txn, err) == DB_OK ? 0 : -1;
	db_abort(&listing.txn);
	return -1;
}

/* 1: the archive has gone on. */
static int
attempt(
    struct mirror *mirror, struct mirror_partition *partition, struct err *err)
{
	int rc;

	mirror_begin(mirror, partition, &partition->claim);
	rc = pull_state(&mirror->into, err);
	if (rc == 0)
		rc = note_hours(mirror, err);
	mirror_end(mirror);
	return rc == 0 ? mirror_complete(mirror, partition, err) : rc;
}

int
mirror_read(
    struct mirror *mirror, struct mirror_partition *partition, struct err *err)
{
	uint32_t at = (uint32_t)(partition - mirror->partition);
	int rc = attempt(mirror, partition, err);

	for (int i = 1; rc > 0 && i < ATTEMPTS; i++) {
		if (mirror_list(mirror, err) != 0)
			return -1;
		partition = &mirror->partition[at];
		rc = attempt(mirror, partition, err);
	}
	if (rc > 0)
		return err_set(err,
		    "the archive goes on faster than %s can be read",
		    partition->claim.name);
	partition->is_read = rc == 0;
	return rc;
}
