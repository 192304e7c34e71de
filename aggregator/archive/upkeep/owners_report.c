/*
 * owners_report - print which aggregators write to an archive, and up to where
 * each one's rows count.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/owners_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { EPOCHS_MAX = 1 << 16, ENDPOINT_BYTES = 256 };

struct row {
	uint64_t epoch, partitions, entry, change, copies;
	struct text store, endpoint, state;
	int64_t age, committed;
};

static const struct answer_column columns[] = {
	{ "epoch", "EPOCH", ANSWER_AT_COUNT(struct row, epoch), NULL,
	    "its number", false, NULL },
	{ "store", "STORE", ANSWER_AT_TEXT(struct row, store), NULL,
	    "the generation of the store", false, NULL },
	{ "endpoint", "ENDPOINT", ANSWER_AT_TEXT(struct row, endpoint), NULL,
	    "where its aggregator is", false, NULL },
	{ "partitions", "PARTITIONS", ANSWER_AT_COUNT(struct row, partitions),
	    NULL, "partitions that it writes", false, NULL },
	{ "entry", "ENTRY", ANSWER_AT_COUNT(struct row, entry), NULL,
	    "up to which entry of its journal rows count", false, NULL },
	{ "age_s", "AGE", ANSWER_AT_DURATION(struct row, age), "s",
	    "how long ago it committed last", false, NULL },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state), NULL,
	    "ok, new, ended, or that a checkpoint has one copy only", false,
	    NULL },
	{ "committed", NULL, ANSWER_AT_TIME(struct row, committed), NULL,
	    "when it committed last", false, NULL },
	{ "change", NULL, ANSWER_AT_COUNT(struct row, change), NULL,
	    "the number of its last change", false, NULL },
	{ "copies", NULL, ANSWER_AT_COUNT(struct row, copies), NULL,
	    "replicas that have its checkpoint", false, NULL },
	{ .key = NULL },
};

const struct answer_table owners_tables[] = { { "owners", columns },
	{ .name = NULL } };

struct epoch {
	uint64_t who; /* generation of the store */
	uint32_t number;
	char endpoint[ENDPOINT_BYTES];
	uint64_t claimed, open; /* partitions; of all shards */
	uint64_t shard_claimed, shard_open;
	uint64_t pos, entry; /* of the checkpoint; 0: none */
	int64_t at_ns;
	unsigned copies; /* of the checkpoint */
};

struct owners_report {
	struct clickhouse *client;
	const struct clickhouse_cluster *cluster;
	struct epoch *epoch;
	uint32_t epochs, room;
	struct answer *answer;
	int64_t now_ns;
	unsigned faults;
};

/* NULL: there are too many, or no such epoch can be. */
static struct epoch *
find(struct owners_report *self, uint64_t number, uint64_t who)
{
	if (number == 0 || number > UINT16_MAX)
		return NULL;
	for (uint32_t i = 0; i < self->epochs; i++)
		if (self->epoch[i].number == number &&
		    self->epoch[i].who == who)
			return &self->epoch[i];
	if (self->epochs == EPOCHS_MAX)
		return NULL;
	self->epoch = memory_grow(
	    self->epoch, &self->room, self->epochs, sizeof(*self->epoch));
	self->epoch[self->epochs] =
	    (struct epoch){ .number = (uint32_t)number, .who = who };
	return &self->epoch[self->epochs++];
}

/* ---- what a replica has ---- */

/* Rows of part 0: who has taken an epoch, and where readers find it. */
static int
read_epochs(struct owners_report *self, const struct question *question,
    struct err *err)
{
	struct text answer, line;

	if (question_ask(question, &answer, err,
		"SELECT epoch, who, hex(any(endpoint)) FROM %s.owners "
		"WHERE part = 0 GROUP BY epoch, who",
		clickhouse_database(self->client)) != 0)
		return -1;
	while (text_next_line(&answer, &line)) {
		uint64_t number = 0, who = 0;
		struct epoch *epoch = NULL;
		struct text digits;

		if (number_parse_u64(text_next_word(&line), &number, NULL) ==
			0 &&
		    number_parse_u64(text_next_word(&line), &who, NULL) == 0)
			epoch = find(self, number, who);
		digits = text_next_word(&line);
		/* One that does not fit is not printed. */
		if (epoch != NULL && digits.bytes / 2 < ENDPOINT_BYTES &&
		    text_unhex((unsigned char *)epoch->endpoint,
			digits.bytes / 2, digits))
			epoch->endpoint[digits.bytes / 2] = '\0';
	}
	return 0;
}

