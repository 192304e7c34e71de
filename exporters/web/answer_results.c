/*
 * web_answer_results - results of benchmarks.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/answer_results.h"

#include <inttypes.h>
#include <string.h>

#include "exporters/results/query.h"

/* In the order of WEB_RESULTS_CHOICES. */
static const struct {
	const char *word;
	bool test, entry, start, listed; /* what it needs; takes a window */
	const char *const *columns;      /* NULL: it has one order */
	int (*print)(const struct result_query *, struct err *);
} kinds[] = {
	{ "tests", false, false, false, false, result_tests_columns,
	    result_query_tests },
	{ "starts", true, false, false, true, result_starts_columns,
	    result_query_starts },
	{ "timings", true, true, false, true, result_timings_columns,
	    result_query_timings },
	{ "changes", true, true, false, true, NULL, result_query_changes },
	{ "entries", true, false, false, false, result_entries_columns,
	    result_query_entries },
	{ "test", true, false, true, false, NULL, result_query_test },
};

/* The parameter is given if, and only if, the question needs it. */
static int
check(const char *what, const char *name, bool needed, const char *value,
    struct err *err)
{
	if (needed && (value == NULL || value[0] == '\0'))
		return err_set(err, "%s: is needed for what=%s", name, what);
	if (!needed && value != NULL)
		return err_set(err, "%s: is not for what=%s", name, what);
	return 0;
}

static int
parse_start(const char *word, int64_t *start_us, struct err *err)
{
	const char *digits = word + (word[0] == '-');

	if (*digits == '\0' || strlen(digits) > 18 ||
	    digits[strspn(digits, "0123456789")] != '\0' ||
	    sscanf(word, "%" SCNd64, start_us) != 1)
		return err_set(err, "start: microseconds since 1970");
	return 0;
}

int
web_answer_results(struct source *source, struct text partition,
    struct web_query *query, FILE *file, bool *bad, struct err *err)
{
	const char *what = kinds[query->what].word;
	bool ordered = query->order.sort != NULL || query->order.top > 0;
	struct result_query question = { .source = source,
		.partition = partition,
		.test = text_of(query->test),
		.entry = text_of(query->entry),
		.window =
		    result_window(query->window.from_ns, query->window.to_ns),
		.limit = query->order.sort != NULL ? 0 : query->limit,
		.oldest = query->oldest,
		.order = &query->order,
		.file = file,
		.format = REPORT_JSON };
	int rc;

	*bad = true;
	if (check(what, "test", kinds[query->what].test, query->test, err) !=
		0 ||
	    check(what, "entry", kinds[query->what].entry, query->entry, err) !=
		0 ||
	    check(what, "start", kinds[query->what].start, query->start, err) !=
		0)
		return -1;
	if (ordered && kinds[query->what].columns == NULL)
		return err_set(err, "sort, top: are not for what=%s", what);
	if (ordered &&
	    order_find(&query->order, kinds[query->what].columns, err) != 0)
		return -1;
	if (query->start != NULL &&
	    parse_start(query->start, &question.start_us, err) != 0)
		return -1;
	*bad = false;
	if (!kinds[query->what].listed)
		question.window = result_window_all;
	rc = kinds[query->what].print(&question, err);
	return rc == 0 ? 0 : -1;
}
