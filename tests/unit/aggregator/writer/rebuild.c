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
a_late_event_finds_its_place_among_many(void **state)
{
	enum { PAIRS = 1000 };
	struct err err = { 0 };
	uint64_t records;
	char *phases, *stats;
	int i;

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
	/* Far in the past: within the first of all pairs.  The start before it
	 * is followed by a start now. */
	rig_event(&rig, "n", RIG_T0 + 3, "pool", "pull-start", "img=a");
	rig_send(&rig, 1);
	rig_indexer(&rig);
	rig_verify(&rig);
	phases = rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_PHASE, 3000), &records);
	assert_int_equal(records, PAIRS + 1);
	free(phases);
	stats = read_stats();
	assert_true(property(stats, "m:pull", "count") == PAIRS);
	assert_true(property(stats, "m:pull", "open_starts") == 1);
	assert_true(property(stats, "m:pull", "min") == 2e-9);
	free(stats);
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	stats = read_stats();
	assert_true(property(stats, "m:pull", "count") == PAIRS);
	assert_true(property(stats, "m:pull", "open_starts") == 1);
	free(stats);
}

static void
changed_models_apply_after_a_rebuild(void **state)
{
	struct err err = { 0 };
	char path[128], *stats;
	FILE *file;

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
		CASE(a_late_event_finds_its_place_among_many),
		CASE(changed_models_apply_after_a_rebuild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
