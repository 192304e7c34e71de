/*
 * import_testrun - what the lines of a farm's runs and events become.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/testrun.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct import_row row;
static struct err err;

static int
parse(enum import_testrun_file file, const char *line)
{
	err.text[0] = '\0';
	return import_testrun_parse(&row, file, text_of(line), &err);
}

static void
assert_is(struct text t, const char *wanted)
{
	if (!text_equal(t, text_of(wanted)))
		fail_msg("'%.*s', not '%s'", (int)t.bytes, t.at, wanted);
}

/* The value of a text attribute; "(nil)", "(none)" for one that is not there,
 * "(number)". */
static void
assert_attribute(const char *key, const char *wanted)
{
	struct value value;

	if (!record_find_attribute(&row.record, text_of(key), &value))
		assert_string_equal("(none)", wanted);
	else if (value.type == VALUE_NIL)
		assert_string_equal("(nil)", wanted);
	else if (value.type == VALUE_INT)
		assert_string_equal("(number)", wanted);
	else
		assert_is(value.is.text, wanted);
}

static int64_t
get_receive(void)
{
	struct value value;

	assert_true(
	    record_find_attribute(&row.record, text_of("receive_ns"), &value));
	assert_int_equal(value.type, VALUE_INT);
	return value.is.i;
}

static void
a_run_is_an_entity_with_its_properties(void **state)
{
	assert_int_equal(
	    parse(IMPORT_TESTRUN_RUNS,
		"{\"testrun_id\":\"7\",\"device_group\":\"g\",\"queue\":\"q\","
		"\"configuration\":\"c\",\"host_worker_instances\":"
		"[[\"w 1\", 2],\t[\"w\\\"2 ] \", 1.10]],\"requestor\":"
		"\"a@b\",\"request_id\":\"17\",\"error\":\"no\\nlink\","
		"\"other\":{\"testrun_id\":8}}"),
	    0);
	assert_int_equal(row.record.kind, RECORD_ENTITY);
	assert_is(row.record.source, "run");
	assert_is(row.record.name, "7");
	assert_int_equal(row.record.attributes, 7);
	assert_attribute("device_group", "g");
	assert_attribute("queue", "q");
	assert_attribute("configuration", "c");
	assert_attribute(
	    "host_worker_instances", "[[\"w 1\",2],[\"w\\\"2 ] \",1.10]]");
	assert_attribute("requestor", "a@b");
	assert_attribute("request_id", "17");
	assert_attribute("error", "no\nlink");
	assert_false(row.aside);
}

static void
what_is_null_is_none_and_what_is_absent_is_not_reported(void **state)
{
	assert_int_equal(
	    parse(IMPORT_TESTRUN_RUNS, "{\"testrun_id\":\"7\",\"error\":null,"
				       "\"host_worker_instances\":null}"),
	    0);
	assert_int_equal(row.record.attributes, 2);
	assert_attribute("error", "(nil)");
	assert_attribute("host_worker_instances", "(nil)");
	assert_attribute("requestor", "(none)");
}

static void
an_event_of_a_run_has_both_times(void **state)
{
	assert_int_equal(
	    parse(IMPORT_TESTRUN_EVENTS,
		"{\"testrun_id\":\"7\",\"event_name\":\"flash_start\","
		"\"event_emit\":1300000168,\"event_receive\":1300000169}"),
	    0);
	assert_int_equal(row.record.kind, RECORD_EVENT);
	assert_is(row.record.source, "run");
	assert_is(row.record.name, "flash_start");
	assert_true(row.record.time_ns == INT64_C(1300000168000000000));
	assert_true(get_receive() == INT64_C(1300000169000000000));
	assert_attribute("run", "7");
	assert_int_equal(row.record.attributes, 2);
}

