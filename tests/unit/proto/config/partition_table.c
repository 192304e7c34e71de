/*
 * partition_table - tests of proto/config/partition_table.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/config/partition_table.h"

#define HEAD "poolscope-partitions 1\nversion 7\n"

static struct partition_table table;

static int
parse(const char *file, struct err *err)
{
	return partition_table_parse(&table, "t", text_of(file), err);
}

static void
refused(const char *file, const char *why)
{
	struct err err = { 0 };

	assert_int_equal(parse(file, &err), -1);
	assert_string_equal(err.text, why);
}

static void
rows_are_patterns_and_endpoints_in_order(void **state)
{
	struct err err = { 0 };

	assert_int_equal(
	    parse(HEAD "# ours\n\na$b\ttcp://h:1\na$*\ttcp://h:2", &err), 0);
	assert_int_equal(table.version, 7);
	assert_int_equal(table.count, 2);
	assert_true(text_equal(table.row[0].pattern, text_of("a$b")));
	assert_true(text_equal(table.row[1].pattern, text_of("a$*")));
	assert_true(text_equal(table.row[1].endpoint, text_of("tcp://h:2")));
}

static void
what_is_wrong_is_reported_with_its_line(void **state)
{
	refused("", "t:1: wanted \"poolscope-partitions 1\"");
	refused("poolscope-partitions 2\nversion 1\n",
	    "t:1: wanted \"poolscope-partitions 1\"");
	refused("poolscope-partitions 1\n", "t:2: wanted \"version N\"");
	refused("poolscope-partitions 1\nversion -1\n",
	    "t:2: wanted \"version N\"");
	refused("poolscope-partitions 1\nversion 0\n",
	    "t:2: the version must be 1 or more");
	refused("poolscope-partitions 1\nversion 99999999999999999999\n",
	    "t:2: wanted \"version N\"");
	refused(
	    HEAD "a$b tcp://h:1\n", "t:3: expected PATTERN, a tab, ENDPOINT");
	refused(HEAD "#\n\ttcp://h:1\n", "t:4: the pattern is empty");
	refused(HEAD "a$b\t\n", "t:3: the endpoint is empty");
	refused(HEAD "a\001b\ttcp://h:1\n",
	    "t:3: the pattern contains a control character");
}

static void
a_table_has_an_end(void **state)
{
	char *file = malloc(1 << 20);
	size_t length = (size_t)sprintf(file, HEAD);
	struct err err = { 0 };

	for (int i = 0; i < PARTITION_TABLE_ROWS_MAX; i++)
		length += (size_t)sprintf(file + length, "p%d\te\n", i);
	assert_int_equal(parse(file, &err), 0);
	assert_int_equal(table.count, PARTITION_TABLE_ROWS_MAX);
	sprintf(file + length, "one\ttoo many\n");
	refused(file, "t:1027: more than 1024 rows");
	free(file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_patterns_and_endpoints_in_order),
		cmocka_unit_test(what_is_wrong_is_reported_with_its_line),
		cmocka_unit_test(a_table_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
