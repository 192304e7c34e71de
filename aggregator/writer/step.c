/*
 * fold - one transaction: from the journal into the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

#define GATHER_NS INT64_C(50000000) /* of work, then the commit */

/* What is known of a step before its commit. */
struct step {
	struct db_txn *txn;
	uint64_t first, reached;
	uint64_t poisoned, damaged;
	bool more;
};

/* One entry; false when the transaction is to end behind it. */
static bool
take(struct fold *fold, struct step *step, const struct journal_entry *entry)
{
	bool alone = poison_suspects(&fold->poison, entry->number);
	bool convicted = poison_convicts(&fold->poison, entry->number);

	if (alone && step->reached >= step->first)
		return false; /* after those before it */
	poison_enter(&fold->poison,
	    step->reached >= step->first ? step->first : entry->number,
	    entry->number);
	pulse_beat();
	gather_entry(&fold->gather, step->txn, entry, convicted);
	step->poisoned += convicted;
	step->reached = entry->number;
	return !alone && !gather_is_full(&fold->gather);
}

static void
gather(struct fold *fold, struct step *step)
{
	int64_t until = clock_monotonic_ns() + GATHER_NS;
	uint64_t damaged = journal_walk_damaged(fold->walk);
	struct journal_entry entry;
	unsigned taken = 0;
	int rc;

	gather_reset(&fold->gather);
	fold->gather.dead_bytes = fold->options.dead_bytes > 0
				      ? fold->options.dead_bytes
				      : UINT64_MAX;
	while ((rc = journal_walk_next(fold->walk, &entry)) != 0) {
		if (rc < 0)
			continue; /* the walk counts how many it were */
		if (!take(fold, step, &entry)) {
			step->more = true;
			break;
		}
		if (++taken % 8 == 0 && clock_monotonic_ns() > until) {
			step->more = true;
			break;
		}
	}
	step->damaged = journal_walk_damaged(fold->walk) - damaged;
	journal_walk_park(fold->walk);
}

static void
note(struct fold *fold, const struct step *step, int64_t began_ns)
{
	const struct gather *gather = &fold->gather;
	struct fold_status *status = &fold->status;

	pthread_mutex_lock(&fold->lock);
	status->position = step->reached;
	status->records += gather->records;
	status->batches += gather->batches;
	status->dead += gather->dead;
	status->dead_cut += gather->dead_cut;
	status->unscoped += gather->unscoped;
	status->poisoned += step->poisoned;
	status->damaged += step->damaged;
	status->commits++;
	status->commit_ns = (uint64_t)(clock_monotonic_ns() - began_ns);
	status->late = fold->store.late;
	status->unkept = fold->store.unkept;
	status->entities_over = fold->store.entities_over;
	status->names_over = names_over(fold->names);
	pthread_mutex_unlock(&fold->lock);
}

static enum db_result
write_out(struct fold *fold, struct step *step, struct err *err)
{
	enum db_result result;

	fold->store.pages = fold->store.bytes = 0;
	store_heads(&fold->store, step->txn, &fold->gather);
	store_entities(&fold->store, step->txn, &fold->gather, false);
	store_phases(&fold->store, step->txn, &fold->gather);
	store_runs(&fold->store, step->txn, &fold->gather);
	store_counts(step->txn, &fold->gather);
	tables_put_fact(step->txn, FACT_FOLDED, step->reached);
	result = db_commit(&step->txn, err);
	if (result != DB_OK) {
		gather_forget(&fold->gather);
		return result;
	}
	atomic_store(&fold->position, step->reached);
	poison_leave(&fold->poison, step->reached);
	gather_learn(
	    &fold->gather, fold->store.pages + fold->store.bytes / 3072);
	return DB_OK;
}

/* Another process has moved a partition in or out since: what is known of
 * names is not true any more, and phases may wait to be derived. */
static void
see_moves(struct fold *fold, struct db_txn *txn)
{
	uint64_t moved = tables_fact(txn, FACT_MOVED);

	if (moved == fold->moved)
		return;
	fold->moved = moved;
	gather_forget(&fold->gather);
	fold->rebuild = tables_fact(txn, FACT_REBUILD);
}

enum db_result
fold_step(struct fold *fold, bool *more, struct err *err)
{
	struct step step = { .reached = atomic_load(&fold->position) };
	int64_t began_ns = clock_monotonic_ns();
	enum db_result result;

	*more = false;
	step.first = step.reached + 1;
	if (journal_walk_seek(fold->walk, step.first, err) != 0 ||
	    db_begin(fold->db, true, &step.txn, err) != 0) {
		journal_walk_park(fold->walk);
		return DB_BROKEN;
	}
	see_moves(fold, step.txn);
	gather(fold, &step);
	if (step.reached < step.first) {
		db_abort(&step.txn);
		return DB_OK;
	}
	if (step.poisoned > 0)
		log_error("fold: journal entry %llu crashed us %d times: "
			  "kept as a dead letter",
		    (unsigned long long)step.reached, POISON_CRASHES);
	result = write_out(fold, &step, err);
	if (result == DB_OK) {
		note(fold, &step, began_ns);
		*more = step.more;
	}
	return result;
}
