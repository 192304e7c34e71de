/*
 * move - carries a partition from one store into another: the steps.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "aggregator/admin.h"
#include "proto/clock.h"
#include "proto/hash.h"
#include "proto/log.h"
#include "proto/partitions.h"

#define LOOK_NS (NS_PER_SECOND / 50)

/* ---- the two ends ---- */

static int
find_path(struct move_end *end, const char *dir, bool make, struct err *err)
{
	char *real;

	if (make && mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
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

static int
open_end(struct move_end *end, bool make, struct err *err)
{
	const struct journal_options journal = { .keep_map = true };
	struct db_options tables = { .keep_map = true };
	char path[PLACE_PATH_BYTES];
	struct stat st;

	if (place_path(path, end->path, "journal", err) != 0)
		return -1;
	if (!make && stat(path, &st) != 0)
		return err_set(err, "%s is not a store", end->path);
	if (admin_lock_moves(&end->lock, end->path, err) != 0 ||
	    journal_open(&end->journal, end->path, &journal, err) != 0)
		return -1;
	return tables_open(&end->tables, end->path, &tables, err);
}

static void
close_end(struct move_end *end)
{
	db_close(&end->tables);
	journal_close(&end->journal);
	lock_release(&end->lock);
}

/* The aggregator of the store looks at what has changed. */
static void
wake(const struct move_end *end)
{
	char path[PLACE_PATH_BYTES];
	long pid;

	if (place_path(path, end->path, "LOCK", NULL) != 0)
		return;
	pid = lock_holder(path);
	if (pid > 0)
		kill((pid_t)pid, SIGHUP);
}

/* With transactions that may write, so that we see the last commit of somebody
 * who was killed right behind it (journal.c, find_ends). */
static int
read_owners(struct move *move, struct err *err)
{
	struct move_end *ends[] = { &move->from, &move->to };
	struct db_txn *txn;
	bool good;

	for (int i = 0; i < 2; i++) {
		if (db_begin(ends[i]->tables, true, &txn, err) != 0)
			return -1;
		db_abort(&txn);
		if (db_begin(journal_db(ends[i]->journal), true, &txn, err) !=
		    0)
			return -1;
		good = owner_get(txn, move->partition, &ends[i]->owner);
		db_abort(&txn);
		if (!good)
			return err_set(err,
			    "%s: who keeps the partition cannot be read",
			    ends[i]->path);
	}
	return 0;
}

static int
begin(struct move *move, const struct move_options *options, struct err *err)
{
	move->options = options;
	move->partition = options->partition;
	if (find_path(&move->from, options->from, false, err) != 0 ||
	    find_path(&move->to, options->to, true, err) != 0)
		return -1;
	if (strcmp(move->from.path, move->to.path) == 0)
		return err_set(
		    err, "%s: both stores are the same", move->to.path);
	if (open_end(&move->from, false, err) != 0 ||
	    open_end(&move->to, true, err) != 0)
		return -1;
	return read_owners(move, err);
}

static void
end(struct move *move)
{
	close_end(&move->from);
	close_end(&move->to);
}

/* ---- what stands in the rows ---- */

/* Only in the place of the row that we know. */
static int
put_owner(struct move_end *end, struct db_txn *txn, struct text partition,
    const struct owner *owner, struct err *err)
{
	struct owner before;

	if (!owner_get(txn, partition, &before) ||
	    before.state != end->owner.state ||
	    !owner_same_move(&before, &end->owner)) {
		db_abort(&txn);
		return err_set(err,
		    "%s: somebody has begun or moved the partition meanwhile: "
		    "begin again",
		    end->path);
	}
	owner_put(txn, partition, owner);
	if (db_commit(&txn, err) != DB_OK)
		return err_prefix(err, "%s", end->path);
	end->owner = *owner;
	return 0;
}

static void
set_place(struct owner *owner, const struct move_end *other)
{
	_Static_assert(sizeof(owner->place) >= sizeof(other->path),
	    "a path is longer than a place");
	strcpy(owner->place, other->path);
	owner->since_ns = clock_wall_ns();
}

/* The number of the last entry, in the transaction's eyes. */
static uint64_t
last_entry(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	uint64_t number = 0;
	struct text key;

	if (db_last_key(cursor, &key) && key.bytes == 8)
		for (int i = 0; i < 8; i++)
			number = number << 8 | (unsigned char)key.at[i];
	db_cursor_close(&cursor);
	return number;
}

/* Streams of the partition: each to `on_stream` (may be NULL); their count. */
static uint64_t
each_stream(struct db_txn *txn, struct text partition, struct db_txn *to)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value, all = { NULL, 0 }, name;
	bool more = db_seek(cursor, all, &key, &value);
	uint64_t count = 0;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (key.bytes <= 16)
			continue;
		name = (struct text){ key.at + 16, key.bytes - 16 };
		if (!text_equal(name, partition))
			continue;
		count++;
		if (to != NULL)
			db_put(to, JOURNAL_STREAMS, key, value);
	}
	db_cursor_close(&cursor);
	return count;
}