/* A replica that is behind has fewer of them. */
static int
read_claims(struct owners_report *self, const struct question *question,
    struct err *err)
{
	struct text answer;
	uint64_t row[4];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT epoch, who, count(), sum(open) FROM (SELECT epoch, "
		"who, max(until) = 0 AS open FROM %s.owners WHERE part != 0 "
		"GROUP BY part, epoch, who) GROUP BY epoch, who",
		clickhouse_database(self->client)) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 4, err)) > 0) {
		struct epoch *epoch = find(self, row[0], row[1]);

		if (epoch == NULL || row[2] < epoch->shard_claimed)
			continue;
		epoch->shard_claimed = row[2];
		epoch->shard_open = row[3];
	}
	return rc;
}

static void
take_checkpoint(struct epoch *epoch, const uint64_t row[4])
{
	if (row[1] > epoch->pos) {
		epoch->pos = row[1];
		epoch->entry = row[2];
		epoch->at_ns = (int64_t)row[3];
		epoch->copies = 0;
	}
	epoch->copies += row[1] == epoch->pos;
}

static int
read_checkpoints(struct owners_report *self, const struct question *question,
    struct err *err)
{
	struct text answer;
	uint64_t row[4];
	int rc;

	if (question_ask(question, &answer, err,
		"SELECT epoch, max(pos), max(entry), max(at_ns) "
		"FROM %s.checkpoints GROUP BY epoch",
		clickhouse_database(self->client)) != 0)
		return -1;
	while ((rc = question_row(question, &answer, row, 4, err)) > 0)
		for (uint32_t i = 0; i < self->epochs; i++)
			if (self->epoch[i].number == row[0])
				take_checkpoint(&self->epoch[i], row);
	return rc;
}

typedef int on_replica(struct owners_report *self,
    const struct question *question, struct err *err);

/* What one of the replicas has counts; -1: none of them answers. */
static int
ask_shard(struct owners_report *self, unsigned shard, on_replica *read,
    struct err *err)
{
	bool answered = false;

	for (unsigned r = 0; r < self->cluster->shard[shard].replicas; r++) {
		const struct question question = { self->client, shard, r };

		answered |= read(self, &question, err) == 0;
	}
	return answered ? 0 : -1;
}

static int
read_all(struct owners_report *self, struct err *err)
{
	if (ask_shard(self, 0, read_epochs, err) != 0)
		return -1;
	for (unsigned s = 0; s < self->cluster->shards; s++) {
		if (ask_shard(self, s, read_claims, err) != 0)
			return -1;
		for (uint32_t i = 0; i < self->epochs; i++) {
			struct epoch *epoch = &self->epoch[i];

			epoch->claimed += epoch->shard_claimed;
			epoch->open += epoch->shard_open;
			epoch->shard_claimed = epoch->shard_open = 0;
		}
	}
	for (unsigned s = 0; s < self->cluster->shards; s++)
		if (ask_shard(self, s, read_checkpoints, err) != 0)
			return -1;
	return 0;
}

/* ---- printing ---- */

static int
compare_epochs(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

static const char *
state_of(const struct owners_report *self, const struct epoch *epoch)
{
	unsigned home = epoch->number % self->cluster->shards;

	return epoch->claimed > 0 && epoch->open == 0 ? "ended"
	       : epoch->pos == 0                      ? "new"
	       : epoch->copies < question_copies(self->client, home)
		   ? "one copy"
		   : "ok";
}

static void
put_epoch(struct owners_report *self, const struct epoch *epoch)
{
	int64_t age_ns = self->now_ns - epoch->at_ns;
	bool has = epoch->pos != 0;
	char store[17];
	struct row row = { .epoch = epoch->number,
		.partitions = epoch->open,
		.entry = epoch->entry,
		.change = epoch->pos & ((UINT64_C(1) << 48) - 1),
		.copies = epoch->copies,
		.endpoint = text_of(epoch->endpoint),
		.state = text_of(state_of(self, epoch)),
		/* The clock of who wrote it may be ahead of ours. */
		.age = !has         ? ANSWER_NO_NS
		       : age_ns > 0 ? age_ns
				    : 0,
		.committed = has ? epoch->at_ns : ANSWER_NO_NS };

	snprintf(store, sizeof(store), "%016" PRIx64, epoch->who);
	row.store = text_of(store);
	answer_row(self->answer, &row, NULL);
}

static void
judge(struct owners_report *self, const struct epoch *epoch)
{
	if (strcmp(state_of(self, epoch), "one copy") != 0)
		return;
	log_error("epoch %u: one replica has its checkpoint; run poolscope "
		  "archive check",
	    epoch->number);
	self->faults++;
}

static void
print(struct owners_report *self)
{
	if (self->epochs > 1)
		qsort(self->epoch, self->epochs, sizeof(*self->epoch),
		    compare_epochs);
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
		.now_ns = clock_wall_ns() };
	int rc = read_all(&self, err);

	if (rc == 0)
		print(&self);
	free(self.epoch);
	return rc == 0 ? self.faults > 0 : -1;
}
