/*
 * event_lines - events as a shell or a script says them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/event_lines.h"

#include "agents/dedup/dedup_uuid.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

static struct compose event;
static struct json_fields object;

static int
say(const char *line, struct err *err)
{
	/* Without the end mark, so that a sanitizer sees what reads on. */
	size_t bytes = strlen(line);
	char *copy = malloc(bytes ? bytes : 1);
	int rc;

	memcpy(copy, line, bytes);
	*err = (struct err){ 0 };
	rc = event_line_read(
	    &object, &event, (struct text){ copy, (uint32_t)bytes }, err);
	free(copy);
	return rc;
}

static void
assert_attribute(const char *key, const char *text)
{
	struct value value;

	if (!record_find_attribute(&event.record, text_of(key), &value))
		fail_msg("no attribute %s", key);
	assert_int_equal(value.type, VALUE_TEXT);
	assert_true(text_equal(value.is.text, text_of(text)));
}

static void
a_name_that_lower_case_makes_too_long_is_refused(void **state)
{
	/* U+023A has two bytes, in lower case three. */
	char line[600] = "";
	struct err err;

	for (int i = 0; i < 85; i++)
		strcat(line, "\xC8\xBA");
	strcat(line, " e");
	assert_int_equal(say(line, &err), 0);
	assert_int_equal(event.record.source.bytes, 255);
	for (int i = 0; i < 120; i++)
		memcpy(line + 2 * i, "\xC8\xBA", 2);
	strcpy(line + 240, " e");
	assert_int_equal(say(line, &err), -1);
	assert_non_null(strstr(err.text, "lower case"));
}

static void
a_line_is_source_event_and_the_rest_is_the_message(void **state)
{
	struct err err;

	assert_int_equal(
	    say("Cascade  GR-Done nglobalresources=3,a=\"b c\"", &err), 0);
	assert_true(text_equal(event.record.source, text_of("cascade")));
	assert_true(text_equal(event.record.name, text_of("gr-done")));
	assert_int_equal(event.record.attributes, 1);
	assert_attribute("message", "nglobalresources=3,a=\"b c\"");
	assert_int_equal(event.record.key.bytes, 16);
	assert_int_equal(say("a b", &err), 0);
	assert_int_equal(event.record.attributes, 0);
	assert_int_equal(say("a b ", &err), 0);
	assert_int_equal(event.record.attributes, 0);
	assert_int_equal(say("a b  c ", &err), 0);
	assert_attribute("message", " c ");
	assert_int_equal(say("a", &err), -1);
	assert_int_equal(say(" ", &err), -1);
}

static void
a_json_line_says_everything(void **state)
{
	struct value value;
	struct err err;

	assert_int_equal(
	    say("{\"source\":\"Run\",\"event\":\"Begin\",\"ts\":"
		"\"1508000063.695798123\",\"message\":\"m\",\"node\":\"n 1\","
		"\"partition\":\"a$b\",\"attrs\":{\"i\":-5,\"f\":1.5,\"b\":"
		"true,\"z\":null,\"t\":\"\\u00e9\"}}",
		&err),
	    0);
	assert_true(text_equal(event.record.source, text_of("run")));
	assert_true(event.record.time_ns == INT64_C(1508000063695798123));
	assert_string_equal(event.node, "n 1");
	assert_string_equal(event.partition, "a$b");
	assert_int_equal(event.record.attributes, 6);
	assert_attribute("message", "m");
	assert_attribute("t", "\xc3\xa9");
	assert_true(record_find_attribute(&event.record, text_of("i"), &value));
	assert_true(value.type == VALUE_INT && value.is.i == -5);
	assert_true(record_find_attribute(&event.record, text_of("f"), &value));
	assert_true(value.type == VALUE_FLOAT && value.is.f == 1.5);
	assert_true(record_find_attribute(&event.record, text_of("b"), &value));
	assert_true(value.type == VALUE_BOOL && value.is.boolean);
	assert_true(record_find_attribute(&event.record, text_of("z"), &value));
	assert_true(value.type == VALUE_NIL);
}

static void
a_json_time_keeps_what_a_double_holds(void **state)
{
	struct err err;

	assert_int_equal(
	    say("{\"source\":\"a\",\"event\":\"b\",\"ts\":1508000063.695798}",
		&err),
	    0);
	assert_true(event.record.time_ns == INT64_C(1508000063695798000));
	assert_int_equal(
	    say("{\"source\":\"a\",\"event\":\"b\",\"ts\":-1}", &err), 0);
	assert_true(event.record.time_ns == -NS_PER_SECOND);
	assert_int_equal(
	    say("{\"source\":\"a\",\"event\":\"b\",\"ts\":1e30}", &err), -1);
	assert_int_equal(
	    say("{\"source\":\"a\",\"event\":\"b\",\"ts\":[]}", &err), -1);
}

static void
a_json_line_may_be_of_a_test_run(void **state)
{
	struct value value;
	struct err err;

	assert_int_equal(
	    say("{\"source\":\"run\",\"event\":\"boot_end\",\"ts\":17,"
		"\"run\":\"47 11\",\"receive_ts\":\"18.000000001\","
		"\"attrs\":{\"device_group\":\"g\"}}",
		&err),
	    0);
	assert_true(event.record.time_ns == INT64_C(17000000000));
	assert_int_equal(event.record.attributes, 3);
	assert_attribute("run", "47 11");
	assert_attribute("device_group", "g");
	assert_true(record_find_attribute(
	    &event.record, text_of("receive_ns"), &value));
	assert_true(
	    value.type == VALUE_INT && value.is.i == INT64_C(18000000001));
	assert_int_equal(say("{\"source\":\"run\",\"event\":\"e\","
			     "\"run\":null,\"receive_ts\":null}",
			     &err),
	    0);
	assert_int_equal(event.record.attributes, 0);
}

