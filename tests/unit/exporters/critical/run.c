/*
 * run - random pools, gone through again, against a judge that works without
 * heaps, groups and searches: it lets the time pass, moment by moment, and
 * looks at every pair of phases.
 *
 * The pools are made by the judge, too: of each phase it knows what it waits
 * for and its pause, so that what is found must be what was put in.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/path.h"

#include <stdio.h>

#include "tests/unit/check.h"

enum phase { PREP, RES, PULL, SAVE, TORRENT, LOAD, PHASES };
enum {
	NODES = 7,
	KEYS = 3,
	ITEMS_MAX = NODES * (2 + 4 * KEYS),
	NEVER = 1 << 20
};

/* A phase of the judge; times are whole numbers, so that many are equal. */
struct item {
	enum phase phase;
	int node, key; /* key 0: none */
	int pause, length;
	int begin, end, could; /* of the pool as it is; NEVER */
	bool done;
};

struct pool {
	struct item item[ITEMS_MAX];
	int count, places;
	int needed;                   /* how many nodes make it ready */
	bool one_saves;               /* an image */
	int begin[NODES];             /* of nodes */
	int order[ITEMS_MAX], orders; /* in which pulls got places */
};

static uint64_t seed;

static int
below(int n)
{
	return (int)(check_random(&seed) % (uint64_t)n);
}

static struct item *
find(struct pool *pool, enum phase phase, int node, int key)
{
	for (int i = 0; i < pool->count; i++)
		if (pool->item[i].phase == phase &&
		    pool->item[i].node == node && pool->item[i].key == key)
			return &pool->item[i];
	return NULL;
}

/* ---- the judge ---- */

/* Has it ended by then? */
static bool
ended(const struct item *item, int at)
{
	return item->begin != NEVER && item->end <= at;
}

/* The earliest save of the key has ended; only those count that had ended
 * before in `recorded`. */
static bool
is_saved(struct pool *pool, const struct pool *recorded, int i, int at)
{
	for (int j = 0; j < pool->count; j++)
		if (pool->item[j].phase == SAVE &&
		    pool->item[j].key == pool->item[i].key &&
		    (recorded == NULL ||
			recorded->item[j].end <= recorded->item[i].begin) &&
		    ended(&pool->item[j], at))
			return true;
	return false;
}

static bool
may_begin(struct pool *pool, const struct pool *recorded, int i, int at)
{
	struct item *item = &pool->item[i];
	struct item *prep = find(pool, PREP, item->node, 0);
	struct item *res = find(pool, RES, item->node, 0);
	struct item *other;

	switch (item->phase) {
	case PREP: return at >= pool->begin[item->node];
	case RES: return ended(prep, at);
	case PULL: return res->begin <= at;
	case SAVE:
		other = find(pool, PULL, item->node, item->key);
		return res->begin <= at && ended(other, at);
	case TORRENT:
		return res->begin <= at && is_saved(pool, recorded, i, at);
	case LOAD:
		other = find(pool, TORRENT, item->node, item->key);
		if (other == NULL)
			other = find(pool, PULL, item->node, item->key);
		return res->begin <= at && ended(other, at);
	default: return false;
	}
}

/* The end of the resources: a pause after all inside, or their length. */
static void
end_resources(struct pool *pool, int at)
{
	for (int i = 0; i < pool->count; i++) {
		struct item *res = &pool->item[i];
		int last = -1;
		bool all = true;

		if (res->phase != RES || res->begin == NEVER || res->done)
			continue;
		for (int j = 0; j < pool->count; j++) {
			const struct item *in = &pool->item[j];

			if (in->node != res->node || in->phase == PREP ||
			    in->phase == RES)
				continue;
			all = all && ended(in, at);
			last = in->end > last ? in->end : last;
		}
		if (!all)
			continue;
		res->end =
		    last < 0 ? res->begin + res->length : last + res->length;
		res->done = true;
	}
}

/* Let the time pass.  `recorded` NULL: places go to who asks first, and the
 * order is noted; else they go in that order. */
