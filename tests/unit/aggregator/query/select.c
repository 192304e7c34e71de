/*
 * select - tests of aggregator/query/reader.h: answers with records of several
 * kinds.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

/* A page may be full at the first record of a kind. */
static void
pages_of_several_kinds_give_the_same(void **state)
{
	const unsigned kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE |
			       1u << RECORD_SPAN | 1u << RECORD_ENTITY |
			       1u << RECORD_PHASE;
	uint64_t random = check_seed(), records, again;
	char *whole;

	make_pool(&random, 5, 10);
	shuffle(&random);
	for (unsigned i = 0; i < 3; i++) {
		struct record record = { .kind = RECORD_SPAN,
			.time_ns = RIG_T0 + i,
			.end_ns = RIG_T0 + i + 1,
			.source = text_of("track"),
			.name = text_of("work") };

		rig_record(&rig, "node-1", &record);
		record = (struct record){ .kind = RECORD_ENTITY,
			.source = text_of("job"),
			.name = text_of(i == 0 ? "a" : "b") };
		rig_record(&rig, "node-1", &record);
	}
	take_in(&random, true);
	whole = rig_read(&rig, RIG_SELECT, rig_query(kinds, 0), &records);
	assert_non_null(strstr(whole, "work"));
	for (unsigned size = 1; size < 3000; size += size < 100 ? 33 : 7) {
		char *pages =
		    rig_read(&rig, RIG_SELECT, rig_query(kinds, size), &again);

		assert_int_equal(records, again);
		assert_string_equal(whole, pages);
		free(pages);
	}
	free(whole);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pages_of_several_kinds_give_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
