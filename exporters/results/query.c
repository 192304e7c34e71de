/*
 * result_query - queries about results, printed as rows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/query.h"

#include <inttypes.h>

#include "exporters/results/distinct.h"
#include "exporters/results/result_file.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	SIEVE_KEYS = 1 << 16,
	SIEVE_BYTES = 8 << 20,
	LINE_COLUMNS = 79,
	SHOWN_BYTES = 160, /* maximum bytes of a name in a message */
};

struct result_range
result_query_range(const struct result_query *query)
{
	struct result_range range;

	result_range_init(&range, query->source, query->partition);
	range.window = query->window;
	return range;
}

void
result_query_warn(const struct result_range *range)
{
	if (range->wrong > 0)
		log_warn("skipped %" PRIu64 " malformed result entities",
		    range->wrong);
}

int
result_query_explain(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	char test[SHOWN_BYTES], entry[SHOWN_BYTES];
	struct result_row row;
	int rc;

	text_quote(test, sizeof(test), query->test);
	text_quote(entry, sizeof(entry), query->entry);
	range.window = result_window_all;
	if (result_range_tests(&range, query->test, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc == 0) {
		err_set(err,
		    "no results of test '%s'; list the tests with "
		    "poolscope-results tests",
		    test);
		return RESULT_NOTHING;
	}
	if (rc < 0 || query->entry.bytes == 0)
		return rc < 0 ? -1 : 0;
	if (result_range_entries(&range, query->test, query->entry, 1, err) !=
	    0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	err_set(err,
	    "test '%s' has no entry '%s'; list the entries of its latest start "
	    "with poolscope-results entries",
	    test, entry);
	return RESULT_NOTHING;
}

/* ---- names ---- */

const char *const result_tests_columns[] = { "test", NULL };
const char *const result_entries_columns[] = { "entry", NULL };

/* A table of names. */
struct names {
	struct report report;
	struct ordered_rows ordered;
	uint64_t count;
};

static void
begin_names(struct names *names, const struct result_query *query,
    const char *const *columns, const struct table_column *titles)
{
	names->count = 0;
	ordered_rows_init(&names->ordered, query->order);
	report_begin(
	    &names->report, query->file, query->format, columns, titles);
}

static int
put_name(struct names *names, struct text name, struct err *err)
{
	const struct order_key key = { .is_text = true, .text = name };

	names->count++;
	if (order_is_given(names->ordered.order))
		return ordered_rows_add(&names->ordered, key, name, err);
	report_text(&names->report, name);
	return 0;
}

static void
end_names(struct names *names)
{
	const struct ordered_rows *ordered = &names->ordered;

	if (order_is_given(ordered->order))
		ordered_rows_sort(&names->ordered);
	for (uint32_t i = 0; i < ordered->count; i++)
		report_text(&names->report, (struct text){ ordered->rows[i].at,
						ordered->rows[i].bytes });
	ordered_rows_clear(&names->ordered);
	report_end(&names->report);
}

static int
sieve_tests(struct result_range *range, struct distinct *distinct, bool *more,
    struct err *err)
{
	struct result_row row;
	int rc;

	distinct_begin(distinct);
	if (result_range_tests(range, (struct text){ NULL, 0 }, err) != 0)
		return -1;
	while ((rc = result_range_next(range, &row, err)) > 0)
		distinct_add(distinct, row.test);
	*more = distinct_sort(distinct);
	return rc;
}

int
result_query_tests(const struct result_query *query, struct err *err)
{
	static const struct table_column columns[] = {
		{ "TEST", LINE_COLUMNS, false },
		{ .title = NULL },
	};
	struct result_range range = result_query_range(query);
	struct distinct distinct;
	struct names names;
	bool more = true;
	int rc = 0;

	distinct_init(&distinct, SIEVE_KEYS, SIEVE_BYTES);
	begin_names(&names, query, result_tests_columns, columns);
	while (rc == 0 && more) {
		range.wrong = 0;
		rc = sieve_tests(&range, &distinct, &more, err);
		for (uint32_t i = 0; rc == 0 && i < distinct.count; i++)
			rc = put_name(&names, distinct.keys[i], err);
	}
	end_names(&names);
	distinct_clear(&distinct);
	result_query_warn(&range);
	if (rc == 0 && names.count == 0)
		log_warn("no results in %.*s of %s",
		    (int)query->partition.bytes, query->partition.at,
		    source_name(query->source));
	return rc;
}

static int
print_entries(const struct result_query *query, const struct result_row *row,
    struct err *err)
{
	static const struct table_column columns[] = {
		{ "ENTRY", LINE_COLUMNS, false },
		{ .title = NULL },
	};
	struct result_file file;
	struct names names;
	int rc = 0;

	begin_names(&names, query, result_entries_columns, columns);
	if (row != NULL) {
		if (result_file_read(&file, row->info, false, err) != 0)
			return err_prefix(
			    err, "result %.*s", (int)row->id.bytes, row->id.at);
		for (uint32_t i = 0; rc == 0 && i < file.count; i++)
			rc = put_name(&names, file.entries[i].name, err);
		result_file_clear(&file);
	}
	end_names(&names);
	return rc;
}

int
result_query_entries(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_row row;
	int rc;

	if (result_range_runs(&range, query->test, 1, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc < 0 || print_entries(query, rc > 0 ? &row : NULL, err) != 0)
		return -1;
	result_query_warn(&range);
	return rc > 0 ? 0 : result_query_explain(query, err);
}

/* ---- one result ---- */

/* Print the text of a file verbatim, except for terminal control characters. */
static void
put_info(FILE *file, struct text info)
{
	for (uint32_t i = 0; i < info.bytes; i++) {
		unsigned char c = (unsigned char)info.at[i];

		putc(
		    (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F ? '?' : c,
		    file);
	}
	if (info.bytes > 0 && info.at[info.bytes - 1] != '\n')
		putc('\n', file);
}

static void
put_heading(const struct result_row *row, FILE *file)
{
	char start[REPORT_TIME_BYTES], stored[REPORT_TIME_BYTES];

	fputs("test    ", file);
	table_put_elided(file, row->test, LINE_COLUMNS - 8);
	fputs("\nfile    ", file);
	table_put_elided(file, row->file, LINE_COLUMNS - 8);
	fprintf(file, "\nstart   %s\nstored  %s\n\n",
	    report_time_text(start, row->start_us),
	    report_time_text(stored, row->stored_ns / 1000));
}

static void
put_run(struct report *rows, const struct result_row *row)
{
	report_text(rows, row->id);
	report_text(rows, row->test);
	report_time(rows, row->start_us);
	report_text(rows, row->file);
	report_time(rows, row->stored_ns / 1000);
	report_text(rows, row->info);
}

static int
print_runs(const struct result_query *query, struct result_range *range,
    uint64_t *count, struct err *err)
{
	static const char *const names[] = { "id", "test", "start_us", "file",
		"stored_us", "info", NULL };
	bool table = query->format == REPORT_TABLE;
	struct report rows;
	struct result_row row;
	int rc;

	if (!table)
		report_begin(&rows, query->file, query->format, names, NULL);
	while ((rc = result_range_next(range, &row, err)) > 0) {
		if (!table) {
			put_run(&rows, &row);
		} else {
			if (*count > 0)
				putc('\n', query->file);
			put_heading(&row, query->file);
			put_info(query->file, row.info);
		}
		++*count;
	}
	if (!table)
		report_end(&rows);
	return rc;
}

int
result_query_test(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	char start[REPORT_TIME_BYTES], test[SHOWN_BYTES];
	uint64_t count = 0;
	int rc;

	range.window = result_window_all;
	if (result_range_at(&range, query->test, query->start_us, err) != 0 ||
	    print_runs(query, &range, &count, err) != 0)
		return -1;
	result_query_warn(&range);
	if (count > 0)
		return 0;
	rc = result_query_explain(query, err);
	if (rc != 0)
		return rc;
	err_set(err,
	    "test '%s' has no result of %s; list its starts with "
	    "poolscope-results starts",
	    text_quote(test, sizeof(test), query->test),
	    report_time_text(start, query->start_us));
	return RESULT_NOTHING;
}
