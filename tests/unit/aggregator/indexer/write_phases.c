/*
 * write_phases - events of phases that come in any order, in transactions of
 * any size, of which some are aborted, with more states than the memory has,
 * while parts are merged: what is stored, and the statistics, are those of all
 * events at once.
 *
 * The oracle sorts all events of a state and pairs them with
 * tests/unit/proto/record/pairing_judge.h.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"
#include "proto/base/memory.h"
#include "tests/unit/proto/record/pairing_judge.h"
#include "tests/unit/aggregator/rig.h"
#include "tests/unit/scratch.h"

enum { EVENTS = 3000, KEYS = 5, SCOPES = 4, PHASES = 2 };

/* Phase 1 pairs with the nearest start, phase 2 is first come, first served. */
struct happened {
	uint32_t phase, key, scope;
	struct phase_entry entry;
};

static char folder[64];
static struct writer writer;
static struct collect collect;
static struct happened happened[EVENTS];
static uint32_t count, keys, scopes;
static bool merges;
static struct duration_stats stats, wanted;

static int
set_up(void **state)
{
	static const struct model_set models;
	struct db_options options = { .map_bytes = 256 << 20 };
	struct err err = { 0 };

	strcpy(folder, "/tmp/poolscope-phases-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	memset(&writer, 0, sizeof(writer));
	rig_good(tables_open(&writer.db, folder, &options, &err), &err);
	collect_init(&collect, NULL, &models, hash_key_random());
	indexer_write_init(&writer.indexer_write);
	duration_stats_init(&stats);
	duration_stats_init(&wanted);
	count = 0;
	keys = KEYS;
	scopes = SCOPES;
	merges = true;
	return 0;
}

static int
tear_down(void **state)
{
	collect_clear(&collect);
	indexer_write_clear(&writer.indexer_write);
	part_merge_clear(&writer.merge);
	db_close(&writer.db);
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- writing ---- */

static struct text
key_text(uint32_t key)
{
	static const char *const texts[KEYS] = { "", "a", "bb", "c c c", "d" };

	return text_of(texts[key]);
}

static uint64_t
key_hash(uint32_t key)
{
	return (key + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
add(const struct happened *h)
{
	const struct collect_role role = { .entry = h->entry,
		.key = key_text(h->key),
		.fifo = h->phase == 2 };
	uint64_t hash = key_hash(h->key);
	struct group *group = group_of(
	    &collect.states, (uint32_t[]){ 1, h->phase, (uint32_t)(hash >> 32),
				 (uint32_t)hash, h->scope });

	group->mixed = true;
	group_append(&collect.states, group, collect_add_role(&collect, &role));
}

static void
write_some(const struct happened *from, uint32_t events, bool commits)
{
	struct db_txn *txn;
	struct err err = { 0 };

	collect_reset(&collect);
	for (uint32_t i = 0; i < events; i++)
		add(&from[i]);
	rig_good(db_begin(writer.db, true, &txn, &err), &err);
	indexer_write_phases(&writer.indexer_write, txn, &collect);
	if (commits) {
		assert_int_equal(db_commit(&txn, &err), DB_OK);
		return;
	}
	db_abort(&txn);
	phase_memory_forget(&writer.indexer_write.memory);
}

/* ---- the oracle ---- */

static int
compare(const void *left, const void *right)
{
	const struct happened *a = left, *b = right;

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return key_hash(a->key) < key_hash(b->key) ? -1 : 1;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return phase_compare(&a->entry, &b->entry);
}

static bool
same_state(const struct happened *a, const struct happened *b)
{
	return a->phase == b->phase && a->key == b->key && a->scope == b->scope;
}

static void
assert_same_event(const struct phase_entry *got, const struct happened *want)
{
	assert_int_equal(got->id.time_ns, want->entry.id.time_ns);
	assert_int_equal(got->id.seq, want->entry.id.seq);
	assert_int_equal(got->is_end, want->entry.is_end);
	assert_int_equal(got->node, want->entry.node);
	assert_int_equal(got->measured, want->entry.measured);
	if (got->measured)
		assert_int_equal(got->measured_ns, want->entry.measured_ns);
	assert_true(text_equal(got->id.body, want->entry.id.body));
}

/* One state, `at` to `to`: what the store has, and what it adds. */
static void
check_state(struct part_cursor *parts, struct phase_items *items,
    const struct happened *at, uint32_t events)
{
	struct pairing pairing[EVENTS];
	const struct phase_entry *start, *end;

	for (uint32_t i = 0; i < events; i++)
		pairing[i] =
		    (struct pairing){ .time_ns = at[i].entry.id.time_ns,
			    .is_end = at[i].entry.is_end };
	pairing_judge(pairing, events, at->phase == 2);
	assert_true(part_cursor_state(parts));
	assert_true(parts->key_hash == key_hash(at->key));
	assert_int_equal(parts->scope, at->scope);
	assert_true(text_equal(parts->key, key_text(at->key)));
	phase_items_begin(items, parts);
	for (uint32_t i = 0; i < events; i++) {
		uint32_t partner = pairing[i].partner;

		if (partner == PAIRING_ALONE) {
			wanted.open_starts += !at[i].entry.is_end;
			wanted.open_ends += at[i].entry.is_end;
		} else if (at[i].entry.is_end) {
			duration_stats_add(&wanted,
			    phase_duration(
				at[partner].entry.id.time_ns, &at[i].entry));
			continue;
		}
		assert_true(phase_items_next(items, &start, &end));
		if (at[i].entry.is_end) {
			assert_null(start);
			assert_same_event(end, &at[i]);
			continue;
		}
		assert_same_event(start, &at[i]);
		assert_int_equal(end == NULL, partner == PAIRING_ALONE);
		if (end != NULL)
			assert_same_event(end, &at[partner]);
	}
	assert_false(phase_items_next(items, &start, &end));
}

static void
check_phase(struct db_txn *txn, const struct happened *at, uint32_t events)
{
	struct part_cursor parts = { .count = 0 };
	struct phase_items items = { .cursor = NULL };

	duration_stats_reset(&wanted);
	assert_true(part_cursor_open(&parts, txn, 1, at->phase, true));
	part_cursor_seek(&parts, 0, 0, INT64_MIN);
	for (uint32_t from = 0, to; from < events; from = to) {
		for (to = from + 1; to < events; to++)
			if (!same_state(&at[from], &at[to]))
				break;
		check_state(&parts, &items, at + from, to - from);
	}
	assert_false(part_cursor_state(&parts));
	part_cursor_clear(&parts);
	phase_items_clear(&items);
	indexer_write_get_stats(txn, 1, at->phase, &stats);
	assert_false(stats.loose);
	assert_true(duration_stats_equal(&stats, &wanted));
}

static void
check_all(void)
{
	struct happened *sorted =
	    memory_copy(happened, (count + 1) * sizeof(*sorted));
	struct db_txn *txn;
	struct err err = { 0 };

	qsort(sorted, count, sizeof(*sorted), compare);
	rig_good(db_begin(writer.db, false, &txn, &err), &err);
	for (uint32_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count; to++)
			if (sorted[from].phase != sorted[to].phase)
				break;
		check_phase(txn, sorted + from, to - from);
	}
	db_abort(&txn);
	free(sorted);
}

/* ---- random lives ---- */

/* An event at about this time; few different times make many of one time. */
static struct happened
make(uint64_t *random, int64_t now, int64_t spread, uint64_t seq)
{
	static const char attributes[] = "\0";
	struct happened h = { .phase =
				  1 + (uint32_t)check_random(random) % PHASES,
		.key = (uint32_t)check_random(random) % keys,
		.scope = 1 + (uint32_t)check_random(random) % scopes };
	struct phase_entry *entry = &h.entry;

	entry->id.time_ns =
	    now - (int64_t)(check_random(random) % (uint64_t)spread);
	entry->id.receive_ns = now;
	entry->id.stream = 1 + (uint32_t)check_random(random) % 3;
	entry->id.seq = seq;
	entry->id.index = (uint32_t)check_random(random) % 100;
	entry->id.body = (struct text){ attributes, 1 };
	entry->is_end = check_random(random) % 2 != 0;
	entry->node = check_random(random) % 4 ? h.scope : h.scope + 100;
	if (entry->is_end && check_random(random) % 3 == 0) {
		entry->measured = true;
		entry->measured_ns = (int64_t)(check_random(random) % 50);
	}
	return h;
}

static void
merge(uint64_t *random)
{
	struct err err = { 0 };
	bool more = true, few = check_random(random) % 2 != 0;

	/* What was planned before events were written. */
	assert_int_equal(part_merge_put(&writer, &err), DB_OK);
	writer.merge.step_events = 1 + (uint32_t)check_random(random) % 300;
	if (check_random(random) % 4 == 0) {
		assert_int_equal(part_merge_all(&writer, &err), DB_OK);
		return;
	}
	writer.merge.next_ns = 0;
	/* Few steps: more is written before the merge is done. */
	for (uint64_t steps = check_random(random) % (few ? 3 : 20);
	     more && steps > 0; steps--)
		assert_int_equal(part_merge_step(&writer, &more, &err), DB_OK);
	if (more && check_random(random) % 2 != 0)
		assert_int_equal(part_merge_plan(&writer, false, &err), 0);
}

/* Events come up to `spread` late, one of `often`; the others in order. */
static void
live(uint64_t *random, int64_t spread, uint32_t often)
{
	uint64_t seq = 1;
	int64_t now = 0;

	writer.indexer_write.memory.states_max =
	    check_random(random) % 3 ? 1 + (uint32_t)check_random(random) % 7
				     : 0;
	while (count < EVENTS - 60) {
		uint32_t events = (uint32_t)check_random(random) % 60;
		bool commits = check_random(random) % 8 != 0;

		for (uint32_t i = 0; i < events; i++)
			happened[count + i] = make(random,
			    now += (int64_t)(check_random(random) % 3),
			    check_random(random) % often ? 1 : spread, seq++);
		write_some(&happened[count], events, commits);
		/* Sent again: the same events. */
		if (commits && events > 0 && check_random(random) % 8 == 0)
			write_some(&happened[count], events / 2, true);
		count += commits ? events : 0;
		if (merges && check_random(random) % 3 == 0)
			merge(random);
		if (check_random(random) % 16 == 0)
			check_all();
	}
	check_all();
}

static void
any_order_gives_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	live(&random, 20, 1);
}

static void
late_events_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	live(&random, 2000, 1);
}

static void
events_in_order_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	live(&random, 1, 1);
}

