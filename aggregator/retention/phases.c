/*
 * phases - delete the events of phases that are too old, and remove them from
 * the statistics.  An end whose start was deleted has no partner any more.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include <string.h>

/* Delete the old events of a row, or the row. */
static void
trim_row(struct retention *retention, struct db_txn *txn, struct text key,
    const struct key_phase *phase, int64_t cut_ns)
{
	struct indexer_write *write = retention->indexer_write;
	struct phase_row *row = &write->phase;
	uint32_t old = 0;

	while (old < row->count && row->at[old].id.time_ns < cut_ns)
		old++;
	if (old == 0)
		return;
	phase_sum_reset(&write->before);
	phase_sum_reset(&write->after);
	phase_sum_add(&write->before, row->at, row->count);
	row->count -= old;
	memmove(row->at, row->at + old, row->count * sizeof(*row->at));
	if (row->count == 0) {
		db_del(txn, TABLES_PHASES, key);
	} else {
		phase_row_pair(row, 0, row->count);
		write->value.bytes = 0;
		phase_row_encode(
		    row, 0, row->count, phase->scope, &write->value);
		phase_sum_add(&write->after, row->at, row->count);
		db_put(txn, TABLES_PHASES, key, buffer_text(&write->value));
	}
	phase_sum_replace(write->stats, &write->before, &write->after);
}

/* Move to the next row of phases after retention->key; false at the end of the
 * table. */
static bool
next_row(struct retention *retention, struct db_txn *txn,
    struct key_phase *phase, struct text *value)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct text from = { (const char *)retention->key,
		retention->key_bytes };
	struct text key;
	bool more = db_seek(cursor, from, &key, value);

	while (
	    more && (text_equal(key, from) || !phase_row_get_key(key, phase)))
		more = db_next(cursor, &key, value);
	if (more) {
		memcpy(retention->key, key.at, key.bytes);
		retention->key_bytes = key.bytes;
	}
	db_cursor_close(&cursor);
	return more;
}

static void
put_stats(struct retention *retention, struct db_txn *txn,
    const struct key_phase *phase, bool through)
{
	struct duration_stats *stats = retention->indexer_write->stats;

	/* While a phase is not done, its extremes may stay loose: finding them
	 * takes a walk over all its rows. */
	if (through && stats->loose)
		indexer_write_sum_phase(retention->indexer_write, txn,
		    phase->partition, phase->phase, stats);
	indexer_write_put_stats(retention->indexer_write, txn, phase->partition,
	    phase->phase, stats);
}

bool
retention_phases(struct retention *retention, struct db_txn *txn)
{
	int64_t cut_ns = retention->cuts.before[RETENTION_ALL] * KEY_HOUR_NS;
	struct key_phase now, at = { 0, 0, 0, 0 };
	struct text value;
	uint32_t rows;

	for (rows = 0; rows < RETENTION_ROWS; rows++) {
		struct text key;

		if (!next_row(retention, txn, &now, &value)) {
			if (at.partition != 0)
				put_stats(retention, txn, &at, true);
			return true;
		}
		if (now.partition != at.partition || now.phase != at.phase) {
			if (at.partition != 0)
				put_stats(retention, txn, &at, true);
			indexer_write_get_stats(txn, now.partition, now.phase,
			    retention->indexer_write->stats);
			at = now;
		}
		key = (struct text){ (const char *)retention->key,
			retention->key_bytes };
		if (phase_row_decode(
			&retention->indexer_write->phase, value, now.scope))
			trim_row(retention, txn, key, &now, cut_ns);
	}
	put_stats(retention, txn, &at, false);
	return false;
}