static void
judge(struct pool *pool, const struct pool *recorded)
{
	int given[KEYS + 1][ITEMS_MAX], gave[KEYS + 1] = { 0 };
	int next[KEYS + 1] = { 0 };
	bool has_place[ITEMS_MAX] = { false };

	for (int i = 0; i < pool->count; i++) {
		pool->item[i].begin = pool->item[i].end = NEVER;
		pool->item[i].could = NEVER;
		pool->item[i].done = false;
	}
	if (recorded == NULL)
		pool->orders = 0;
	for (int at = 0; at < 4000; at++)
		for (bool again = true; again;) {
			again = false;
			end_resources(pool, at);
			/* Places that are free are given in order. */
			for (int key = 1; key <= KEYS; key++)
				for (int o = next[key];
				     recorded != NULL && o < recorded->orders;
				     o++) {
					int i = recorded->order[o], busy = 0;

					if (pool->item[i].key != key)
						continue;
					for (int g = 0; g < gave[key]; g++)
						busy += !ended(
						    &pool->item[given[key][g]],
						    at);
					if (busy >= pool->places)
						break;
					given[key][gave[key]++] = i;
					has_place[i] = true;
					next[key] = o + 1;
				}
			for (int i = 0; i < pool->count; i++) {
				struct item *item = &pool->item[i];
				int busy = 0;

				if (item->could != NEVER ||
				    !may_begin(pool, recorded, i, at))
					continue;
				for (int j = 0; j < pool->count; j++)
					busy +=
					    pool->item[j].phase == PULL &&
					    pool->item[j].key == item->key &&
					    pool->item[j].could != NEVER &&
					    !ended(&pool->item[j], at);
				if (item->phase == PULL && recorded == NULL &&
				    busy >= pool->places)
					continue;
				if (item->phase == PULL && recorded != NULL &&
				    !has_place[i])
					continue;
				item->could = at;
				item->begin = at + item->pause;
				item->end = item->phase == RES
						? NEVER
						: item->begin + item->length;
				again = true;
			}
		}
}

/* The first moment at which that many nodes are prepared and have what they
 * need. */
static int
ready_of(const struct pool *pool)
{
	for (int at = 0;; at++) {
		int nodes = NODES;

		for (int i = 0; i < pool->count; i++)
			nodes -= pool->item[i].phase == RES &&
				 !ended(&pool->item[i], at);
		if (nodes >= pool->needed)
			return at;
	}
}

/* ---- pools ---- */

static void
add(struct pool *pool, enum phase phase, int node, int key, int length)
{
	pool->item[pool->count++] = (struct item){ .phase = phase,
		.node = node,
		.key = key,
		.pause = phase == PREP ? 0 : below(4) * below(2),
		.length = length };
}

/* The pulls in the order of begin, end and node. */
static void
order(struct pool *pool)
{
	pool->orders = 0;
	for (int i = 0; i < pool->count; i++) {
		const struct item *a = &pool->item[i], *b;
		int at = pool->orders;

		if (a->phase != PULL)
			continue;
		for (; at > 0; at--) {
			b = &pool->item[pool->order[at - 1]];
			if (b->begin < a->begin ||
			    (b->begin == a->begin &&
				(b->end < a->end ||
				    (b->end == a->end && b->node < a->node))))
				break;
			pool->order[at] = pool->order[at - 1];
		}
		pool->order[at] = i;
		pool->orders++;
	}
}

/* When a place was free for it, if they go in that order. */
static int
place_of(const struct pool *pool, int i)
{
	int held[ITEMS_MAX] = { 0 }, least;

	for (int o = 0; o < pool->orders; o++) {
		const struct item *item = &pool->item[pool->order[o]];

		if (item->key != pool->item[i].key)
			continue;
		least = 0;
		for (int p = 1; p < pool->places; p++)
			least = held[p] < held[least] ? p : least;
		if (pool->order[o] == i)
			return held[least];
		held[least] = item->end;
	}
	return 0;
}

static int
could_of(struct pool *pool, int i)
{
	int at = 0;

	if (pool->item[i].phase == PULL)
		at = place_of(pool, i);
	while (!may_begin(pool, pool, i, at))
		at++;
	return at;
}

