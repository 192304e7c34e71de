/*
 * json_fields - strict JSON, judged by Python and by hand.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_fields.h"

#include <math.h>

#include "tests/unit/check.h"

static struct json_fields object;
static struct err err;

static int
read_text(const char *text)
{
	err.text[0] = '\0';
	return json_fields_read(&object, text_of(text), &err);
}

static void
assert_is(struct text t, const char *wanted)
{
	if (!text_equal(t, text_of(wanted)))
		fail_msg("'%.*s', not '%s'", (int)t.bytes, t.at, wanted);
}

static void
values_are_views_and_texts_are_decoded(void **state)
{
	struct text text;

	assert_int_equal(
	    read_text(" { \"a\" : [1, {\"a\":2}] ,\"\\u0062\\n\":\"x\\\"\\u00e9"
		      "\\ud83d\\ude00\",\"c\":-0.50,\"d\":null,\"e\":\"plain\"}"
		      "\n"),
	    0);
	assert_int_equal(object.count, 5);
	assert_is(json_fields_find(&object, "a"), "[1, {\"a\":2}]");
	assert_is(json_fields_find(&object, "c"), "-0.50");
	assert_true(json_fields_is_null(json_fields_find(&object, "d")));
	assert_true(
	    json_fields_text(&object, json_fields_find(&object, "b\n"), &text));
	assert_is(text, "x\"\xC3\xA9\xF0\x9F\x98\x80");
	assert_true(
	    json_fields_text(&object, json_fields_find(&object, "e"), &text));
	assert_is(text, "plain");
	assert_false(
	    json_fields_text(&object, json_fields_find(&object, "c"), &text));
	assert_int_equal(json_fields_find(&object, "f").bytes, 0);
	assert_is(object.keys.at[1], "b\n");
}

static void
what_is_wrong_is_reported_with_its_column(void **state)
{
	static const char *const bad[][2] = {
		{ "", "not JSON: unexpected end at column 1" },
		{ "7", "not a JSON object" },
		{ "x", "not JSON: expected a value at column 1" },
		{ "[1]", "not a JSON object" },
		{ "[1", "not JSON: unexpected end at column 3" },
		{ "{\"a\":1,}", "expected a quoted name at column 8" },
		{ "{\"a\":1 \"b\":2}", "expected ',' or the end at column 8" },
		{ "{\"a\":1}}", "more than one value at column 8" },
		{ "{\n\"a\":x}", "expected a value at line 2, column 5" },
		{ "{\"a\":NaN}", "unknown word at column 6" },
		{ "{\"a\":-Infinity}", "unknown word at column 6" },
		{ "{\"a\":1,\"b\":2,\"a\":3}",
		    "not JSON: duplicate member 'a' at column 17" },
		{ "{\"a\":1,\"\\u0061\":3}", "duplicate member 'a'" },
		{ "{\"b\":{\"x\":[{\"k\":1,\"k\":2}]}}",
		    "duplicate member 'k' at column 22" },
		{ "{\"a\":\"\\u0000\"}", "NUL in a string at column 7" },
		{ "{\"a\":\"x\\ud800\"}", "unpaired surrogate at column 8" },
		{ "{\"a\":\"\\ud800\\u0041\"}", "unpaired surrogate" },
		{ "{\"a\":\"\\udc00\"}", "unpaired surrogate" },
		{ "{\"a\":\"\\ud800\\u00", "unexpected end" },
		{ "{\"a\":\"\xC3(\"}", "string is not UTF-8 at column 7" },
		{ "{\"\xff\":1}", "string is not UTF-8 at column 3" },
		{ "{\"a\":\"\t\"}", "control character in a string" },
		{ "{\"a\":01}", "malformed number at column 7" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(read_text(bad[i][0]), -1);
		if (strstr(err.text, bad[i][1]) == NULL)
			fail_msg("%s: %s", bad[i][0], err.text);
		assert_int_equal(json_fields_find(&object, "a").bytes, 0);
	}
	/* Siblings and what is inside may have the same. */
	assert_int_equal(
	    read_text("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}"), 0);
}

/* Far more members than are compared each with each: the last is once more
 * the one in the middle, or is not. */
