/*
 * series_time - the time range of a partition, and time steps.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series.h"

#include <string.h>

#include "proto/os/clock.h"

#define HOUR_NS (INT64_C(3600) * NS_PER_SECOND)

static bool
take_int(const struct record *record, const char *key, int64_t *to)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value) ||
	    value.type != VALUE_INT)
		return false;
	*to = value.is.i;
	return true;
}

int
series_extent(struct source *source, struct text partition,
    struct series_extent *extent, struct err *err)
{
	static const char prefix[] = "partition:";
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	bool found = false;
	int rc;

	*extent = (struct series_extent){ .nodes = 0 };
	if (source_select(source, SOURCE_STATUS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		struct text name = record.name;

		if (name.bytes < sizeof(prefix) ||
		    memcmp(name.at, prefix, sizeof(prefix) - 1) != 0)
			continue;
		name.at += sizeof(prefix) - 1;
		name.bytes -= sizeof(prefix) - 1;
		if (!text_equal(name, partition))
			continue;
		found = take_int(&record, "first_ns", &extent->first_ns) &&
			take_int(&record, "last_ns", &extent->last_ns) &&
			extent->first_ns <= extent->last_ns;
		(void)take_int(&record, "nodes", &extent->nodes);
	}
	if (rc == 0 && !found)
		return err_set(err, "partition %.*s has no records in %s",
		    (int)partition.bytes, partition.at, source_name(source));
	return rc;
}

static const int64_t steps_ms[] = { 100, 200, 500, 1000, 2000, 5000, 10000,
	20000, 30000, 60000, 120000, 300000, 600000, 1200000, 1800000,
	3600000 };
enum { STEPS = sizeof(steps_ms) / sizeof(*steps_ms) };

int64_t
series_fit_step(int64_t step_ns)
{
	for (int i = 0; i < STEPS; i++)
		if (step_ns <= steps_ms[i] * 1000000)
			return steps_ms[i] * 1000000;
	return HOUR_NS;
}

int64_t
series_step(int64_t from_ns, int64_t to_ns, uint32_t steps)
{
	return series_fit_step((to_ns - from_ns + steps - 1) / steps);
}

unsigned
series_rollup_rank(struct text rollup)
{
	static const char *const rollups[] = { "raw", "1min", "1h" };

	for (unsigned i = 0; i < 3; i++)
		if (text_equal(rollup, text_of(rollups[i])))
			return i + 1;
	return 0;
}