static void
make(struct pool *pool)
{
	*pool = (struct pool){ .places = 1 + below(3),
		.needed = 1 + below(NODES),
		.one_saves = below(2) };
	for (int node = 0; node < NODES; node++) {
		pool->begin[node] = below(2) * below(30);
		add(pool, PREP, node, 0, 1 + below(8));
		add(pool, RES, node, 0, below(4));
	}
	for (int key = 1; key <= KEYS; key++)
		for (int node = 0; node < NODES; node++) {
			/* The first one pulls, so that somebody saves it. */
			if (node != 0 && below(3) == 0)
				continue;
			if (node == 0 || below(2) == 0) {
				add(pool, PULL, node, key, 1 + below(20));
				if (node == 0 || !pool->one_saves)
					add(pool, SAVE, node, key,
					    1 + below(5));
			} else {
				add(pool, TORRENT, node, key, 1 + below(20));
			}
			add(pool, LOAD, node, key, 1 + below(9));
		}
	judge(pool, NULL);
	order(pool);
	for (int i = 0; i < pool->count; i++)
		pool->item[i].pause = pool->item[i].begin - could_of(pool, i);
}

/* ---- against what is tested ---- */

static struct phases_read read_of;
static struct critical_rules rules;
static uint32_t number_of[ITEMS_MAX]; /* of items in critical_waits */

static void
say(enum phase phase, enum critical_wait wait, enum phase other)
{
	rules.waits[phase * PHASES + other] |= (uint8_t)wait;
}

static void
begin_rules(void)
{
	static const enum phase inner[] = { PULL, SAVE, TORRENT, LOAD };

	rules = (struct critical_rules){ .phases = PHASES,
		.waits = calloc(PHASES * PHASES, 1),
		.places = calloc(PHASES, sizeof(uint32_t)),
		.is_required = calloc(PHASES, sizeof(bool)),
		.required = 2,
		.first = PREP,
		.any = true };
	rules.is_required[PREP] = rules.is_required[RES] = true;
	say(RES, CRITICAL_AFTER, PREP);
	for (int i = 0; i < 4; i++)
		say(RES, CRITICAL_END_AFTER, inner[i]);
	say(SAVE, CRITICAL_AFTER, PULL);
	say(TORRENT, CRITICAL_AFTER_ANY, SAVE);
	say(LOAD, CRITICAL_AFTER, TORRENT);
	say(LOAD, CRITICAL_AFTER, PULL);
}

static void
give(const struct pool *pool, struct critical_waits *waits)
{
	char name[20];

	read_of = (struct phases_read){ .items = NULL };
	string_table_init(&read_of.nodes);
	string_table_init(&read_of.keys);
	(void)string_table_add(&read_of.keys, text_of(""));
	for (int i = 0; i < KEYS; i++) {
		snprintf(name, sizeof(name), "key%d", i);
		(void)string_table_add(&read_of.keys, text_of(name));
	}
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		(void)string_table_add(&read_of.nodes, text_of(name));
	}
	read_of.items = calloc((size_t)pool->count, sizeof(*read_of.items));
	for (int i = 0; i < pool->count; i++)
		read_of.items[read_of.count++] =
		    (struct phases_item){ .begin_ns = pool->item[i].begin,
			    .ended_ns = pool->item[i].end,
			    .end_ns = pool->item[i].end,
			    .node = (uint32_t)pool->item[i].node,
			    .phase = (uint32_t)pool->item[i].phase,
			    .key = (uint32_t)pool->item[i].key };
	rules.places[PULL] = (uint32_t)pool->places;
	critical_waits_find(waits, &read_of, &rules);
	waits->needed = (uint32_t)pool->needed;
	assert_int_equal(waits->count, pool->count);
	for (int i = 0; i < pool->count; i++)
		for (uint32_t j = 0; j < waits->count; j++)
			if (waits->at[j].phase == pool->item[i].phase &&
			    waits->at[j].node == (uint32_t)pool->item[i].node &&
			    waits->at[j].key == (uint32_t)pool->item[i].key)
				number_of[i] = j;
}

static void
take_back(struct critical_waits *waits)
{
	critical_waits_clear(waits);
	phases_read_clear(&read_of);
}