static void
a_member_among_many_that_comes_twice_is_found(void **state)
{
	enum { MANY = 100000 };
	char *text = malloc(MANY * 16);

	for (int count = 2; count <= MANY; count = count * 3 + 1) {
		size_t used = (size_t)sprintf(text, "{");

		for (int i = 0; i < count; i++)
			used += (size_t)sprintf(
			    text + used, "\"k%d\":%d,", i * 7 % 100003, i);
		sprintf(text + used, "\"z\":0}");
		assert_int_equal(read_text(text), 0);
		assert_int_equal(object.count, count + 1);
		assert_is(object.keys.at[count], "z");
		sprintf(text + used, "\"k%d\":0}", count / 2 * 7 % 100003);
		assert_int_equal(read_text(text), -1);
		assert_non_null(strstr(err.text, "duplicate member"));
	}
	free(text);
}

static void
numbers_are_whole_or_the_nearest_double(void **state)
{
	static const struct {
		const char *text;
		enum value_type type;
		int64_t i;
		double f;
	} numbers[] = {
		{ "0", VALUE_INT, .i = 0 },
		{ "-0", VALUE_INT, .i = 0 },
		{ "9223372036854775807", VALUE_INT, .i = INT64_MAX },
		{ "-9223372036854775808", VALUE_INT, .i = INT64_MIN },
		{ "1.0", VALUE_FLOAT, .f = 1 },
		{ "1e2", VALUE_FLOAT, .f = 100 },
		{ "-1.5E-1", VALUE_FLOAT, .f = -0.15 },
		{ "9007199254740993.0", VALUE_FLOAT, .f = 9007199254740992.0 },
		{ "1e23", VALUE_FLOAT, .f = 1e23 },
		{ "5e-324", VALUE_FLOAT, .f = 5e-324 },
		{ "1e-400", VALUE_FLOAT, .f = 0 },
		{ "0.1000000000000000055511151231257827021181583404541015625000"
		  "0000000000000000000000",
		    VALUE_FLOAT, .f = 0.1 },
		{ "100000000000000000000.0", VALUE_FLOAT, .f = 1e20 },
		{ "0.30000000000000004", VALUE_FLOAT, .f = 0.1 + 0.2 },
	};
	static const char *const wide[] = { "9223372036854775808",
		"-9223372036854775809", "99999999999999999999", "1e309",
		"-1e99999999999" };
	struct value value;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		assert_int_equal(
		    json_fields_number(text_of(numbers[i].text), &value, &err),
		    0);
		assert_int_equal(value.type, numbers[i].type);
		if (value.type == VALUE_INT)
			assert_true(value.is.i == numbers[i].i);
		else if (value.is.f != numbers[i].f)
			fail_msg("%s is %a", numbers[i].text, value.is.f);
	}
	assert_int_equal(json_fields_number(text_of("-0.0"), &value, NULL), 0);
	assert_true(signbit(value.is.f));
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++) {
		assert_int_equal(
		    json_fields_number(text_of(wide[i]), &value, &err), -1);
		assert_string_equal(err.text, "is out of range");
	}
	assert_int_equal(json_fields_number(text_of("true"), &value, &err), -1);
	assert_string_equal(err.text, "is not a number");
	assert_int_equal(json_fields_number(text_of(""), &value, NULL), -1);
}

static void
random_numbers_are_read_as_strtod_reads_them(void **state)
{
	uint64_t random = check_seed();

	for (unsigned i = check_share(200000, 10000); i > 0; i--) {
		char text[64];
		struct value value;
		uint64_t bits = check_random(&random);
		double wanted;

		memcpy(&wanted, &bits, sizeof(wanted));
		if (i % 2 == 0)
			wanted =
			    (double)(bits >> 30) / pow(10, (double)(bits % 12));
		if (!isfinite(wanted))
			continue;
		snprintf(text, sizeof(text), "%.*e", (int)(bits % 20), wanted);
		if (i % 4 == 0)
			snprintf(text, sizeof(text), "%.*f",
			    (int)(bits % 9) + 1, wanted);
		wanted = strtod(text, NULL);
		if (isinf(wanted))
			continue;
		assert_int_equal(
		    json_fields_number(text_of(text), &value, NULL), 0);
		assert_int_equal(value.type, VALUE_FLOAT);
		if (memcmp(&wanted, &value.is.f, sizeof(wanted)) != 0)
			fail_msg("%s is %a, not %a", text, value.is.f, wanted);
	}
}

