/*
 * result_entries - the entries of tests, one after another.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/entries.h"

#include <stdlib.h>

#include "exporters/results/result_file.h"
#include "proto/hash/string_table.h"

static int
by_name(const void *left, const void *right)
{
	return text_compare(
	    *(const struct text *)left, *(const struct text *)right);
}

static int
read_tests(const struct result_query *query, struct string_table *tests,
    struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_row row;
	int rc;

	if (query->test.bytes > 0) {
		string_table_add(tests, query->test);
		return 0;
	}
	if (result_range_tests(&range, query->test, err) != 0)
		return -1;
	while ((rc = result_range_next(&range, &row, err)) > 0)
		string_table_add(tests, row.test);
	return rc;
}

/* Those of the latest start in the window, in the order of its file. */
static int
read_entries(const struct result_query *query, struct text test,
    struct string_table *entries, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_query one = *query;
	struct result_row row;
	struct result_file file;
	int rc;

	if (query->entry.bytes > 0) {
		string_table_add(entries, query->entry);
		return 0;
	}
	if (result_range_runs(&range, test, 1, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	one.test = test;
	if (rc == 0 && query->test.bytes > 0)
		return result_query_explain(&one, err) == 0 ? 0 : -1;
	if (rc <= 0)
		return rc;
	if (result_file_read(&file, row.info, false, err) != 0)
		return err_prefix(
		    err, "result %.*s", (int)row.id.bytes, row.id.at);
	for (uint32_t i = 0; i < file.count; i++)
		string_table_add(entries, file.entries[i].name);
	result_file_clear(&file);
	return 0;
}

int
result_entries_each(const struct result_query *query,
    int (*on_entry)(
	void *arg, struct text test, struct text entry, struct err *err),
    void *arg, struct err *err)
{
	struct string_table tests, entries;
	int rc;

	string_table_init(&tests);
	rc = read_tests(query, &tests, err);
	if (rc == 0 && tests.count > 0)
		qsort(tests.names, tests.count, sizeof(*tests.names), by_name);
	for (uint32_t i = 0; rc == 0 && i < tests.count; i++) {
		string_table_init(&entries);
		rc = read_entries(query, tests.names[i], &entries, err);
		for (uint32_t k = 0; rc == 0 && k < entries.count; k++)
			rc = on_entry(
			    arg, tests.names[i], entries.names[k], err);
		string_table_clear(&entries);
	}
	string_table_clear(&tests);
	return rc;
}
