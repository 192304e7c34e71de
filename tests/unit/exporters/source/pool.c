/*
 * pool - partition and names from three JSON files.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/pool.h"

#include <unistd.h>

#include "tests/unit/check.h"

static char dir[] = "/tmp/pool.XXXXXX";
static char paths[3][64];
static const char *files[3];
static char partition[INSTANCE_PATH_BYTES];

static int
make_dir(void **state)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	for (int i = 0; i < 3; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%d", dir, i);
		files[i] = paths[i];
	}
	return 0;
}

static int
remove_dir(void **state)
{
	for (int i = 0; i < 3; i++)
		unlink(paths[i]);
	return rmdir(dir);
}

static int
read_files(const char *a, const char *b, const char *c, struct err *err)
{
	const char *texts[] = { a, b, c };

	for (int i = 0; i < 3; i++) {
		FILE *file = fopen(paths[i], "w");

		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
	}
	err->text[0] = '\0';
	return pool_read_files(partition, files, err);
}

#define ACCOUNT(a) "{\"credentials\":{\"batch\":{\"account\":" a "}}}"
#define POOL(p)    "{\"pool_specification\":{\"id\":" p "}}"

static void
the_files_are_merged_later_over_earlier(void **state)
{
	struct err err;

	assert_int_equal(read_files(ACCOUNT("\"acct\""), "{\"x\": [1]}",
			     POOL("\"p-1\""), &err),
	    0);
	assert_string_equal(partition, "acct$p-1");
	/* The second and third override, key by key; lists are replaced. */
	assert_int_equal(
	    read_files("{\"credentials\":{\"batch\":{\"account\":\"a\","
		       "\"k\":1}},\"x\":[1,2],"
		       "\"pool_specification\":{\"id\":\"old\"}}",
		ACCOUNT("\"b\""),
		"{\"x\":[3],\"pool_specification\":{\"id\":\"new\"}}", &err),
	    0);
	assert_string_equal(partition, "b$new");
	/* Halves of one name may be in different files, and escaped. */
	assert_int_equal(read_files("{\"credentials\":{\"batch\":{\"k\":{}}}}",
			     "{\"cred\\u0065ntials\":{\"batch\":{"
			     "\"account\":\"\\u00e9\"}}}",
			     "{\"credentials\":{},\"pool_specification\":"
			     "{\"id\":\"p\"}}",
			     &err),
	    0);
	assert_string_equal(partition, "\303\251$p");
}

static void
assert_wrong(const char *a, const char *b, const char *c, const char *words)
{
	struct err err;

	assert_int_equal(read_files(a, b, c, &err), -1);
	if (strstr(err.text, words) == NULL)
		fail_msg("'%s' does not say '%s'", err.text, words);
	for (const char *p = err.text; *p != '\0'; p++)
		assert_true((unsigned char)*p >= 0x20);
}

static void
what_is_missing_or_unsafe_is_named(void **state)
{
	const char *ok = ACCOUNT("\"a\"");

	assert_wrong(
	    "{}", "{}", POOL("\"p\""), "credentials.batch.account is missing");
	assert_wrong(ok, "{}", "{}", "pool_specification.id is missing");
	assert_wrong(ACCOUNT("7"), "{}", POOL("\"p\""), "is not a string");
	assert_wrong(ACCOUNT("null"), "{}", POOL("\"p\""), "is not a string");
	assert_wrong(ACCOUNT("\"\""), "{}", POOL("\"p\""), "account is empty");
	assert_wrong(ACCOUNT("\"a$b\""), "{}", POOL("\"p\""), "'$'");
	assert_wrong(ok, "{}", POOL("\"a\\nb\""), "control");
	assert_wrong(ok, "{}", POOL("\"a\\u0000b\""), "NUL in a string");
	assert_wrong(ok, "{\"credentials\": 1}", POOL("\"p\""),
	    "\"credentials\" is an object in one file and not in another");
	assert_wrong("[]", "{}", "{}", "not a JSON object");
	assert_wrong("{", "{}", "{}", "0: not JSON: ");
	assert_wrong("{\"a\":1,\"a\":2}", "{}", "{}", "duplicate member 'a'");
	assert_wrong("{\"x\":{\"y\":{}}}", ok, "{\"x\":{\"y\":[{}]}}",
	    "\"y\" is an object in one file and not in another");
	files[1] = "/nonexistent/config.json";
	assert_wrong(ok, "{}", POOL("\"p\""), "/nonexistent/config.json");
	files[1] = paths[1];
}

static void
nesting_without_an_end_is_refused(void **state)
{
	char deep[4096] = "";
	size_t used = 0;

	for (int i = 0; i < 100; i++)
		used += (size_t)snprintf(
		    deep + used, sizeof(deep) - used, "{\"a\":");
	used += (size_t)snprintf(deep + used, sizeof(deep) - used, "1");
	for (int i = 0; i < 100; i++)
		used += (size_t)snprintf(deep + used, sizeof(deep) - used, "}");
	assert_wrong(deep, deep, "{}", "nested deeper than 63");
}

static void
a_file_of_more_than_1_mib_is_refused(void **state)
{
	enum { BYTES = 1 << 20 };
	char *blanks = malloc(BYTES + 1);

	assert_non_null(blanks);
	memset(blanks, ' ', BYTES);
	blanks[BYTES] = '\0';
	assert_wrong(ACCOUNT("\"a\""), blanks, "{}", "larger than 1024 KiB");
	free(blanks);
}

static void
names_of_files_and_titles_come_from_the_partition(void **state)
{
	char base[INSTANCE_PATH_BYTES];

	assert_string_equal(pool_base(base, text_of("a$b$c")).at, "a-b-c");
	assert_true(text_equal(pool_id(text_of("a$b$c")), text_of("c")));
	assert_true(text_equal(pool_id(text_of("abc")), text_of("abc")));
	assert_true(text_equal(pool_id(text_of("a$")), text_of("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_files_are_merged_later_over_earlier),
		cmocka_unit_test(what_is_missing_or_unsafe_is_named),
		cmocka_unit_test(nesting_without_an_end_is_refused),
		cmocka_unit_test(a_file_of_more_than_1_mib_is_refused),
		cmocka_unit_test(
		    names_of_files_and_titles_come_from_the_partition),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