/* Change something at random, of the pool and of what is tested alike. */
static void
change(struct pool *pool, const struct critical_waits *waits,
    struct critical_change *to)
{
	static int64_t length_ns[ITEMS_MAX], shift_ns[NODES];
	static uint32_t places[ITEMS_MAX + 1];
	int node = below(NODES), shift = below(40), more = below(3);

	for (int i = 0; i < pool->count; i++) {
		struct item *item = &pool->item[i];

		if (item->phase != RES && below(3) == 0)
			item->length = below(30);
		length_ns[number_of[i]] =
		    item->phase == RES ? item->end - item->begin : item->length;
	}
	memset(shift_ns, 0, sizeof(shift_ns));
	shift_ns[node] = shift;
	pool->begin[node] += shift;
	for (uint32_t i = 0; i < waits->groups[CRITICAL_KEY]; i++)
		places[i] = waits->places[i] == 0
				? 0
				: waits->places[i] + (uint32_t)more;
	pool->places += more;
	*to = (struct critical_change){
		.length_ns = length_ns, .shift_ns = shift_ns, .places = places
	};
}

static void
compare(const struct pool *pool, const struct critical_run *run)
{
	for (int i = 0; i < pool->count; i++) {
		const struct critical_times *times = &run->at[number_of[i]];

		assert_int_equal(times->begin_ns, pool->item[i].begin);
		assert_int_equal(times->end_ns, pool->item[i].end);
		assert_false(times->is_missing);
	}
	assert_int_equal(run->ready_ns, ready_of(pool));
}

static void
a_start_is_gone_through_again_exactly(void **state)
{
	unsigned rounds = check_share(10000, 200);
	struct critical_waits waits;
	struct critical_run recorded, changed;
	struct critical_change to = { .length_ns = NULL };
	struct pool pool, other;

	for (unsigned round = 0; round < rounds; round++) {
		make(&pool);
		give(&pool, &waits);
		critical_run_recorded(&recorded, &waits);
		compare(&pool, &recorded);
		assert_int_equal(recorded.over, 0);
		for (int i = 0; i < pool.count; i++)
			assert_int_equal(recorded.at[number_of[i]].could_ns,
			    pool.item[i].begin - pool.item[i].pause);
		critical_run_changed(&changed, &waits, &recorded, &to);
		compare(&pool, &changed);
		critical_run_clear(&changed);

		other = pool;
		change(&other, &waits, &to);
		judge(&other, &pool);
		critical_run_changed(&changed, &waits, &recorded, &to);
		compare(&other, &changed);
		critical_run_clear(&changed);
		critical_run_clear(&recorded);
		to = (struct critical_change){ .length_ns = NULL };
		take_back(&waits);
	}
}

/* A model may say less places than were had. */
static void
with_more_places_than_the_model_has_it_is_exact_too(void **state)
{
	unsigned rounds = check_share(2000, 100), over = 0;
	struct critical_waits waits;
	struct critical_run recorded, changed;
	struct critical_change to = { .length_ns = NULL };
	struct pool pool;

	for (unsigned round = 0; round < rounds; round++) {
		make(&pool);
		pool.places = 1;
		give(&pool, &waits);
		critical_run_recorded(&recorded, &waits);
		compare(&pool, &recorded);
		critical_run_changed(&changed, &waits, &recorded, &to);
		compare(&pool, &changed);
		over += recorded.over > 0;
		critical_run_clear(&changed);
		critical_run_clear(&recorded);
		take_back(&waits);
	}
	assert_true(over > rounds / 4);
}

/* The order of places is kept: more of them, and shorter phases, make no phase
 * later. */
static void
more_places_and_shorter_phases_make_nothing_later(void **state)
{
	unsigned rounds = check_share(2000, 100);
	struct critical_waits waits;
	struct critical_run recorded, changed;
	struct critical_change to = { .length_ns = NULL };
	struct pool pool, other;

	for (unsigned round = 0; round < rounds; round++) {
		int64_t length_ns[ITEMS_MAX];

		make(&pool);
		give(&pool, &waits);
		critical_run_recorded(&recorded, &waits);
		other = pool;
		change(&other, &waits, &to);
		to.shift_ns = NULL;
		for (uint32_t i = 0; i < waits.count; i++) {
			int64_t was_ns =
			    waits.at[i].end_ns - waits.at[i].begin_ns;

			length_ns[i] =
			    to.length_ns[i] < was_ns ? to.length_ns[i] : was_ns;
		}
		to.length_ns = length_ns;
		critical_run_changed(&changed, &waits, &recorded, &to);
		for (uint32_t i = 0; i < waits.count; i++) {
			assert_true(
			    changed.at[i].begin_ns <= waits.at[i].begin_ns);
			assert_true(changed.at[i].end_ns <= waits.at[i].end_ns);
		}
		critical_run_clear(&changed);
		critical_run_clear(&recorded);
		take_back(&waits);
	}
}