static void
an_event_that_nobody_received_has_one(void **state)
{
	assert_int_equal(
	    parse(IMPORT_TESTRUN_EVENTS,
		"{\"testrun_id\":\"7\",\"event_name\":\"Task in queue\","
		"\"event_emit\":0}"),
	    0);
	assert_is(row.record.name, "Task in queue");
	assert_attribute("receive_ns", "(none)");
	assert_int_equal(parse(IMPORT_TESTRUN_EVENTS,
			     "{\"testrun_id\":\"7\",\"event_name\":\"e\","
			     "\"event_emit\":-1,\"event_receive\":null}"),
	    0);
	assert_attribute("receive_ns", "(none)");
	assert_true(row.record.time_ns == INT64_C(-1000000000));
}

static void
a_fraction_keeps_every_digit_to_the_nanosecond(void **state)
{
	/* Doubles near 1508000063.695798123 are 238 ns apart. */
	static const struct {
		const char *text;
		int64_t ns;
	} times[] = {
		{ "1508000063.695798123", INT64_C(1508000063695798123) },
		{ "1508000063.695798124", INT64_C(1508000063695798124) },
		{ "1508000063.6957981235000000001",
		    INT64_C(1508000063695798124) },
		{ "1508000063.6957981225", INT64_C(1508000063695798122) },
		{ "1508000063.6957981235", INT64_C(1508000063695798124) },
		{ "-0.000000001", -1 },
		{ "1.5080000636957981E+9", INT64_C(1508000063695798100) },
		{ "15e-10", 2 },
		{ "7258118399.999999999", INT64_C(7258118399999999999) },
		{ "0.0", 0 },
	};
	char line[256];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(line, sizeof(line),
		    " { \"event_\\u0065mit\" : %s ,\"testrun_id\":\"\\\"}7\","
		    "\"x\":{\"event_receive\":[1,{}]},\"event_name\":\"e\","
		    "\"event_receive\" :%s }",
		    times[i].text, times[i].text);
		if (parse(IMPORT_TESTRUN_EVENTS, line) != 0)
			fail_msg("%s: %s", line, err.text);
		if (row.record.time_ns != times[i].ns ||
		    get_receive() != times[i].ns)
			fail_msg("%s is %lld and %lld", times[i].text,
			    (long long)row.record.time_ns,
			    (long long)get_receive());
	}
}

static void
a_bad_line_says_what_is_wrong(void **state)
{
	static const struct {
		enum import_testrun_file file;
		const char *line, *words;
	} bad[] = {
		{ IMPORT_TESTRUN_RUNS, "", "not JSON" },
		{ IMPORT_TESTRUN_RUNS, "7", "not a JSON object" },
		{ IMPORT_TESTRUN_RUNS, "[]", "not a JSON object" },
		{ IMPORT_TESTRUN_RUNS, "{}", "\"testrun_id\" is missing" },
		{ IMPORT_TESTRUN_RUNS, "{\"testrun_id\":7}",
		    "\"testrun_id\" is not text" },
		{ IMPORT_TESTRUN_RUNS, "{\"testrun_id\":\"\"}",
		    "\"testrun_id\" is empty" },
		{ IMPORT_TESTRUN_RUNS, "{\"testrun_id\":\"a\\u0085\"}",
		    "control" },
		{ IMPORT_TESTRUN_RUNS,
		    "{\"testrun_id\":\"a\",\"testrun_id\":\"b\"}", "not JSON" },
		{ IMPORT_TESTRUN_RUNS, "{\"testrun_id\":\"a\",\"error\":[]}",
		    "\"error\" is not text" },
		{ IMPORT_TESTRUN_RUNS, "{\"testrun_id\":\"a\",\"queue\":1}",
		    "\"queue\" is not text" },
		{ IMPORT_TESTRUN_RUNS,
		    "{\"testrun_id\":\"a\",\"host_worker_instances\":\"w\"}",
		    "\"host_worker_instances\" is not a list" },
		{ IMPORT_TESTRUN_EVENTS, "{\"testrun_id\":\"a\"}",
		    "\"event_name\" is missing" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\"}",
		    "\"event_emit\" is missing" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\","
		    "\"event_emit\":\"1\"}",
		    "\"event_emit\" is not a number" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\","
		    "\"event_emit\":null}",
		    "\"event_emit\" is not a number" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\","
		    "\"event_emit\":9999999999}",
		    "\"event_emit\": time '9999999999' is not between the "
		    "years 1900 and 2200" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\","
		    "\"event_emit\":1,\"event_receive\":-1e300}",
		    "\"event_receive\": time '-1e300' is not between" },
		{ IMPORT_TESTRUN_EVENTS,
		    "{\"testrun_id\":\"a\",\"event_name\":\"e\","
		    "\"event_emit\":1,\"event_receive\":true}",
		    "\"event_receive\" is not a number" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].file, bad[i].line), -1);
		if (strstr(err.text, bad[i].words) == NULL)
			fail_msg("%s: %s", bad[i].line, err.text);
	}
}

