/*
 * move - move a partition from one store to another: the steps.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/move_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "aggregator/admin/admin.h"
#include "proto/hash/hash.h"
#include "proto/config/instance.h"
#include "proto/config/partition_table.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define CHECK_NS (NS_PER_SECOND / 50)

/* ---- source and target ---- */

int
move_find_path(
    struct move_end *end, const char *dir, bool make, struct err *err)
{
	char *real;

	if (make ? instance_make_dir(dir, err) != 0 : admin_find(dir, err) != 0)
		return -1;
	real = realpath(dir, NULL);
	if (real == NULL)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if (strlen(real) >= sizeof(end->path)) {
		free(real);
		return err_set(err, "%s: name too long", dir);
	}
	strcpy(end->path, real);
	free(real);
	return 0;
}

int
move_open_end(struct move_end *end, struct err *err)
{
	const struct journal_options journal = { .keep_map = true };
	struct db_options tables = { .keep_map = true };

	if (admin_lock_moves(&end->lockfile, end->path, err) != 0 ||
	    journal_open(&end->journal, end->path, &journal, err) != 0)
		return -1;
	return tables_open(&end->tables, end->path, &tables, err);
}

void
move_close_end(struct move_end *end)
{
	db_close(&end->tables);
	journal_close(&end->journal);
	lockfile_release(&end->lockfile);
}

/* Use write transactions, to see the last commit of a process that was killed
 * right after it (journal/journal.c, find_ends). */
int
move_read_owner(struct move_end *end, struct text partition, struct err *err)
{
	struct db_txn *txn;
	bool good;

	if (db_begin(end->tables, true, &txn, err) != 0)
		return -1;
	db_abort(&txn);
	if (db_begin(journal_db(end->journal), true, &txn, err) != 0)
		return -1;
	good = owner_get(txn, partition, &end->owner);
	db_abort(&txn);
	if (!good)
		return err_set(err,
		    "%s: the assignment of the partition cannot be read",
		    end->path);
	return 0;
}

static int
begin(struct move *move, const struct move_options *options, struct err *err)
{
	move->options = options;
	move->partition = options->partition;
	if (move_find_path(&move->from, options->from, false, err) != 0 ||
	    move_find_path(&move->to, options->to, true, err) != 0)
		return -1;
	if (strcmp(move->from.path, move->to.path) == 0)
		return err_set(err, "%s: source and target are the same store",
		    move->to.path);
	if (move_open_end(&move->from, err) != 0 ||
	    move_open_end(&move->to, err) != 0)
		return -1;
	if (move_read_owner(&move->from, move->partition, err) != 0)
		return -1;
	return move_read_owner(&move->to, move->partition, err);
}

static void
end(struct move *move)
{
	move_close_end(&move->from);
	move_close_end(&move->to);
}

/* ---- the steps ---- */

