/*
 * takeover - give the partitions of a store to that store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/takeover/takeover.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "aggregator/archive/owners.h"
#include "aggregator/archive/pass.h"
#include "aggregator/archive/pull/pull_claims.h"
#include "aggregator/archive/pull/pull_origin.h"
#include "aggregator/journal/journal.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

#define SETTLE_NS (10 * NS_PER_SECOND)

struct takeover {
	struct clickhouse *client;
	struct db_txn *txn;
	uint64_t generation;
	struct owners owners;
	struct takeover_report *report;
};

static const atomic_bool never;

/* What is done with an open claim of another store on a partition of ours. */
typedef int on_claim(struct takeover *takeover,
    const struct pull_partition *partition, const struct pull_epoch *epoch,
    struct err *err);

/* Reads the claims again: they may have changed. */
static int
each_claim(struct takeover *takeover, on_claim *call, struct err *err)
{
	struct pull_claims claims;
	int rc = pull_claims_read(&claims, takeover->client, NULL, err);

	for (uint32_t p = 0; rc == 0 && p < claims.partitions; p++) {
		const struct pull_partition *partition = &claims.partition[p];

		if (dictionary_find(
			takeover->txn, 0, text_of(partition->name)) == 0)
			continue;
		for (unsigned i = 0; rc == 0 && i < partition->epochs; i++)
			if (partition->epoch[i].who != takeover->generation)
				rc = call(takeover, partition,
				    &partition->epoch[i], err);
	}
	pull_claims_clear(&claims);
	return rc;
}

/* Whoever goes on must have all that was committed. */
static int
check_claim(struct takeover *takeover, const struct pull_partition *partition,
    const struct pull_epoch *epoch, struct err *err)
{
	if (!epoch->is_open ||
	    epoch->reached <= pull_origin_get(takeover->txn, epoch->epoch))
		return 0;
	return err_set(err,
	    "archive: it has more of partition %s than the store (epoch %u): "
	    "stop the other aggregator, and restore the store again",
	    partition->name, epoch->epoch);
}

/* The same row with an end replaces it. */
static int
end_claim(struct takeover *takeover, const struct pull_partition *partition,
    const struct pull_epoch *epoch, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(takeover->client);
	const char *database = clickhouse_database(takeover->client);
	unsigned home = (unsigned)(partition->part % cluster->shards);
	uint64_t until = pass_position(epoch->epoch, 0);
	char *sql;
	int rc = -1;

	if (!epoch->is_open)
		return 0;
	if (epoch->reached > until)
		until = epoch->reached;
	sql = memory_format("INSERT INTO %s.owners SELECT part, name, epoch, "
			    "who, endpoint, since_ns, toUInt64(%llu) AS until "
			    "FROM %s.owners WHERE part = %llu AND epoch = %u "
			    "AND who = %llu LIMIT 1",
	    database, (unsigned long long)until, database,
	    (unsigned long long)partition->part, epoch->epoch,
	    (unsigned long long)epoch->who);
	for (unsigned r = 0; rc != 0 && r < cluster->shard[home].replicas; r++)
		rc = clickhouse_run(takeover->client, home, r, sql, err);
	free(sql);
	takeover->report->ended++;
	return rc;
}

/* Has the other one gone on meanwhile? */
static int
check_end(struct takeover *takeover, const struct pull_partition *partition,
    const struct pull_epoch *epoch, struct err *err)
{
	(void)takeover;
	if (!epoch->is_open && !epoch->went_on)
		return 0;
	return err_set(err,
	    "archive: another aggregator still writes partition %s (epoch "
	    "%u): stop it, and restore the store again",
	    partition->name, epoch->epoch);
}

/* Replicas get the ends of the claims from each other within moments. */
static int
claim(struct takeover *takeover, struct err *err)
{
	const struct timespec step = { 0, NS_PER_SECOND / 10 };
	struct owners *owners = &takeover->owners;
	int64_t until = clock_monotonic_ns() + SETTLE_NS;
	int rc;

	while ((rc = owners_claim(owners, takeover->txn, err)) != 0 &&
	       owners->is_refused && clock_monotonic_ns() < until)
		nanosleep(&step, NULL);
	return rc;
}

static int
take(struct takeover *takeover, struct err *err)
{
	struct owners *owners = &takeover->owners;
	int rc = each_claim(takeover, check_claim, err);

	if (rc == 0)
		rc = owners_take_epoch(owners, err);
	if (rc == 0)
		rc = each_claim(takeover, end_claim, err);
	if (rc == 0)
		rc = claim(takeover, err);
	if (rc == 0)
		rc = each_claim(takeover, check_end, err);
	takeover->report->epoch = owners->epoch;
	takeover->report->partitions = owners->parts;
	owners_clear(owners);
	return rc;
}

static int
read_generation(const char *store, uint64_t *generation, struct err *err)
{
	const struct journal_options how = { .read_only = true,
		.allow_network = true };
	struct journal *journal;

	if (journal_open(&journal, store, &how, err) != 0)
		return -1;
	*generation = journal_generation(journal);
	journal_close(&journal);
	return 0;
}

int
takeover_store(struct clickhouse *client, const char *store,
    struct takeover_report *report, struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	struct takeover takeover = { .client = client,
		.report = report,
		.owners = {
		    .client = client, .stop = &never, .endpoint = "" } };
	struct db *tables = NULL;
	int rc;

	*report = (struct takeover_report){ .epoch = 0 };
	if (read_generation(store, &takeover.generation, err) != 0 ||
	    tables_open(&tables, store, &how, err) != 0)
		return -1;
	snprintf(takeover.owners.who, sizeof(takeover.owners.who), "%016llx",
	    (unsigned long long)takeover.generation);
	rc = db_begin(tables, false, &takeover.txn, err);
	if (rc == 0)
		rc = take(&takeover, err);
	db_abort(&takeover.txn);
	db_close(&tables);
	return rc;
}
