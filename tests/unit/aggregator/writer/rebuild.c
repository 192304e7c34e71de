/*
 * rebuild - tests of rebuilding phases and statistics.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

static void
a_rebuild_gives_the_same_phases(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	char *phases, *stats;

	(void)state;
	make_pool(&random, 10, 40);
	shuffle(&random);
	take_in(&random, true);
	phases = read_phases();
	stats = read_stats();
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	assert_same(phases, read_phases());
	assert_same(stats, read_stats());
	/* And the indexer continues from there. */
	make_pool(&random, 10, 3);
	take_in(&random, true);
}

static void
many_pairs_are_compacted_and_stay_readable(void **state)
{
	enum { PAIRS = 1000 };
	struct err err = { 0 };
	uint64_t records;
	char *phases, *stats;
	int i;

	(void)state;
	for (i = 0; i < PAIRS; i++) {
		rig_event(
		    &rig, "n", RIG_T0 + 10 * i, "pool", "pull-start", "img=a");
		rig_event(&rig, "n", RIG_T0 + 10 * i + 5, "pool", "pull-end",
		    "img=a");
		if (i % 7 == 0) {
			rig_send(&rig, 0);
			rig_indexer(&rig);
		}
	}
	/* Far too late: the pairs around it are compacted. */
	rig_event(&rig, "n", RIG_T0 + 3, "pool", "pull-start", "img=a");
	rig_send(&rig, 1);
	rig_indexer(&rig);
	rig_verify(&rig);
	phases = rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_PHASE, 3000), &records);
	assert_int_equal(records, PAIRS);
	free(phases);
	stats = read_stats();
	assert_true(property(stats, "m:pull", "count") == PAIRS);
	assert_true(property(stats, "m:pull", "too_late") == 1);
	assert_true(property(stats, "m:pull", "open_starts") == 0);
	free(stats);
	/* A rebuild puts it where it belongs. */
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	stats = read_stats();
	assert_true(property(stats, "m:pull", "count") == PAIRS);
	assert_true(property(stats, "m:pull", "too_late") == 0);
	assert_true(property(stats, "m:pull", "open_starts") == 1);
	free(stats);
}

static void
changed_models_apply_after_a_rebuild(void **state)
{
	struct err err = { 0 };
	char path[128], *stats;
	FILE *file;

	(void)state;
	rig_event(&rig, "n", RIG_T0, "a", "b", NULL);
	rig_event(&rig, "n", RIG_T0 + 500000000, "a", "c", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	writer_close(&rig.writer);
	snprintf(path, sizeof(path), "%s/m.conf", rig.models);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("phase \"new\" { start = \"a:b\" end = \"a:c\" }\n", file);
	fclose(file);
	rig_open_indexer(&rig);
	rig_good(writer_rebuild(rig.writer, &err), &err);
	stats = read_stats();
	assert_true(property(stats, "m:new", "sum") == 0.5);
	assert_null(strstr(stats, "m:pull"));
	free(stats);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_rebuild_gives_the_same_phases),
		CASE(many_pairs_are_compacted_and_stay_readable),
		CASE(changed_models_apply_after_a_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