/* A state that has several rows in each part. */
static void
events_of_one_state_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	keys = scopes = 1;
	live(&random, 20, 1);
}

static void
late_events_of_one_state_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	keys = scopes = 1;
	live(&random, 2000, 1);
}

/* Many parts, one after the other in time, with few events of each state. */
static void
rare_late_events_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	merges = false;
	scopes = 60;
	live(&random, 2000, 16);
}

/* Some of them in the time at which the next part begins. */
static void
slightly_late_events_of_one_state_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	merges = false;
	keys = scopes = 1;
	live(&random, 5, 2);
}

static void
rare_late_events_of_one_state_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	merges = false;
	keys = scopes = 1;
	live(&random, 2000, 16);
}

/* A part that is written while others are merged comes behind the merged one.
 */
static void
writing_overtakes_a_merge(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	bool more = true;

	for (uint32_t part = 0; part <= PART_MERGE_PARTS + 1; part++) {
		for (uint32_t i = 0; i < 280; i++)
			happened[count + i] =
			    make(&random, 280 * part + i, 20, count + i + 1);
		write_some(&happened[count], 280, true);
		count += 280;
		writer.merge.step_events = 200;
		/* The search, and the first rows. */
		for (int i = 0; i < 2 && part == PART_MERGE_PARTS; i++)
			assert_int_equal(
			    part_merge_step(&writer, &more, &err), DB_OK);
	}
	assert_true(writer.merge.busy && writer.merge.made.rows > 0);
	while (writer.merge.busy)
		assert_int_equal(part_merge_step(&writer, &more, &err), DB_OK);
	check_all();
}

