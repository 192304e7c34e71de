/*
 * poolscope-stats - print statistics of a pool and the state of the store.
 * poolscope-stats(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "exporters/runs/stats_command.h"
#include "exporters/select/known.h"
#include "exporters/select/time_option.h"
#include "exporters/stats/topics/topics.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/log.h"

static const struct topics_values defaults = { .window = TIME_WINDOW_ALL,
	.order = { .column = -1 },
	.perf = STATS_PERF_DEFAULT,
	.runs = RUNS_DEFAULT,
	.starts = STARTS_DEFAULT,
	.output = "-" };

static const struct opt options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct topics_values, format),
	    "FORMAT",
	    "print in this format (default: table); "
	    "jsonl: only phases, spans, samples, nodes, pools, perf, clocks; "
	    "csv: not status",
	    "table|json|jsonl|csv", false },
	{ "output", 'o', OPT_TEXT, OPT_TO(struct topics_values, output), "FILE",
	    "write to FILE instead of standard output", NULL, false },
	{ "by", 0, OPT_CHOICE, OPT_TO(struct topics_values, by), "WHAT",
	    "print a row for each of these; phases: pool (default) or node; "
	    "spans: name (default), track or node; samples: metric (default) "
	    "or node",
	    "pool|node|name|track|metric", false },
	{ "name", 0, OPT_TEXT, OPT_TO(struct topics_values, name), "PATTERN",
	    "show only phases or spans that match this pattern, such as "
	    "cascade:p*",
	    NULL, false },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct topics_values, strict), NULL,
	    "cascade, perf: fail when a node is incomplete, or has no report",
	    NULL, false },
	{ "fixed", 0, OPT_FLAG, OPT_TO(struct topics_values, fixed), NULL,
	    "scanner: print more numbers, every node, and the interval of the "
	    "job",
	    NULL, false },
	{ "newest", 0, OPT_COUNT, OPT_TO(struct topics_values, runs.newest),
	    "N",
	    "testrun list, deltas, iterations: print the newest N runs, the "
	    "newest first; starts: the newest N (default: 20)",
	    NULL, false },
	{ "after", 0, OPT_TEXT, OPT_TO(struct topics_values, runs.after), "RUN",
	    "with --newest: print those that follow this run in that order",
	    NULL, false },
	{ "rows", 0, OPT_COUNT, OPT_TO(struct topics_values, rows), "N",
	    "timeline: print at most N rows, of which each stands for several "
	    "nodes (default: 800)",
	    NULL, false },
	{ "as", 0, OPT_CHOICE, OPT_TO(struct topics_values, as), "FORM",
	    "series: a line for each node, or bands: the distribution of the "
	    "nodes (default: auto: lines of up to 12 nodes)",
	    "auto|lines|bands", false },
	{ "metrics", 0, OPT_CHOICE, OPT_TO(struct topics_values, of_what),
	    "WHAT", "metrics: those of pools (default), or of their nodes too",
	    "pools|nodes", false },
	{ "prometheus", 0, OPT_FLAG, OPT_TO(struct topics_values, prometheus),
	    NULL, "metrics: print the older text format 0.0.4 of Prometheus",
	    NULL, false },
	{ "verbose", 'v', OPT_FLAG, OPT_TO(struct topics_values, verbose), NULL,
	    "status: print all counters", NULL, false },
	{ .name = NULL },
};

#define POOL    "partition configdir credentials config-json pool format output "
#define TESTRUN POOL "model time group newest after node from to sort top"

static const struct opt_topic topics[] = {
	{ "cascade", "", "the startup of a pool's nodes, step by step",
	    POOL "strict start gap from to sort top",
	    "poolscope stats cascade -p 'acct$pool'\n"
	    "poolscope stats cascade -p 'acct$pool' --format json\n" },
	{ "phases", "", "statistics of the phases that models define",
	    POOL "by name node start gap from to sort top",
	    "poolscope stats phases --from yesterday\n"
	    "poolscope stats phases --by node --sort p99 --top 5\n" },
	{ "starts", "", "the starts of a pool: how many nodes, ready when",
	    POOL "model newest gap from to sort top",
	    "poolscope stats starts -p 'acct$pool'\n"
	    "poolscope stats starts --newest 5 --gap 30m\n" },
	{ "timeline", "", "what each node did when: its time in each phase",
	    POOL "model node start gap from to rows sort top",
	    "poolscope stats timeline -p 'acct$pool'\n"
	    "poolscope stats timeline --sort total --top 20\n" },
	{ "spans", "", "how long commands, programs and their parts took",
	    POOL "by name node from to sort top",
	    "poolscope stats spans --from -1h\n"
	    "poolscope stats spans --by track --name 'cc*'\n" },
	{ "samples", "", "minimum, mean, quantiles and maximum of metrics",
	    POOL "by metric metric-group node from to sort top",
	    "poolscope stats samples -m 'system.cpu.*' --from -1h\n"
	    "poolscope stats samples --by node -m 'system.memory.*'\n" },
	{ "series", "", "metrics over time, in equal steps",
	    POOL "metric metric-group node job from to step as",
	    "poolscope stats series -m 'system.memory.*' --from -1h\n"
	    "poolscope stats series -m system.cpu.time.idle --as bands\n" },
	{ "usage", "", "what nodes and jobs used of processors, memory, disks",
	    POOL "node job from to step sort top",
	    "poolscope stats usage --from -1d\n"
	    "poolscope stats usage --job 4711\n" },
	{ "nodes", "", "which nodes are heard, and what is wrong with them",
	    POOL "node from sort top",
	    "poolscope nodes -p 'acct$pool'\n"
	    "poolscope nodes --sort clock -n 'cn1*'\n" },
	{ "pools", "", "the pools, how their nodes are, how new their records",
	    "partition format output sort top",
	    "poolscope stats pools\n"
	    "poolscope stats pools -p 'acct$*' --sort silent\n" },
	{ "metrics", "", "numbers of pools for Prometheus (OpenMetrics)",
	    "partition metrics prometheus output",
	    "poolscope stats metrics --prometheus -o poolscope.prom\n"
	    "poolscope stats metrics -p 'acct$*' --metrics nodes\n" },
	{ "perf", "", "the report of each node, as the older tool counts",
	    POOL "node job from to strict now cpu-count decimate max-length "
		 "since-boot mlflow-names prefix save sort top",
	    "poolscope stats perf --from -1h\n"
	    "poolscope stats perf --format json\n" },
	{ "clocks", "", "how far the nodes' clocks are from the aggregator's",
	    POOL "node from to sort top",
	    "poolscope stats clocks\n"
	    "poolscope stats clocks -n 'n1*' --from -1d\n" },
	{ "scanner", "", "where the time of a scanner job went",
	    POOL "job fixed sort top",
	    "poolscope stats scanner --job 17\n"
	    "poolscope stats scanner --job 17 --format csv\n" },
	{ "testrun", " WHAT [RUN...]",
	    "test runs; WHAT: list, groups, deltas, iterations, skew", TESTRUN,
	    "poolscope stats testrun groups -p 'acct$farm'\n"
	    "poolscope stats testrun deltas RUN\n"
	    "poolscope stats testrun list --newest 20\n" },
	{ "skew", "", "testrun skew: receive times against emit times", TESTRUN,
	    "poolscope stats skew\n"
	    "poolscope stats skew -n 'n1*'\n" },
	{ "status", "", "the state of the store and the broker",
	    "format output verbose",
	    "poolscope status\n"
	    "poolscope status --verbose\n" },
	{ .word = NULL },
};

static int
print(struct topics_values *values, const struct topic *topic,
    const char *partition, FILE *file, struct err *err)
{
	struct source *source = NULL;
	int rc;

	if (topic->print_whole != NULL)
		return topic->print_whole(values, file, err);
	rc = source_open(&source, &values->source, err);
	if (rc == 0 && !topic->is_of_all)
		rc = known_check_nodes(
		    source, text_of(partition), topics_node(values), err);
	if (rc == 0)
		rc = starts_find_window(source, text_of(partition),
		    &values->starts, topics_model(values),
		    &values->window.from_ns, &values->window.to_ns, err);
	if (rc == 0)
		rc =
		    topic->print(values, source, text_of(partition), file, err);
	if (source != NULL && !topic->is_of_all)
		rc = known_check_partition(source, text_of(partition), rc, err);
	return source_finish(&source, rc, err);
}

/* Phases are of the pool or of nodes, spans have names and tracks, samples
 * metrics. */
