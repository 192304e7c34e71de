/*
 * owned_partitions - the partitions of a store, read by other processes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/owned_partitions.h"

#include "aggregator/admin/admin_private.h"
#include "aggregator/journal/owner.h"
#include "aggregator/tables/dictionary.h"

struct listing {
	struct db_txn *tables;
	void (*on_owned)(void *arg, const struct owned_partition *owned);
	void *arg;
};

static uint64_t
count_records(struct db_txn *tables, struct text partition)
{
	struct partition_counts counts = { .nodes = 0 };
	uint32_t number = dictionary_find(tables, 0, partition);
	uint64_t records = 0;

	if (number == 0)
		return 0;
	tables_get_counts(tables, number, &counts);
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		records += counts.records[kind];
	return records;
}

static void
on_owner(void *arg, struct text partition, const struct owner *owner)
{
	const struct listing *listing = arg;
	struct owned_partition owned_partition = { .partition = partition,
		.state = owner_state_name(owner->state),
		.records = count_records(listing->tables, partition),
		.since_ns = owner->since_ns,
		.other_store =
		    owner->state == OWNER_OWN ? "" : owner->other_store };

	if (owner->state == OWNER_GONE && !owner->cleaned)
		owned_partition.state =
		    "going"; /* its rows are not deleted yet */
	listing->on_owned(listing->arg, &owned_partition);
}

int
owned_partitions_each(const char *store,
    void (*on_owned)(void *arg, const struct owned_partition *owned_partition),
    void *arg, struct err *err)
{
	struct listing listing = { NULL, on_owned, arg };
	struct admin_both both;
	struct db_txn *journal;
	int rc;

	if (admin_find(store, err) != 0 ||
	    admin_both_open(&both, store, true, err) != 0)
		return -1;
	rc = db_begin(both.tables, false, &listing.tables, err);
	if (rc == 0) {
		rc = db_begin(journal_db(both.journal), false, &journal, err);
		if (rc == 0) {
			owner_each(journal, on_owner, &listing);
			db_abort(&journal);
		}
		db_abort(&listing.tables);
	}
	admin_both_close(&both);
	return rc;
}
