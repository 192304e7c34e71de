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
store_get_stats(
    struct db_txn *txn, uint32_t partition, uint32_t phase, struct stats *stats)
{
	unsigned char key[8];
	struct text value;
	struct unpack u;

	stats_reset(stats);
	if (!db_get(
		txn, TABLES_STATS, stats_key(key, partition, phase), &value))
		return;
	u = unpack_of(value);
	stats_decode(stats, &u);
}

void
store_put_stats(struct store *store, struct db_txn *txn, uint32_t partition,
    uint32_t phase, const struct stats *stats)
{
	unsigned char key[8];

	store->value.bytes = 0;
	stats_encode(stats, &store->value);
	db_put(txn, TABLES_STATS, stats_key(key, partition, phase),
	    buffer_text(&store->value));
}

void
store_sum_states(struct store *store, struct db_txn *txn, uint32_t partition,
    uint32_t phase, struct stats *stats)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	unsigned char prefix[8];
	struct text key, value;
	struct key_phase state;
	bool more;

	stats_reset(stats);
	more =
	    db_seek(cursor, stats_key(prefix, partition, phase), &key, &value);
	while (more && key.bytes >= sizeof(prefix) &&
	       memcmp(key.at, prefix, sizeof(prefix)) == 0) {
		if (key_get_phase(key, &state) &&
		    phase_state_decode(&store->state, value, state.scope))
			phase_state_sum(&store->state, stats);
		more = db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
}

/* ---- one state ---- */

/* The sums of the state, taken apart on first use. */
static struct stats *
sums_of(struct store *store, bool *loaded)
{
	struct unpack u = unpack_of(store->state.sums);

	if (*loaded)
		return store->of_state;
	stats_reset(store->of_state);
	if (store->state.sums.bytes > 0)
		stats_decode(store->of_state, &u);
	*loaded = true;
	return store->of_state;
}

/* Pairs leave the state: put down as rows, written once the state is. */
static void
seal(struct store *store, uint32_t pairs, uint32_t scope, bool *loaded)
{
	uint32_t done = 0, count;

	while (done < pairs) {
		store->value.bytes = 0;
		count = phase_put_sealed(
		    &store->state, done, pairs - done, scope, &store->value);
		put_varint(&store->sealed, store->state.sealed + done);
		put_text(&store->sealed, buffer_text(&store->value));
		done += count;
	}
	phase_seal(&store->state, pairs, sums_of(store, loaded));
}

static void
put_sealed(
    struct store *store, struct db_txn *txn, const struct key_phase *phase)
{
	unsigned char key[KEY_SEALED_BYTES];
	struct unpack u = unpack_of(buffer_text(&store->sealed));

	while (u.at < u.end && !u.bad) {
		phase_key_sealed(key, phase, get_varint(&u));
		db_put(txn, TABLES_PHASES,
		    (struct text){ (const char *)key, sizeof(key) },
		    get_text(&u));
	}
	store->sealed.bytes = 0;
}

static void
take_roles(struct store *store, struct gather *gather,
    const struct group *group, bool *loaded)
{
	uint32_t member, pairs;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&gather->states, member)) {
		const struct gather_role *role = &gather->role[member];
		enum phase_taken taken = phase_take(
		    &store->state, role->is_end, &role->entry, store->stats);

		if (taken == PHASE_LATE) {
			sums_of(store, loaded)->late++;
			store->stats->late++;
			store->late++;
		} else if (taken == PHASE_UNKEPT) {
			sums_of(store, loaded)->unkept++;
			store->stats->unkept++;
			store->unkept++;
		}
		pairs = phase_to_seal(&store->state);
		if (pairs > 0)
			seal(store, pairs, match_key(group).scope, loaded);
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
count_page(struct store *store, const char *found)
{
	if (!is_near(found, store->put) && !is_near(found, store->found))
		store->pages++;
	store->found = found;
}

static void
put_state(struct store *store, struct db_txn *txn, struct db_cursor *states,
    struct gather *gather, const struct group *group)
{
	const struct gather_role *first = &gather->role[group->first];
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
	    !phase_state_decode(&store->state, value, phase.scope))
		phase_state_reset(&store->state, first->key);
	count_page(store, found.at);
	if (!text_equal(store->state.key, first->key)) {
		/* Two keys of one hash: once in 2^32 keys of a node. */
		store->unkept += group->count;
		return;
	}
	take_roles(store, gather, group, &loaded);
	if (loaded) {
		store->sums.bytes = 0;
		stats_encode(store->of_state, &store->sums);
		store->state.sums = buffer_text(&store->sums);
	}
	store->value.bytes = 0;
	phase_state_encode(&store->state, phase.scope, &store->value);
	store->put = db_cursor_put(states, key, buffer_text(&store->value));
	/* What was there is on a page that was counted. */
	if (store->value.bytes > before)
		store->bytes += store->value.bytes - before;
	if (store->sealed.bytes > 0)
		put_sealed(store, txn, &phase);
}

/* ---- all of them ---- */

/* In the order of time, so that an event is late only when it must be. */
static int
compare(const void *left, const void *right, void *arg)
{
	const struct gather *gather = arg;

	return head_compare(&gather->role[*(const uint32_t *)left].entry.id,
	    &gather->role[*(const uint32_t *)right].entry.id);
}

static void
finish_phase(
    struct store *store, struct db_txn *txn, uint32_t partition, uint32_t phase)
{
	/* A shortest or longest duration went away: look for the next. */
	if (store->stats->loose)
		store_sum_states(store, txn, partition, phase, store->stats);
	store_put_stats(store, txn, partition, phase, store->stats);
}

void
store_phases(struct store *store, struct db_txn *txn, struct gather *gather)
{
	struct db_cursor *states = db_cursor_open(txn, TABLES_PHASES);
	uint32_t partition = 0, phase = 0, i;

	groups_sort(&gather->states);
	for (i = 0; i < gather->states.count; i++) {
		struct group *group = &gather->states.at[i];

		if (group->mixed)
			group_order(&gather->states, group, compare, gather);
		if (group->key[0] != partition || group->key[1] != phase) {
			if (partition != 0)
				finish_phase(store, txn, partition, phase);
			partition = group->key[0];
			phase = group->key[1];
			store_get_stats(txn, partition, phase, store->stats);
		}
		put_state(store, txn, states, gather, group);
	}
	if (partition != 0)
		finish_phase(store, txn, partition, phase);
	db_cursor_close(&states);
}
