/*
 * status_limited - the state of a store for who may see some partitions.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/status_limited.h"

#include "exporters/stats/partition_rows.h"

/* Of the counters of a partition those that can be summed up. */
static const char *const counters[] = { "nodes", "records_event",
	"records_sample", "records_span", "records_entity", "records_gap",
	"records_rejected", "records_run", "rejected_bytes", "rejected_cut" };
enum { COUNTERS = sizeof(counters) / sizeof(*counters) };

struct sums {
	uint64_t partitions, of[COUNTERS];
	int64_t rebuilding;
};

static void
add(struct sums *sums, const struct record *record)
{
	struct text name;

	if (!partition_rows_name(record, &name)) {
		sums->rebuilding |= record_count(record, "rebuilding");
		return;
	}
	sums->partitions++;
	for (int i = 0; i < COUNTERS; i++)
		sums->of[i] += (uint64_t)record_count(record, counters[i]);
}

static int
sum_up(struct sums *sums, struct source *source, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	if (source_select(source, SOURCE_STATUS, (struct text){ NULL, 0 },
		&query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			add(sums, &record);
	return rc;
}

int
status_limited_json(struct json *json, struct source *source, struct err *err)
{
	struct sums sums = { .partitions = 0 };

	if (sum_up(&sums, source, err) != 0)
		return -1;
	json_add_object(json, "store");
	json_add_bool(json, "limited", true);
	json_add_uint(json, "partitions", sums.partitions);
	for (int i = 0; i < COUNTERS; i++) {
		json_add_uint(json, counters[i], sums.of[i]);
	}
	json_add_int(json, "rebuilding", sums.rebuilding);
	json_end_object(json);
	return 0;
}