static void
write_random(uint64_t *random, uint32_t events)
{
	for (uint32_t i = 0; i < events; i++) {
		happened[count + i] =
		    make(random, count + i, 20, count + i + 1);
		happened[count + i].phase = 1;
	}
	write_some(&happened[count], events, true);
	count += events;
}

static void
plan_first_merge(uint32_t parts)
{
	struct err err = { 0 };
	bool more;

	while (!writer.merge.busy)
		assert_int_equal(part_merge_step(&writer, &more, &err), DB_OK);
	assert_int_equal(part_merge_plan(&writer, false, &err), 0);
	assert_true(writer.merge.rows > 0);
	assert_int_equal(writer.merge.count, parts);
}

/* The newest part grows after the plan was made. */
static void
a_part_that_grows_is_not_merged(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };

	for (uint32_t part = 0; part < PART_MERGE_PARTS; part++)
		write_random(&random, 300);
	write_random(&random, 10);
	plan_first_merge(PART_MERGE_PARTS);
	write_random(&random, 10);
	assert_int_equal(part_merge_put(&writer, &err), DB_OK);
	assert_false(writer.merge.busy);
	check_all();
}

/* `parts` are listed, with all events but those of a part that was deleted. */
static void
check_list(struct db_txn *txn, uint32_t parts, uint64_t events)
{
	struct part_list list = { .at = NULL };

	assert_true(part_list_get(&list, txn, 1, 1));
	assert_int_equal(list.count, parts);
	assert_int_equal(list.making, 0);
	for (uint32_t i = 0; i < list.count; i++)
		events -= list.at[i].events;
	assert_int_equal(events, 0);
	part_list_clear(&list);
}

/* Delete a part of phase 1 while a merge is planned, write `then` events, and
 * put what was planned: the merge ends, the other parts remain. */
