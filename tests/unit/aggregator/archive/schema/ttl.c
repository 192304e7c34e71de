/*
 * ttl - tests of aggregator/archive/schema/ttl.h: what servers delete.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/archive/schema/ttl.h"

#define ENGINE                                                                 \
	"ReplicatedReplacingMergeTree('/a TTL hour/{shard}', '{replica}') "    \
	"PARTITION BY intDiv(hour, 24) ORDER BY (part, hour)"

static void
check(const char *rest, enum ttl ttl, const char *deleted)
{
	char engine[512];
	struct buffer sql = { .at = NULL };

	snprintf(engine, sizeof(engine), ENGINE "%s", rest);
	assert_int_equal(ttl_read(text_of(engine), &sql), ttl);
	assert_true(text_equal(buffer_text(&sql), text_of(deleted)));
	assert_int_equal(ttl_read(text_of(engine), NULL), ttl);
	buffer_clear(&sql);
}

static void
what_is_not_deleted_is_none(void **state)
{
	check("", TTL_NONE, "");
	check(" SETTINGS index_granularity = 8192", TTL_NONE, "");
	check(" TTL toDateTime(hour * 3600) + toIntervalDay(30) TO VOLUME 'a'",
	    TTL_NONE, "");
	check(" TTL toDateTime(hour * 3600) TO DISK 'a, TTL hour', "
	      "toDateTime(pos) RECOMPRESS CODEC(ZSTD(9)) SETTINGS a = 1",
	    TTL_NONE, "");
}

static void
times_are_conditions(void **state)
{
	check(" TTL toDateTime(hour * 3600) + toIntervalDay(30)", TTL_BY_TIME,
	    "(toDateTime(hour * 3600) + toIntervalDay(30)) <= now() + 3600");
	check(" TTL f(hour) DELETE ", TTL_BY_TIME, "(f(hour)) <= now() + 3600");
	check(" TTL toDate(a(ts, 'x)')) DELETE, hour + 1 TO VOLUME 'cold', "
	      "f(hour) SETTINGS x = 1",
	    TTL_BY_TIME,
	    "(toDate(a(ts, 'x)'))) <= now() + 3600 OR "
	    "( f(hour)) <= now() + 3600");
}

static void
others_are_not_understood(void **state)
{
	check(" TTL toDateTime(recv / 1000000000)", TTL_OTHER, "");
	check(" TTL toDateTime(3600)", TTL_OTHER, "");
	check(" TTL `hour` + 1", TTL_OTHER, "");
	check(" TTL hour + 1 WHERE hour > 5", TTL_OTHER, "");
	check(" TTL hour + 1 DELETE WHERE hour > 5", TTL_OTHER, "");
	check(" TTL ts + 1, hour + 1 DELETE WHERE part = 5 SETTINGS x = 1",
	    TTL_OTHER, "");
	check(" TTL hour + 1 GROUP BY hour SET ts = max(ts)", TTL_OTHER, "");
	check(" TTL hour + 1, ts + 1 WHERE part = 5", TTL_OTHER, "");
	/* Cut short. */
	check(" TTL toDate(hour", TTL_BY_TIME, "(toDate(hour) <= now() + 3600");
	check(" TTL 'hour", TTL_OTHER, "");
	check(" TTL ", TTL_NONE, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_deleted_is_none),
		cmocka_unit_test(times_are_conditions),
		cmocka_unit_test(others_are_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