/* The pieces follow each other from the start until it was ready, and the path
 * is the longest: with a phase of it one moment longer the pool is ready one
 * moment later.  (If not all nodes are needed, another one may take its turn
 * then.) */
static void
the_path_is_the_longest(void **state)
{
	unsigned rounds = check_share(2000, 100);
	struct critical_waits waits;
	struct critical_run recorded;
	struct critical_path path;
	struct pool pool, other;

	for (unsigned round = 0; round < rounds; round++) {
		int start = NEVER, piece;

		/* So that no other one takes the turn of a longer one. */
		do
			make(&pool);
		while (pool.places > 1 || !pool.one_saves);
		give(&pool, &waits);
		critical_run_recorded(&recorded, &waits);
		for (int node = 0; node < NODES; node++)
			if (pool.begin[node] < start)
				start = pool.begin[node];
		path = (struct critical_path){ .at = NULL };
		critical_path_walk(&path, &recorded, start);
		assert_int_equal(path.at[0].from_ns, start);
		assert_int_equal(
		    path.at[path.count - 1].to_ns, ready_of(&pool));
		for (uint32_t i = 1; i < path.count; i++)
			assert_int_equal(
			    path.at[i].from_ns, path.at[i - 1].to_ns);
		piece = below((int)path.count);
		if (path.at[piece].kind == CRITICAL_IN &&
		    pool.needed == NODES) {
			other = pool;
			for (int i = 0; i < other.count; i++)
				if (number_of[i] == path.at[piece].item)
					other.item[i].length++;
			judge(&other, &pool);
			assert_int_equal(ready_of(&other), ready_of(&pool) + 1);
		}
		critical_path_clear(&path);
		critical_run_clear(&recorded);
		take_back(&waits);
	}
}

/* As long as the slack says, the pool is ready when it was; one moment longer,
 * it is ready one moment later.  Without places: who gets one may change. */
static void
slack_is_how_much_longer_a_phase_may_be(void **state)
{
	unsigned rounds = check_share(2000, 100);
	struct critical_waits waits;
	struct critical_run recorded;
	struct pool pool, other;

	for (unsigned round = 0; round < rounds; round++) {
		int64_t *slack;
		int i;

		do
			make(&pool);
		while (!pool.one_saves);
		for (i = 0; i < pool.count; i++)
			if (pool.item[i].phase == PULL)
				pool.item[i].pause = 0;
		pool.places = ITEMS_MAX;
		judge(&pool, NULL);
		order(&pool);
		give(&pool, &waits);
		critical_run_recorded(&recorded, &waits);
		slack = critical_run_slack(&recorded, &waits);
		i = below(pool.count);
		if (pool.item[i].phase != RES) {
			int64_t longer = slack[number_of[i]];

			assert_true(longer >= 0);
			if (pool.needed < NODES && longer == INT64_MAX)
				longer = 100;
			assert_true(longer < NEVER);
			other = pool;
			other.item[i].length += (int)longer;
			judge(&other, &pool);
			assert_int_equal(ready_of(&other), ready_of(&pool));
			other.item[i].length += pool.needed == NODES;
			judge(&other, &pool);
			assert_int_equal(ready_of(&other),
			    ready_of(&pool) + (pool.needed == NODES));
		}
		free(slack);
		critical_run_clear(&recorded);
		take_back(&waits);
	}
}

/* Resources of 90 moments; in them a torrent from 20 to 30, before anybody has
 * saved, a save from 40 to 50, and a load, which is the last. */
