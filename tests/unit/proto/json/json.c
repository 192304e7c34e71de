/*
 * json - what is written, judged by Python's json.dumps.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json.h"

#include <math.h>
#include <unistd.h>

#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static char text[8192];

static struct json
begin(FILE **file, unsigned style)
{
	struct json json;

	memset(text, 0, sizeof(text));
	*file = fmemopen(text, sizeof(text), "w");
	assert_non_null(*file);
	json_init(&json, *file, style);
	return json;
}

static void
put_all(struct json *json)
{
	json_begin_object(json);
	json_name(json, "empty");
	json_begin_object(json);
	json_end_object(json);
	json_name(json, "list");
	json_begin_array(json);
	json_int(json, -9223372036854775807);
	json_uint(json, 18446744073709551615u);
	json_float(json, 30);
	json_bool(json, true);
	json_null(json);
	json_begin_array(json);
	json_end_array(json);
	json_end_array(json);
	json_name(json, "t\xC3\xA4 \xF0\x9F\x98\x80");
	json_string(json, "a\"b\\c/\b\f\n\r\t\x01\x7F");
	json_end_object(json);
}

static void
one_line_is_that_of_json_dumps(void **state)
{
	FILE *file;
	struct json json = begin(&file, JSON_LINE);

	put_all(&json);
	fclose(file);
	assert_string_equal(text,
	    "{\"empty\": {}, \"list\": [-9223372036854775807, "
	    "18446744073709551615, 30.0, true, null, []], "
	    "\"t\\u00e4 \\ud83d\\ude00\": "
	    "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u007f\"}");
}

static void
indented_is_that_of_json_dumps_indent_1(void **state)
{
	FILE *file;
	struct json json = begin(&file, JSON_INDENTED);

	put_all(&json);
	fclose(file);
	assert_string_equal(text,
	    "{\n \"empty\": {},\n \"list\": [\n  -9223372036854775807,\n"
	    "  18446744073709551615,\n  30.0,\n  true,\n  null,\n  []\n ],\n"
	    " \"t\\u00e4 \\ud83d\\ude00\": "
	    "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u007f\"\n}");
}

static void
what_is_not_finite_is_bare_or_null(void **state)
{
	const double values[] = { (double)NAN, INFINITY, -INFINITY };
	FILE *file;
	struct json json = begin(&file, JSON_LINE);

	json_begin_array(&json);
	for (int i = 0; i < 3; i++)
		json_float(&json, values[i]);
	json_end_array(&json);
	fclose(file);
	assert_string_equal(text, "[NaN, Infinity, -Infinity]");
	json = begin(&file, JSON_STRICT);
	json_begin_array(&json);
	for (int i = 0; i < 3; i++)
		json_float(&json, values[i]);
	json_end_array(&json);
	fclose(file);
	assert_string_equal(text, "[null, null, null]");
}

static void
bytes_that_are_not_utf8_are_replaced(void **state)
{
	/* overlong, surrogate, above the end, cut off, stray */
	const char *const wrong[] = { "\xC0\x80", "\xED\xA0\x80",
		"\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		FILE *file;
		struct json json = begin(&file, JSON_LINE);

		json_string(&json, wrong[i]);
		fclose(file);
		assert_memory_equal(text, "\"\\ufffd", 7);
		assert_int_equal(text[strlen(text) - 1], '"');
	}
}

static void
attributes_become_an_object(void **state)
{
	unsigned char buffer[256];
	struct wire_writer w;
	struct value v = { VALUE_FLOAT, { .f = 1.5 } };
	struct text pairs;
	FILE *file;
	struct json json = begin(&file, JSON_LINE);

	wire_writer_init(&w, buffer, sizeof(buffer));
	wire_put_attribute(&w, text_of("f"), &v);
	wire_put_text_attribute(&w, text_of("img"), text_of("redis:3"));
	v = (struct value){ .type = VALUE_NIL };
	wire_put_attribute(&w, text_of("n"), &v);
	pairs = (struct text){ (const char *)buffer, (uint32_t)w.bytes };
	json_pairs(&json, pairs);
	fclose(file);
	assert_string_equal(
	    text, "{\"f\": 1.5, \"img\": \"redis:3\", \"n\": null}");
}

/* Random text, as an argument of Python: the same bytes come out. */
static void
any_text_is_written_as_python_writes_it(void **state)
{
	uint64_t random = check_seed();
	char path[] = "/tmp/json.XXXXXX", command[512];
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (int line = 0; line < 3000; line++) {
		char raw[65];
		uint32_t bytes = (uint32_t)(check_random(&random) % 64);
		struct json json;

		for (uint32_t i = 0; i < bytes; i++)
			raw[i] = (char)(check_random(&random) %
					(line % 2 ? 128 : 256));
		for (uint32_t i = 0; i < bytes; i++)
			fprintf(file, "%02x", (unsigned char)raw[i]);
		putc(' ', file);
		json_init(&json, file, JSON_LINE);
		json_text(&json, (struct text){ raw, bytes });
		putc('\n', file);
	}
	fclose(file);
	snprintf(command, sizeof(command),
	    "python3 -c 'import json,sys\n"
	    "for l in open(sys.argv[1]):\n"
	    " h,_,j=l.rstrip(chr(10)).partition(chr(32))\n"
	    " b=bytes.fromhex(h)\n"
	    " try: w=b.decode()\n"
	    " except ValueError: json.loads(j); continue\n"
	    " assert json.dumps(w)==j,(h,j)' %s",
	    path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_is_that_of_json_dumps),
		cmocka_unit_test(indented_is_that_of_json_dumps_indent_1),
		cmocka_unit_test(what_is_not_finite_is_bare_or_null),
		cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
		cmocka_unit_test(attributes_become_an_object),
		cmocka_unit_test(any_text_is_written_as_python_writes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
