/*
 * poolscope-results - print results of benchmarks.  poolscope-results(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/results/query.h"
#include "exporters/select/time_option.h"
#include "exporters/source/pool.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum { LIMIT_DEFAULT = 1000 };

struct values {
	struct pool_options pool;
	struct source_options source;
	const char *output;
	struct order order;
	int64_t from_ns, to_ns;
	uint64_t limit;
	bool oldest;
	int format;
};

static const struct values defaults = {
	.output = "-",
	.order = { .column = -1 },
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
	.limit = LIMIT_DEFAULT,
};

enum { FORMAT_ROW = 0, FROM_ROW = 2, TO_ROW, LIMIT_ROW, OLDEST_ROW };
static const struct opt options[] = {
	[FORMAT_ROW] = { "format", 0, OPT_CHOICE, OPT_TO(struct values, format),
	    "FORMAT",
	    "print as table (default), json, jsonl or csv (entities: jsonl by "
	    "default, no table)",
	    "table|json|jsonl|csv", false },
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "FILE",
	    "write to FILE instead of standard output", NULL, false },
	[FROM_ROW] = TIME_OPTIONS(struct values, from_ns, to_ns,
	    "starts, timings: print only starts"),
	[LIMIT_ROW] = { "limit", 0, OPT_COUNT, OPT_TO(struct values, limit),
	    "N",
	    "starts, timings: read at most N starts (default: 1000; 0 or "
	    "--sort: all)",
	    NULL, false },
	[OLDEST_ROW] = { "oldest", 0, OPT_FLAG, OPT_TO(struct values, oldest),
	    NULL,
	    "starts, timings: print the oldest first instead of the newest",
	    NULL, false },
	{ .name = NULL },
};

static const struct question {
	const char *word, *arguments;
	uint32_t operands;
	bool listed; /* accepts --from, --to, --limit, --oldest */
	const char *const *columns; /* what it can be sorted by; NULL: none */
	int (*print)(const struct result_query *, struct err *);
} questions[] = {
	{ "tests", "", 0, false, result_tests_columns, result_query_tests },
	{ "starts", " TEST", 1, true, result_starts_columns,
	    result_query_starts },
	{ "timings", " TEST ENTRY", 2, true, result_timings_columns,
	    result_query_timings },
	{ "changes", " TEST ENTRY", 2, true, NULL, result_query_changes },
	{ "entries", " TEST", 1, false, result_entries_columns,
	    result_query_entries },
	{ "test", " TEST START", 2, false, NULL, result_query_test },
	{ "entities", "", 0, false, NULL, result_query_entities },
	{ .word = NULL },
};

static const struct question *
find_question(const struct opt_operands *operands)
{
	const struct question *q = questions;

	while (q->word != NULL && strcmp(q->word, operands->at[0]) != 0)
		q++;
	if (q->word == NULL)
		opt_refuse_word(operands->at[0],
		    "tests, starts, timings, changes, entries, test, "
		    "entities");
	if (operands->count != q->operands + 1)
		opt_usage("%s%s: %s", q->word, q->arguments,
		    operands->count <= q->operands ? "missing argument"
						   : "unexpected argument");
	for (uint32_t i = 1; i < operands->count; i++)
		if (operands->at[i][0] == '\0')
			opt_usage(
			    "%s%s: a name is empty", q->word, q->arguments);
	if (q->print == result_query_changes &&
	    opt_origin(&options[OLDEST_ROW]) == OPT_COMMAND_LINE)
		opt_usage("--oldest applies to starts and timings, not to "
			  "changes");
	for (int i = FROM_ROW; i <= OLDEST_ROW; i++)
		if (!q->listed && opt_origin(&options[i]) == OPT_COMMAND_LINE)
			opt_usage(
			    "--%s applies to starts, timings and changes, not "
			    "to %s",
			    options[i].name, q->word);
	return q;
}