static void
make_early(struct pool *pool)
{
	static const struct item items[] = {
		{ .phase = PREP, .begin = 0, .end = 10 },
		{ .phase = RES, .begin = 10, .end = 100 },
		{ .phase = TORRENT, .key = 1, .begin = 20, .end = 30 },
		{ .phase = SAVE, .key = 1, .begin = 40, .end = 50 },
		{ .phase = LOAD, .key = 1, .begin = 60, .end = 70 },
	};

	*pool = (struct pool){ .count = 5, .places = 1 };
	memcpy(pool->item, items, sizeof(items));
}

static void
what_began_before_it_needs_nothing_of_a_save(void **state)
{
	struct critical_waits waits;
	struct critical_run recorded;
	struct pool pool;
	int64_t *slack;

	make_early(&pool);
	give(&pool, &waits);
	critical_run_recorded(&recorded, &waits);
	slack = critical_run_slack(&recorded, &waits);
	assert_int_equal(slack[number_of[3]], 70 - 50);
	assert_int_equal(slack[number_of[2]], 0);
	free(slack);
	critical_run_clear(&recorded);
	take_back(&waits);
}

/* Any number of resources at once, and loads: each lies in those that began
 * last before it and end no earlier, if there are any. */
static void
phases_of_one_name_may_overlap(void **state)
{
	unsigned rounds = check_share(2000, 100), nested = 0;
	struct critical_waits waits;

	for (unsigned round = 0; round < rounds; round++) {
		struct pool pool = { .places = 1 };

		for (int i = 0; i < 30; i++) {
			int begin = below(40);

			pool.item[pool.count++] =
			    (struct item){ .phase = below(2) ? RES : LOAD,
				    .node = below(2),
				    .key = i % KEYS,
				    .begin = begin,
				    .end = begin + 1 + below(20) };
		}
		give(&pool, &waits);
		for (uint32_t i = 0; i < waits.count; i++) {
			const struct critical_item *item = &waits.at[i];
			int64_t best = -1, found = -1;

			for (uint32_t j = 0; j < i; j++) {
				const struct critical_item *outer =
				    &waits.at[j];

				if (item->phase == LOAD &&
				    outer->phase == RES &&
				    outer->node == item->node &&
				    outer->end_ns >= item->end_ns &&
				    outer->begin_ns > best)
					best = outer->begin_ns;
			}
			if (item->outer != CRITICAL_NONE) {
				found = waits.at[item->outer].begin_ns;
				assert_true(waits.at[item->outer].end_ns >=
					    item->end_ns);
			}
			assert_int_equal(found, best);
			nested += found >= 0;
		}
		take_back(&waits);
	}
	assert_true(nested > rounds);
}

static void
lengths_beyond_all_time_end_with_it(void **state)
{
	int64_t length_ns[5];
	struct critical_change to = { .length_ns = length_ns };
	struct critical_waits waits;
	struct critical_run recorded, changed;
	struct pool pool;

	make_early(&pool);
	give(&pool, &waits);
	critical_run_recorded(&recorded, &waits);
	for (int i = 0; i < pool.count; i++)
		length_ns[number_of[i]] = pool.item[i].end - pool.item[i].begin;
	length_ns[number_of[2]] = INT64_MAX;
	critical_run_changed(&changed, &waits, &recorded, &to);
	assert_true(changed.ready_ns == INT64_MAX);
	critical_run_clear(&changed);
	critical_run_clear(&recorded);
	take_back(&waits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_is_gone_through_again_exactly),
		cmocka_unit_test(
		    with_more_places_than_the_model_has_it_is_exact_too),
		cmocka_unit_test(
		    more_places_and_shorter_phases_make_nothing_later),
		cmocka_unit_test(the_path_is_the_longest),
		cmocka_unit_test(slack_is_how_much_longer_a_phase_may_be),
		cmocka_unit_test(what_began_before_it_needs_nothing_of_a_save),
		cmocka_unit_test(phases_of_one_name_may_overlap),
		cmocka_unit_test(lengths_beyond_all_time_end_with_it),
	};
	int rc;

	seed = check_seed();
	begin_rules();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(rules.waits);
	free(rules.places);
	free(rules.is_required);
	return rc;
}