static void
delete_while_planned(uint64_t *random, uint32_t at, uint32_t then)
{
	struct part_list list = { .at = NULL };
	struct err err = { 0 };
	struct db_txn *txn;
	uint64_t deleted;

	assert_int_equal(db_begin(writer.db, true, &txn, &err), 0);
	assert_true(part_list_get(&list, txn, 1, 1));
	assert_true(list.count > at);
	deleted = list.at[at].events;
	part_list_delete(&list, txn, list.at[at].number);
	part_list_put(&list, txn);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	if (then > 0)
		write_random(random, then);
	assert_int_equal(part_merge_put(&writer, &err), DB_OK);
	assert_false(writer.merge.busy);
	assert_int_equal(db_begin(writer.db, false, &txn, &err), 0);
	check_list(txn, list.count, count - deleted);
	db_abort(&txn);
	part_list_clear(&list);
}

static void
a_merge_ends_when_one_of_its_parts_is_deleted(void **state)
{
	uint64_t random = check_seed();

	for (uint32_t part = 0; part < PART_MERGE_PARTS; part++)
		write_random(&random, 300);
	plan_first_merge(PART_MERGE_PARTS);
	delete_while_planned(&random, 1, 0);
}

/* The last part of the merge is small; it is the newest one when the one behind
 * it is deleted. */
static void
a_merge_ends_when_one_of_its_parts_has_grown(void **state)
{
	uint64_t random = check_seed();

	for (uint32_t part = 1; part < PART_MERGE_PARTS; part++)
		write_random(&random, 300);
	write_random(&random, 66);
	write_random(&random, 66);
	plan_first_merge(PART_MERGE_PARTS);
	delete_while_planned(&random, PART_MERGE_PARTS, 10);
}

static void
append(int64_t time_ns, bool is_end)
{
	static const char attributes[] = "\0";
	struct happened h = { .phase = 1, .scope = 1 };

	h.entry = (struct phase_entry){ .id = { .time_ns = time_ns,
					    .stream = 1,
					    .seq = count + 1,
					    .body = { attributes, 1 } },
		.node = 1,
		.is_end = is_end };
	happened[count++] = h;
}

/* Each span ends when the next one starts, so what waits is known only from the
 * begin; or each takes no time.  Rows of `row` events begin at the start of a
 * time, or between the end and the start of one. */
static void
play_without_gaps(uint64_t *random, bool instants, uint32_t row)
{
	struct err err = { 0 };

	for (int64_t i = 0; i < 100; i++) {
		if (i > 0 || instants)
			append(10 * i, true);
		append(10 * i, false);
	}
	write_some(happened, count, true);
	writer.merge.step_events = row;
	assert_int_equal(part_merge_all(&writer, &err), DB_OK);
	for (int i = 0; i < 50; i++) {
		append((int64_t)(check_random(random) % 200) * 5,
		    check_random(random) % 2 != 0);
		write_some(&happened[count - 1], 1, true);
	}
	check_all();
}

static void
late_events_between_spans_without_gaps_give_the_same_phases(void **state)
{
	uint64_t random = check_seed();

	for (uint32_t row = 2; row < 12; row++)
		for (int instants = 0; instants < 2; instants++) {
			play_without_gaps(&random, instants, row);
			tear_down(state);
			assert_int_equal(set_up(state), 0);
		}
}

/* Who sends too many events of one time does not fill the memory of readers,
 * whether they come at once or one by one. */
static void
one_time_has_a_limited_number_of_events(void **state)
{
	struct happened h = { .phase = 1, .scope = 1 };

	for (uint32_t i = 0; i < EVENTS / 2; i++) {
		h.entry.id = (struct row_block_item){
			.time_ns = 7, .stream = 1, .seq = 1, .index = i
		};
		happened[i] = h;
	}
	write_some(happened, EVENTS / 2, true);
	assert_int_equal(
	    writer.indexer_write.overflow, EVENTS / 2 - PHASE_INSTANT);
	for (uint32_t i = 0; i < 10; i++) {
		h.entry.id.index = EVENTS + i;
		write_some(&h, 1, true);
	}
	assert_int_equal(
	    writer.indexer_write.overflow, EVENTS / 2 - PHASE_INSTANT + 10);
	count = PHASE_INSTANT;
	check_all();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(any_order_gives_the_same_phases),
		CASE(late_events_give_the_same_phases),
		CASE(events_in_order_give_the_same_phases),
		CASE(events_of_one_state_give_the_same_phases),
		CASE(late_events_of_one_state_give_the_same_phases),
		CASE(rare_late_events_give_the_same_phases),
		CASE(rare_late_events_of_one_state_give_the_same_phases),
		CASE(slightly_late_events_of_one_state_give_the_same_phases),
		CASE(writing_overtakes_a_merge),
		CASE(a_part_that_grows_is_not_merged),
		CASE(a_merge_ends_when_one_of_its_parts_is_deleted),
		CASE(a_merge_ends_when_one_of_its_parts_has_grown),
		CASE(
		    late_events_between_spans_without_gaps_give_the_same_phases),
		CASE(one_time_has_a_limited_number_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
