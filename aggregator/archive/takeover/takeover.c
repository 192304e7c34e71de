/*
 * takeover - give the partitions of a store to that store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/takeover/takeover.h"

#include "aggregator/archive/owners.h"
#include "aggregator/journal/journal.h"
#include "aggregator/tables/tables.h"

static const atomic_bool never;

/* The store notes its claim before it makes it. */
static int
recognize(struct owners *owners, struct db *tables, struct err *err)
{
	struct owners_notes notes;
	struct db_txn *txn;
	int rc;

	if (db_begin(tables, true, &txn, err) != 0)
		return -1;
	notes = owners_notes(txn);
	rc = owners_recognize(owners, &notes, err);
	if (rc == 0)
		rc = owners_check(owners, txn, err);
	if (rc != 0) {
		db_abort(&txn);
		return -1;
	}
	tables_put_fact(txn, FACT_CLAIMANT, owners->claimant);
	tables_put_fact(txn, FACT_CLAIM, owners->claim);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

static int
take(struct owners *owners, struct db *tables, struct err *err)
{
	struct db_txn *txn;
	int rc;

	if (recognize(owners, tables, err) != 0 ||
	    owners_take_epoch(owners, err) != 0 ||
	    db_begin(tables, false, &txn, err) != 0)
		return -1;
	rc = owners_claim(owners, txn, err);
	db_abort(&txn);
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
	struct db_options how = { .allow_network = true };
	struct owners owners = { .client = client,
		.stop = &never,
		.place = owners_place(store),
		.endpoint = "",
		.takes_over = true };
	struct db *tables = NULL;
	int rc;

	if (read_generation(store, &owners.store, err) != 0 ||
	    tables_open(&tables, store, &how, err) != 0)
		return -1;
	rc = take(&owners, tables, err);
	*report = (struct takeover_report){ owners.epoch, owners.parts,
		owners.ended };
	owners_clear(&owners);
	db_close(&tables);
	return rc;
}