static int
freeze(struct move *move, struct err *err)
{
	struct owner owner = { .state = OWNER_FROZEN };
	struct db_txn *txn;

	if (move_check_source(move, err) != 0 ||
	    move_check_target(move, err) != 0 ||
	    move_check_cuts(move, err) != 0 ||
	    db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	hash_random_bytes(owner.move, sizeof(owner.move));
	move_set_other_store(&owner, &move->to);
	owner.number = move_last_entry(txn);
	if (move_put_owner(&move->from, txn, move->partition, &owner, err) != 0)
		return -1;
	log_info(
	    "the partition is frozen in %s: senders wait", move->from.path);
	return 0;
}

int
move_await_indexer(struct move *move, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + move->options->timeout_ns;
	const struct timespec nap = { 0, CHECK_NS };
	uint64_t indexed, before = 0;
	struct db_txn *txn;

	for (;;) {
		if (db_begin(move->from.tables, false, &txn, err) != 0)
			return -1;
		indexed = tables_fact(txn, FACT_INDEXED);
		db_abort(&txn);
		if (indexed >= move->from.owner.number)
			return 0;
		if (indexed != before)
			until_ns =
			    clock_monotonic_ns() + move->options->timeout_ns;
		before = indexed;
		if (clock_monotonic_ns() > until_ns)
			return err_set(err,
			    "%s: %llu batches are not indexed yet, and "
			    "indexing makes no progress: start its aggregator "
			    "and run the command again",
			    move->from.path,
			    (unsigned long long)(move->from.owner.number -
						 indexed));
		nanosleep(&nap, NULL);
	}
}

static int
announce(struct move *move, struct err *err)
{
	struct owner owner = { .state = OWNER_COMING };
	struct db_txn *txn;

	if (move->to.owner.state == OWNER_COMING &&
	    owner_same_move(&move->to.owner, &move->from.owner))
		return 0;
	if (move_check_target(move, err) != 0 ||
	    db_begin(journal_db(move->to.journal), true, &txn, err) != 0)
		return -1;
	memcpy(owner.move, move->from.owner.move, sizeof(owner.move));
	move_set_other_store(&owner, &move->from);
	return move_put_owner(&move->to, txn, move->partition, &owner, err);
}

/* This transaction assigns the partition to the target. */
static int
take_over(struct move *move, struct err *err)
{
	struct owner owner = move->to.owner;
	struct db_status before, after;
	struct db_txn *txn, *source;
	uint64_t streams;

	if (db_status(journal_db(move->from.journal), &before, err) != 0 ||
	    db_begin(journal_db(move->from.journal), false, &source, err) != 0)
		return -1;
	if (db_begin(journal_db(move->to.journal), true, &txn, err) != 0) {
		db_abort(&source);
		return -1;
	}
	streams = move_each_stream(source, move->partition, txn);
	db_abort(&source);
	if (db_status(journal_db(move->from.journal), &after, err) != 0 ||
	    after.damaged != before.damaged) {
		db_abort(&txn);
		return err_set(err,
		    "%s: the state of a stream is damaged; nothing was moved",
		    move->from.path);
	}
	owner.state = OWNER_OWN;
	owner.number = move_last_entry(txn);
	owner.since_ns = clock_wall_ns();
	if (move_put_owner(&move->to, txn, move->partition, &owner, err) != 0)
		return -1;
	log_info("the partition is assigned to %s, with %llu streams",
	    move->to.path, (unsigned long long)streams);
	return 0;
}

static int
release(struct move *move, bool cleaned, struct err *err)
{
	struct owner owner = move->from.owner;
	struct db_txn *txn;

	if (db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	owner.state = OWNER_GONE;
	owner.cleaned = cleaned;
	return move_put_owner(&move->from, txn, move->partition, &owner, err);
}

static int
change_table(struct move *move, struct err *err)
{
	uint64_t version;

	if (move->options->endpoint == NULL)
		return 0;
	if (partition_table_change(move->options->table, move->partition,
		text_of(move->options->endpoint), &version, err) != 0)
		return -1;
	log_info("%s: version %llu assigns it to %s", move->options->table,
	    (unsigned long long)version, move->options->endpoint);
	return 0;
}

static bool
is_switched(const struct move *move)
{
	return move->to.owner.state == OWNER_OWN &&
	       owner_same_move(&move->to.owner, &move->from.owner) &&
	       owner_was_moved(&move->to.owner);
}

static int
check_begun(struct move *move, struct err *err)
{
	const struct owner *from = &move->from.owner;

	if (from->state == OWNER_GONE && !is_switched(move))
		return err_set(err, "%s: the partition was moved to %s",
		    move->from.path, from->other_store);
	if (from->state == OWNER_COMING)
		return err_set(err,
		    "a move from %s to %s is under way: finish that move first",
		    from->other_store, move->from.path);
	if (from->state == OWNER_FROZEN &&
	    strcmp(from->other_store, move->to.path) != 0)
		return err_set(err,
		    "a move to %s is under way: finish that move first, or "
		    "--cancel it",
		    from->other_store);
	return 0;
}

static int
carry(struct move *move, struct err *err)
{
	if (move->from.owner.state != OWNER_FROZEN && freeze(move, err) != 0)
		return -1;
	if (move_await_indexer(move, err) != 0 || announce(move, err) != 0 ||
	    move_copy(move, err) != 0)
		return -1;
	return take_over(move, err);
}

static int
run(struct move *move, struct err *err)
{
	if (check_begun(move, err) != 0 ||
	    (!is_switched(move) && carry(move, err) != 0))
		return -1;
	admin_wake(move->to.path);
	if (move->from.owner.state != OWNER_GONE &&
	    release(move, false, err) != 0)
		return -1;
	if (change_table(move, err) != 0)
		return -1;
	if (!move->from.owner.cleaned &&
	    (move_remove_rows(move, err) != 0 || release(move, true, err) != 0))
		return -1;
	admin_wake(move->from.path);
	return 0;
}

int
move_partition(const struct move_options *options, struct err *err)
{
	struct move move = { .from = { .path = "" } };
	int rc = begin(&move, options, err);

	if (rc == 0)
		rc = run(&move, err);
	end(&move);
	return rc;
}

/* ---- cancel ---- */

int
move_thaw(struct move *move, struct err *err)
{
	struct owner owner = move->from.owner;
	struct db_txn *txn;

	if (db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	owner.state = OWNER_OWN;
	owner.since_ns = clock_wall_ns();
	return move_put_owner(&move->from, txn, move->partition, &owner, err);
}

static int
cancel(struct move *move, struct err *err)
{
	struct owner owner = move->to.owner;
	struct db_txn *txn;

	if (move->from.owner.state != OWNER_FROZEN ||
	    strcmp(move->from.owner.other_store, move->to.path) != 0)
		return err_set(err, "%s: no move to %s is under way",
		    move->from.path, move->to.path);
	if (is_switched(move))
		return err_set(err,
		    "too late to cancel: the partition is already assigned to "
		    "%s; run the move again to finish it",
		    move->to.path);
	if (move->to.owner.state == OWNER_COMING &&
	    owner_same_move(&move->to.owner, &move->from.owner)) {
		if (move_delete_copy(move, err) != 0 ||
		    db_begin(journal_db(move->to.journal), true, &txn, err) !=
			0)
			return -1;
		/* To the target the partition belongs elsewhere, as before. */
		owner.state = OWNER_GONE;
		owner.cleaned = true;
		if (move_put_owner(
			&move->to, txn, move->partition, &owner, err) != 0)
			return -1;
	}
	return move_thaw(move, err);
}

int
move_cancel(const struct move_options *options, struct err *err)
{
	struct move move = { .from = { .path = "" } };
	int rc = begin(&move, options, err);

	if (rc == 0)
		rc = cancel(&move, err);
	end(&move);
	return rc;
}