static int
count_streams(struct move_end *end, struct text partition, uint64_t *count,
    struct err *err)
{
	struct db_txn *txn;

	if (db_begin(journal_db(end->journal), false, &txn, err) != 0)
		return -1;
	*count = each_stream(txn, partition, NULL);
	db_abort(&txn);
	return 0;
}

/* ---- may it be? ---- */

static int
check_target_is_free(struct move *move, struct err *err)
{
	struct move_end *to = &move->to;
	uint64_t streams = 0;
	bool named = false;

	if (to->owner.state == OWNER_GONE && to->owner.tidied)
		return 0;
	if (to->owner.state == OWNER_GONE)
		return err_set(err,
		    "%s still has rows of it from before it went to %s: begin "
		    "that move again, it tidies up",
		    to->path, to->owner.place);
	if (to->owner.state != OWNER_NONE)
		return err_set(err,
		    "%s has records of this partition (%s) that are not from "
		    "this move",
		    to->path, owner_word(to->owner.state));
	if (count_streams(to, move->partition, &streams, err) != 0 ||
	    move_is_named(to, move->partition, &named, err) != 0)
		return -1;
	if (streams > 0 || named)
		return err_set(err,
		    "%s has records of this partition that are not from this "
		    "move",
		    to->path);
	return 0;
}

static int
check_source_has_it(struct move *move, struct err *err)
{
	uint64_t streams = 0;
	bool named = false;

	if (count_streams(&move->from, move->partition, &streams, err) != 0 ||
	    move_is_named(&move->from, move->partition, &named, err) != 0)
		return -1;
	if (streams > 0 || named || move->from.owner.state == OWNER_OWN)
		return 0;
	return err_set(
	    err, "%s has nothing of this partition", move->from.path);
}

/* Readers believe that samples before a store's cuts are in its tiers only. */
static int
check_cuts(struct move *move, struct err *err)
{
	struct db_txn *from, *to;
	char when[CLOCK_TEXT_BYTES];
	int rc = 0;

	if (db_begin(move->from.tables, false, &from, err) != 0)
		return -1;
	if (db_begin(move->to.tables, false, &to, err) != 0) {
		db_abort(&from);
		return -1;
	}
	for (unsigned tier = 0; tier < 4 && rc == 0; tier++) {
		int32_t hour = tables_cut(from, tier);

		if (hour > tables_cut(to, tier) &&
		    tables_fact(to, FACT_ROW) > 0)
			rc = err_set(err,
			    "%s has no %s before %s any more, and %s keeps "
			    "them: start its aggregator with the same "
			    "--retain options first",
			    move->from.path, tier == 0 ? "samples" : "tiers",
			    clock_text(when, hour * (3600 * NS_PER_SECOND), 0),
			    move->to.path);
	}
	db_abort(&from);
	db_abort(&to);
	return rc;
}

/* ---- the steps ---- */

