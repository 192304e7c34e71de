/*
 * phases - delete pairs of phases whose events are both too old, and
 * remove them from the statistics.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include <string.h>

/* Delete the compacted rows of the current state whose pairs are all old;
 * remove them from `sums` and from the statistics of the phase.  Returns the
 * number of rows that are left. */
static uint64_t
trim_compacted(struct retention *retention, struct db_txn *txn,
    const struct key_phase *phase, int64_t cut_ns, struct duration_stats *sums)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	unsigned char bytes[PHASE_KEY_COMPACTED_BYTES];
	struct phase_entry start, end;
	struct phase_compacted pairs;
	struct text key, value;
	uint64_t left = 0;
	bool more, old;

	phase_key_compacted(bytes, phase, 0);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && key.bytes == sizeof(bytes) &&
	       memcmp(key.at, bytes, KEY_PHASE_BYTES) == 0;
	     more = db_next(cursor, &key, &value)) {
		phase_open_compacted(&pairs, value, phase->scope);
		for (old = true; phase_next_compacted(&pairs, &start, &end);)
			old = old && start.id.time_ns < cut_ns &&
			      end.id.time_ns < cut_ns;
		if (!old) {
			left++;
			continue;
		}
		phase_open_compacted(&pairs, value, phase->scope);
		while (phase_next_compacted(&pairs, &start, &end)) {
			duration_stats_remove(
			    sums, phase_duration(&start, &end));
			duration_stats_remove(retention->indexer_write->stats,
			    phase_duration(&start, &end));
		}
		db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	return left;
}

/* Find the extremes of the sums again in the compacted rows that are left. */
static void
tighten(struct db_txn *txn, const struct key_phase *phase,
    struct duration_stats *sums)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	unsigned char bytes[PHASE_KEY_COMPACTED_BYTES];
	struct phase_entry start, end;
	struct phase_compacted pairs;
	struct text key, value;
	bool more;

	sums->min = INT64_MAX;
	sums->max = INT64_MIN;
	sums->loose = false;
	phase_key_compacted(bytes, phase, 0);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && key.bytes == sizeof(bytes) &&
	       memcmp(key.at, bytes, KEY_PHASE_BYTES) == 0;
	     more = db_next(cursor, &key, &value)) {
		phase_open_compacted(&pairs, value, phase->scope);
		while (phase_next_compacted(&pairs, &start, &end)) {
			int64_t duration = phase_duration(&start, &end);

			if (duration < sums->min)
				sums->min = duration;
			if (duration > sums->max)
				sums->max = duration;
		}
	}
	db_cursor_close(&cursor);
}

/* Delete the old part of a state, or all of it. */
static void
trim_state(struct retention *retention, struct db_txn *txn, struct text key,
    const struct key_phase *phase, int64_t cut_ns)
{
	struct phase_state *state = &retention->indexer_write->state;
	struct duration_stats *sums = retention->indexer_write->of_state;
	struct varint_reader u = varint_reader_of(state->sums);
	uint64_t left = 0;
	uint32_t pairs;
	bool all;

	pairs = phase_old(state, cut_ns, &all);
	if (pairs == 0 && !all && state->compacted == 0)
		return;
	duration_stats_reset(sums);
	if (state->sums.bytes > 0)
		duration_stats_decode(sums, &u);
	phase_trim(state, pairs, all, retention->indexer_write->stats);
	if (state->compacted > 0)
		left = trim_compacted(retention, txn, phase, cut_ns, sums);
	if (all && left == 0) {
		retention->indexer_write->stats->late -= sums->late;
		retention->indexer_write->stats->overflow -= sums->overflow;
		db_del(txn, TABLES_PHASES, key);
		return;
	}
	if (sums->loose)
		tighten(txn, phase, sums);
	retention->indexer_write->sums.bytes = 0;
	duration_stats_encode(sums, &retention->indexer_write->sums);
	state->sums = buffer_text(&retention->indexer_write->sums);
	retention->indexer_write->value.bytes = 0;
	phase_state_encode(
	    state, phase->scope, &retention->indexer_write->value);
	db_put(txn, TABLES_PHASES, key,
	    buffer_text(&retention->indexer_write->value));
}

/* Move to the next row of states after retention->key; false at the end of the
 * table. */
static bool
next_state(struct retention *retention, struct db_txn *txn,
    struct key_phase *phase, struct text *value)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct text from = { (const char *)retention->key,
		retention->key_bytes };
	struct text key;
	bool more = db_seek(cursor, from, &key, value);

	while (more && (text_equal(key, from) || !key_get_phase(key, phase)))
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
	 * takes a walk over all its states. */
	if (through && stats->loose)
		indexer_write_sum_states(retention->indexer_write, txn,
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
		struct text key = { (const char *)retention->key,
			KEY_PHASE_BYTES };

		if (!next_state(retention, txn, &now, &value)) {
			retention->indexer_write->compacted.bytes = 0;
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
		/* A copy: deleting compacted rows may move the page that holds
		 * it. */
		retention->indexer_write->compacted.bytes = 0;
		buffer_put(&retention->indexer_write->compacted, value.at,
		    value.bytes);
		value = buffer_text(&retention->indexer_write->compacted);
		if (phase_state_decode(
			&retention->indexer_write->state, value, now.scope))
			trim_state(retention, txn, key, &now, cut_ns);
	}
	put_stats(retention, txn, &at, false);
	retention->indexer_write->compacted.bytes = 0;
	return false;
}
