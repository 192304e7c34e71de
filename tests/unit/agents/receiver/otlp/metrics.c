/*
 * What becomes of the numbers of a request.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/map.h"

#include "tests/unit/check.h"

enum { GROUPS_MAX = 4 };

struct got {
	int groups, taken; /* and how many are taken until it fails */
	int64_t value[GROUPS_MAX];
};

static int
on_group(void *arg, const struct dynamic_group *group)
{
	struct got *got = arg;

	if (got->groups == got->taken)
		return -1;
	got->value[got->groups++] = group->number[0].value.is.i;
	return 0;
}

/* Two services have counted 5 and 7 since the last request. */
static const char differences[] =
    "{\"resourceMetrics\":["
    "{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
    "\"value\":{\"stringValue\":\"a\"}}]},\"scopeMetrics\":[{\"metrics\":["
    "{\"name\":\"n\",\"sum\":{\"aggregationTemporality\":1,"
    "\"isMonotonic\":true,\"dataPoints\":["
    "{\"timeUnixNano\":\"1700000000000000000\",\"asInt\":\"5\"}]}}]}]},"
    "{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
    "\"value\":{\"stringValue\":\"b\"}}]},\"scopeMetrics\":[{\"metrics\":["
    "{\"name\":\"n\",\"sum\":{\"aggregationTemporality\":1,"
    "\"isMonotonic\":true,\"dataPoints\":["
    "{\"timeUnixNano\":\"1700000000000000000\",\"asInt\":\"7\"}]}}]}]}]}";

static void
what_the_agent_did_not_take_is_added_up_once(void **state)
{
	static const unsigned char request[RECORD_ID_BYTES] = { 1 };
	struct got got = { .taken = 0 };
	struct otlp_map map = { .calls = { &got, NULL, on_group }, .boot = 1 };
	struct buffer message = { 0 };
	struct err err = { 0 };

	otlp_deltas_new(&map.deltas);
	assert_int_equal(
	    otlp_read_json(&message, &otlp_metrics, text_of(differences), &err),
	    0);
	for (got.taken = 0; got.taken < 2; got.taken++) {
		got.groups = 0;
		otlp_map_begin(&map, request);
		assert_int_equal(
		    otlp_map_metrics(&map, buffer_text(&message)), -1);
	}
	got.groups = 0;
	otlp_map_begin(&map, request);
	assert_int_equal(otlp_map_metrics(&map, buffer_text(&message)), 0);
	assert_int_equal(got.groups, 2);
	assert_int_equal(got.value[0], 5);
	assert_int_equal(got.value[1], 7);
	otlp_deltas_free(&map.deltas);
	otlp_map_clear(&map);
	buffer_clear(&message);
}

static int
count_numbers(void *arg, const struct dynamic_group *group)
{
	*(uint64_t *)arg += group->numbers;
	return 0;
}

/* A request of a summary with that many empty quantiles. */
static void
put_summary(struct buffer *to, uint32_t quantiles)
{
	size_t begun[5];

	for (uint32_t i = 0; i < 5; i++) {
		static const uint32_t field[] = { OTLP_REQUEST_RESOURCES,
			OTLP_RESOURCE_SCOPES, OTLP_SCOPE_ITEMS,
			OTLP_METRIC_SUMMARY, OTLP_METRIC_POINTS };

		begun[i] = protobuf_begin(to, field[i]);
		if (i == 2)
			protobuf_text(to, OTLP_METRIC_NAME, text_of("n"));
	}
	protobuf_fixed64(to, OTLP_POINT_TIME, 1);
	while (quantiles-- > 0)
		protobuf_text(to, OTLP_SUMMARY_QUANTILES, text_of(""));
	for (uint32_t i = 5; i-- > 0;)
		protobuf_end(to, begun[i]);
}

static void
a_request_has_a_hundred_thousand_numbers_at_most(void **state)
{
	static const unsigned char request[RECORD_ID_BYTES] = { 1 };
	uint64_t numbers = 0;
	struct otlp_map map = { .calls = { &numbers, NULL, count_numbers },
		.boot = 1 };
	struct buffer message = { 0 };
	struct err err = { 0 };

	put_summary(&message, 200000);
	assert_int_equal(
	    otlp_check(&otlp_metrics, buffer_text(&message), &err), 0);
	otlp_map_begin(&map, request);
	map.taken = OTLP_NUMBERS_MAX - 2;
	assert_int_equal(otlp_map_metrics(&map, buffer_text(&message)), 0);
	assert_int_equal(numbers, 2);
	assert_int_equal(map.refused, 1);
	assert_string_equal(
	    map.why.text, "more than 100000 numbers in a request");
	otlp_map_clear(&map);
	buffer_clear(&message);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_agent_did_not_take_is_added_up_once),
		cmocka_unit_test(
		    a_request_has_a_hundred_thousand_numbers_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