static int
freeze(struct move *move, struct err *err)
{
	struct owner owner = { .state = OWNER_FROZEN };
	struct db_txn *txn;

	if (check_source_has_it(move, err) != 0 ||
	    check_target_is_free(move, err) != 0 ||
	    check_cuts(move, err) != 0 ||
	    db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	random_bytes(owner.move, sizeof(owner.move));
	set_place(&owner, &move->to);
	owner.number = last_entry(txn);
	if (put_owner(&move->from, txn, move->partition, &owner, err) != 0)
		return -1;
	log_info("frozen in %s: senders wait", move->from.path);
	return 0;
}

static int
await_fold(struct move *move, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + move->options->timeout_ns;
	const struct timespec nap = { 0, LOOK_NS };
	uint64_t folded, before = 0;
	struct db_txn *txn;

	for (;;) {
		if (db_begin(move->from.tables, false, &txn, err) != 0)
			return -1;
		folded = tables_fact(txn, FACT_FOLDED);
		db_abort(&txn);
		if (folded >= move->from.owner.number)
			return 0;
		if (folded != before)
			until_ns =
			    clock_monotonic_ns() + move->options->timeout_ns;
		before = folded;
		if (clock_monotonic_ns() > until_ns)
			return err_set(err,
			    "%s: %llu batches are to be folded before the "
			    "partition can go, and nobody does: start its "
			    "aggregator and begin again (or --cancel)",
			    move->from.path,
			    (unsigned long long)(move->from.owner.number -
						 folded));
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
	if (check_target_is_free(move, err) != 0 ||
	    db_begin(journal_db(move->to.journal), true, &txn, err) != 0)
		return -1;
	memcpy(owner.move, move->from.owner.move, sizeof(owner.move));
	set_place(&owner, &move->from);
	return put_owner(&move->to, txn, move->partition, &owner, err);
}

/* From this transaction on the target keeps it. */
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
	streams = each_stream(source, move->partition, txn);
	db_abort(&source);
	if (db_status(journal_db(move->from.journal), &after, err) != 0 ||
	    after.damaged != before.damaged) {
		db_abort(&txn);
		return err_set(err,
		    "%s: a stream is damaged: nothing was "
		    "moved",
		    move->from.path);
	}
	owner.state = OWNER_OWN;
	owner.number = last_entry(txn);
	owner.since_ns = clock_wall_ns();
	if (put_owner(&move->to, txn, move->partition, &owner, err) != 0)
		return -1;
	log_info("%s keeps it now, with %llu streams", move->to.path,
	    (unsigned long long)streams);
	return 0;
}

static int
let_go(struct move *move, bool tidied, struct err *err)
{
	struct owner owner = move->from.owner;
	struct db_txn *txn;

	if (db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	owner.state = OWNER_GONE;
	owner.tidied = tidied;
	return put_owner(&move->from, txn, move->partition, &owner, err);
}

static int
change_table(struct move *move, struct err *err)
{
	uint64_t version;

	if (move->options->endpoint == NULL)
		return 0;
	if (partitions_change(move->options->table, move->partition,
		text_of(move->options->endpoint), &version, err) != 0)
		return -1;
	log_info("%s: version %llu sends it to %s", move->options->table,
	    (unsigned long long)version, move->options->endpoint);
	return 0;
}

static bool
is_switched(const struct move *move)
{
	return move->to.owner.state == OWNER_OWN &&
	       owner_same_move(&move->to.owner, &move->from.owner) &&
	       owner_moved(&move->to.owner);
}

static int
check_begun(struct move *move, struct err *err)
{
	const struct owner *from = &move->from.owner;

	if (from->state == OWNER_GONE && !is_switched(move))
		return err_set(
		    err, "%s gave it to %s", move->from.path, from->place);
	if (from->state == OWNER_COMING)
		return err_set(err,
		    "it is on its way from %s to %s: finish "
		    "that move first",
		    from->place, move->from.path);
	if (from->state == OWNER_FROZEN &&
	    strcmp(from->place, move->to.path) != 0)
		return err_set(err,
		    "it is on its way to %s: finish that move "
		    "first, or --cancel it",
		    from->place);
	return 0;
}

static int
carry(struct move *move, struct err *err)
{
	if (move->from.owner.state != OWNER_FROZEN && freeze(move, err) != 0)
		return -1;
	if (await_fold(move, err) != 0 || announce(move, err) != 0 ||
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
	wake(&move->to);
	if (move->from.owner.state != OWNER_GONE &&
	    let_go(move, false, err) != 0)
		return -1;
	if (change_table(move, err) != 0)
		return -1;
	if (!move->from.owner.tidied &&
	    (move_remove_rows(move, err) != 0 || let_go(move, true, err) != 0))
		return -1;
	wake(&move->from);
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

/* ---- back ---- */

static int
thaw(struct move *move, struct err *err)
{
	struct owner owner = move->from.owner;
	struct db_txn *txn;

	if (db_begin(journal_db(move->from.journal), true, &txn, err) != 0)
		return -1;
	owner.state = OWNER_OWN;
	owner.since_ns = clock_wall_ns();
	return put_owner(&move->from, txn, move->partition, &owner, err);
}

static int
take_back(struct move *move, struct err *err)
{
	struct owner owner = move->to.owner;
	struct db_txn *txn;

	if (move->from.owner.state != OWNER_FROZEN ||
	    strcmp(move->from.owner.place, move->to.path) != 0)
		return err_set(err,
		    "%s: no move of it to %s has begun, or it "
		    "is over",
		    move->from.path, move->to.path);
	if (is_switched(move))
		return err_set(err,
		    "too late: %s keeps it already; begin the "
		    "move again to finish it",
		    move->to.path);
	if (move->to.owner.state == OWNER_COMING &&
	    owner_same_move(&move->to.owner, &move->from.owner)) {
		if (move_forget_copy(move, err) != 0 ||
		    db_begin(journal_db(move->to.journal), true, &txn, err) !=
			0)
			return -1;
		/* It is kept elsewhere, as before. */
		owner.state = OWNER_GONE;
		owner.tidied = true;
		if (put_owner(&move->to, txn, move->partition, &owner, err) !=
		    0)
			return -1;
	}
	return thaw(move, err);
}

int
move_cancel(const struct move_options *options, struct err *err)
{
	struct move move = { .from = { .path = "" } };
	int rc = begin(&move, options, err);

	if (rc == 0)
		rc = take_back(&move, err);
	end(&move);
	return rc;
}
