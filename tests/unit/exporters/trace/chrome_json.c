/*
 * chrome_json - every event judged by Python's json, numbers as exact decimals.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/chrome_json.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "proto/wire/wire.h"
#include "tests/unit/check.h"

enum { RANDOM_EVENTS = 2000 };

static char path[] = "/tmp/poolscope.XXXXXX";
static FILE *file;
static struct byte_stream byte_stream;

static struct text
t(const char *string)
{
	return text_of(string);
}

static void
begin(void)
{
	struct err err = { 0 };

	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(byte_stream_begin(&byte_stream, file,
			     BYTE_STREAM_PLAIN, t(""), &err),
	    0);
}

static void
end(struct chrome_json *json)
{
	struct err err = { 0 };

	chrome_json_end(json);
	assert_int_equal(byte_stream_end(&byte_stream, &err), 0);
	assert_int_equal(fclose(file), 0);
}

static void
assert_file(const char *wanted)
{
	char got[4096];
	size_t bytes;

	file = fopen(path, "r");
	bytes = fread(got, 1, sizeof(got) - 1, file);
	got[bytes] = '\0';
	fclose(file);
	assert_string_equal(got, wanted);
}

/* Python says whether it holds for `d`, the file as JSON with decimals. */
static void
assert_python(const char *condition)
{
	char command[4096];

	snprintf(command, sizeof(command),
	    "/usr/bin/python3 -c 'import json, sys\n"
	    "from decimal import Decimal\n"
	    "def never(word): raise ValueError(word)\n"
	    "d = json.load(open(sys.argv[1], encoding=\"utf-8\"), "
	    "parse_float=Decimal, parse_int=Decimal, parse_constant=never)\n"
	    "assert %s, d' %s",
	    condition, path);
	assert_int_equal(system(command), 0);
}

static void
members_have_the_order_of_older_writers(void **state)
{
	struct trace_slice slice = { .name = t("op:a"),
		.category = t("eval"),
		.begin_ns = 1234567,
		.duration_ns = 1000,
		.pid = -1,
		.tid = 3,
		.colour = t("grey") };
	struct chrome_json json;

	begin();
	chrome_json_begin(&json, &byte_stream);
	chrome_json_process_name(&json, -1, t("Master"));
	chrome_json_process_sort(&json, -1, 9);
	chrome_json_thread_name(&json, -1, 3, t("EventLoop"));
	chrome_json_thread_sort(&json, -1, 3, -2);
	chrome_json_complete(&json, &slice);
	chrome_json_instant(&json, &slice);
	chrome_json_counter(&json, 2, t("cpu"), t("By/s"), 5, 0.25);
	end(&json);
	assert_file("[\n"
		    "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":-1,"
		    "\"args\":{\"name\":\"Master\"}},\n"
		    "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":-1,"
		    "\"args\":{\"sort_index\":9}},\n"
		    "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":-1,"
		    "\"tid\":3,\"args\":{\"name\":\"EventLoop\"}},\n"
		    "{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":-1,"
		    "\"tid\":3,\"args\":{\"sort_index\":-2}},\n"
		    "{\"name\":\"op:a\",\"cat\":\"eval\",\"ph\":\"X\","
		    "\"ts\":1234.567,\"dur\":1,\"pid\":-1,\"tid\":3,"
		    "\"args\":{},\"cname\":\"grey\"},\n"
		    "{\"name\":\"op:a\",\"cat\":\"eval\",\"ph\":\"i\","
		    "\"ts\":1234.567,\"pid\":-1,\"tid\":3,\"s\":\"t\","
		    "\"args\":{}},\n"
		    "{\"name\":\"cpu\",\"ph\":\"C\",\"ts\":0.005,\"pid\":2,"
		    "\"args\":{\"By/s\":0.25}}\n]\n");
}

static void
a_trace_without_events_is_an_empty_array(void **state)
{
	struct chrome_json json;

	begin();
	chrome_json_begin(&json, &byte_stream);
	end(&json);
	assert_python("d == []");
}

static void
an_object_names_what_it_is_reported(void **state)
{
	struct chrome_json json;
	struct wire_writer w;
	char pairs[256];

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, t("base_ns"), t("1791000000000000001"));
	begin();
	chrome_json_begin_object(
	    &json, &byte_stream, (struct text){ pairs, (uint32_t)w.bytes });
	chrome_json_counter(&json, 1, t("c"), t("v"), 0, NAN);
	chrome_json_counter(&json, 1, t("c"), t("v"), 0, INFINITY);
	end(&json);
	assert_python("d[\"otherData\"] == "
		      "{\"base_ns\": \"1791000000000000001\"} "
		      "and d[\"traceEvents\"] == []");
}

