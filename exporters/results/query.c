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
result_query_note(
    const struct result_query *query, const struct result_range *range)
{
	if (range->wrong == 0)
		return;
	if (query->answer == NULL)
		log_warn("skipped %" PRIu64 " malformed result entities",
		    range->wrong);
	else
		answer_note(query->answer, "left_out", range->wrong,
		    "skipped %" PRIu64 " malformed result entities",
		    range->wrong);
}

int64_t
result_time(int64_t us)
{
	return us < TIME_MIN_NS / 1000 || us > TIME_MAX_NS / 1000 ? ANSWER_NO_NS
								  : us * 1000;
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

struct name_row {
	struct text name;
};

static const struct answer_column test_columns[] = {
	{ "test", "TEST", ANSWER_AT_TEXT(struct name_row, name), NULL,
	    "the name of a test", false, NULL },
	{ .key = NULL },
};
const struct answer_table result_tests_tables[] = { { "tests", test_columns },
	{ .name = NULL } };

static const struct answer_column entry_columns[] = {
	{ "entry", "ENTRY", ANSWER_AT_TEXT(struct name_row, name), NULL,
	    "the name of an entry", false, NULL },
	{ .key = NULL },
};
const struct answer_table result_entries_tables[] = {
	{ "entries", entry_columns }, { .name = NULL }
};

static void
put_name(const struct result_query *query, struct text name)
{
	answer_row(query->answer, &(struct name_row){ name }, NULL);
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
	struct result_range range = result_query_range(query);
	struct distinct distinct;
	bool more = true;
	int rc = 0;

	distinct_init(&distinct, SIEVE_KEYS, SIEVE_BYTES);
	while (rc == 0 && more) {
		range.wrong = 0;
		rc = sieve_tests(&range, &distinct, &more, err);
		for (uint32_t i = 0; rc == 0 && i < distinct.count; i++)
			put_name(query, distinct.keys[i]);
	}
	distinct_clear(&distinct);
	result_query_note(query, &range);
	if (rc == 0 && answer_rows(query->answer) == 0)
		answer_note(query->answer, "none", ANSWER_NO_COUNT,
		    "no results in %.*s of %s: poolscope upload results sends "
		    "them",
		    (int)query->partition.bytes, query->partition.at,
		    source_name(query->source));
	return rc;
}

static int
give_entries(const struct result_query *query, const struct result_row *row,
    struct err *err)
{
	struct result_file file;

	if (result_file_read(&file, row->info, false, err) != 0)
		return err_prefix(
		    err, "result %.*s", (int)row->id.bytes, row->id.at);
	for (uint32_t i = 0; i < file.count; i++)
		put_name(query, file.entries[i].name);
	result_file_clear(&file);
	return 0;
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
	if (rc < 0 || (rc > 0 && give_entries(query, &row, err) != 0))
		return -1;
	result_query_note(query, &range);
	return rc > 0 ? 0 : result_query_explain(query, err);
}

/* ---- one result ---- */

struct test_row {
	struct text id, test, file, info;
	int64_t start, stored;
	int64_t start_us, stored_us;
};

static const struct answer_column result_columns[] = {
	{ "test", "TEST", ANSWER_AT_TEXT(struct test_row, test), NULL,
	    "the name of the test", false, NULL },
	{ "start", "START", ANSWER_AT_TIME(struct test_row, start), NULL,
	    "when it was started", false, NULL },
	{ "file", "FILE", ANSWER_AT_TEXT(struct test_row, file), NULL,
	    "the name of the file", false, NULL },
	{ "stored", "STORED", ANSWER_AT_TIME(struct test_row, stored), NULL,
	    "when it was stored", true, NULL },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct test_row, start_us), "us",
	    "when it was started, since the epoch", false, NULL },
	{ "stored_us", NULL, ANSWER_AT_WHOLE(struct test_row, stored_us), "us",
	    "when it was stored, since the epoch", false, NULL },
	{ "id", NULL, ANSWER_AT_TEXT(struct test_row, id), NULL,
	    "the id of the result", false, NULL },
	{ "info", NULL, ANSWER_AT_TEXT(struct test_row, info), NULL,
	    "the text of the file", false, NULL },
	{ .key = NULL },
};
const struct answer_table result_test_tables[] = {
	{ "results", result_columns }, { .name = NULL }
};

int
result_query_test(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	char start[CLOCK_TEXT_BYTES], test[SHOWN_BYTES];
	int64_t start_ns = result_time(query->start_us);
	struct result_row row;
	int rc;

	range.window = result_window_all;
	if (result_range_at(&range, query->test, query->start_us, err) != 0)
		return -1;
	while ((rc = result_range_next(&range, &row, err)) > 0) {
		const struct test_row of = { row.id, row.test, row.file,
			row.info, result_time(row.start_us), row.stored_ns,
			row.start_us, row.stored_ns / 1000 };

		answer_row(query->answer, &of, NULL);
		if (answer_is_for_people(query->answer))
			answer_note(query->answer, "info", ANSWER_NO_COUNT,
			    "%.*s", (int)row.info.bytes, row.info.at);
	}
	if (rc < 0)
		return -1;
	result_query_note(query, &range);
	if (answer_rows(query->answer) > 0)
		return 0;
	rc = result_query_explain(query, err);
	if (rc != 0)
		return rc;
	err_set(err,
	    "test '%s' has no result of %s; list its starts with "
	    "poolscope-results starts",
	    text_quote(test, sizeof(test), query->test),
	    start_ns == ANSWER_NO_NS
		? "that time"
		: clock_text(
		      start, start_ns, start_ns % NS_PER_SECOND == 0 ? 0 : 6));
	return RESULT_NOTHING;
}

/* ---- all of them ---- */

const struct result_question result_questions[] = {
	{ "tests", 0, result_tests_tables, result_query_tests },
	{ "starts", 1, result_starts_tables, result_query_starts },
	{ "timings", 2, result_timings_tables, result_query_timings },
	{ "changes", 2, result_changes_tables, result_query_changes },
	{ "entries", 1, result_entries_tables, result_query_entries },
	{ "test", 2, result_test_tables, result_query_test },
	{ "entities", 0, result_entities_tables, result_query_entities },
	{ .word = NULL },
};

int
result_answer(const struct result_question *question,
    struct result_query *query, const struct answer_options *options,
    FILE *file, struct err *err)
{
	int rc;

	query->answer = answer_new(file, options, question->tables);
	answer_head(query->answer, "question", answer_string("results"));
	answer_head(query->answer, "of", answer_string(question->word));
	answer_head(query->answer, "partition", answer_text(query->partition));
	rc = question->give(query, err) == 0 ? 0 : -1;
	rc = source_end_answer(query->source, query->answer, rc, err);
	answer_free(&query->answer);
	return rc;
}
