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

static const struct table_column columns[] = {
	{ "epoch", 5, true },
	{ "store", 16, false },
	{ "endpoint", 15, false },
	{ "partitions", 10, true },
	{ "entry", 9, true },
	{ "age", 7, true },
	{ "state", 8, false },
	{ NULL, 0, false },
};

static const char *const names[] = { "epoch", "store", "endpoint", "partitions",
	"entry", "age_s", "state", "committed", "change", "copies", NULL };

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
	struct report report;
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
put_checkpoint(struct owners_report *self, const struct epoch *epoch)
{
	if (epoch->pos != 0)
		report_time(&self->report, epoch->at_ns / 1000);
	else
		report_none(&self->report);
	report_count(&self->report, epoch->pos & ((UINT64_C(1) << 48) - 1));
	report_count(&self->report, epoch->copies);
}

static void
put_epoch(struct owners_report *self, const struct epoch *epoch)
{
	const char *state = state_of(self, epoch);
	int64_t age_ns = self->now_ns - epoch->at_ns;
	char store[17];

	snprintf(store, sizeof(store), "%016" PRIx64, epoch->who);
	report_count(&self->report, epoch->number);
	report_text(&self->report, text_of(store));
	report_text(&self->report, text_of(epoch->endpoint));
	report_count(&self->report, epoch->open);
	report_count(&self->report, epoch->entry);
	/* The clock of who wrote it may be ahead of ours. */
	if (epoch->pos != 0)
		report_count(&self->report,
		    age_ns > 0 ? (uint64_t)age_ns / NS_PER_SECOND : 0);
	else
		report_none(&self->report);
	report_text(&self->report, text_of(state));
	if (self->report.format != REPORT_TABLE)
		put_checkpoint(self, epoch);
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
print(struct owners_report *self, enum report_format format, FILE *file)
{
	if (self->epochs > 1)
		qsort(self->epoch, self->epochs, sizeof(*self->epoch),
		    compare_epochs);
	report_begin(&self->report, file, format, names, columns);
	for (uint32_t i = 0; i < self->epochs; i++)
		put_epoch(self, &self->epoch[i]);
	report_end(&self->report);
	fflush(file);
	for (uint32_t i = 0; i < self->epochs; i++)
		judge(self, &self->epoch[i]);
}

int
owners_report_print(struct clickhouse *clickhouse, enum report_format format,
    FILE *file, struct err *err)
{
	struct owners_report self = { .client = clickhouse,
		.cluster = clickhouse_cluster(clickhouse),
		.now_ns = clock_wall_ns() };
	int rc = read_all(&self, err);

	if (rc == 0)
		print(&self, format, file);
	free(self.epoch);
	return rc == 0 ? self.faults > 0 : -1;
}
