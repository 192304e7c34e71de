/*
 * owners - which aggregator writes a partition to the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/owners.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/rows/identity.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"

/* Two that take an epoch at the same time see each other after this. */
#define SETTLE_NS NS_PER_SECOND

/* Rows of part 0 say who has taken an epoch. */
#define NO_PART UINT64_C(0)

static const struct native_column owners_columns[] = {
	{ "part", NATIVE_UINT64 },
	{ "name", NATIVE_STRING },
	{ "epoch", NATIVE_UINT32 },
	{ "who", NATIVE_UINT64 },
	{ "endpoint", NATIVE_STRING },
	{ "since_ns", NATIVE_INT64 },
	{ "until", NATIVE_UINT64 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void
owners_clear(struct owners *owners)
{
	free(owners->part);
	owners->part = NULL;
	owners->parts = owners->room = owners->partitions = 0;
}

static uint64_t
own_number(const struct owners *owners)
{
	return strtoull(owners->who, NULL, 16);
}

/* ---- writing ---- */

int
owners_insert(struct owners *owners, unsigned shard, const char *table,
    struct native_block *block, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	struct buffer encoded = { NULL, 0, 0 };
	int rc = -1;

	native_encode(block, &encoded);
	for (unsigned r = 0; rc != 0 && r < cluster->shard[shard].replicas;
	     r++) {
		heartbeat_rest();
		rc = clickhouse_insert(owners->client, shard, r, table,
		    buffer_text(&encoded), err);
		heartbeat_beat();
	}
	buffer_clear(&encoded);
	return rc;
}

static void
put_owner(struct native_block *block, const struct owners *owners,
    uint64_t part, struct text name, uint32_t epoch)
{
	native_put_uint(block, 0, part);
	native_put_text(block, 1, name);
	native_put_uint(block, 2, epoch);
	native_put_uint(block, 3, own_number(owners));
	native_put_text(block, 4, text_of(owners->endpoint));
	native_put_int(block, 5, clock_wall_ns());
	native_put_uint(block, 6, 0);
}

static struct native_block *
owners_block(void)
{
	return native_block_open(owners_columns, COUNT(owners_columns));
}

/* ---- who owns what ---- */

/* A row of owners. */
enum { OF_PART, OF_EPOCH, OF_WHO, OF_UNTIL, OF_NUMBERS };

typedef int on_owner(
    void *arg, const uint64_t row[OF_NUMBERS], struct err *err);

static int
each_owner_of(struct owners *owners, unsigned shard, unsigned replica,
    on_owner *call, void *arg, struct err *err)
{
	const struct question question = { owners->client, shard, replica };
	uint64_t row[OF_NUMBERS];
	struct text answer;
	int rc;

	if (question_ask(&question, &answer, err,
		"SELECT part, epoch, who, max(until) FROM %s.owners "
		"GROUP BY part, epoch, who",
		clickhouse_database(owners->client)) != 0)
		return -1;
	while (
	    (rc = question_row(&question, &answer, row, OF_NUMBERS, err)) > 0)
		if (call(arg, row, err) != 0)
			return -1;
	return rc;
}

/* All rows of all replicas that answer: what is on one of them counts.  A shard
 * of which none answers is an error. */
static int
each_owner(struct owners *owners, on_owner *call, void *arg, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);

	for (unsigned s = 0; s < cluster->shards; s++) {
		bool answered = false;

		for (unsigned r = 0; r < cluster->shard[s].replicas; r++) {
			struct err why = { .text = "" };

			if (each_owner_of(owners, s, r, call, arg, &why) == 0)
				answered = true;
			else if (owners->is_refused || !answered)
				*err = why;
			if (owners->is_refused)
				return -1;
		}
		if (!answered)
			return -1;
	}
	return 0;
}

/* ---- the epoch ---- */

struct epochs {
	uint64_t who;
	uint32_t own, highest;
	bool is_shared; /* another one with a lower number has `own`, too */
};

static int
see_epoch(void *arg, const uint64_t row[OF_NUMBERS], struct err *err)
{
	struct epochs *epochs = arg;
	uint32_t epoch = (uint32_t)row[OF_EPOCH];

	(void)err;
	if (epoch > epochs->highest)
		epochs->highest = epoch;
	if (row[OF_PART] != NO_PART)
		return 0;
	if (row[OF_WHO] == epochs->who && epoch > epochs->own)
		epochs->own = epoch;
	return 0;
}

static int
see_rival(void *arg, const uint64_t row[OF_NUMBERS], struct err *err)
{
	struct epochs *epochs = arg;

	(void)err;
	if (row[OF_PART] == NO_PART && row[OF_EPOCH] == epochs->own &&
	    row[OF_WHO] < epochs->who)
		epochs->is_shared = true;
	return 0;
}

void
owners_pause(const struct owners *owners, int64_t ns)
{
	const struct timespec step = { 0, NS_PER_SECOND / 20 };

	for (int64_t until = clock_monotonic_ns() + ns;
	     clock_monotonic_ns() < until && !atomic_load(owners->stop);) {
		heartbeat_beat();
		nanosleep(&step, NULL);
	}
}

static int
take_next(struct owners *owners, struct epochs *epochs, struct err *err)
{
	struct native_block *block = owners_block();
	int rc;

	epochs->own = epochs->highest + 1;
	put_owner(block, owners, NO_PART, text_of(""), epochs->own);
	rc = owners_insert(owners, 0, "owners", block, err);
	native_block_close(&block);
	if (rc != 0)
		return -1;
	owners_pause(owners, SETTLE_NS);
	epochs->is_shared = false;
	return each_owner(owners, see_rival, epochs, err);
}

int
owners_take_epoch(struct owners *owners, struct err *err)
{
	struct epochs epochs = { .who = own_number(owners) };

	owners->epoch = 0;
	if (each_owner(owners, see_epoch, &epochs, err) != 0)
		return -1;
	if (epochs.own != 0) {
		owners->epoch = epochs.own;
		return 0;
	}
	while (!atomic_load(owners->stop)) {
		if (take_next(owners, &epochs, err) != 0)
			return -1;
		if (!epochs.is_shared) {
			owners->epoch = epochs.own;
			return 0;
		}
		epochs.highest = epochs.own;
	}
	return err_set(err, "the aggregator stops");
}

/* ---- partitions ---- */

static int
compare_parts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
is_claimed(const struct owners *owners, uint64_t part)
{
	return owners->parts > 0 && bsearch(&part, owners->part, owners->parts,
					sizeof(part), compare_parts) != NULL;
}

/* Partitions of the store that were not looked at before. */
struct newcomers {
	struct owners *owners;
	uint64_t *part; /* in ascending order */
	uint32_t parts;
};

static int
see_owner(void *arg, const uint64_t row[OF_NUMBERS], struct err *err)
{
	struct newcomers *new = arg;
	struct owners *owners = new->owners;
	bool is_ours = row[OF_WHO] == own_number(owners);

	if (row[OF_PART] == NO_PART || is_ours)
		return 0;
	if (row[OF_EPOCH] < owners->epoch &&
	    (row[OF_UNTIL] != 0 || is_claimed(owners, row[OF_PART])))
		return 0; /* taken over from it */
	if (!is_claimed(owners, row[OF_PART]) &&
	    (new->parts == 0 || bsearch(&row[OF_PART], new->part, new->parts,
				    sizeof(uint64_t), compare_parts) == NULL))
		return 0; /* of no concern */
	owners->is_refused = true;
	return err_set(err,
	    "archive: a partition of this store belongs to another "
	    "aggregator (store %016llx, epoch %llu; ours is %s, epoch %u); "
	    "nothing is archived until one of them stops writing it",
	    (unsigned long long)row[OF_WHO], (unsigned long long)row[OF_EPOCH],
	    owners->who, owners->epoch);
}

static void
find_new(struct newcomers *new, struct db_txn *txn, uint32_t last)
{
	uint32_t first = new->owners->partitions + 1;

	new->part =
	    memory_zero(last >= first ? last - first + 1 : 1, sizeof(uint64_t));
	for (uint32_t number = first; number <= last; number++) {
		struct text name;

		if (dictionary_text(txn, 0, number, &name))
			new->part[new->parts++] = archive_part(name);
	}
	qsort(new->part, new->parts, sizeof(uint64_t), compare_parts);
}

/* The names go there with the claim: they are nowhere else in the archive. */
static int
write_claims(
    struct owners *owners, struct db_txn *txn, uint32_t last, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	int rc = 0;

	for (unsigned s = 0; rc == 0 && s < cluster->shards; s++) {
		struct native_block *block = owners_block();

		for (uint32_t number = owners->partitions + 1; number <= last;
		     number++) {
			struct text name;
			uint64_t part;

			if (!dictionary_text(txn, 0, number, &name))
				continue;
			part = archive_part(name);
			if (part % cluster->shards == s)
				put_owner(
				    block, owners, part, name, owners->epoch);
		}
		if (native_rows(block) > 0)
			rc = owners_insert(owners, s, "owners", block, err);
		native_block_close(&block);
	}
	return rc;
}

static void
add_claims(struct owners *owners, const struct newcomers *new, uint32_t last)
{
	owners->part = memory_resize_array(
	    owners->part, owners->parts + new->parts + 1, sizeof(uint64_t));
	if (new->parts > 0)
		memcpy(owners->part + owners->parts, new->part,
		    new->parts * sizeof(uint64_t));
	owners->parts += new->parts;
	qsort(owners->part, owners->parts, sizeof(uint64_t), compare_parts);
	owners->partitions = last;
}

int
owners_claim(struct owners *owners, struct db_txn *txn, struct err *err)
{
	struct newcomers new = { .owners = owners };
	uint32_t last = dictionary_last(txn, 0);
	int rc;

	owners->is_refused = false;
	find_new(&new, txn, last);
	rc = each_owner(owners, see_owner, &new, err);
	if (rc == 0 && new.parts > 0)
		rc = write_claims(owners, txn, last, err);
	if (rc == 0)
		add_claims(owners, &new, last);
	free(new.part);
	return rc;
}
