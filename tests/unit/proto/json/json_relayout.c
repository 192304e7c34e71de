/*
 * json_relayout - what Python's json.loads and json.dumps make of it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_relayout.h"

#include "tests/unit/check.h"

static void
assert_again(const char *from, const char *to)
{
	struct json_relayout again;
	struct text text = { NULL, 0 };

	json_relayout_init(&again);
	assert_true(json_relayout(&again, text_of(from), &text));
	assert_true(text_equal(text, text_of(to)));
	json_relayout_clear(&again);
}

static void
blanks_escapes_and_numbers_are_those_of_dumps(void **state)
{
	assert_again("[1,2 ,\n3]", "[1, 2, 3]");
	assert_again("{\"b\":1.50,\"a\":[]}", "{\"b\": 1.5, \"a\": []}");
	assert_again("\"\xC3\xA9\\/\\u00E9\xF0\x9F\x98\x80\"",
	    "\"\\u00e9/\\u00e9\\ud83d\\ude00\"");
	assert_again("1e400", "Infinity");
	assert_again("[NaN,-Infinity,true,false,null]",
	    "[NaN, -Infinity, true, false, null]");
	assert_again(
	    "12345678901234567890123456789", "12345678901234567890123456789");
	assert_again("-0", "0");
	assert_again("-0.0", "-0.0");
}

static void
what_is_no_json_is_none(void **state)
{
	static const char *const wrong[] = { "", " ", "{", "[1", "[1,]",
		"{1:2}", "\"", "\"\\x\"", "tru", "nul", "01", "1.", "--1",
		"[1]]", "\"\\ud800\"", "\"\xFF\"", "{\"a\" 1}" };
	struct json_relayout again;
	struct text text;

	json_relayout_init(&again);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (json_relayout(&again, text_of(wrong[i]), &text))
			fail_msg("%s is taken", wrong[i]);
	assert_true(json_relayout(&again, text_of("[1]"), &text));
	assert_true(text_equal(text, text_of("[1]")));
	json_relayout_clear(&again);
}

static void
what_is_nested_too_deep_is_none(void **state)
{
	static const char *const brackets[] = { "[[", "{\"a\":", "[{\"a\":" };
	struct json_relayout again;
	struct text text;

	json_relayout_init(&again);
	for (size_t i = 0; i < sizeof(brackets) / sizeof(*brackets); i++) {
		char deep[2000] = "";

		for (unsigned n = 0; n < 200; n++)
			strcat(deep, brackets[i]);
		assert_false(json_relayout(&again, text_of(deep), &text));
	}
	assert_again("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
		     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1"
		     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
		     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
	    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1"
	    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
	    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	json_relayout_clear(&again);
}

/* Python makes texts up, in several layouts, and says what dumps gives. */
static const char maker[] =
    "import json, random, sys\n"
    "random.seed(int(sys.argv[1]))\n"
    "def text():\n"
    "    return ''.join(chr(random.choice([random.randrange(32, 127),"
    " random.randrange(0xD800), random.randrange(0xE000, 0x110000), 34, 92,"
    " 10])) for _ in range(random.randrange(9)))\n"
    "def value(depth):\n"
    "    kind = random.randrange(9 if depth < 5 else 6)\n"
    "    if kind == 0: return text()\n"
    "    if kind == 1: return random.choice([True, False, None,"
    " float('nan'), float('inf'), float('-inf')])\n"
    "    if kind == 2: return random.randrange(-10**random.randrange(1, 40),"
    " 10**30)\n"
    "    if kind == 3: return random.uniform(-1, 1) *"
    " 10.0**random.randrange(-300, 300)\n"
    "    if kind == 4: return random.randrange(1000) / 8\n"
    "    if kind == 5: return text()\n"
    "    if kind == 6: return [value(depth + 1) for _ in"
    " range(random.randrange(5))]\n"
    "    return {text(): value(depth + 1) for _ in"
    " range(random.randrange(5))}\n"
    "for _ in range(int(sys.argv[2])):\n"
    "    v = value(0)\n"
    "    s = json.dumps(v, ensure_ascii=random.random() < 0.5,"
    " separators=random.choice([(',', ':'), (' , ', ' : '), None]))\n"
    "    print(s)\n"
    "    print(json.dumps(json.loads(s)))\n";

static void
made_up_texts_are_what_dumps_makes_of_them(void **state)
{
	uint64_t seed = check_seed();
	unsigned rounds = check_share(2000, 100), count = 0;
	char *from = NULL, *to = NULL, command[256];
	size_t from_room = 0, to_room = 0;
	char path[] = "/tmp/json_again.XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs(maker, file);
	fclose(file);
	snprintf(command, sizeof(command),
	    "PYTHONIOENCODING=utf-8 /usr/bin/python3 %s %llu %u", path,
	    (unsigned long long)seed, rounds);
	file = popen(command, "r");
	assert_non_null(file);
	while (getline(&from, &from_room, file) > 0 &&
	       getline(&to, &to_room, file) > 0) {
		to[strlen(to) - 1] = '\0';
		assert_again(from, to);
		count++;
	}
	assert_int_equal(pclose(file), 0);
	assert_int_equal(count, rounds);
	free(from);
	free(to);
	remove(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_escapes_and_numbers_are_those_of_dumps),
		cmocka_unit_test(what_is_no_json_is_none),
		cmocka_unit_test(what_is_nested_too_deep_is_none),
		cmocka_unit_test(made_up_texts_are_what_dumps_makes_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
