/*
 * phases - delete the events of phases that are too old, and remove them from
 * the statistics.  An end whose start was deleted has no partner any more.
 *
 * Nobody reads events before the cut of a phase any more; a merge leaves them
 * out.  Parts that have no others are deleted at once.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include "proto/os/heartbeat.h"

/* Has the phase events before the cut? */
static bool
is_old(const struct part_list *list, int64_t cut_ns)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].least_ns < cut_ns)
			return cut_ns > list->cut_ns;
	return false;
}

static void
cut_phase(struct retention *retention, struct db_txn *txn,
    struct part_list *list, int64_t cut_ns)
{
	struct indexer_write *write = retention->indexer_write;

	list->cut_ns = cut_ns;
	for (uint32_t i = list->count; i-- > 0;)
		if (list->at[i].most_ns < cut_ns)
			part_list_delete(list, txn, list->at[i].number);
	part_list_put(list, txn);
	indexer_write_sum_phase(
	    write, txn, list->partition, list->phase, write->stats);
	indexer_write_put_stats(
	    write, txn, list->partition, list->phase, write->stats);
	/* It has starts that are deleted. */
	phase_memory_forget(&write->memory);
}

bool
retention_phases(struct retention *retention, struct db_txn *txn)
{
	int64_t cut_ns = retention->cuts.before[RETENTION_ALL] * KEY_HOUR_NS;
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct part_list list = { .at = NULL };
	uint32_t seen = 0;
	bool more, cut = false;

	/* A phase with old events takes a transaction of its own. */
	while ((more = part_list_find(
		    cursor, &retention->phase_partition, &retention->phase)) &&
	       !cut && seen++ < RETENTION_ROWS) {
		heartbeat_beat();
		cut = part_list_get(&list, txn, retention->phase_partition,
			  retention->phase) &&
		      is_old(&list, cut_ns);
		if (cut)
			cut_phase(retention, txn, &list, cut_ns);
		if (++retention->phase == 0)
			retention->phase_partition++;
	}
	db_cursor_close(&cursor);
	part_list_clear(&list);
	return !more;
}
