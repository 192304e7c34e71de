/*
 * phase_nodes - tests of aggregator/query/phases/phase_nodes.h.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phase_nodes.h"

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/dictionary.h"
#include "tests/unit/aggregator/pool.h"

static struct duration_stats stats;

/* The sums of a phase as lines; each is requested twice. */
static char *
sums(uint32_t room, size_t sum_room, const char *phase)
{
	struct phase_nodes phase_nodes = {
		.room = room, .sum_room = sum_room, .stats = &stats
	};
	uint32_t partition, number, node = 0, again;
	struct db_txn *txn;
	struct err err = { 0 };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	partition = dictionary_find(txn, 0, text_of(RIG_PARTITION));
	number = dictionary_find(txn, partition, text_of(phase));
	assert_true(partition != 0 && number != 0);
	for (;; node++) {
		again = node;
		if (!phase_nodes_next(&phase_nodes, txn, partition, number,
			&node, UINT32_MAX))
			break;
		assert_true(phase_nodes_next(
		    &phase_nodes, txn, partition, number, &again, UINT32_MAX));
		assert_int_equal(node, again);
		fprintf(out, "%u: %llu %lld %lld..%lld %llu %llu %.17g\n", node,
		    (unsigned long long)stats.sums.count,
		    (long long)stats.sums.sum, (long long)stats.min,
		    (long long)stats.max, (unsigned long long)stats.open_starts,
		    (unsigned long long)stats.open_ends,
		    duration_stats_quantile(&stats, 50));
	}
	db_abort(&txn);
	phase_nodes_clear(&phase_nodes);
	fclose(out);
	return text;
}

static void
sums_do_not_depend_on_the_memory(void **state)
{
	static const char *const phases[] = { "m:prep", "m:pull", "m:job" };
	uint64_t random = check_seed();
	unsigned i;

	make_pool(&random, 25, 12);
	shuffle(&random);
	take_in(&random, true);
	for (i = 0; i < 3; i++) {
		char *all = sums(0, 0, phases[i]);
		uint32_t room;

		assert_non_null(strchr(all, '\n'));
		for (room = 1; room < 200; room += 1 + room / 4) {
			char *some = sums(room, 0, phases[i]);

			assert_string_equal(all, some);
			free(some);
			some = sums(0, 20 * (size_t)room, phases[i]);
			assert_string_equal(all, some);
			free(some);
		}
		free(all);
	}
}

/* More states of one node than fit in the memory. */
static void
a_node_of_many_keys_is_summed_up_alone(void **state)
{
	char message[32], *all;
	unsigned i, node, sent = 0;

	for (i = 0; i < 300; i++) {
		for (node = 0; node < 3; node++) {
			char name[16];

			if (node != 1 && i % 100 != node)
				continue;
			snprintf(name, sizeof(name), "node-%u", node);
			snprintf(message, sizeof(message), "img=i%u", i);
			rig_event(&rig, name, RIG_T0 + 100 * ++sent, "pool",
			    "pull-start", message);
			rig_event(&rig, name, RIG_T0 + 100 * sent + 50, "pool",
			    "pull-end", message);
		}
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	all = sums(0, 0, "m:pull");
	assert_non_null(strstr(all, ": 300 15000 50..50 0 0 "));
	assert_same(sums(16, 0, "m:pull"), sums(7, 1, "m:pull"));
	assert_same(all, sums(16, 0, "m:pull"));
}

static void
only_selected_nodes_are_returned(void **state)
{
	uint64_t random = check_seed();
	struct phase_nodes phase_nodes = { .stats = &stats };
	uint32_t partition, phase, first = 0, second, node;
	struct db_txn *txn;
	struct err err = { 0 };

	make_pool(&random, 9, 3);
	take_in(&random, false);
	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	partition = dictionary_find(txn, 0, text_of(RIG_PARTITION));
	phase = dictionary_find(txn, partition, text_of("m:prep"));
	assert_true(phase_nodes_next(
	    &phase_nodes, txn, partition, phase, &first, UINT32_MAX));
	second = first + 1;
	assert_true(phase_nodes_next(
	    &phase_nodes, txn, partition, phase, &second, UINT32_MAX));
	/* From the cached sums, and from the store. */
	for (int i = 0; i < 2; i++) {
		node = first;
		assert_true(phase_nodes_next(
		    &phase_nodes, txn, partition, phase, &node, first));
		assert_int_equal(node, first);
		node = first + 1;
		assert_false(phase_nodes_next(
		    &phase_nodes, txn, partition, phase, &node, second - 1));
		phase_nodes_forget(&phase_nodes);
	}
	node = 1;
	assert_false(phase_nodes_next(
	    &phase_nodes, txn, partition, phase + 100, &node, UINT32_MAX));
	db_abort(&txn);
	phase_nodes_clear(&phase_nodes);
}

static int
begin(void **state)
{
	duration_stats_init(&stats);
	return set_up(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_do_not_depend_on_the_memory),
		TEST(a_node_of_many_keys_is_summed_up_alone),
		TEST(only_selected_nodes_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
