/*
 * takeover - give the partitions of a store to that store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/takeover/takeover.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/owners.h"
#include "aggregator/archive/rows/typed.h"
#include "aggregator/journal/journal.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

struct row {
	struct text partition, from_store;
	uint64_t from_epoch, epoch;
};

const struct answer_column takeover_columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "from_epoch", "FROM", ANSWER_AT_COUNT(struct row, from_epoch),
	    "the epoch that had it before; none: nobody" },
	{ "from_store", NULL, ANSWER_AT_TEXT(struct row, from_store),
	    "the generation of the store that had it" },
	{ "epoch", "EPOCH", ANSWER_AT_COUNT(struct row, epoch),
	    "the epoch that has it now" },
	{ .key = NULL },
};

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

/* -1: a claim of nothing would look like success. */
static int
check_partitions(struct db *tables, const char *store, struct err *err)
{
	struct db_txn *txn;
	uint32_t last;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	last = dictionary_last(txn, 0);
	db_abort(&txn);
	return last > 0 ? 0
			: err_set(err,
			      "the store %s has no partition: there is nothing "
			      "to take over",
			      store);
}

/* Of a move the answer has begun with what was restored. */
static void
put_head(struct answer *answer, const char *store, const struct owners *owners)
{
	char line[ERR_BYTES];

	snprintf(line, sizeof(line),
	    "%.300s: epoch %u, %u partitions, %u claims of others ended", store,
	    owners->epoch, owners->parts, owners->ended);
	if (answer_rows(answer) > 0) {
		answer_note(answer, "ended", owners->ended, "%s", line);
		return;
	}
	answer_title(answer, "%s", line);
	answer_head(answer, "epoch", answer_count(owners->epoch));
	answer_head(answer, "ended", answer_count(owners->ended));
}

/* `before`: who had what. */
static void
put_rows(struct answer *answer, const struct owners *owners,
    const struct claims *before, struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, 0);
	struct row row = { .epoch = owners->epoch };

	for (uint32_t number = 1; number <= last; number++) {
		const struct claim *from;
		char store[17];

		if (!dictionary_text(txn, 0, number, &row.partition))
			continue;
		row.from_epoch =
		    claims_epoch_of(before, typed_hash(row.partition));
		from =
		    claims_of_epoch(&owners->claims, (uint32_t)row.from_epoch);
		row.from_store = text_of(NULL);
		if (from != NULL) {
			snprintf(
			    store, sizeof(store), "%016" PRIx64, from->store);
			row.from_store = text_of(store);
		}
		if (row.from_epoch == 0)
			row.from_epoch = ANSWER_NO_COUNT;
		answer_row(answer, &row, NULL);
	}
}

static int
take(struct owners *owners, struct db *tables, const char *store,
    struct answer *answer, struct err *err)
{
	struct claims before = { .parts = 0 };
	struct db_txn *txn;
	int rc;

	if (recognize(owners, tables, err) != 0 ||
	    owners_take_epoch(owners, err) != 0 ||
	    db_begin(tables, false, &txn, err) != 0)
		return -1;
	before.parts = owners->claims.parts;
	before.part = memory_copy(
	    owners->claims.part, before.parts * sizeof(*before.part));
	rc = owners_claim(owners, txn, err);
	if (rc == 0) {
		put_head(answer, store, owners);
		put_rows(answer, owners, &before, txn);
	}
	free(before.part);
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
    struct answer *answer, struct err *err)
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
	rc = check_partitions(tables, store, err);
	if (rc == 0)
		rc = take(&owners, tables, store, answer, err);
	owners_clear(&owners);
	db_close(&tables);
	return rc;
}
