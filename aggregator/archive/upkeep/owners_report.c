/*
 * owners_report - print which aggregators write to an archive, and up to where
 * each one's rows count.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/owners_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/claims.h"
#include "aggregator/archive/commits.h"
#include "aggregator/archive/question.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct row {
	uint64_t epoch, partitions, entry, change, copies;
	struct text store, endpoint, state;
	int64_t age, committed;
};

static const struct answer_column columns[] = {
	{ "epoch", "EPOCH", ANSWER_AT_COUNT(struct row, epoch), "its number" },
	{ "store", "STORE", ANSWER_AT_TEXT(struct row, store),
	    "the generation of the store" },
	{ "endpoint", "ENDPOINT", ANSWER_AT_TEXT(struct row, endpoint),
	    "where its aggregator is" },
	{ "partitions", "PARTITIONS", ANSWER_AT_COUNT(struct row, partitions),
	    "partitions that it writes" },
	{ "entry", "ENTRY", ANSWER_AT_COUNT(struct row, entry),
	    "up to which entry of its journal rows count" },
	{ "age_s", "AGE", ANSWER_AT_DURATION(struct row, age),
	    "how long ago it committed last" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state),
	    "ok, new, ended, or that a commit has one copy only" },
	{ "committed", NULL, ANSWER_AT_TIME(struct row, committed),
	    "when it committed last" },
	{ "change", NULL, ANSWER_AT_COUNT(struct row, change),
	    "the number of its last change" },
	{ "copies", NULL, ANSWER_AT_COUNT(struct row, copies),
	    "replicas that have its last commit" },
	{ .key = NULL },
};

const struct answer_table owners_tables[] = { { "owners", columns },
	{ .name = NULL } };

struct epoch {
	const struct claim *claim; /* the first one */
	uint64_t open;             /* partitions */
	struct commits_end end;    /* zeroed: nothing was committed */
};

struct owners_report {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	struct claims claims;
	struct epoch *epoch;
	uint32_t epochs, room;
	struct answer *answer;
	int64_t now_ns;
	unsigned faults;
};

/* ---- what there is ---- */

/* Each claim belongs to an epoch, and each partition. */
static void
find_epochs(struct owners_report *self)
{
	const struct claims *claims = &self->claims;

	for (uint32_t i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->claim[i];

		if (claim->number != claim->epoch)
			continue;
		*MEMORY_ADD(self->epoch, self->room, self->epochs) =
		    (struct epoch){ .claim = claim };
	}
	for (uint32_t e = 0; e < self->epochs; e++)
		for (uint32_t i = 0; i < claims->parts; i++)
			self->epoch[e].open += claims->part[i].epoch ==
					       self->epoch[e].claim->epoch;
}

static int
read_all(struct owners_report *self, struct err *err)
{
	struct commits_ends ends;

	if (claims_read(&self->claims, err) != 0 ||
	    commits_read(&ends, self->client, err) != 0)
		return -1;
	find_epochs(self);
	for (uint32_t i = 0; i < self->epochs; i++)
		for (uint32_t k = 0; k < ends.count; k++)
			if (ends.at[k].epoch == self->epoch[i].claim->epoch)
				self->epoch[i].end = ends.at[k];
	free(ends.at);
	return 0;
}

/* ---- printing ---- */

static const char *
state_of(const struct owners_report *self, const struct epoch *epoch)
{
	uint32_t number = epoch->claim->epoch;
	unsigned home = number % self->cluster->shards;
	bool has_claimed =
	    claims_of_epoch(&self->claims, number)->number > number;

	return has_claimed && epoch->open == 0 ? "ended"
	       : epoch->end.epoch == 0         ? "new"
	       : epoch->end.copies < question_copies(self->client, home)
		   ? "one copy"
		   : "ok";
}

static void
put_epoch(struct owners_report *self, const struct epoch *epoch)
{
	int64_t age_ns = self->now_ns - epoch->end.at_ns;
	bool has = epoch->end.epoch != 0;
	char store[17];
	struct row row = { .epoch = epoch->claim->epoch,
		.partitions = epoch->open,
		.entry = epoch->end.place.entry,
		.change = epoch->end.place.change,
		.copies = epoch->end.copies,
		.endpoint = text_of(epoch->claim->endpoint),
		.state = text_of(state_of(self, epoch)),
		/* The clock of who wrote it may be ahead of ours. */
		.age = !has         ? ANSWER_NO_NS
		       : age_ns > 0 ? age_ns
				    : 0,
		.committed = has ? epoch->end.at_ns : ANSWER_NO_NS };

	snprintf(store, sizeof(store), "%016" PRIx64, epoch->claim->store);
	row.store = text_of(store);
	answer_row(self->answer, &row, NULL);
}

static void
judge(struct owners_report *self, const struct epoch *epoch)
{
	if (strcmp(state_of(self, epoch), "one copy") != 0)
		return;
	log_error("epoch %u: one replica has its last commit; run poolscope "
		  "archive check",
	    epoch->claim->epoch);
	self->faults++;
}

static void
print(struct owners_report *self)
{
	for (uint32_t i = 0; i < self->epochs; i++)
		put_epoch(self, &self->epoch[i]);
	answer_flush(self->answer);
	for (uint32_t i = 0; i < self->epochs; i++)
		judge(self, &self->epoch[i]);
}

int
owners_report_print(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err)
{
	struct owners_report self = { .client = clickhouse,
		.answer = answer,
		.cluster = clickhouse_cluster(clickhouse),
		.claims = { .client = clickhouse },
		.now_ns = clock_wall_ns() };
	int rc = read_all(&self, err);

	if (rc == 0)
		print(&self);
	free(self.epoch);
	claims_clear(&self.claims);
	return rc == 0 ? self.faults > 0 : -1;
}
