/*
 * retention - tests of deleting old records, and those beyond the size limit.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

#include "aggregator/tables/key.h"

static void
old_hours_are_deleted_with_their_statistics(void **state)
{
	uint64_t random = check_seed();
	int64_t cut_ns = clock_wall_ns() / KEY_HOUR_NS * KEY_HOUR_NS;
	unsigned kept = 0, i;
	char *all, *stats, *phases;
	struct err err = { 0 };
	int64_t shift;

	make_pool(&random, 10, 60);
	qsort(events, count, sizeof(*events), by_time);
	/* Half of them are before the hour of the cut. */
	shift = cut_ns - 10 * KEY_HOUR_NS - events[count / 2].time_ns;
	for (i = 0; i < count; i++) {
		events[i].time_ns += shift;
		kept += events[i].time_ns >= cut_ns - 10 * KEY_HOUR_NS;
	}
	take_in(&random, true);
	writer_close(&rig.writer);
	rig.options.retain_ns = clock_wall_ns() - (cut_ns - 10 * KEY_HOUR_NS);
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
	all = rig_all(&rig, RECORD_EVENT);
	for (i = 0; *all != '\0' && strchr(all + i, '\n') != NULL; i++)
		;
	free(all);
	{
		uint64_t records;

		free(rig_read(&rig, RIG_SELECT,
		    rig_query(1u << RECORD_EVENT, 0), &records));
		assert_int_equal(records, kept);
	}
	stats = read_stats();
	assert_true(property(stats, "m:pull", "count") > 0);
	/* What is left of the events says the same once more. */
	phases = read_phases();
	rig_good(writer_rebuild(rig.writer, &err), &err);
	assert_same(phases, read_phases());
	assert_same(stats, read_stats());
}

static void
a_size_limit_deletes_the_oldest(void **state)
{
	uint64_t random = check_seed();
	struct db_status status;
	struct err err = { 0 };

	make_pool(&random, 30, 60);
	qsort(events, count, sizeof(*events), by_time);
	take_in(&random, false);
	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	writer_close(&rig.writer);
	rig.options.retain_bytes = status.used_bytes * 2 / 3;
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	assert_true(status.used_bytes <= rig.options.retain_bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(old_hours_are_deleted_with_their_statistics),
		CASE(a_size_limit_deletes_the_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
