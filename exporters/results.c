/*
 * poolscope-results - print results of benchmarks.  poolscope-results(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/results/change_points.h"
#include "exporters/results/query.h"
#include "exporters/source/select_options.h"
#include "exporters/tool/tool.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/progress.h"

enum { LIMIT_DEFAULT = 1000, WITHIN_DEFAULT = 10 };

struct values {
	struct pool_options pool;
	struct source_options source;
	struct answer_options answer;
	const char *output;
	int64_t from_ns, to_ns;
	uint64_t limit, within;
	bool oldest;
	const struct result_question *asked;
	struct result_query query;
};

static const struct values defaults = {
	.output = "-",
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
	.limit = LIMIT_DEFAULT,
	.within = WITHIN_DEFAULT,
};

static const struct opt options[] = {
	TOOL_OUTPUT(struct values, output),
	TIME_OPTIONS(struct values, from_ns, to_ns,
	    "starts, timings, changes, check: print only starts"),
	{ "limit", 0, OPT_COUNT, OPT_TO(struct values, limit), "N",
	    "starts, timings: read at most N starts (default: 1000; 0 or "
	    "--sort: all)" },
	{ "within", 0, OPT_COUNT, OPT_TO(struct values, within), "N",
	    "check: changes among the newest N timings (default: 10)" },
	{ "oldest", 0, OPT_FLAG, OPT_TO(struct values, oldest), NULL,
	    "starts, timings: print the oldest first instead of the newest" },
	{ .name = NULL },
};

#define ALL                                                                    \
	"partition configdir credentials config-json pool output format sort " \
	"top columns "
static const struct opt_topic topics[] = {
	{ "tests", "", "the tests that have results", ALL,
	    "poolscope results tests -p 'acct$benches'\n" },
	{ "starts", " TEST", "the starts of a test, the newest first",
	    ALL "from to limit oldest",
	    "poolscope results starts //bench:test --limit 8\n" },
	{ "timings", " TEST ENTRY", "the timings of an entry of a test",
	    ALL "from to limit oldest",
	    "poolscope results timings //bench:test BM_0 --sort timing\n" },
	{ "changes", " [TEST] [ENTRY]",
	    "when the level of an entry, or of all, changed",
	    ALL "from to limit",
	    "poolscope results changes //bench:test BM_0\n"
	    "poolscope results changes --top 10\n" },
	{ "check", " [TEST] [ENTRY]",
	    "has the level changed of late? the exit status says it",
	    ALL "from to limit within",
	    "poolscope results check --within 5\n" },
	{ "entries", " TEST", "the entries of the latest start of a test", ALL,
	    "poolscope results entries //bench:test\n" },
	{ "test", " TEST START", "what was stored of a start", ALL,
	    "poolscope results test //bench:test 2026-09-01\n" },
	{ "entities", "", "all results in the order of storing", ALL,
	    "poolscope results entities --format jsonl\n" },
	{ .word = NULL },
};

/* The word is one of the topics. */
static const struct result_question *
find_question(const struct opt_operands *operands)
{
	const struct result_question *asked = result_questions;

	while (strcmp(asked->word, operands->at[0]) != 0)
		asked++;
	for (uint32_t i = 1; i < operands->count; i++)
		if (operands->at[i][0] == '\0')
			opt_usage("%s: a name is empty", asked->word);
	return asked;
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
make_query(const struct values *values, const struct result_question *asked,
    const struct opt_operands *operands)
{
	struct result_query query = { .limit = values->limit,
		.oldest = values->oldest,
		.progress = !opt_common_values.quiet && progress_is_wanted() };

	query.window = result_window(values->from_ns, values->to_ns);
	if (strcmp(asked->word, "check") == 0)
		query.within = values->within;
	if (operands->count > 1)
		query.test = text_of(operands->at[1]);
	if (asked->give == result_query_test)
		query.start_us = parse_start(operands->at[2]);
	else if (operands->count > 2)
		query.entry = text_of(operands->at[2]);
	/* The greatest of all, not of the newest. */
	if ((values->answer.sort != NULL ||
		asked->give == result_query_changes) &&
	    opt_origin_of(&values->limit) == OPT_DEFAULT)
		query.limit = 0;
	return query;
}

static int
give(void *arg, struct tool_open *open, struct err *err)
{
	struct values *values = arg;

	values->query.source = open->source;
	values->query.partition = open->partition;
	values->answer.width = open->width;
	if (values->query.within > 0)
		values->query.status = &open->status;
	return result_answer(
	    values->asked, &values->query, &values->answer, open->file, err);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { answer_options, &values->answer },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-results",
		.synopsis = "WHAT [options]",
		.summary = "print results of benchmarks; WHAT is one of",
		.examples =
		    "poolscope results tests -p 'acct$benches'\n"
		    "poolscope results timings //bench:test BM_0 --limit 8\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct opt_operands operands;

	parse(&values, argc, argv, &operands);
	values.asked = find_question(&operands);
	answer_options_judge(&values.answer, values.asked->tables);
	time_options_check(values.from_ns, values.to_ns);
	/* A younger level is never found: all were well. */
	if (values.within < CHANGE_POINTS_SIDE)
		opt_usage("--within takes a number from %d on: a level has as "
			  "many timings",
		    CHANGE_POINTS_SIDE);
	values.query = make_query(&values, values.asked, &operands);
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .source = &values.source,
	    .output = values.output,
	    .work = give,
	    .arg = &values });
}
