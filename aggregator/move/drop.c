/*
 * move_drop - delete a partition that should not exist.
 *
 * As for a move, the partition is frozen while its rows are deleted: senders
 * wait.  Afterwards it is assigned to the store as before.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/drop.h"

#include <string.h>

#include "aggregator/admin/admin.h"
#include "aggregator/move/move_private.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/hash/hash.h"

/* A drop that was interrupted is frozen with its own store at the other end. */
static bool
is_begun(const struct move *move)
{
	return move->from.owner.state == OWNER_FROZEN &&
	       strcmp(move->from.owner.other_store, move->from.path) == 0;
}

static int
freeze(struct move *move, struct err *err)
{
	struct owner owner = { .state = OWNER_FROZEN };
	struct db_txn *txn;

	if (db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	hash_random_bytes(owner.move, sizeof(owner.move));
	move_set_other_store(&owner, &move->from);
	owner.number = move_last_entry(txn);
	return move_put_owner(&move->from, txn, move->partition, &owner, err);
}

static int
check(struct move *move, struct err *err)
{
	const struct owner *owner = &move->from.owner;

	if (owner->state == OWNER_FROZEN || owner->state == OWNER_COMING)
		return err_set(err,
		    "%s: a move of the partition is under way: finish it, or "
		    "--cancel it",
		    move->from.path);
	if (owner->state == OWNER_GONE)
		return err_set(err, "%s: the partition was moved to %s",
		    move->from.path, owner->other_store);
	return move_check_source(move, err);
}

static int
get_counts(struct move *move, struct partition_counts *counts, struct err *err)
{
	struct db_txn *txn;
	uint32_t number;

	if (db_begin(move->from.tables, false, &txn, err) != 0)
		return -1;
	number = dictionary_find(txn, 0, move->partition);
	*counts = (struct partition_counts){ .nodes = 0 };
	if (number != 0)
		tables_get_counts(txn, number, counts);
	db_abort(&txn);
	return 0;
}

static int
drop(struct move *move, bool dry_run, struct partition_counts *counts,
    struct err *err)
{
	bool begun = is_begun(move);

	if (!begun && check(move, err) != 0)
		return -1;
	if (dry_run)
		return get_counts(move, counts, err);
	if (!begun && freeze(move, err) != 0)
		return -1;
	admin_wake(move->from.path);
	if (move_await_indexer(move, err) != 0 ||
	    get_counts(move, counts, err) != 0 ||
	    move_remove_rows(move, err) != 0 || move_thaw(move, err) != 0)
		return -1;
	admin_wake(move->from.path);
	return 0;
}

int
move_drop(const struct move_options *options, bool dry_run,
    struct partition_counts *counts, struct err *err)
{
	struct move move = { .options = options,
		.partition = options->partition,
		.from = { .path = "" } };
	int rc = move_find_path(&move.from, options->from, false, err);

	if (rc == 0)
		rc = move_open_end(&move.from, err);
	if (rc == 0)
		rc = move_read_owner(&move.from, move.partition, err);
	if (rc == 0)
		rc = drop(&move, dry_run, counts, err);
	move_close_end(&move.from);
	return rc;
}
