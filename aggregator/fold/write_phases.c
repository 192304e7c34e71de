/*
 * store - events into the states of phases, and those into statistics.
 *
 * The groups come in the order of the keys, so each state is read and written
 * once, and the statistics of one phase at a time are in memory.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold/write_records.h"

enum { PAGE_BYTES = 4096 };

/* ---- statistics at rest ---- */

static struct text
stats_key(unsigned char to[static 8], uint32_t partition, uint32_t phase)
{
	put_u32_be(to, partition);
	put_u32_be(to + 4, phase);
	return (struct text){ (const char *)to, 8 };
}

void
fold_write_get_stats(struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats)
{
	unsigned char key[8];
	struct text value;
	struct unpack u;

	duration_stats_reset(stats);
	if (!db_get(
		txn, TABLES_STATS, stats_key(key, partition, phase), &value))
		return;
	u = unpack_of(value);
	duration_stats_decode(stats, &u);
}

void
fold_write_put_stats(struct fold_write *fold_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct duration_stats *stats)
{
	unsigned char key[8];

	fold_write->value.bytes = 0;
	duration_stats_encode(stats, &fold_write->value);
	db_put(txn, TABLES_STATS, stats_key(key, partition, phase),
	    buffer_text(&fold_write->value));
}

void
fold_write_sum_states(struct fold_write *fold_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, struct duration_stats *stats)
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
		    phase_state_decode(&fold_write->state, value, state.scope))
			phase_state_sum(&fold_write->state, stats);
		more = db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
}

/* ---- one state ---- */

/* The sums of the state, taken apart on first use. */
static struct duration_stats *
sums_of(struct fold_write *fold_write, bool *loaded)
{
	struct unpack u = unpack_of(fold_write->state.sums);

	if (*loaded)
		return fold_write->of_state;
	duration_stats_reset(fold_write->of_state);
	if (fold_write->state.sums.bytes > 0)
		duration_stats_decode(fold_write->of_state, &u);
	*loaded = true;
	return fold_write->of_state;
}

/* Pairs leave the state: put down as rows, written once the state is. */
static void
seal(
    struct fold_write *fold_write, uint32_t pairs, uint32_t scope, bool *loaded)
{
	uint32_t done = 0, count;

	while (done < pairs) {
		fold_write->value.bytes = 0;
		count = phase_put_sealed(&fold_write->state, done, pairs - done,
		    scope, &fold_write->value);
		put_varint(
		    &fold_write->sealed, fold_write->state.sealed + done);
		put_text(&fold_write->sealed, buffer_text(&fold_write->value));
		done += count;
	}
	phase_seal(&fold_write->state, pairs, sums_of(fold_write, loaded));
}

static void
put_sealed(struct fold_write *fold_write, struct db_txn *txn,
    const struct key_phase *phase)
{
	unsigned char key[KEY_SEALED_BYTES];
	struct unpack u = unpack_of(buffer_text(&fold_write->sealed));

	while (u.at < u.end && !u.bad) {
		phase_key_sealed(key, phase, get_varint(&u));
		db_put(txn, TABLES_PHASES,
		    (struct text){ (const char *)key, sizeof(key) },
		    get_text(&u));
	}
	fold_write->sealed.bytes = 0;
}

static void
take_roles(struct fold_write *fold_write, struct collect *collect,
    const struct group *group, bool *loaded)
{
	uint32_t member, pairs;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&collect->states, member)) {
		const struct collect_role *role = &collect->role[member];
		enum phase_taken taken = phase_take(&fold_write->state,
		    role->is_end, &role->entry, fold_write->stats);

		if (taken == PHASE_LATE) {
			sums_of(fold_write, loaded)->late++;
			fold_write->stats->late++;
			fold_write->late++;
		} else if (taken == PHASE_UNKEPT) {
			sums_of(fold_write, loaded)->unkept++;
			fold_write->stats->unkept++;
			fold_write->unkept++;
		}
		pairs = phase_to_seal(&fold_write->state);
		if (pairs > 0)
			seal(fold_write, pairs, match_key(group).scope, loaded);
	}
}

/* Changed pages begin anywhere in memory, so what is near counts as the same
 * page; the next one is still in the map, which is not near. */
static bool
is_near(const char *a, const char *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y ? x - y : y - x) < PAGE_BYTES;
}

/* States beside each other are on one page of the store: that of the state put
 * last, or, when states are new, in front of the page that was found last. */
static void
count_page(struct fold_write *fold_write, const char *found)
{
	if (!is_near(found, fold_write->put) &&
	    !is_near(found, fold_write->found))
		fold_write->pages++;
	fold_write->found = found;
}

static void
put_state(struct fold_write *fold_write, struct db_txn *txn,
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
	    !phase_state_decode(&fold_write->state, value, phase.scope))
		phase_state_reset(&fold_write->state, first->key);
	count_page(fold_write, found.at);
	if (!text_equal(fold_write->state.key, first->key)) {
		/* Two keys of one hash: once in 2^32 keys of a node. */
		fold_write->unkept += group->count;
		return;
	}
	take_roles(fold_write, collect, group, &loaded);
	if (loaded) {
		fold_write->sums.bytes = 0;
		duration_stats_encode(fold_write->of_state, &fold_write->sums);
		fold_write->state.sums = buffer_text(&fold_write->sums);
	}
	fold_write->value.bytes = 0;
	phase_state_encode(&fold_write->state, phase.scope, &fold_write->value);
	fold_write->put =
	    db_cursor_put(states, key, buffer_text(&fold_write->value));
	/* What was there is on a page that was counted. */
	if (fold_write->value.bytes > before)
		fold_write->bytes += fold_write->value.bytes - before;
	if (fold_write->sealed.bytes > 0)
		put_sealed(fold_write, txn, &phase);
}

/* ---- all of them ---- */

/* In the order of time, so that an event is late only when it must be. */
static int
compare(const void *left, const void *right, void *arg)
{
	const struct collect *collect = arg;

	return head_compare(&collect->role[*(const uint32_t *)left].entry.id,
	    &collect->role[*(const uint32_t *)right].entry.id);
}

static void
finish_phase(struct fold_write *fold_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase)
{
	/* A shortest or longest duration went away: look for the next. */
	if (fold_write->stats->loose)
		fold_write_sum_states(
		    fold_write, txn, partition, phase, fold_write->stats);
	fold_write_put_stats(
	    fold_write, txn, partition, phase, fold_write->stats);
}

void
fold_write_phases(
    struct fold_write *fold_write, struct db_txn *txn, struct collect *collect)
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
				finish_phase(fold_write, txn, partition, phase);
			partition = group->key[0];
			phase = group->key[1];
			fold_write_get_stats(
			    txn, partition, phase, fold_write->stats);
		}
		put_state(fold_write, txn, states, collect, group);
	}
	if (partition != 0)
		finish_phase(fold_write, txn, partition, phase);
	db_cursor_close(&states);
}
