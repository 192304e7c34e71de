/*
 * write_phases - add events to the states of phases, and these to the
 * statistics.
 *
 * The groups come in the order of the keys, so each state is read and written
 * once, and only the statistics of one phase are in memory at a time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/write_records.h"

enum { PAGE_BYTES = 4096 };

/* ---- stored statistics ---- */

static struct text
stats_key(unsigned char to[static 8], uint32_t partition, uint32_t phase)
{
	varint_put_u32_be(to, partition);
	varint_put_u32_be(to + 4, phase);
	return (struct text){ (const char *)to, 8 };
}

void
indexer_write_get_stats(struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats)
{
	unsigned char key[8];
	struct text value;
	struct varint_reader u;

	duration_stats_reset(stats);
	if (!db_get(
		txn, TABLES_STATS, stats_key(key, partition, phase), &value))
		return;
	u = varint_reader_of(value);
	duration_stats_decode(stats, &u);
}

void
indexer_write_put_stats(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct duration_stats *stats)
{
	unsigned char key[8];

	indexer_write->value.bytes = 0;
	duration_stats_encode(stats, &indexer_write->value);
	db_put(txn, TABLES_STATS, stats_key(key, partition, phase),
	    buffer_text(&indexer_write->value));
}

void
indexer_write_sum_states(struct indexer_write *indexer_write,
    struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	unsigned char prefix[8];
	struct text key, value;
	struct key_phase state;
	bool more;

	duration_stats_reset(stats);
	more =
	    db_seek(cursor, stats_key(prefix, partition, phase), &key, &value);
	while (more && key.bytes >= sizeof(prefix) &&
	       memcmp(key.at, prefix, sizeof(prefix)) == 0) {
		if (key_get_phase(key, &state) &&
		    phase_state_decode(
			&indexer_write->state, value, state.scope))
			phase_state_sum(&indexer_write->state, stats);
		more = db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
}

/* ---- one state ---- */

/* The sums of the state, decoded on first use. */
static struct duration_stats *
sums_of(struct indexer_write *indexer_write, bool *loaded)
{
	struct varint_reader u = varint_reader_of(indexer_write->state.sums);

	if (*loaded)
		return indexer_write->of_state;
	duration_stats_reset(indexer_write->of_state);
	if (indexer_write->state.sums.bytes > 0)
		duration_stats_decode(indexer_write->of_state, &u);
	*loaded = true;
	return indexer_write->of_state;
}

/* Move pairs out of the state: prepare their rows; they are written after the
 * state. */
static void
compact(struct indexer_write *indexer_write, uint32_t pairs, uint32_t scope,
    bool *loaded)
{
	uint32_t done = 0, count;

	while (done < pairs) {
		indexer_write->value.bytes = 0;
		count = phase_put_compacted(&indexer_write->state, done,
		    pairs - done, scope, &indexer_write->value);
		varint_put(&indexer_write->compacted,
		    indexer_write->state.compacted + done);
		varint_put_text(&indexer_write->compacted,
		    buffer_text(&indexer_write->value));
		done += count;
	}
	phase_compact(
	    &indexer_write->state, pairs, sums_of(indexer_write, loaded));
}

static void
put_compacted(struct indexer_write *indexer_write, struct db_txn *txn,
    const struct key_phase *phase)
{
	unsigned char key[PHASE_KEY_COMPACTED_BYTES];
	struct varint_reader u =
	    varint_reader_of(buffer_text(&indexer_write->compacted));

	while (u.at < u.end && !u.bad) {
		phase_key_compacted(key, phase, varint_get(&u));
		db_put(txn, TABLES_PHASES,
		    (struct text){ (const char *)key, sizeof(key) },
		    varint_get_text(&u));
	}
	indexer_write->compacted.bytes = 0;
}

static void
take_roles(struct indexer_write *indexer_write, struct collect *collect,
    const struct group *group, bool *loaded)
{
	uint32_t member, pairs;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&collect->states, member)) {
		const struct collect_role *role = &collect->role[member];
		enum phase_taken taken = phase_take(&indexer_write->state,
		    role->is_end, &role->entry, indexer_write->stats);

		if (taken == PHASE_LATE) {
			sums_of(indexer_write, loaded)->late++;
			indexer_write->stats->late++;
			indexer_write->late++;
		} else if (taken == PHASE_OVERFLOW) {
			sums_of(indexer_write, loaded)->overflow++;
			indexer_write->stats->overflow++;
			indexer_write->overflow++;
		}
		pairs = phase_to_compact(&indexer_write->state);
		if (pairs > 0)
			compact(indexer_write, pairs, match_key(group).scope,
			    loaded);
	}
}

