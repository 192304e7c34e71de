/*
 * checkpoint - how far an epoch has come.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/checkpoint.h"

#include "aggregator/archive/question.h"
#include "proto/clickhouse/native.h"
#include "proto/os/clock.h"

/* A replica fetches what the other one got in a few 100 ms. */
#define SETTLE_NS NS_PER_SECOND

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct native_column checkpoints_columns[] = {
	{ "epoch", NATIVE_UINT32 },
	{ "pos", NATIVE_UINT64 },
	{ "row", NATIVE_UINT64 },
	{ "entry", NATIVE_UINT64 },
	{ "applied", NATIVE_UINT64 },
	{ "at_ns", NATIVE_INT64 },
};

enum { AT_POS, AT_ROW, AT_ENTRY, AT_APPLIED, AT_NUMBERS };

static int
read_one(struct owners *owners, unsigned replica, struct checkpoint *checkpoint,
    struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	const struct question question = { owners->client,
		owners->epoch % cluster->shards, replica };
	uint64_t row[AT_NUMBERS];
	struct text answer;
	int rc;

	*checkpoint = (struct checkpoint){ .applied = 0 };
	if (question_ask(&question, &answer, err,
		"SELECT pos, row, entry, applied FROM %s.checkpoints "
		"WHERE epoch = %u ORDER BY pos DESC, applied DESC LIMIT 1",
		clickhouse_database(owners->client), owners->epoch) != 0)
		return -1;
	rc = question_row(&question, &answer, row, AT_NUMBERS, err);
	if (rc <= 0)
		return rc;
	checkpoint->place.change =
	    row[AT_POS] & ((UINT64_C(1) << PASS_CHANGE_BITS) - 1);
	checkpoint->place.row = (uint32_t)row[AT_ROW];
	checkpoint->place.entry = row[AT_ENTRY];
	checkpoint->applied = row[AT_APPLIED];
	return 0;
}

int
checkpoint_read(
    struct owners *owners, struct checkpoint *checkpoint, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	unsigned home = owners->epoch % cluster->shards;
	bool answered = false;

	*checkpoint = (struct checkpoint){ .applied = 0 };
	for (unsigned r = 0; r < cluster->shard[home].replicas; r++) {
		struct checkpoint one;
		struct err why = { .text = "" };

		if (read_one(owners, r, &one, &why) != 0) {
			*err = why;
			continue;
		}
		answered = true;
		if (one.place.change > checkpoint->place.change ||
		    (one.place.change == checkpoint->place.change &&
			one.applied > checkpoint->applied))
			*checkpoint = one;
	}
	return answered ? 0 : -1;
}

static int
insert(struct owners *owners, unsigned home,
    const struct checkpoint *checkpoint, struct err *err)
{
	struct native_block *block =
	    native_block_open(checkpoints_columns, COUNT(checkpoints_columns));
	int rc;

	native_put_uint(block, 0, owners->epoch);
	native_put_uint(
	    block, 1, pass_position(owners->epoch, checkpoint->place.change));
	native_put_uint(block, 2, checkpoint->place.row);
	native_put_uint(block, 3, checkpoint->place.entry);
	native_put_uint(block, 4, checkpoint->applied);
	native_put_int(block, 5, clock_wall_ns());
	rc = owners_insert(owners, home, "checkpoints", block, err);
	native_block_close(&block);
	return rc;
}

int
checkpoint_commit(
    struct owners *owners, const struct checkpoint *checkpoint, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(owners->client);
	unsigned home = owners->epoch % cluster->shards;
	unsigned replicas = cluster->shard[home].replicas;
	unsigned wanted = question_copies(owners->client, home), copies = 0;
	int64_t until;

	if (insert(owners, home, checkpoint, err) != 0)
		return -1;
	until = clock_monotonic_ns() + SETTLE_NS;
	while (!atomic_load(owners->stop)) {
		copies = 0;
		for (unsigned r = 0; r < replicas && copies < wanted; r++) {
			struct checkpoint one;

			copies +=
			    read_one(owners, r, &one, err) == 0 &&
			    one.place.change == checkpoint->place.change &&
			    one.applied == checkpoint->applied;
		}
		if (copies == wanted)
			return 0;
		/* One that is frozen takes long each time. */
		if (clock_monotonic_ns() > until)
			break;
		owners_pause(owners, NS_PER_SECOND / 20);
	}
	return err_set(err,
	    "archive: %u of %u replicas of shard %u have the checkpoint",
	    copies, wanted, home + 1);
}