static void
check_order(struct values *values, const struct question *question)
{
	for (const struct opt *o = order_options; o->name != NULL; o++)
		if (question->columns == NULL &&
		    opt_origin(o) == OPT_COMMAND_LINE)
			opt_usage("--%s applies to tests, starts, timings and "
				  "entries, not to %s",
			    o->name, question->word);
	if (question->columns != NULL)
		order_check(&values->order, question->columns);
	/* The greatest of all, not of the newest. */
	if ((values->order.sort != NULL ||
		question->print == result_query_changes) &&
	    opt_origin(&options[LIMIT_ROW]) == OPT_DEFAULT)
		values->limit = 0;
}

/* Microseconds since the epoch, or a date and time. */
static int64_t
parse_start(const char *word)
{
	struct err err = { 0 };
	const char *digits = word + (word[0] == '-');
	int64_t ns, us;

	if (*digits != '\0' && strspn(digits, "0123456789") == strlen(digits)) {
		if (sscanf(word, "%" SCNd64, &us) == 1 && strlen(digits) < 19)
			return us;
		opt_usage("%.64s: too many microseconds", word);
	}
	if (clock_parse_time(text_of(word), clock_wall_ns(), &ns, &err) != 0)
		opt_usage("START: %s", err.text);
	/* Times are printed to the microsecond. */
	return ns >= 0 ? ns / 1000 : -((999 - ns) / 1000);
}

static struct result_query
make_query(const struct values *values, const struct question *question,
    const struct opt_operands *operands)
{
	struct result_query query = { .limit = values->limit,
		.oldest = values->oldest,
		.order = &values->order,
		.format = (enum report_format)values->format,
		.progress = !opt_common_values.quiet && progress_is_wanted() };

	query.window = result_window(values->from_ns, values->to_ns);
	if (question->operands > 0)
		query.test = text_of(operands->at[1]);
	if (question->print == result_query_timings ||
	    question->print == result_query_changes)
		query.entry = text_of(operands->at[2]);
	if (question->print == result_query_test)
		query.start_us = parse_start(operands->at[2]);
	if (question->print != result_query_entities)
		return query;
	if (opt_origin(&options[FORMAT_ROW]) == OPT_DEFAULT)
		query.format = REPORT_JSONL;
	if (query.format == REPORT_TABLE)
		opt_usage("entities are printed as json, jsonl or csv");
	return query;
}

/* Write an empty answer too: programs that read the output expect it. */
static int
answer(const struct values *values, const struct question *question,
    struct result_query *query, struct err *err)
{
	struct err why = { 0 };
	struct output output;
	int rc;

	if (output_open(&output, values->output, err) != 0)
		return -1;
	query->file = output.file;
	rc = question->print(query, err);
	if (rc < 0) {
		output_abort(&output);
	} else if (output_commit(&output, &why) != 0) {
		*err = why;
		rc = -1;
	}
	return rc;
}

static void
enter_sandbox(const struct values *values)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &values->source);
	output_sandbox(&sandbox, values->output);
	sandbox_close(&sandbox, false);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { order_options, &values->order },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-results",
		.synopsis = "[options] tests | starts TEST | timings TEST "
			    "ENTRY | changes TEST ENTRY | entries TEST | "
			    "test TEST START | entities",
		.summary = "print results of benchmarks: tests, their starts, "
			   "the timings of their entries and their changes",
		.examples =
		    "poolscope results tests -p 'acct$benches'\n"
		    "poolscope results timings //bench:test BM_0 --limit 8\n",
		.tables = tables,
		.operands_min = 1,
		.operands_max = 3,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	char partition[INSTANCE_PATH_BYTES];
	const struct question *question;
	struct opt_operands operands;
	struct result_query query;
	struct err err = { 0 };
	int rc;

	parse(&values, argc, argv, &operands);
	question = find_question(&operands);
	check_order(&values, question);
	time_options_check(values.from_ns, values.to_ns);
	query = make_query(&values, question, &operands);
	rc = pool_partition(partition, &values.pool, &err);
	query.partition = text_of(partition);
	enter_sandbox(&values);
	if (rc == 0)
		rc = source_open(&query.source, &values.source, &err);
	if (rc == 0)
		rc = answer(&values, question, &query, &err);
	rc = source_finish(&query.source, rc, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? 0 : 1;
}