static void
check_by(struct topics_values *values, const char *what)
{
	bool spans = strcmp(what, "spans") == 0;
	bool samples = strcmp(what, "samples") == 0;
	int by = values->by;

	if (opt_origin_of(&values->by) != OPT_COMMAND_LINE || by == BY_NODE)
		return;
	if (spans && by != BY_NAME && by != BY_TRACK)
		opt_usage("--by: spans has name, track and node");
	if (samples && by != BY_METRIC)
		opt_usage("--by: samples has metric and node");
	if (!spans && !samples && by != BY_POOL)
		opt_usage("--by: %s has pool and node", what);
}

static void
check_order(struct topics_values *values, const struct topic *topic)
{
	const char *what = topic->word;

	if (topic->columns != NULL)
		order_check(&values->order, topic->columns);
	if (!order_is_given(&values->order))
		return;
	if (strcmp(what, "cascade") == 0 && values->format != STATS_TABLE)
		opt_usage("cascade: --sort and --top are for the table");
	if (strcmp(what, "perf") == 0 && values->format == STATS_JSONL)
		opt_usage("perf: --sort and --top are not for jsonl");
	if (strcmp(what, "scanner") == 0 && values->format == STATS_JSON)
		opt_usage("scanner: --sort and --top are for table and csv");
}