static void
a_bad_line_says_what_is_bad(void **state)
{
	static const char *const bad[][2] = {
		{ "{", "is not JSON" },
		{ "{\"source\":1,\"event\":\"b\"}", "\"source\" is not text" },
		{ "{\"source\":\"a\"}", "\"event\" is not text" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"foo\":1}",
		    "unknown member 'foo'" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"attrs\":{\"x\":[]}}",
		    "list or an object" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"attrs\":1}",
		    "not an object" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"message\":\"m\","
		  "\"attrs\":{\"message\":\"m\"}}",
		    "given twice" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"node\":\"\"}",
		    "is empty" },
		{ "{\"source\":\"a\",\"event\":\"b\"}}", "is not JSON" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"run\":7}",
		    "\"run\" is not text" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"run\":\"\"}",
		    "run '' is empty" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"receive_ts\":true}",
		    "\"receive_ts\" is neither a number nor text" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"receive_ts\":\"x\"}",
		    "\"receive_ts\": 'x' is not a number" },
		{ "{\"source\":\"a\",\"event\":\"b\",\"run\":\"r\","
		  "\"attrs\":{\"run\":\"s\"}}",
		    "'run' is given twice" },
		{ "a \xff", "is not UTF-8" },
		{ "a b \xff", "is not UTF-8" },
		{ "a b\x01", "control character" },
	};
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(say(bad[i][0], &err), -1);
		if (strstr(err.text, bad[i][1]) == NULL)
			fail_msg("%s: %s", bad[i][0], err.text);
	}
}

static void
limits_are_reported_in_the_sentence(void **state)
{
	char *line = malloc(100000);
	struct value value = { .type = VALUE_NIL };
	char key[16];
	struct err err;

	memset(line, 'x', 99999);
	line[99999] = '\0';
	memcpy(line, "a b ", 4);
	assert_int_equal(say(line, &err), -1);
	assert_non_null(strstr(err.text, "32768"));
	line[300] = ' ';
	line[4] = 'x';
	memcpy(line, "axbx", 4);
	assert_int_equal(say(line, &err), -1);
	assert_non_null(strstr(err.text, "255"));
	free(line);
	assert_int_equal(
	    compose_event(&event, text_of("a"), text_of("b"), &err), 0);
	for (int i = 0; i < RECORD_ATTRIBUTES_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(
		    compose_attribute(&event, text_of(key), &value, &err), 0);
	}
	assert_int_equal(
	    compose_attribute(&event, text_of("k"), &value, &err), -1);
	assert_non_null(strstr(err.text, "64"));
}

static void
names_are_lower_cased_beyond_ascii(void **state)
{
	char to[NAME_BYTES_MAX + 1];
	struct err err;

	assert_int_equal(
	    compose_lower(to, text_of("ÄPFEL-Ébène-ΣΩ-9"), "name", &err), 0);
	assert_string_equal(to, "äpfel-ébène-σω-9");
	assert_int_equal(compose_lower(to, text_of("A\xff"), "name", &err), -1);
}

static void
ids_remember_the_last_hundred_thousand(void **state)
{
	enum { ALL = 350000 };
	struct dedup_uuid *dedup_uuid;
	uint64_t *prints = malloc(ALL * sizeof(*prints));

	dedup_uuid_new(&dedup_uuid);
	for (uint64_t i = 0; i < ALL; i++) {
		uint64_t uuid[2] = { i, 7 };

		prints[i] = dedup_uuid_fingerprint(
		    dedup_uuid, 7, (struct text){ (const char *)uuid, 16 });
		assert_true(dedup_uuid_add(dedup_uuid, prints[i]));
		assert_false(dedup_uuid_add(dedup_uuid, prints[i]));
	}
	for (uint64_t i = ALL - DEDUP_UUID_MIN; i < ALL; i++)
		assert_false(dedup_uuid_add(dedup_uuid, prints[i]));
	/* Memory is bounded: the first ones are new again. */
	assert_true(dedup_uuid_add(dedup_uuid, prints[0]));
	for (uint64_t i = ALL - 1000; i < ALL; i++)
		dedup_uuid_forget(dedup_uuid, prints[i]);
	for (uint64_t i = ALL - 1000; i < ALL; i++)
		assert_true(dedup_uuid_add(dedup_uuid, prints[i]));
	dedup_uuid_free(&dedup_uuid);
	free(prints);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_name_that_lower_case_makes_too_long_is_refused),
		cmocka_unit_test(
		    a_line_is_source_event_and_the_rest_is_the_message),
		cmocka_unit_test(a_json_line_says_everything),
		cmocka_unit_test(a_json_line_may_be_of_a_test_run),
		cmocka_unit_test(a_json_time_keeps_what_a_double_holds),
		cmocka_unit_test(a_bad_line_says_what_is_bad),
		cmocka_unit_test(limits_are_reported_in_the_sentence),
		cmocka_unit_test(names_are_lower_cased_beyond_ascii),
		cmocka_unit_test(ids_remember_the_last_hundred_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
