/*
 * import_lines - what lines of cascade and emits become, and what is wrong with
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/cascade.h"
#include "agents/import/formats/emits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct import_row row;
static struct err err;

static int
parse(enum import_kind kind, const char *line)
{
	err.text[0] = '\0';
	return kind == IMPORT_CASCADE
		   ? import_cascade_parse(&row, text_of(line), &err)
		   : import_emits_parse(&row, text_of(line), &err);
}

static void
assert_text(struct text t, const char *wanted)
{
	char got[512];

	assert_true(t.bytes < sizeof(got));
	memcpy(got, t.at, t.bytes);
	got[t.bytes] = '\0';
	assert_string_equal(got, wanted);
}

static void
assert_attribute(const char *key, const char *wanted)
{
	struct value value;

	assert_true(record_find_attribute(&row.record, text_of(key), &value));
	assert_int_equal(value.type, VALUE_TEXT);
	assert_text(value.is.text, wanted);
}

static void
a_row_of_the_event_table_is_an_event(void **state)
{
	assert_int_equal(
	    parse(IMPORT_CASCADE,
		"{\"PartitionKey\":\"a$b\",\"RowKey\":\"1508000060.717355\","
		"\"Event\":\"nodeprep:start\",\"NodeId\":\"tvm-1\","
		"\"Message\":\"offer=U,sku=16\",\"Timestamp\":1}"),
	    0);
	assert_text(row.partition, "a$b");
	assert_text(row.record.node, "tvm-1");
	assert_text(row.record.source, "nodeprep");
	assert_text(row.record.name, "start");
	assert_int_equal(row.record.kind, RECORD_EVENT);
	assert_true(row.record.time_ns == INT64_C(1508000060717355000));
	assert_int_equal(row.record.attributes, 1);
	assert_attribute("message", "offer=U,sku=16");
}

static void
an_absent_and_a_null_message_are_none(void **state)
{
	assert_int_equal(
	    parse(IMPORT_CASCADE, "{\"PartitionKey\":\"a\",\"RowKey\":\"1\","
				  "\"Event\":\"x:y\",\"NodeId\":\"n\"}"),
	    0);
	assert_int_equal(row.record.attributes, 0);
	assert_int_equal(
	    parse(IMPORT_CASCADE,
		"{\"PartitionKey\":\"a\",\"RowKey\":\"1\","
		"\"Event\":\"x:y\",\"NodeId\":\"n\",\"Message\":null}"),
	    0);
	assert_int_equal(row.record.attributes, 0);
}

static void
the_first_colon_parts_source_and_name(void **state)
{
	assert_int_equal(
	    parse(IMPORT_CASCADE, "{\"PartitionKey\":\"a\",\"RowKey\":\"1\","
				  "\"Event\":\"x:y:z\",\"NodeId\":\"n\"}"),
	    0);
	assert_text(row.record.source, "x");
	assert_text(row.record.name, "y:z");
}

static void
a_call_of_the_recorder_is_an_event(void **state)
{
	assert_int_equal(
	    parse(IMPORT_EMITS,
		"{\"node\":\"n\",\"source\":\"NodePrep\",\"event\":\"START\","
		"\"ts\":\"1508000060.5\",\"clock_us\":7,\"message\":\"k=v\","
		"\"prefix\":\"mine\"}"),
	    0);
	assert_int_equal(row.partition.bytes, 0);
	assert_text(row.record.source, "nodeprep");
	assert_text(row.record.name, "start");
	assert_true(row.record.time_ns == INT64_C(1508000060500000000));
	assert_attribute("message", "k=v");
	assert_attribute("prefix", "mine");
}

static void
without_ts_the_recorders_clock_says_when(void **state)
{
	assert_int_equal(
	    parse(IMPORT_EMITS,
		"{\"node\":\"n\",\"source\":\"a\",\"event\":\"b\",\"ts\":null,"
		"\"clock_us\":1508000061000001,\"message\":null,"
		"\"prefix\":\"shipyard\"}"),
	    0);
	assert_true(row.record.time_ns == INT64_C(1508000061000001000));
	assert_int_equal(row.record.attributes, 0);
}

static void
a_bad_line_says_what_is_wrong(void **state)
{
	static const struct {
		enum import_kind kind;
		const char *line, *words;
	} bad[] = {
		{ IMPORT_CASCADE, "", "not JSON" },
		{ IMPORT_CASCADE, "[1]", "not a JSON object" },
		{ IMPORT_CASCADE, "{\"RowKey\":\"1\"}",
		    "\"PartitionKey\" is missing" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\",\"RowKey\":1,\"Event\":\"x:y\","
		    "\"NodeId\":\"n\"}",
		    "\"RowKey\" is not text" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\",\"RowKey\":\"noon\","
		    "\"Event\":\"x:y\",\"NodeId\":\"n\"}",
		    "\"RowKey\"" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\",\"RowKey\":\"1\","
		    "\"Event\":\"x\",\"NodeId\":\"n\"}",
		    "SOURCE:NAME" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\",\"RowKey\":\"1\","
		    "\"Event\":\":y\",\"NodeId\":\"n\"}",
		    "source" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\\u0007\",\"RowKey\":\"1\","
		    "\"Event\":\"x:y\",\"NodeId\":\"n\"}",
		    "control" },
		{ IMPORT_CASCADE,
		    "{\"PartitionKey\":\"a\",\"PartitionKey\":\"b\"}",
		    "not JSON" },
		{ IMPORT_EMITS,
		    "{\"node\":\"n\",\"source\":\"a\",\"event\":\"b\"}",
		    "are missing" },
		{ IMPORT_EMITS,
		    "{\"node\":\"n\",\"source\":\"a\",\"event\":\"b\","
		    "\"clock_us\":1.5}",
		    "not an integer" },
		{ IMPORT_EMITS,
		    "{\"node\":\"n\",\"source\":\"a\",\"event\":\"b\","
		    "\"clock_us\":9223372036854775807}",
		    "1900 and 2200" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].kind, bad[i].line), -1);
		if (strstr(err.text, bad[i].words) == NULL)
			fail_msg("%s: %s", bad[i].line, err.text);
	}
}

static void
a_message_over_the_limit_is_bad(void **state)
{
	static char line[40000];
	size_t n;

	n = (size_t)sprintf(line,
	    "{\"PartitionKey\":\"a\",\"RowKey\":\"1\",\"Event\":\"x:y\","
	    "\"NodeId\":\"n\",\"Message\":\"");
	memset(line + n, 'm', RECORD_TEXT_BYTES_MAX);
	strcpy(line + n + RECORD_TEXT_BYTES_MAX, "\"}");
	assert_int_equal(parse(IMPORT_CASCADE, line), 0);
	strcpy(line + n + RECORD_TEXT_BYTES_MAX, "m\"}");
	assert_int_equal(parse(IMPORT_CASCADE, line), -1);
	assert_non_null(strstr(err.text, "32768 bytes"));
}

static int
end(void **state)
{
	import_row_clear(&row);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_the_event_table_is_an_event),
		cmocka_unit_test(an_absent_and_a_null_message_are_none),
		cmocka_unit_test(the_first_colon_parts_source_and_name),
		cmocka_unit_test(a_call_of_the_recorder_is_an_event),
		cmocka_unit_test(without_ts_the_recorders_clock_says_when),
		cmocka_unit_test(a_bad_line_says_what_is_wrong),
		cmocka_unit_test(a_message_over_the_limit_is_bad),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
