/*
 * step - the transaction of the writer that indexes: from the journal, through
 * aggregator/indexer, to the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

#define INDEX_NS INT64_C(200000000) /* of work before a commit */

/* What a step writes is bounded by time, and can be more than what a small map
 * has free after retention: half as many entries are tried again, down to as
 * many as leave retention the pages that it writes. */
enum { STEP_LEAST = 64 };

/* The results of a step before its commit. */
struct step {
	struct db_txn *txn;
	int64_t wall_ns; /* when it began */
	uint64_t first, reached;
	uint64_t quarantined, damaged;
	bool more;
};

/* What time is it for the sender?  Batches of this node have our clock. */
static void
hear_clock(struct writer *writer, const struct step *step,
    const struct journal_entry *entry)
{
	if (!entry->rejected &&
	    !text_equal(entry->header.node, text_of(writer->options.node)))
		store_clock_hear(&writer->retention.clock, step->wall_ns,
		    entry->receive_ns, entry->header.sent_ns);
}

/* Index one entry; false when the transaction must end after it. */
static bool
take(
    struct writer *writer, struct step *step, const struct journal_entry *entry)
{
	bool alone = quarantine_suspects(&writer->quarantine, entry->number);
	bool given_up = quarantine_gives_up(&writer->quarantine, entry->number);

	if (alone && step->reached >= step->first)
		return false; /* alone, in the next transaction */
	quarantine_enter(&writer->quarantine,
	    step->reached >= step->first ? step->first : entry->number,
	    entry->number);
	heartbeat_beat();
	collect_entry(&writer->collect, step->txn, entry, given_up);
	hear_clock(writer, step, entry);
	step->quarantined += given_up;
	step->reached = entry->number;
	return !alone && !collect_is_full(&writer->collect);
}

static void
index_entries(struct writer *writer, struct step *step)
{
	int64_t until = clock_monotonic_ns() + INDEX_NS;
	uint64_t damaged = journal_walk_damaged(writer->walk);
	struct journal_entry entry;
	unsigned taken = 0;
	int rc;

	collect_reset(&writer->collect);
	writer->collect.rejected_bytes = writer->options.rejected_bytes > 0
					     ? writer->options.rejected_bytes
					     : UINT64_MAX;
	while ((rc = journal_walk_next(writer->walk, &entry)) != 0) {
		if (rc < 0)
			continue; /* the walk counts damaged entries */
		if (!take(writer, step, &entry)) {
			step->more = true;
			break;
		}
		if (++taken >= writer->step_most ||
		    (taken % 8 == 0 && clock_monotonic_ns() > until)) {
			step->more = true;
			break;
		}
	}
	step->damaged = journal_walk_damaged(writer->walk) - damaged;
	journal_walk_park(writer->walk);
}

static void
note(struct writer *writer, const struct step *step, int64_t began_ns)
{
	const struct collect *collect = &writer->collect;
	struct writer_status *status = &writer->status;

	pthread_mutex_lock(&writer->lock);
	status->position = step->reached;
	status->records += collect->records;
	status->batches += collect->batches;
	status->rejected += collect->rejected;
	status->rejected_cut += collect->rejected_cut;
	status->no_run_id += collect->no_run_id;
	status->phase_names_over += collect->phase_names_over;
	status->repeated += collect->repeated;
	status->groups_refused += collect->groups_refused;
	status->quarantined += step->quarantined;
	status->damaged += step->damaged;
	status->commits++;
	status->commit_ns = (uint64_t)(clock_monotonic_ns() - began_ns);
	status->overflow = writer->indexer_write.overflow;
	status->entities_over = writer->indexer_write.entities_over;
	status->names_over = dictionary_over_limit(writer->dictionary);
	pthread_mutex_unlock(&writer->lock);
}

/* Indexing notes the time, whether or not anything is deleted by age. */
static void
put_clock(struct writer *writer, struct step *step)
{
	struct store_clock *clock = &writer->retention.clock;

	store_clock_load(clock, step->txn);
	store_clock_step(clock, step->wall_ns, clock_boot_ns());
	store_clock_save(clock, step->txn);
}

static enum db_result
write_out(struct writer *writer, struct step *step, struct err *err)
{
	enum db_result result;

	writer->indexer_write.bytes = 0;
	indexer_write_row_blocks(
	    &writer->indexer_write, step->txn, &writer->collect);
	indexer_write_entities(
	    &writer->indexer_write, step->txn, &writer->collect, false);
	indexer_write_phases(
	    &writer->indexer_write, step->txn, &writer->collect);
	indexer_write_runs(&writer->indexer_write, step->txn, &writer->collect);
	indexer_write_counts(step->txn, &writer->collect);
	tables_put_fact(step->txn, FACT_INDEXED, step->reached);
	put_clock(writer, step);
	result = db_commit(&step->txn, err);
	if (result == DB_FULL && step->reached - step->first >= STEP_LEAST)
		writer->step_most = (step->reached - step->first) / 2;
	if (result != DB_OK) {
		collect_forget(&writer->collect);
		phase_memory_forget(&writer->indexer_write.memory);
		return result;
	}
	if (writer->step_most <= UINT64_MAX / 2)
		writer->step_most *= 2;
	store_clock_saved(&writer->retention.clock);
	atomic_store(&writer->position, step->reached);
	quarantine_leave(&writer->quarantine, step->reached);
	collect_learn(&writer->collect, writer->indexer_write.bytes / 3072);
	return DB_OK;
}

/* Another process has dropped a partition: forget the cached names. */
static void
see_drops(struct writer *writer, struct db_txn *txn)
{
	uint64_t dropped = tables_fact(txn, FACT_DROPPED);

	if (dropped == writer->dropped)
		return;
	writer->dropped = dropped;
	collect_forget(&writer->collect);
	phase_memory_forget(&writer->indexer_write.memory);
}

enum db_result
writer_step(struct writer *writer, bool *more, struct err *err)
{
	struct step step = { .reached = atomic_load(&writer->position),
		.wall_ns = clock_wall_ns() };
	int64_t began_ns = clock_monotonic_ns();
	enum db_result result;

	*more = false;
	step.first = step.reached + 1;
	if (journal_walk_seek(writer->walk, step.first, err) != 0 ||
	    db_begin(writer->db, true, &step.txn, err) != 0) {
		journal_walk_park(writer->walk);
		return DB_BROKEN;
	}
	see_drops(writer, step.txn);
	index_entries(writer, &step);
	if (step.reached < step.first) {
		db_abort(&step.txn);
		return DB_OK;
	}
	if (step.quarantined > 0)
		log_error("indexer: journal entry %llu crashed the aggregator "
			  "%d times; stored as a rejected batch",
		    (unsigned long long)step.reached, QUARANTINE_CRASHES);
	result = write_out(writer, &step, err);
	if (result == DB_OK) {
		note(writer, &step, began_ns);
		*more = step.more;
	}
	return result;
}