/* A changed page is a copy at an arbitrary address, so two values close
 * together are taken to be on one page.  The next unchanged page is in the
 * map, far away. */
static bool
is_local(const char *a, const char *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y ? x - y : y - x) < PAGE_BYTES;
}

/* Neighbouring states share a page of the store: the page of the state written
 * last, or, for new states, the one before the page that was found last. */
static void
count_page(struct indexer_write *indexer_write, const char *found)
{
	if (!is_local(found, indexer_write->put) &&
	    !is_local(found, indexer_write->found))
		indexer_write->pages++;
	indexer_write->found = found;
}

static void
put_state(struct indexer_write *indexer_write, struct db_txn *txn,
    struct db_cursor *states, struct collect *collect,
    const struct group *group)
{
	const struct collect_role *first = &collect->role[group->first];
	struct key_phase phase = match_key(group);
	unsigned char bytes[KEY_PHASE_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) };
	struct text found, value;
	bool loaded = false;
	uint32_t before = 0;

	key_put_phase(bytes, &phase);
	found = (struct text){ NULL, 0 };
	if (db_seek(states, key, &found, &value) && text_equal(found, key))
		before = value.bytes;
	if (before == 0 ||
	    !phase_state_decode(&indexer_write->state, value, phase.scope))
		phase_state_reset(&indexer_write->state, first->key);
	count_page(indexer_write, found.at);
	if (!text_equal(indexer_write->state.key, first->key)) {
		/* Two keys with the same hash: once in 2^32 keys of a node. */
		indexer_write->overflow += group->count;
		return;
	}
	take_roles(indexer_write, collect, group, &loaded);
	if (loaded) {
		indexer_write->sums.bytes = 0;
		duration_stats_encode(
		    indexer_write->of_state, &indexer_write->sums);
		indexer_write->state.sums = buffer_text(&indexer_write->sums);
	}
	indexer_write->value.bytes = 0;
	phase_state_encode(
	    &indexer_write->state, phase.scope, &indexer_write->value);
	indexer_write->put =
	    db_cursor_put(states, key, buffer_text(&indexer_write->value));
	/* The old value is on a page that was counted. */
	if (indexer_write->value.bytes > before)
		indexer_write->bytes += indexer_write->value.bytes - before;
	if (indexer_write->compacted.bytes > 0)
		put_compacted(indexer_write, txn, &phase);
}

/* ---- all states ---- */

/* In time order, so that no event is late without need. */
static int
compare(const void *left, const void *right, void *arg)
{
	const struct collect *collect = arg;

	return row_block_compare(
	    &collect->role[*(const uint32_t *)left].entry.id,
	    &collect->role[*(const uint32_t *)right].entry.id);
}

static void
finish_phase(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase)
{
	/* A shortest or longest duration was removed: find the next one. */
	if (indexer_write->stats->loose)
		indexer_write_sum_states(
		    indexer_write, txn, partition, phase, indexer_write->stats);
	indexer_write_put_stats(
	    indexer_write, txn, partition, phase, indexer_write->stats);
}

void
indexer_write_phases(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect)
{
	struct db_cursor *states = db_cursor_open(txn, TABLES_PHASES);
	uint32_t partition = 0, phase = 0, i;

	groups_sort(&collect->states);
	for (i = 0; i < collect->states.count; i++) {
		struct group *group = &collect->states.at[i];

		if (group->mixed)
			group_order(&collect->states, group, compare, collect);
		if (group->key[0] != partition || group->key[1] != phase) {
			if (partition != 0)
				finish_phase(
				    indexer_write, txn, partition, phase);
			partition = group->key[0];
			phase = group->key[1];
			indexer_write_get_stats(
			    txn, partition, phase, indexer_write->stats);
		}
		put_state(indexer_write, txn, states, collect, group);
	}
	if (partition != 0)
		finish_phase(indexer_write, txn, partition, phase);
	db_cursor_close(&states);
}