static void
attributes_keep_their_types(void **state)
{
	struct trace_slice slice = { .name = t("n"), .category = t("c") };
	struct value values[] = { { .type = VALUE_NIL },
		{ .type = VALUE_BOOL, .is.boolean = true },
		{ .type = VALUE_INT, .is.i = INT64_MIN },
		{ .type = VALUE_UINT, .is.u = UINT64_MAX },
		{ .type = VALUE_FLOAT, .is.f = 0.1 },
		{ .type = VALUE_FLOAT, .is.f = NAN },
		{ .type = VALUE_TEXT, .is.text = t("x") } };
	struct chrome_json json;
	struct wire_writer w;
	char pairs[256], key[2] = "a";

	wire_writer_init(&w, pairs, sizeof(pairs));
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		wire_put_attribute(&w, t(key), &values[i]);
		key[0]++;
	}
	slice.pairs = (struct text){ pairs, (uint32_t)w.bytes };
	begin();
	chrome_json_begin(&json, &byte_stream);
	chrome_json_complete(&json, &slice);
	end(&json);
	assert_python(
	    "d[0][\"args\"] == {\"a\": None, \"b\": True, \"c\": -2**63, "
	    "\"d\": 2**64-1, \"e\": Decimal(\"0.1\"), \"f\": None, "
	    "\"g\": \"x\"}");
}

static void
text_is_escaped_and_stays_itself(void **state)
{
	static const char hostile[] = "\"\\/\b\n\x01\x7F\xC3\xA4\xF0\x9F\x98"
				      "\x80\xE2\x80\xA8</script>";
	struct trace_slice slice = { .name = t(hostile),
		.category = t("\xFF"
			      "a\xED\xA0\x80") };
	struct chrome_json json;

	begin();
	chrome_json_begin(&json, &byte_stream);
	chrome_json_complete(&json, &slice);
	end(&json);
	assert_python("d[0][\"name\"] == \"\\\"\\\\/\\b\\n\\x01\\x7f"
		      "\\u00e4\\U0001F600\\u2028</script>\"");
	assert_python("d[0][\"cat\"] == \"\\ufffda\\ufffd\\ufffd\\ufffd\"");
}

static void
text_longer_than_any_buffer_arrives(void **state)
{
	enum { BYTES = 3 * BYTE_STREAM_BUFFER_BYTES + 7 };
	char *name = malloc(BYTES);
	struct trace_slice slice = { .name = { name, BYTES } };
	struct chrome_json json;

	for (int i = 0; i < BYTES; i++)
		name[i] = i % 1500 == 0 ? '"' : (char)('a' + i % 26);
	begin();
	chrome_json_begin(&json, &byte_stream);
	chrome_json_complete(&json, &slice);
	end(&json);
	assert_python("d[0][\"name\"] == \"\".join(chr(34) if i % 1500 == 0 "
		      "else chr(97 + i % 26) for i in range(3 * 65536 + 7))");
	free(name);
}

/* The numbers that follow the events, as text of their own: nanoseconds. */
static void
every_nanosecond_is_kept(void **state)
{
	static const int64_t edges[] = { 0, 1, 10, 100, 999, 1000, 1001, -1,
		-999, -1000, INT64_MAX, INT64_MIN, 1791000000123456789 };
	uint64_t seed = check_seed();
	struct chrome_json json;
	char name[64];

	begin();
	chrome_json_begin(&json, &byte_stream);
	for (size_t i = 0; i < RANDOM_EVENTS; i++) {
		struct trace_slice slice = { .name = { name, 0 } };
		size_t count = sizeof(edges) / sizeof(*edges);

		slice.begin_ns = i < count ? edges[i] : check_int64(&seed);
		slice.duration_ns =
		    i < count ? edges[count - 1 - i] : check_int64(&seed);
		slice.name.bytes = (uint32_t)snprintf(name, sizeof(name),
		    "%" PRId64 " %" PRId64, slice.begin_ns, slice.duration_ns);
		chrome_json_complete(&json, &slice);
	}
	end(&json);
	assert_python("len(d) == 2000 and all(e[\"name\"] == "
		      "\"%d %d\" % (e[\"ts\"] * 1000, e[\"dur\"] * 1000) "
		      "for e in d)");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_have_the_order_of_older_writers),
		cmocka_unit_test(a_trace_without_events_is_an_empty_array),
		cmocka_unit_test(an_object_names_what_it_is_reported),
		cmocka_unit_test(attributes_keep_their_types),
		cmocka_unit_test(text_is_escaped_and_stays_itself),
		cmocka_unit_test(text_longer_than_any_buffer_arrives),
		cmocka_unit_test(every_nanosecond_is_kept),
	};
	int fd = mkstemp(path), rc;

	if (fd < 0)
		return 1;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