static void
an_id_has_255_bytes_and_the_texts_of_a_run_33792(void **state)
{
	static char line[80000];
	size_t n = (size_t)sprintf(line, "{\"testrun_id\":\"");

	memset(line + n, 'i', 255);
	strcpy(line + n + 255, "\"}");
	assert_int_equal(parse(IMPORT_TESTRUN_RUNS, line), 0);
	strcpy(line + n + 255, "i\"}");
	assert_int_equal(parse(IMPORT_TESTRUN_RUNS, line), -1);
	assert_non_null(strstr(err.text, "\"testrun_id\" is longer than 255"));

	n = (size_t)sprintf(line, "{\"testrun_id\":\"a\",\"error\":\"");
	memset(line + n, 'e', 33000);
	strcpy(line + n + 33000, "\"}");
	assert_int_equal(parse(IMPORT_TESTRUN_RUNS, line), 0);
	memset(line + n, 'e', 34000);
	strcpy(line + n + 34000, "\"}");
	assert_int_equal(parse(IMPORT_TESTRUN_RUNS, line), -1);
	assert_non_null(strstr(err.text, "33792 bytes"));
}

/* ---- the directory ------------------------------------------------------ */

static char dir[32];

static void
write_file(const char *name, const char *content)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(content, file);
	assert_int_equal(fclose(file), 0);
}

static void
remove_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

static int
open_dir(struct import_source *source, const char *node)
{
	const struct import_format_options options = { .node = node };

	return import_format_testrun.open(source, dir, &options, &err);
}

/* The digest of the directory's rows. */
static void
get_digest(const char *node, unsigned char digest[static IMPORT_DIGEST_BYTES])
{
	struct import_source source;

	assert_int_equal(open_dir(&source, node), 0);
	memcpy(digest, source.digest, IMPORT_DIGEST_BYTES);
	import_source_close(&source);
}

static void
runs_come_before_events_and_bad_lines_have_their_file(void **state)
{
	static const struct {
		enum import_next next;
		enum record_kind kind;
		const char *file;
		uint64_t line;
	} wanted[] = {
		{ IMPORT_LINE, RECORD_ENTITY, "testruns.jsonl", 1 },
		{ IMPORT_TOO_LONG, 0, "testruns.jsonl", 2 },
		{ IMPORT_LINE, RECORD_EVENT, "events.jsonl", 2 },
		{ IMPORT_TOO_LONG, 0, "events.jsonl", 3 },
		{ IMPORT_END, 0, NULL, 0 },
	};
	struct import_source source;

	write_file("testruns.jsonl", "{\"testrun_id\":\"1\"}\n{}\n");
	write_file("events.jsonl",
	    "\n{\"testrun_id\":\"1\",\"event_name\":\"e\","
	    "\"event_emit\":1}\n{\"testrun_id\":1}");
	assert_int_equal(open_dir(&source, "n"), 0);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]);
		     i++) {
			assert_int_equal(source.next(source.arg, &row, &err),
			    wanted[i].next);
			if (wanted[i].next == IMPORT_END)
				continue;
			assert_non_null(
			    strstr(source.file(source.arg), wanted[i].file));
			assert_int_equal(
			    source.line(source.arg), wanted[i].line);
			if (wanted[i].next != IMPORT_LINE)
				continue;
			assert_int_equal(row.record.kind, wanted[i].kind);
			assert_is(row.record.node, "n");
		}
		assert_int_equal(source.offset(source.arg), source.bytes);
		source.rewind(source.arg);
		assert_int_equal(source.offset(source.arg), 0);
	}
	import_source_close(&source);
}

