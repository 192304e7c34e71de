/*
 * series_columns - tests of samples in columns: they equal the samples read
 * one by one, wherever they are stored and however large the page is.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/reader.h"

#include "tests/unit/aggregator/pool.h"

static unsigned made; /* samples made so far */

static void
put_sample(const char *node, const char *set, int64_t time_ns,
    const struct text *values)
{
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.source = text_of(set),
		.values = values->bytes,
		.value_bytes = *values };

	rig_record(&rig, node, &record);
}

enum compact { COMPACT_NONE, COMPACT_SOME, COMPACT_ALL };

/* Of one to five values, or all of three: integers, others, and missing
 * ones. */
static void
put_any(uint64_t *random, int64_t time_ns, bool alike)
{
	static const char *const sets[] = { "cpu", "mem", "perf" };
	unsigned char bytes[64];
	struct wire_writer w;
	struct record record = { .kind = RECORD_SAMPLE, .time_ns = time_ns };
	uint64_t r = check_random(random);
	char node[16];

	snprintf(node, sizeof(node), "node-%u", (unsigned)(r % 4));
	record.source = text_of(sets[(r >> 8) % 3]);
	/* Mostly as many as the sample before. */
	record.values = alike || r >> 16 & 63 ? 3 : 1 + (uint32_t)(r >> 24) % 5;
	wire_writer_init(&w, bytes, sizeof(bytes));
	for (uint32_t i = 0; i < record.values; i++) {
		struct value value = { VALUE_INT,
			{ .i = (int64_t)(check_random(random) >> 20) - 9 } };

		if (value.is.i % 3 == 0)
			value = (struct value){ VALUE_FLOAT,
				{ .f = (double)value.is.i / 7 } };
		if (value.type == VALUE_INT && value.is.i % 31 == 1)
			value.type = VALUE_NIL;
		wire_put_value(&w, &value);
	}
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, node, &record);
}

/* Over three hours, in any order; the later samples are not compacted. */
static void
fill(uint64_t *random, enum compact compact, bool alike)
{
	struct err err = { 0 };

	for (int64_t i = 0; i < made; i++) {
		uint64_t r = check_random(random);

		put_any(random,
		    RIG_T0 + (int64_t)(r % 10800) * NS_PER_SECOND + i, alike);
		if (r >> 20 & 31)
			continue;
		rig_send(&rig, (unsigned)(r >> 32) % SESSIONS);
		if (r >> 40 & 3)
			continue;
		rig_indexer(&rig);
		if (compact == COMPACT_SOME && i < made / 2)
			rig_good(writer_compact(rig.writer, &err), &err);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	if (compact == COMPACT_ALL)
		rig_good(writer_compact(rig.writer, &err), &err);
}

static char *
read_them(struct wire_query query, uint64_t *records)
{
	return without_ids(rig_read(&rig, RIG_SELECT, query, records));
}

static void
columns_are_the_samples_in_their_order(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 3000, 70000 };
	uint64_t random = check_seed(), records, fewer;
	struct wire_query query;
	char *samples;

	for (unsigned i = 0; i < 24; i++) {
		if (i > 0 && i % 4 == 0) {
			tear_down(state);
			set_up(state);
		}
		if (i % 4 == 0)
			fill(&random, (enum compact)(i / 8), i / 4 % 2);
		query = rig_query(1u << RECORD_SAMPLE, 0);
		samples = read_them(query, &records);
		assert_int_equal(records, made);
		query.per_record = UINT32_MAX;
		query.page_bytes = sizes[i % 4];
		assert_same(read_them(query, &fewer), samples);
		assert_true(fewer < made / 2);
	}
}

static void
nodes_metric_groups_and_times_are_selected(void **state)
{
	static const char *const sets[] = { "", "perf", "c*", "none" };
	uint64_t random = check_seed(), records;
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	char *samples;

	fill(&random, COMPACT_ALL, true);
	for (unsigned i = 0; i < 20; i++) {
		query.name = text_of(sets[i % 4]);
		query.node = text_of(i % 3 ? "" : "node-2");
		query.from_ns =
		    RIG_T0 +
		    (int64_t)(check_random(&random) % 9000) * NS_PER_SECOND;
		query.to_ns =
		    query.from_ns +
		    (int64_t)(check_random(&random) % 9000) * NS_PER_SECOND;
		query.per_record = 0;
		samples = read_them(query, &records);
		query.per_record = 2;
		assert_same(read_them(query, &records), samples);
	}
}

/* The lines that contain `what`. */
static char *
lines_with(const char *lines, const char *what)
{
	char *some = calloc(strlen(lines) + 1, 1), *to = some;
	const char *end;

	assert_non_null(some);
	for (; *lines != '\0'; lines = end + 1) {
		const char *found = strstr(lines, what);

		end = strchr(lines, '\n');
		if (found != NULL && found < end)
			to = mempcpy(to, lines, (size_t)(end + 1 - lines));
	}
	return some;
}

static void
a_metric_group_asked_for_by_name_is_complete_and_alone(void **state)
{
	static const char *const sets[] = { "cpu", "mem", "perf", "other" };
	uint64_t random = check_seed(), records;
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	char *all, what[16];

	for (unsigned i = 0; i < 12; i++) {
		if (i > 0 && i % 4 == 0) {
			tear_down(state);
			set_up(state);
		}
		if (i % 4 == 0)
			fill(&random, (enum compact)(i / 4), false);
		query.name = text_of("");
		all = read_them(query, &records);
		query.name = text_of(sets[i % 4]);
		snprintf(what, sizeof(what), "[%s||", sets[i % 4]);
		assert_same(read_them(query, &records), lines_with(all, what));
		assert_int_equal(records > 0, i % 4 < 3);
		free(all);
	}
}

/* A page ends when it has examined its maximum, in the middle of a record. */
static void
a_page_that_ends_early_loses_nothing(void **state)
{
	uint64_t random = check_seed(), records;
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	char *samples;

	for (unsigned i = 0; i < 2; i++) {
		if (i > 0) {
			tear_down(state);
			set_up(state);
		}
		fill(&random, i ? COMPACT_ALL : COMPACT_SOME, i);
		rig.examined_max = 0;
		query.per_record = 0;
		samples = read_them(query, &records);
		rig.examined_max = 7;
		query.per_record = 2;
		assert_same(read_them(query, &records), samples);
	}
	rig.examined_max = 0;
}

static void
a_record_has_as_many_samples_as_allowed(void **state)
{
	static const struct text few = { "\1", 1 }, many = { "\1\2\3\4", 4 };
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	int64_t hour = RIG_T0 / KEY_HOUR_NS * KEY_HOUR_NS;
	uint64_t records;

	for (int64_t i = 0; i < 5000; i++) {
		put_sample("node-1", "few", hour + i, &few);
		put_sample("node-1", "many", hour + i, &many);
		if (i % 500 == 0)
			rig_send(&rig, 0);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	query.per_record = 2;
	query.name = text_of("few");
	free(read_them(query, &records));
	assert_int_equal(records, 2); /* 8,192 / 2 = 4,096 */
	query.name = text_of("many");
	free(read_them(query, &records));
	assert_int_equal(records, 4); /* 8,192 / 5 = 1,638 */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(columns_are_the_samples_in_their_order),
		CASE(nodes_metric_groups_and_times_are_selected),
		CASE(a_metric_group_asked_for_by_name_is_complete_and_alone),
		CASE(a_page_that_ends_early_loses_nothing),
		CASE(a_record_has_as_many_samples_as_allowed),
	};

	made = check_share(4000, 1000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
