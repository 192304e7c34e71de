/*
 * checkpoint - how far an epoch has come.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/checkpoint.h"

#include "aggregator/archive/insert.h"
#include "aggregator/archive/question.h"
#include "proto/clickhouse/native.h"
#include "proto/os/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct native_column checkpoints_columns[] = {
	{ "epoch", NATIVE_UINT32 },
	{ "pos", NATIVE_UINT64 },
	{ "row", NATIVE_UINT64 },
	{ "entry", NATIVE_UINT64 },
	{ "at_ns", NATIVE_INT64 },
};

enum { AT_POS, AT_ROW, AT_ENTRY, AT_NUMBERS };

static int
read_one(struct clickhouse *client, uint32_t epoch, unsigned replica,
    struct checkpoint *checkpoint, struct err *err)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);
	const struct question question = { client, epoch % cluster->shards,
		replica };
	uint64_t row[AT_NUMBERS];
	struct text answer;
	int rc;

	*checkpoint = (struct checkpoint){ .place = { .change = 0 } };
	if (question_ask(&question, &answer, err,
		"SELECT pos, row, entry FROM %s.checkpoints "
		"WHERE epoch = %u ORDER BY pos DESC LIMIT 1",
		clickhouse_database(client), epoch) != 0)
		return -1;
	rc = question_row(&question, &answer, row, AT_NUMBERS, err);
	if (rc <= 0)
		return rc;
	checkpoint->place.change =
	    row[AT_POS] & ((UINT64_C(1) << PASS_CHANGE_BITS) - 1);
	checkpoint->place.row = (uint32_t)row[AT_ROW];
	checkpoint->place.entry = row[AT_ENTRY];
	return 0;
}

int
checkpoint_read(struct clickhouse *client, uint32_t epoch,
    struct checkpoint *checkpoint, struct err *err)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);
	unsigned home = epoch % cluster->shards;
	bool answered = false;

	*checkpoint = (struct checkpoint){ .place = { .change = 0 } };
	for (unsigned r = 0; r < cluster->shard[home].replicas; r++) {
		struct checkpoint one;
		struct err why = { .text = "" };

		if (read_one(client, epoch, r, &one, &why) != 0) {
			*err = why;
			continue;
		}
		answered = true;
		if (one.place.change > checkpoint->place.change)
			*checkpoint = one;
	}
	return answered ? 0 : -1;
}

int
checkpoint_commit(struct clickhouse *client, uint32_t epoch,
    const struct checkpoint *checkpoint, struct err *err)
{
	unsigned home = epoch % clickhouse_cluster(client)->shards;
	struct native_block *block =
	    native_block_open(checkpoints_columns, COUNT(checkpoints_columns));
	int rc;

	native_put_uint(block, 0, epoch);
	native_put_uint(
	    block, 1, pass_position(epoch, checkpoint->place.change));
	native_put_uint(block, 2, checkpoint->place.row);
	native_put_uint(block, 3, checkpoint->place.entry);
	native_put_int(block, 4, clock_wall_ns());
	rc = insert_block(client, home, "checkpoints", block,
	    question_copies(client, home), err);
	native_block_close(&block);
	return rc;
}