/* ---- next to Python ---- --------------------------------------------------
 */

static const char *const pieces[] = { "{", "}", "[", "]", ",", ":", "\"a\"",
	"\"b\"", "\"\\u0061\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"",
	"\"\\u0000\"", "\"x\\ty\"", "1", "-0", "0.5", "1e5", "01", "-", "true",
	"false", "null", "nul", " ", "\n", "\"", "\\", "\xC3\xA9",
	"\"\xC3\xA9\"", "\"\xC3\"", "{\"a\":", "\"b\":", "[]", "{}", "1.", "1e",
	"\"\\x\"" };

static size_t
put_value(char *to, uint64_t *random, int depth)
{
	uint64_t bits = check_random(random);
	size_t used = 0;
	int count = (int)(bits >> 8) % 4;

	if (depth == 0 || bits % 3 == 0) {
		static const char *const plain[] = { "1", "\"t\"", "null",
			"true", "-2.5e3", "\"\\u00e9\"", "[]", "{}" };

		return (size_t)sprintf(to, "%s", plain[bits / 3 % 8]);
	}
	to[used++] = bits % 3 == 1 ? '{' : '[';
	for (int i = 0; i < count; i++) {
		if (i > 0)
			to[used++] = ',';
		if (bits % 3 == 1)
			used += (size_t)sprintf(to + used,
			    "\"%c\":", 'a' + (int)(check_random(random) % 5));
		used += put_value(to + used, random, depth - 1);
	}
	to[used++] = bits % 3 == 1 ? '}' : ']';
	to[used] = '\0';
	return used;
}

/* A good text, now and then with one piece put in or a byte taken out. */
static size_t
make_text(char *text, uint64_t *random)
{
	uint64_t bits = check_random(random);
	size_t used = put_value(text, random, 4), at = bits / 8 % (used + 1);
	const char *piece =
	    pieces[bits / 4096 % (sizeof(pieces) / sizeof(*pieces))];

	if (bits % 4 == 0) {
		memmove(text + at + strlen(piece), text + at, used - at + 1);
		memcpy(text + at, piece, strlen(piece));
		used += strlen(piece);
	} else if (bits % 4 == 1 && at < used) {
		memmove(text + at, text + at + 1, used - at);
		used--;
	}
	return used;
}

static void
what_python_takes_is_taken_and_nothing_else(void **state)
{
	FILE *judge = popen("${PYTHON:-/usr/bin/python3} "
			    "tests/unit/proto/json/json_judge.py",
	    "w");
	uint64_t random = check_seed();
	unsigned good = 0;

	assert_non_null(judge);
	for (unsigned i = check_share(200000, 10000); i > 0; i--) {
		char text[8192];
		size_t bytes = make_text(text, &random);
		bool taken =
		    json_fields_read(&object,
			(struct text){ text, (uint32_t)bytes }, &err) == 0;

		/* An empty text has no digits. */
		if (bytes == 0) {
			assert_false(taken);
			continue;
		}
		fprintf(judge, "%d ", taken ? (int)object.count : -1);
		for (size_t k = 0; k < bytes; k++)
			fprintf(judge, "%02x", (unsigned char)text[k]);
		putc('\n', judge);
		good += taken;
	}
	assert_int_equal(pclose(judge), 0);
	assert_true(good > 100);
}

static int
end(void **state)
{
	json_fields_clear(&object);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_views_and_texts_are_decoded),
		cmocka_unit_test(what_is_wrong_is_reported_with_its_column),
		cmocka_unit_test(a_member_among_many_that_comes_twice_is_found),
		cmocka_unit_test(numbers_are_whole_or_the_nearest_double),
		cmocka_unit_test(random_numbers_are_read_as_strtod_reads_them),
		cmocka_unit_test(what_python_takes_is_taken_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