static void
check_testrun(struct topics_values *values)
{
	const struct opt_operands *operands = values->operands;

	values->runs.from_ns = values->window.from_ns;
	values->runs.to_ns = values->window.to_ns;
	stats_testrun_check(&values->runs, operands, topics_node(values),
	    &values->order, (enum stats_format)values->format);
	/* A corrected clock has no skew. */
	if (strcmp(operands->at[1], "skew") == 0)
		source_default_clock(&values->source, CLOCK_RAW);
}

static void
check_use(struct topics_values *values, const struct topic *topic)
{
	const struct opt_operands *operands = values->operands;
	const char *what = topic->word;
	bool testrun = strcmp(what, "testrun") == 0;

	node_option_check(&values->window.node);
	if (!testrun && operands->count > 1)
		opt_usage("unexpected argument '%.64s'", operands->at[1]);
	if ((topic->formats & 1u << values->format) == 0)
		opt_usage("%s supports the formats %s", what,
		    (topic->formats & 1u << STATS_CSV) != 0
			? "table, json and csv"
			: "table and json");
	time_options_check(values->window.from_ns, values->window.to_ns);
	starts_options_check(
	    &values->starts, values->window.from_ns, values->window.to_ns);
	check_by(values, what);
	check_order(values, topic);
	if (strcmp(what, "scanner") == 0 && values->window.job == NULL)
		opt_usage("missing option: --job names the job");
	if (strcmp(what, "perf") == 0)
		stats_perf_check(&values->perf);
	if (testrun)
		check_testrun(values);
}

static void
enter_sandbox(const struct topics_values *values)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &values->source);
	output_sandbox(&sandbox, values->output);
	stats_perf_sandbox(&sandbox, &values->perf);
	sandbox_close(&sandbox, false);
}

static void
parse(struct topics_values *values, int argc, char **argv,
    struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { order_options, &values->order },
		{ time_window_options, &values->window },
		{ metric_options, &values->metrics },
		{ stats_perf_options, &values->perf },
		{ runs_options, &values->runs },
		{ starts_options, &values->starts },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-stats",
		.synopsis = "WHAT [options]",
		.summary = "print numbers of a pool; WHAT is one of",
		.examples = "poolscope stats phases -p 'acct$pool'\n"
			    "poolscope stats usage --from -1d\n",
		.tables = tables,
		.topics = topics,
		.operands_min = 1,
		.operands_max = UINT32_MAX,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct topics_values values = defaults;
	char testrun[] = "testrun", of_skew[] = "skew";
	char *skew[] = { testrun, of_skew }; /* the word for "skew" */
	char partition[INSTANCE_PATH_BYTES] = "";
	struct opt_operands operands;
	const struct topic *topic;
	struct output output;
	struct err err = { 0 };
	int rc = 0, status = 0;

	parse(&values, argc, argv, &operands);
	if (strcmp(operands.at[0], "skew") == 0 && operands.count == 1)
		operands = (struct opt_operands){ skew, 2 };
	values.operands = &operands;
	values.status = &status;
	topic = topics_find(operands.at[0]);
	check_use(&values, topic);
	/* The files of --configdir are not in the sandbox. */
	if (!topic->is_of_all)
		rc = pool_partition(partition, &values.pool, &err);
	enter_sandbox(&values);
	if (rc == 0)
		rc = output_open(&output, values.output, &err);
	if (rc == 0) {
		rc = print(&values, topic, partition, output.file, &err);
		/* Status on standard output reports failures in its table. */
		if (rc == 0)
			rc = output_commit(&output, &err);
		else
			output_abort(&output);
	}
	if (rc != 0)
		log_fail(&err);
	return rc == 0 || status > 1 ? status : 1;
}