static void
either_file_may_be_missing_but_not_both(void **state)
{
	struct import_source source;

	write_file("testruns.jsonl", "{\"testrun_id\":\"1\"}\n");
	write_file("events.jsonl", "{\"testrun_id\":\"1\",\"event_name\":"
				   "\"e\",\"event_emit\":1}\n");
	remove_file("testruns.jsonl");
	assert_int_equal(open_dir(&source, "n"), 0);
	assert_int_equal(source.next(source.arg, &row, &err), IMPORT_LINE);
	assert_int_equal(row.record.kind, RECORD_EVENT);
	assert_int_equal(source.next(source.arg, &row, &err), IMPORT_END);
	import_source_close(&source);

	remove_file("events.jsonl");
	assert_int_equal(open_dir(&source, "n"), -1);
	assert_non_null(
	    strstr(err.text, "has neither testruns.jsonl nor events.jsonl"));

	write_file("testruns.jsonl", "{\"testrun_id\":\"1\"}\n");
	assert_int_equal(open_dir(&source, "n"), 0);
	assert_int_equal(source.next(source.arg, &row, &err), IMPORT_LINE);
	assert_int_equal(row.record.kind, RECORD_ENTITY);
	assert_int_equal(source.next(source.arg, &row, &err), IMPORT_END);
	import_source_close(&source);
}

static void
other_content_or_another_node_is_another_import(void **state)
{
	unsigned char digest[6][IMPORT_DIGEST_BYTES];

	write_file("testruns.jsonl", "{\"testrun_id\":\"1\"}\n");
	write_file("events.jsonl", "");
	get_digest("n", digest[0]);
	get_digest("m", digest[1]);
	remove_file("events.jsonl");
	get_digest("n", digest[2]);
	write_file("events.jsonl", "{\"testrun_id\":\"1\"}\n");
	get_digest("n", digest[3]);
	write_file("testruns.jsonl", "");
	get_digest("n", digest[4]);
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert_memory_not_equal(
			    digest[i], digest[k], IMPORT_DIGEST_BYTES);

	write_file("testruns.jsonl", "{\"testrun_id\":\"1\"}\n");
	write_file("events.jsonl", "");
	get_digest("n", digest[5]);
	assert_memory_equal(digest[5], digest[0], IMPORT_DIGEST_BYTES);
}

static int
begin(void **state)
{
	strcpy(dir, "/tmp/poolscope-XXXXXX");
	return mkdtemp(dir) == NULL;
}

static int
end(void **state)
{
	import_row_clear(&row);
	remove_file("testruns.jsonl");
	remove_file("events.jsonl");
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_an_entity_with_its_properties),
		cmocka_unit_test(
		    what_is_null_is_none_and_what_is_absent_is_not_reported),
		cmocka_unit_test(an_event_of_a_run_has_both_times),
		cmocka_unit_test(an_event_that_nobody_received_has_one),
		cmocka_unit_test(
		    a_fraction_keeps_every_digit_to_the_nanosecond),
		cmocka_unit_test(a_bad_line_says_what_is_wrong),
		cmocka_unit_test(
		    an_id_has_255_bytes_and_the_texts_of_a_run_33792),
		cmocka_unit_test(
		    runs_come_before_events_and_bad_lines_have_their_file),
		cmocka_unit_test(either_file_may_be_missing_but_not_both),
		cmocka_unit_test(
		    other_content_or_another_node_is_another_import),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
